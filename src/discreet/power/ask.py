"""Hide what the loads of a power grid draw, and still hand out loads whose optimal power flow means something.

The loads are private; the grid, which buses have loads among it, is public.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from attrs import frozen

from discreet.constraints.hidden.distance_ask import CheckedDistance
from discreet.core.exact import Number
from discreet.ledger.budget import Allotment
from discreet.power.plan import LoadPlan, plan_loads
from discreet.power.release import HiddenLoads
from discreet.power.schema import PublicGrid
from discreet.query.ask import Ask, option
from discreet.query.forms import AMOUNT

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
class CheckedLoads(CheckedDistance[HiddenLoads]):
    """Loads to be hidden."""

    nouns: ClassVar[str] = "loads"
    made: ClassVar[Any] = HiddenLoads
    about: PublicGrid
    ask: LoadsAsk

    def planned(self, allotment: Allotment, epsilon: Fraction, confidence: float) -> LoadPlan:
        """The loads at an epsilon."""
        return plan_loads(self.about, self.ask, allotment, epsilon, confidence)
