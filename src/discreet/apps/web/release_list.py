"""The list of releases: titles in words, filters by text, kind, person and state, and an order, all in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from discreet.apps.server.tokens import Caller
from discreet.curator.kinds import kind_of
from discreet.curator.title import title_of
from discreet.ledger.budget import Allotment
from discreet.ledger.outcome import Outcome
from discreet.ledger.quote import price_text

__all__ = ["CHOICES", "Line", "Listing"]

CHOICES = ("find", "kind", "who", "state", "sort", "page")
"""What a reader may choose, by its name in the address."""
_ROWS = 50
_HEADS = {"title": "Release", "time": "When", "who": "Who", "why": "Why", "cost": "Cost", "state": "State"}


@dataclass(frozen=True, slots=True)
class Line:
    """One release in the list. Who and why are there for those who may know."""

    id: str
    title: str
    kind: str
    time: str
    who: str
    why: str
    cost: str
    amount: Fraction
    state: str

    @classmethod
    def of(cls, outcome: Outcome, allotment: Allotment, caller: Caller) -> Line:
        """The line of a release, as much of it as a caller may see."""
        record = outcome.charged
        mine = caller.role == "custodian" or record.who == caller.name
        made = kind_of(record.query, outcome.kind)
        state = "answered" if outcome.answer is not None else "failed" if outcome.failure else "no answer yet"
        return cls(
            record.release,
            title_of(record.query, outcome.kind) or record.release,
            "" if made is None else made.noun,
            record.time,
            record.who if mine else "",
            record.why if mine else "",
            price_text(allotment, record.charge),
            record.charge.amount,
            state,
        )

    def has(self, text: str) -> bool:
        """Whether every word of a text is somewhere in it."""
        whole = " ".join((self.title, self.why, self.who, self.id, self.kind)).lower()
        return all(word in whole for word in text.lower().split())


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of the list, and what it can be filtered and sorted by."""

    lines: list[Line]
    total: int
    found: int
    chosen: Mapping[str, str]
    choices: Mapping[str, list[str]]
    heads: list[tuple[str, str, str, str]]
    """The name of each column, what it is called, where a click leads, and its order now."""
    pages: list[tuple[int, str]]
    page: int

    @classmethod
    def of(cls, lines: Sequence[Line], chosen: Mapping[str, str], here: str) -> Listing:
        """The lines that a reader asked for, in the order asked for; the latest first unless one is.

        `here` is the address of the list.
        """
        kept = [line for line in lines if _fits(line, chosen)]
        name = chosen["sort"].removeprefix("-")
        if name in _HEADS:
            field = "amount" if name == "cost" else name
            kept.sort(key=lambda line: _folded(getattr(line, field)), reverse=chosen["sort"].startswith("-"))
        many = max(1, -(-len(kept) // _ROWS))
        asked = chosen["page"]
        page = min(max(int(asked), 1), many) if asked.isdecimal() and len(asked) < 8 else 1
        choices = {
            field: sorted({value for line in lines if (value := getattr(line, field))})
            for field in ("kind", "who", "state")
        }
        return cls(
            kept[(page - 1) * _ROWS : page * _ROWS],
            len(lines),
            len(kept),
            chosen,
            {field: values for field, values in choices.items() if len(values) > 1 or chosen[field]},
            [_head(name, chosen, here) for name in _HEADS],
            [(each, _link(here, chosen, page=str(each))) for each in range(1, many + 1)] if many > 1 else [],
            page,
        )

    @property
    def filtered(self) -> bool:
        """Whether a reader asked for some of them only."""
        return any(self.chosen[name] for name in ("find", "kind", "who", "state"))


def _fits(line: Line, chosen: Mapping[str, str]) -> bool:
    named = all(chosen[name] in ("", getattr(line, name)) for name in ("kind", "who", "state"))
    return named and line.has(chosen["find"])


def _folded(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _head(name: str, chosen: Mapping[str, str], here: str) -> tuple[str, str, str, str]:
    now = {name: "ascending", f"-{name}": "descending"}.get(chosen["sort"] or "-time", "")
    first = f"-{name}" if name in ("time", "cost") else name  # what people look for there: the latest, the most
    other = {"ascending": f"-{name}", "descending": name}.get(now, first)
    return name, _HEADS[name], _link(here, chosen, sort=other, page=""), now


def _link(here: str, chosen: Mapping[str, str], **changed: str) -> str:
    fields = {name: value for name, value in {**chosen, **changed}.items() if value}
    return f"{here}?{urlencode(fields)}" if fields else here
