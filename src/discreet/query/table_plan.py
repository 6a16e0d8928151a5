"""What every plan about a table says of itself in the same way: whose it is, whom it protects, what it costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol, TypeVar

from discreet.core.explanation import Explanation
from discreet.core.loss import Loss
from discreet.core.plan import Plan
from discreet.core.unit import Unit
from discreet.data.schema import Schema
from discreet.ledger.budget import Allotment, Charge
from discreet.mechanisms.inputs import read_confidence

__all__ = ["Priced", "TablePlan", "at_confidence"]

Planned = TypeVar("Planned")


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


class TablePlan:
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


def at_confidence(plan: Planned, confidence: float | None) -> Planned:
    """The same plan with intervals of another confidence: for publishing what was measured, which stays as it is."""
    dated: Any = plan
    found: Planned = plan if confidence is None else replace(dated, confidence=float(read_confidence(confidence)))
    return found
