"""Hide private numbers, and still hand out numbers that meet constraints and an objective of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import attrs
from attrs import frozen

from discreet.constraints.convex import Convex
from discreet.constraints.hidden.distance_ask import CheckedDistance
from discreet.constraints.hidden.plan import HidePlan, plan_hidden
from discreet.constraints.hidden.release import HiddenValues
from discreet.constraints.hidden.values import ValuesSchema
from discreet.constraints.system import AtMost, Between, Equal
from discreet.core.exact import Number
from discreet.errors import GIVEN, InputError, kind_of
from discreet.ledger.budget import Allotment
from discreet.query.ask import Ask, Form, option
from discreet.query.forms import AMOUNT

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
        AMOUNT,
        None,
        help="The most that the objective moves where one number moves by one; known of linear and quadratic ones",
        late=True,
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
        rules = schema.rules
        declared: dict[str, Any] = {}
        if rules.objective:
            declared["objective"] = rules.build_objective(schema.names)
        if rules.constraints:
            declared["constraints"] = rules.build_constraints(schema.names)
        for name in declared:
            if getattr(self, name) is not None:
                raise InputError(name, GIVEN, "left out: the schema declares it")
        return CheckedHide(schema, attrs.evolve(self, **declared))


@dataclass(frozen=True, eq=False)
class CheckedHide(CheckedDistance[HiddenValues]):
    """Numbers to be hidden."""

    nouns: ClassVar[str] = "hidden numbers"
    made: ClassVar[Any] = HiddenValues
    about: ValuesSchema
    ask: HideAsk

    def planned(self, allotment: Allotment, epsilon: Fraction, confidence: float) -> HidePlan:
        """The numbers at an epsilon."""
        return plan_hidden(self.about, self.ask, allotment, epsilon, confidence)
