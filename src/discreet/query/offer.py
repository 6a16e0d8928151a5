"""A plan at a desk: what there is to know of it, and the one way to spend on it."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from discreet.core.exact import Number
from discreet.core.explained import Expected, Explained
from discreet.core.typed import typed
from discreet.ledger.door import Answer
from discreet.ledger.ledger import Ledger
from discreet.ledger.quote import Quote
from discreet.query.table_plan import Priced

__all__ = ["Desk", "Offer"]

Made_co = TypeVar("Made_co", covariant=True)


class Desk(Protocol):
    """Where plans are paid and run: a ledger, and data behind its door."""

    @property
    def ledger(self) -> Ledger:
        """The ledger that is charged."""
        ...

    def through_the_door(
        self, plan: Priced, columns: Iterable[str], *, release: str | None, why: str, delta: Number | None = None
    ) -> Answer:
        """Spend, open, run, record."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Offer(Generic[Made_co]):
    """A plan and where to release it. `print(offer)` before, `offer.release()` to spend.

    `read` makes what is released of an answer, its cost and what is left, both in words.
    """

    desk: Desk
    plan: Any
    read: Callable[[Answer, str, str], Made_co]

    @cached_property
    def explained(self) -> Explained:
        """What there is to know before it is paid, as values."""
        found: Explained = self.plan.explained()
        return found

    @property
    def expected(self) -> tuple[Expected, ...]:
        """How far every output may be off."""
        return self.explained.errors

    @property
    def quote(self) -> Quote:
        """The price, and what is left."""
        plan = self.plan
        return Quote(plan.allotment, plan.charge, self.desk.ledger.remaining(plan.dataset, plan.allotment.name))

    def explain(self) -> str:
        """Cost, expected error of every output, and what else there is to know. Spends nothing."""
        return "\n".join(self.explained.lines(self.quote.lines()))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        plan = self.plan
        told = {"dataset": plan.dataset, **self.quote.to_dict(), "mechanism": plan.mechanism, "digest": plan.digest}
        return {**told, "query": plan.query, **self.explained.to_dict()}

    @typed
    def release(self, *, release: str | None = None, why: str = "") -> Made_co:
        """Spend, open, run, record. The same `release` id again returns the stored answer at no cost."""
        return self._read(self._answer(release, why))

    def _answer(self, release: str | None, why: str) -> Answer:
        return self.desk.through_the_door(self.plan, self.plan.columns, release=release, why=why)

    def _read(self, answer: Answer) -> Made_co:
        paid = Quote(self.plan.allotment, answer.charge, self.quote.left)
        return self.read(answer, paid.cost, paid.remaining)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"<{self.explained.title}; cost {self.quote.cost}; print it to see what it says>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.explain())}</pre>"
