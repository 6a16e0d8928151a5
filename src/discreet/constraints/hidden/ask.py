"""Hide private numbers, and still hand out numbers that meet constraints and an objective of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from attrs import frozen

from discreet.constraints.convex import Convex
from discreet.constraints.hidden.plan import HidePlan, plan_hidden
from discreet.constraints.hidden.release import HiddenValues
from discreet.constraints.hidden.values import ValuesSchema
from discreet.constraints.system import AtMost, Between, Equal
from discreet.core.exact import Number
from discreet.errors import InputError, kind_of
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.query.ask import Ask, Checked, Form, option
from discreet.query.forms import AMOUNT
from discreet.query.price import Price, plan_within

__all__ = ["CheckedHide", "HideAsk"]


def _objective(value: Any) -> Any:
    if not isinstance(value, Convex):
        raise InputError("objective", kind_of(value), "a Convex function: Convex(name, function)")
    return value


def _constraints(value: Any) -> tuple[Any, ...]:
    listed = tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
    for one in listed:
        if not isinstance(one, (Convex, Equal, AtMost, Between)):
            raise InputError("constraints", kind_of(one), "a list of Convex, Equal, AtMost or Between")
    return listed


_OBJECTIVE = Form(str, settle=_objective)
_CONSTRAINTS = Form(list[str], settle=_constraints)


@frozen(eq=False)
class HideAsk(Ask):
    """Private numbers, each hidden up to a distance, that meet public constraints and cost about as much."""

    kind: ClassVar[str] = "hidden"
    subject: ClassVar[str] = "values"
    prices: ClassVar[tuple[str, ...]] = ("epsilon", "share", "within", "confidence")

    highest: Number | None = option(AMOUNT, None, help="The most that one number may be", late=True, needed=True)
    lowest: Number = option(AMOUNT, 0, help="The least that one number may be", late=True)
    step: Number = option(AMOUNT, 0.001, help="What numbers are rounded to", late=True)
    optimum: Number | str | None = option(
        AMOUNT,
        None,
        help="The objective of the true numbers: public anyway, or measured, which is paid for",
        late=True,
    )
    beta: Number = option(AMOUNT, 0.01, help="The released numbers have an objective within this part of it", late=True)
    lipschitz: Number | None = option(
        AMOUNT, None, help="The most that the objective moves where one number moves by one", late=True
    )
    optimum_share: Number = option(AMOUNT, 0.25, help="The share of the price that a measured optimum takes", late=True)
    objective: Convex | None = option(
        _OBJECTIVE, None, help="A convex function of the numbers", here_only=True, shell=False
    )
    constraints: tuple[Any, ...] | None = option(
        _CONSTRAINTS, None, help="What the released numbers meet", here_only=True, shell=False
    )

    def checked(self, schema: ValuesSchema) -> CheckedHide:
        """The same, for what is declared."""
        return CheckedHide(schema, self)


@dataclass(frozen=True, eq=False)
class CheckedHide(Checked[HiddenValues]):
    """Numbers to be hidden."""

    about: ValuesSchema
    ask: HideAsk

    def priced(self, allotment: Allotment, price: Price | None) -> HidePlan:
        """The plan at a price in epsilon, whatever the allotment counts."""
        if allotment.kind == "plan":
            raise InputError("allotment", allotment.name, "a pure or zcdp allotment")
        if price is None or price.way != "within":
            plan: HidePlan = self.plan(allotment, price) if price is not None else super().priced(allotment, price)
            return plan
        return plan_within(price, allotment, lambda paid: self.plan(allotment, paid), currency="epsilon")

    def plan(self, allotment: Allotment, price: Price) -> HidePlan:
        """The numbers at a price."""
        currency, epsilon = price.spent(allotment)
        if currency != "epsilon":
            hint = f"Allotment {allotment.name!r} is not counted in epsilon."
            raise InputError(price.way, price.amount, "left out: hidden numbers are paid in epsilon", hint)
        return plan_hidden(self.about, self.ask, allotment, epsilon, float(price.confidence))

    def read(self, answer: Answer, cost: str, remaining: str) -> HiddenValues:
        """The numbers that an answer holds."""
        return HiddenValues.read(answer, cost, remaining)
