"""What a fit may cost, as its caller states it, and the noise that a part of it buys."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from discreet.accounting.concentrated import epsilon_of_zcdp
from discreet.accounting.words import readable
from discreet.core.exact import Number, as_written, sqrt_up
from discreet.core.integers import largest
from discreet.core.loss import ZCDP, Approx, Loss, Pure
from discreet.errors import InputError, Phrase
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise.parameters import LARGEST, SMALLEST

__all__ = ["Claim", "Noise", "Price", "Privacy", "read_claim", "read_price"]

Noise = Gaussian | Laplace
Claim = Pure | Approx | ZCDP

_STEPS = 10**12  # rho is a multiple of 1/_STEPS


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a whole fit, counted in `epsilon` (pure, Laplace noise) or `rho` (zCDP, Gaussian noise)."""

    currency: Literal["epsilon", "rho"]
    amount: Fraction
    delta: Fraction = Fraction(0)
    """Where an (epsilon, delta) was asked for: the delta at which epsilon is stated."""

    @property
    def cost(self) -> Loss:
        """What the ledger is charged."""
        return Pure(self.amount) if self.currency == "epsilon" else ZCDP(self.amount)

    @property
    def field(self) -> str:
        """The parameter to raise when noise is too much."""
        return "rho" if self.currency == "rho" and not self.delta else "epsilon"

    def noise(self, share: Fraction, *, l1: int, l2_squared: int) -> Noise:
        """The noise on a vector of integers that one unit moves by at most `l1`, and in squares by `l2_squared`.

        Guarantee
            Costs `share` of the amount. Laplace: scale = l1 / (share * epsilon). Gaussian: sigma^2 is at least
            l2_squared / (2 * share * rho). Both need the norms only. Proof: docs/proofs/estimators.md.
        """
        paid = share * self.amount
        if self.currency == "epsilon":
            scale = l1 / paid
            self._in_reach(scale)
            return Laplace(max(scale, SMALLEST))
        sigma = sqrt_up(l2_squared / (2 * paid))
        self._in_reach(sigma)
        return Gaussian(max(sigma, SMALLEST))

    def _in_reach(self, scale: Fraction) -> None:
        if scale > LARGEST:
            least = float(self.amount) * float(scale / LARGEST) ** (1 if self.currency == "epsilon" else 2)
            hint = f"Try {self.currency} = {least:.2g} or more."
            if self.field != self.currency:
                hint = f"It buys rho = {float(self.amount):.2g} at this delta, and {least:.2g} is needed: raise either."
            raise InputError(
                self.field, Phrase(f"{float(self.amount):.3g}"), "large enough for noise below 2**40 steps", hint
            )


@dataclass(frozen=True, slots=True)
class Privacy:
    """What a fitted estimator gives away, in words and numbers."""

    loss: Loss
    claim: Claim
    release: str | None
    """The id on the ledger, if a ledger was charged."""

    def __str__(self) -> str:
        match self.claim:
            case Pure(epsilon):
                text = f"epsilon = {readable(epsilon)}"
            case Approx(epsilon, delta):
                text = f"epsilon = {readable(epsilon)} at delta = {readable(delta)}"
            case ZCDP(rho, _):
                text = f"rho = {readable(rho)} (zCDP)"
        where = "" if self.release is None else f", on the ledger as {self.release}"
        return f"{text} for each row added or removed{where}"


def read_price(epsilon: Number | None, delta: Number | None, rho: Number | None) -> Price:
    """`epsilon` alone is pure; `epsilon` and `delta`, or `rho`, buy Gaussian noise.

    >>> read_price(1, None, None).currency, float(read_price(1, 1e-5, None).amount)
    ('epsilon', 0.0305...)
    """
    if (epsilon is None) == (rho is None):
        hint = "Such as epsilon=1 (pure), epsilon=1 with delta=1e-6, or rho=0.05 (zCDP)."
        raise InputError("epsilon", epsilon, "given if rho is not, and left out if it is", hint)
    missed = Fraction(0) if delta is None else as_written(delta, "delta")
    if not 0 <= missed < 1:
        raise InputError("delta", delta, "at least 0 and less than 1", "Choose it well below 1 / (number of rows).")
    if rho is not None:
        return Price("rho", _positive(rho, "rho"), missed)
    target = _positive(epsilon, "epsilon")
    return Price("rho", _largest_rho(target, missed), missed) if missed else Price("epsilon", target)


def read_claim(price: Price) -> Claim:
    """The price as people state it."""
    if price.currency == "epsilon":
        return Pure(price.amount)
    if price.delta:
        return Approx(epsilon_of_zcdp(price.amount, price.delta), price.delta)
    return ZCDP(price.amount)


def _positive(value: Number | None, field: str) -> Fraction:
    number = as_written(value if value is not None else "", field)
    if number <= 0:
        raise InputError(field, value, "more than zero")
    return number


@lru_cache(maxsize=256)
def _largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest multiple of 1/_STEPS whose epsilon at `delta` is checked to be within `epsilon`."""

    def fits(steps: int) -> bool:
        return epsilon_of_zcdp(Fraction(steps, _STEPS), delta) <= epsilon

    steps = largest(fits)
    if steps == 0:
        raise InputError("epsilon", epsilon, "larger: at this delta its noise drowns everything")
    return Fraction(steps, _STEPS)
