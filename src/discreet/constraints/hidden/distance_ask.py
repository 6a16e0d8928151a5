"""Numbers to be hidden, read against what is declared: priced in epsilon, whatever the allotment counts."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from discreet.constraints.hidden.distance_plan import DistancePlan
from discreet.constraints.hidden.numbers import HiddenNumbers
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.query.ask import Checked
from discreet.query.price import Price, plan_within

__all__ = ["CheckedDistance"]

Made_co = TypeVar("Made_co", bound=HiddenNumbers, covariant=True)


class CheckedDistance(Checked[Made_co]):
    """Numbers of which each is to be hidden up to a distance."""

    __slots__ = ()
    nouns: ClassVar[str]
    """What they are called in errors."""
    made: ClassVar[Any]
    """The class of their releases."""

    @abstractmethod
    def planned(self, allotment: Allotment, epsilon: Fraction, confidence: float) -> DistancePlan:
        """The plan at an epsilon."""

    def priced(self, allotment: Allotment, price: Price | None) -> DistancePlan:
        """The plan at a price in epsilon, whatever the allotment counts."""
        if allotment.kind == "plan":
            raise InputError("allotment", allotment.name, "a pure or zcdp allotment")
        if price is None or price.way != "within":
            plan: DistancePlan = self.plan(allotment, price) if price is not None else super().priced(allotment, price)
            return plan
        return plan_within(price, allotment, lambda paid: self.plan(allotment, paid), currency="epsilon")

    def plan(self, allotment: Allotment, price: Price) -> DistancePlan:
        """The numbers at a price."""
        currency, epsilon = price.spent(allotment)
        if currency != "epsilon":
            hint = f"Allotment {allotment.name!r} is not counted in epsilon."
            raise InputError(price.way, price.amount, f"left out: {self.nouns} are paid in epsilon", hint)
        return self.planned(allotment, epsilon, float(price.confidence))

    def read(self, answer: Answer, cost: str, remaining: str) -> Made_co:
        """The numbers that an answer holds."""
        found: Made_co = self.made.read(answer, cost, remaining)
        return found
