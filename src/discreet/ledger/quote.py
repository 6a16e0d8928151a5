"""A price beside what is left of the allotment that pays it: for whoever is about to spend."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from discreet.accounting.calibrate import epsilon_for_rho
from discreet.accounting.concentrated import epsilon_of_zcdp
from discreet.accounting.words import readable
from discreet.core.loss import Loss
from discreet.ledger.budget import Allotment, Charge
from discreet.ledger.pure_sum import counts_both, epsilon_of

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger

__all__ = ["Quote", "price_text", "quote_loss"]


def price_text(allotment: Allotment, charge: Charge, direction: Literal["up", "down"] = "up") -> str:
    """An amount in the currency of an allotment, rounded away from the promise."""
    text = f"{allotment.currency} = {readable(charge.amount, direction=direction)}"
    if charge.delta:
        text += f", delta = {readable(charge.delta, direction=direction)}"
    return text


@dataclass(frozen=True, slots=True)
class Quote:
    """What a job costs, and what is left now and after."""

    allotment: Allotment
    charge: Charge
    left: Charge
    pure: Fraction | None = None
    """The epsilon left after it by the plain sum, where that covers it and rho does not."""

    @property
    def cost(self) -> str:
        """The price in words."""
        return price_text(self.allotment, self.charge)

    @property
    def price(self) -> dict[str, float]:
        """The price in numbers: epsilon and delta, or rho and the epsilon that it is at the delta of the allotment."""
        amount, delta = self.charge.amount, self.charge.delta
        if self.allotment.currency != "rho":
            return {"epsilon": float(amount)} | ({"delta": float(delta)} if delta else {})
        rest = self.allotment.delta - self.allotment.cap.delta  # what failures are not kept for
        if rest <= 0:
            return {"rho": float(amount)} | ({"delta": float(delta)} if delta else {})
        return {"rho": float(amount), "epsilon": float(epsilon_of_zcdp(amount, rest)), "delta": float(rest + delta)}

    @property
    def remaining(self) -> str:
        """What is left now, in words."""
        return price_text(self.allotment, self.left, "down")

    @property
    def fits(self) -> bool:
        """Whether what is left covers it."""
        return self.charge.within(self.left) or self.pure is not None

    @property
    def after(self) -> Charge:
        """What is left once it is paid, if it can be."""
        return self.charge.left_of(self.left) if self.fits else self.left

    def lines(self) -> list[str]:
        """For people."""
        lines = [f"Cost: {self.cost} from allotment {self.allotment.name!r}."]
        if self.allotment.currency == "rho" and self.charge.amount:
            epsilon = readable(epsilon_for_rho(self.charge.amount), digits=4, direction="near")
            lines.append(f"  As much as a release of pure epsilon = {epsilon} costs here.")
        if self.pure is not None:
            rest = f"epsilon = {readable(self.pure, direction='down')}"
            return [*lines, f"Left: {self.remaining}; it is paid by the plain sum of pure epsilons, {rest} after."]
        if self.fits:
            after = price_text(self.allotment, self.after, "down")
            return [*lines, f"Left: {self.remaining} now, {after} after."]
        return [*lines, f"Left: {self.remaining}: not enough, this plan would be refused."]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "allotment": self.allotment.name,
            "currency": self.allotment.currency,
            "cost": float(self.charge.amount),
            "delta": float(self.charge.delta),
            "exact_cost": str(self.charge.amount),
            "fits": self.fits,
        }


def quote_loss(ledger: Ledger, dataset: str, part: Allotment, charge: Charge, loss: Loss) -> Quote:
    """The quote for a loss: by rho or, where that does not cover it, by the plain sum of epsilons."""
    left = ledger.remaining(dataset, part.name)
    if not charge.within(left) and counts_both(part):
        rest, epsilon = ledger.pure_left(dataset, part.name), epsilon_of(loss)
        if rest is not None and epsilon is not None and epsilon <= rest:
            return Quote(part, charge, left, rest - epsilon)
    return Quote(part, charge, left)
