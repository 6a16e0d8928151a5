"""Hide what the loads of a power grid draw, and still hand out loads whose optimal power flow means something.

The loads are private; the grid, which buses have loads among it, is public.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attrs import frozen

from discreet.core.exact import Number
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.power.plan import LoadPlan, plan_loads
from discreet.power.release import HiddenLoads
from discreet.power.schema import PublicGrid
from discreet.query.ask import Ask, Checked, option
from discreet.query.forms import AMOUNT
from discreet.query.price import Price, plan_within

__all__ = ["CheckedLoads", "LoadsAsk"]


@frozen(eq=False)
class LoadsAsk(Ask):
    """Loads of a power grid, each hidden up to a distance, that the grid can feed at about the same cost."""

    kind: ClassVar[str] = "loads"
    subject: ClassVar[str] = "grid"
    prices: ClassVar[tuple[str, ...]] = ("epsilon", "share", "within", "confidence")

    cost: Number | str | None = option(
        AMOUNT,
        None,
        help="The optimal cost of the true loads (at each time): public anyway, or measured, which is paid for",
        late=True,
        needed=True,
    )
    beta: Number = option(AMOUNT, 0.01, help="The released loads cost within this share of it", late=True)
    step: Number = option(AMOUNT, 0.001, help="MW that loads are rounded to", late=True)
    highest: Number | None = option(
        AMOUNT, None, help="The most MW that one load may draw; by default what all generators can give", late=True
    )
    highest_price: Number | None = option(
        AMOUNT, None, help="The price up to which a measured cost follows congestion", late=True
    )
    cost_share: Number = option(AMOUNT, 0.25, help="The share of the price that a measured cost takes", late=True)

    def checked(self, schema: PublicGrid) -> CheckedLoads:
        """The same, for a grid."""
        return CheckedLoads(schema, self)


@dataclass(frozen=True, eq=False)
class CheckedLoads(Checked[HiddenLoads]):
    """Loads to be hidden."""

    about: PublicGrid
    ask: LoadsAsk

    def priced(self, allotment: Allotment, price: Price | None) -> LoadPlan:
        """The plan at a price in epsilon, whatever the allotment counts."""
        if allotment.kind == "plan":
            raise InputError("allotment", allotment.name, "a pure or zcdp allotment")
        if price is None or price.way != "within":
            plan: LoadPlan = self.plan(allotment, price) if price is not None else super().priced(allotment, price)
            return plan
        return plan_within(price, allotment, lambda paid: self.plan(allotment, paid), currency="epsilon")

    def plan(self, allotment: Allotment, price: Price) -> LoadPlan:
        """The loads at a price."""
        currency, epsilon = price.spent(allotment)
        if currency != "epsilon":
            hint = f"Allotment {allotment.name!r} is not counted in epsilon."
            raise InputError(price.way, price.amount, "left out: loads are paid in epsilon", hint)
        ask = self.ask
        if ask.cost is None:
            raise InputError("cost", None, 'given: a number that is public anyway, or "measured"')
        return plan_loads(
            self.about.grid,
            self.about.schema.name,
            allotment,
            alpha=self.about.schema.alpha,
            epsilon=epsilon,
            beta=ask.beta,
            cost=ask.cost,
            step=ask.step,
            highest=ask.highest,
            highest_price=ask.highest_price,
            cost_share=ask.cost_share,
            confidence=float(price.confidence),
            times=self.about.schema.times,
        )

    def read(self, answer: Answer, cost: str, remaining: str) -> HiddenLoads:
        """The loads that an answer holds."""
        return HiddenLoads.read(answer, cost, remaining)
