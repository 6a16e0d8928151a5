"""Questions with a name, to be asked again next quarter: what is asked and at which price, beside the ledger."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.core.filename import file_name
from discreet.curator.offer import Offer
from discreet.errors import InputError
from discreet.ledger.budget import label
from discreet.ledger.ledger import Ledger

__all__ = ["SavedQuestion", "SavedQuestions", "described"]

_LONGEST = 80  # characters of a name
_MOST = 500  # questions of a dataset
_PRICES = ("epsilon", "rho", "share", "within", "confidence", "noise", "delta", "allotment")


@dataclass(frozen=True, slots=True)
class SavedQuestion:
    """A question under a name: plain values, in which nothing comes from the data.

    `asked` has a `sql` statement with its `dialect`, or a `query` in its JSON form, and `limits` on each person;
    `price` has what `plan` takes.
    """

    name: str
    asked: Mapping[str, Any]
    price: Mapping[str, Any]
    who: str = ""
    time: str = ""

    @property
    def day(self) -> str:
        """The day it was saved."""
        return self.time.partition("T")[0]

    def offer(self, curator: Any, **price: Any) -> Offer[Any]:
        """The question, planned for the data as it is now; a price that is given stands for the saved one."""
        from discreet.curator.question import with_limits

        if "sql" in self.asked:
            question = curator.sql(self.asked["sql"], dialect=self.asked.get("dialect", "duckdb"))
        else:
            question = curator.question(self.asked["query"])
        given = {name: value for name, value in price.items() if value is not None}
        ways = ("epsilon", "rho", "share", "within")
        kept = {name: self.price[name] for name in _PRICES if name in self.price}
        if any(name in given for name in ways):
            kept = {name: value for name, value in kept.items() if name not in ways}
        offer: Offer[Any] = with_limits(question, self.asked.get("limits")).plan(**{**kept, **given})
        return offer


class SavedQuestions:
    """The saved questions of one dataset: a file for each, in a folder beside the ledger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def beside(cls, ledger: Ledger, dataset: str) -> SavedQuestions:
        """Those of a dataset of a ledger."""
        return cls(ledger.workspace("questions") / _file(dataset))

    def listed(self) -> list[SavedQuestion]:
        """All of them, by name."""
        found = [one for path in sorted(self.folder.glob("*.json")) if (one := _read(path)) is not None]
        return sorted(found, key=lambda one: (one.name.casefold(), one.name))

    def find(self, name: str, field: str = "saved") -> SavedQuestion:
        """The question of a name."""
        found = _read(self.folder / f"{_file(name)}.json")
        if found is None or found.name != name:
            names = [one.name for one in self.listed()]
            if not names:
                hint = "Save one first: `discreet ask --save NAME`, or on the page that asks."
                raise InputError(field, name, "the name of a saved question: there is none yet", hint)
            raise InputError(field, name, among=names)
        return found

    def save(self, name: str, asked: Mapping[str, Any], price: Mapping[str, Any], *, who: str = "") -> SavedQuestion:
        """Keep a question under a name; one that had the name before is replaced."""
        if not isinstance(name, str) or not name.strip() or len(name.strip()) > _LONGEST:
            raise InputError("name", name, f"a name of at most {_LONGEST} characters", "Nothing was spent.")
        kept = {word: value for word, value in price.items() if word in _PRICES and value is not None}
        time = datetime.now(UTC).isoformat(timespec="seconds")
        made = SavedQuestion(label(name.strip(), "name"), dict(asked), kept, who, time)
        if self.owner(made.name) is None and len(self.listed()) >= _MOST:
            hint = "Nothing was saved. Remove questions that are no longer asked."
            raise InputError("name", name, f"one of at most {_MOST} saved questions", hint)
        entry = {"version": 1, "name": made.name, "asked": made.asked, "price": kept, "who": who, "time": time}
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.folder / f"{_file(made.name)}.json"
        draft = path.with_suffix(f".{uuid.uuid4().hex}")
        draft.write_text(json.dumps(entry, indent=2, ensure_ascii=False, default=str), encoding="utf-8")
        draft.replace(path)
        return made

    def owner(self, name: str) -> str | None:
        """Who saved the question of a name; None where there is none."""
        known = _read(self.folder / f"{_file(name.strip())}.json")
        return None if known is None else known.who

    def remove(self, name: str) -> None:
        """Forget the question of a name."""
        self.find(name)
        (self.folder / f"{_file(name)}.json").unlink(missing_ok=True)


def described(query: Any, sql: str = "", dialect: str = "duckdb") -> dict[str, Any]:
    """What a question asks, to be saved: the statement if it was one, else its JSON form as it was asked.

    Bins by month stay bins by month: with a schema that declares later days they are more.
    """
    plain: dict[str, Any] = query.to_dict()
    if not sql:
        return {"query": plain}
    limits = plain.get("limits")
    return {"sql": sql, "dialect": dialect, **({"limits": limits} if limits else {})}


def _file(name: str) -> str:
    """A name as that of a file which no other name has."""
    return f"{file_name(name)[:40]}-{hashlib.sha256(name.encode()).hexdigest()[:10]}"


def _read(path: Path) -> SavedQuestion | None:
    """The question of a file; None where there is none that can be read."""
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
        return SavedQuestion(*(entry[name] for name in ("name", "asked", "price", "who", "time")))
    except (OSError, ValueError, KeyError, TypeError):
        return None
