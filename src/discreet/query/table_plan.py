"""What every plan about a table says of itself in the same way: whose it is, whom it protects, what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from discreet.core.digest import digest_of
from discreet.core.explanation import Explaining, Explanation
from discreet.core.loss import Loss
from discreet.core.plan import Plan
from discreet.core.unit import Unit
from discreet.data.schema import Schema
from discreet.ledger.budget import Allotment, Charge
from discreet.mechanisms.inputs import read_confidence
from discreet.query.compatibility import columns_read

if TYPE_CHECKING:
    from discreet.query.choose_plan import ChoosePlan
    from discreet.query.question_ask import AnyPlan

__all__ = ["Priced", "QuestionPlan", "TablePlan", "at_confidence", "explained", "rows_published"]

P = TypeVar("P")


class Priced(Plan, Protocol):
    """A plan that knows which allotment pays for it, what it reads, and what there is to know beforehand."""

    @property
    def allotment(self) -> Allotment:
        """The allotment that pays."""
        ...

    @property
    def charge(self) -> Charge:
        """The price in the currency of the allotment."""
        ...

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        ...

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        ...


class _Described(Protocol):
    @property
    def schema(self) -> Schema: ...
    @property
    def allotment(self) -> Allotment: ...
    @property
    def cost(self) -> Loss: ...


class TablePlan(Explaining):
    """A plan with a `schema`, an `allotment` and a `cost`."""

    __slots__ = ()

    @property
    def dataset(self: _Described) -> str:
        """The dataset's name, as the ledger knows it."""
        return self.schema.name

    @property
    def unit(self: _Described) -> Unit:
        """What is protected."""
        return self.schema.unit

    @property
    def charge(self: _Described) -> Charge:
        """The price in the currency of the allotment."""
        return self.allotment.price(self.cost)


def at_confidence(plan: P, confidence: float | None) -> P:
    """The same plan with intervals of another confidence: for publishing what was measured, which stays as it is."""
    dated: Any = plan
    found: P = plan if confidence is None else replace(dated, confidence=float(read_confidence(confidence)))
    return found


class _Asked(Protocol):
    @property
    def question(self) -> Any: ...
    @property
    def schema(self) -> Schema: ...
    @property
    def confidence(self) -> float: ...
    @property
    def query(self) -> dict[str, Any]: ...
    @property
    def law(self) -> Mapping[str, Any]: ...


class QuestionPlan(TablePlan):
    """A plan with a `question`, a `confidence`, and a `law`: plain values of what else decides its law."""

    __slots__ = ()

    @property
    def query(self: _Asked) -> dict[str, Any]:
        """The question as plain values, for the record."""
        asked: dict[str, Any] = self.question.to_dict()
        return asked

    @property
    def digest(self: _Asked) -> str:
        """A hash of everything that decides the law of the result."""
        head = {"schema": self.schema.to_dict(), "query": self.query}
        return digest_of({**head, **self.law, "confidence": self.confidence})

    @property
    def columns(self: _Asked) -> list[str]:
        """The columns of the data it reads."""
        return columns_read(self.question, self.schema)


def explained(
    plan: AnyPlan | ChoosePlan, shape: Iterable[str], notes: Iterable[str], steps: Iterable[str] = ()
) -> Explanation:
    """The plan of a question: which rows there will be, how, and what an answer is off by beside its noise."""
    facts: dict[str, Any] = {"groups": plan.groups}
    return Explanation(
        title=f"Plan for {plan.dataset!r}",
        unit=str(plan.schema.unit),
        shape=tuple(shape),
        errors=tuple(plan.expected()),
        confidence=plan.confidence,
        steps=tuple(steps),
        notes=tuple(dict.fromkeys(notes)),
        facts=facts,
    )


def rows_published(groups: int) -> str:
    """Which rows there will be where groups are public."""
    many = "1 row" if groups == 1 else f"{groups:,} rows, one for each group, empty ones too"
    return f"Releases {many}."
