"""What someone fills in to have a long job done: a hierarchy or synthetic rows, its price said in one of three ways."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pydantic import ValidationError

from discreet.accounting.words import readable
from discreet.apps.server.told import malformed
from discreet.apps.server.wanted import SynthAsked, TreeAsked, Wanted
from discreet.apps.web.form import Form
from discreet.core.exact import as_written
from discreet.curator import Curator
from discreet.errors import MISSING, InputError, Phrase
from discreet.query.within import amount_within

__all__ = ["SynthWish", "TreeWish", "Wish", "amount_within"]


@dataclass(frozen=True)
class Wish(ABC):
    """The texts of a form, as they were typed."""

    pairs: tuple[tuple[str, str], ...] = ()

    model: ClassVar[type[Wanted]]
    names: ClassVar[tuple[str, ...]]
    """Fields besides the price, the confidence and the allotment."""

    @classmethod
    def read(cls, form: Form) -> Wish:
        """The wish of a form."""
        known = (*cls.names, "way", "epsilon", "rho", "share", "within", "confidence", "allotment")
        return cls(tuple((name, text) for name, text in form.pairs if name in known and text.strip()))

    def text(self, name: str, otherwise: str = "") -> str:
        """The text of a field without spaces around it."""
        return next((text.strip() for field, text in self.pairs if field == name), otherwise)

    def all(self, name: str) -> list[str]:
        """Every text sent under a name."""
        return [text for field, text in self.pairs if field == name]

    @property
    def way(self) -> str:
        """How the price is said: epsilon, rho, share or within."""
        way = self.text("way")
        return way if way in ("epsilon", "rho", "share", "within") else "epsilon"

    def fields(self) -> list[tuple[str, str]]:
        """Names and texts from which `read` makes the same wish again: of the price the one way that counts."""
        others = {"epsilon", "rho", "share", "within"} - {self.way}
        return [(name, text) for name, text in self.pairs if name not in others]

    def with_texts(self, **texts: str) -> Wish:
        """The same with some fields filled in anew."""
        kept = tuple((name, text) for name, text in self.pairs if name not in texts)
        return replace(self, pairs=(*kept, *texts.items()))

    def priced(self, ways: Mapping[str, str]) -> Wish:
        """The same with the other ways of saying the price filled in."""
        return self.with_texts(**{way: text for way, text in ways.items() if way != self.way})

    def offer(self, curator: Curator, allotment: str | None) -> tuple[Any, dict[str, Any]]:
        """The plan, priced, and what a program would send for it. `InputError` for what no program may."""
        amount = self.text(self.way)
        if not amount:
            raise InputError(self.way, MISSING, "a number: the price, in the way you chose")
        sent = {**self.body(), "confidence": self.text("confidence", "0.95"), "allotment": allotment}
        if self.way != "within":
            sent[self.way] = amount
            return self._planned(sent, curator), sent
        part = curator.allotment(allotment)
        exact = amount_within(
            lambda price: self.error(self._planned({**sent, part.currency: str(price)}, curator)),
            float(as_written(amount, "within")),
            part,
        )
        sent[part.currency] = readable(exact)
        return self._planned(sent, curator), sent

    def asked(self, sent: Mapping[str, Any]) -> Wanted:
        """The same as a program would send it."""
        try:
            return self.model.model_validate({name: value for name, value in sent.items() if value is not None})
        except ValidationError as problem:
            first = problem.errors()[0]
            name, reason = malformed(first)
            raise InputError(name, first.get("input"), reason) from None

    def _planned(self, sent: Mapping[str, Any], curator: Curator) -> Any:
        return self.asked(sent).offer(curator)

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """The question, without its price."""

    @abstractmethod
    def error(self, offer: Any) -> float:
        """The half-width that `within` is about."""


class TreeWish(Wish):
    """A hierarchy."""

    model = TreeAsked
    names = ("levels", "column", "by", "where", "method", "split", "geography")

    def body(self) -> dict[str, Any]:
        """The question, without its price."""
        return {
            "levels": _levels(self.text("levels")),
            "by": _listed(self.text("by")),
            "column": self.text("column") or None,
            "where": self.text("where") or None,
            "geography": _geography(self.text("geography")),
            "method": self.text("method") or "auto",
            "split": self.text("split") or "auto",
        }

    def error(self, offer: Any) -> float:
        """That of one number of the lowest level."""
        return float(offer.explained.facts["levels"][-1]["cell"])


class SynthWish(Wish):
    """Synthetic rows."""

    model = SynthAsked
    names = ("method", "workload", "column", "rows", "where", "impossible")

    def body(self) -> dict[str, Any]:
        """The question, without its price."""
        rows = self.text("rows").replace(",", "")
        if rows and not rows.isdecimal():
            raise InputError("rows", rows, "a whole number, or empty for as many as there seem to be")
        return {
            "method": self.text("method") or "auto",
            "workload": self.text("workload") or None,
            "columns": self.all("column") or None,
            "rows": int(rows) if rows else None,
            "where": self.text("where") or None,
            "impossible": [line.strip() for line in self.text("impossible").splitlines() if line.strip()],
        }

    def error(self, offer: Any) -> float:
        """That of a count of one column, the price shared evenly."""
        return float(offer.expected[0].half_width)


def _levels(text: str) -> list[str] | dict[str, int]:
    """Names of levels, the widest first; with the length of their codes where every name has one."""
    names = _listed(text)
    if not names:
        raise InputError("levels", MISSING, "names of levels, the widest first, such as state, county")
    parts = [name.partition("=") for name in names]
    if not any(mark for _, mark, _ in parts):
        return names
    found = {}
    for name, mark, length in parts:
        if not mark or not length.strip().isdecimal():
            raise InputError("levels", text, "a length of codes for every level or for none, such as state=2, county=5")
        found[name.strip()] = int(length)
    return found


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _geography(text: str) -> dict[str, list[str]] | list[str] | None:
    """A public list of leaf codes, one on a line, or a table with a line of names first."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    if not any("," in line for line in lines):
        return [line.strip() for line in lines]
    rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO("\n".join(lines)))]
    head, body = rows[0], rows[1:]
    if any(len(row) != len(head) for row in body) or len(set(head)) != len(head):
        raise InputError(
            "geography",
            Phrase("lines of different lengths"),
            "a table: names of levels first, then one line for each region",
        )
    return {name: [row[place] for row in body] for place, name in enumerate(head)}
