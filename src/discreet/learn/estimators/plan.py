"""A fit as a priced job: what its caller pays, the noise that buys, and what the door charges, runs and records."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Literal

from discreet.accounting.concentrated import epsilon_of_zcdp
from discreet.accounting.words import readable
from discreet.core.exact import Number, as_written, sqrt_up
from discreet.core.integers import largest
from discreet.core.loss import ZCDP, Approx, Loss, Pure
from discreet.core.mechanism import Bits
from discreet.core.unit import Unit
from discreet.core.wire import Json, canonical, loss_to_json
from discreet.errors import InputError, Phrase
from discreet.learn.estimators.rows import Rows
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise.parameters import LARGEST, SMALLEST

__all__ = ["Claim", "FitPlan", "FitPrice", "Noise", "Privacy", "claim_text", "read_claim", "read_price"]

Noise = Gaussian | Laplace
Claim = Pure | Approx | ZCDP

_STEPS = 10**12  # rho is a multiple of 1/_STEPS


@dataclass(frozen=True, slots=True, eq=False)
class FitPlan:
    """Everything private about a fit: `measured(rows, bits)` returns what the fit may know, as plain values.

    Guarantee
        Costs `cost` for each row added or removed if `measured` does. What an estimator makes of the result afterwards
        is post-processing. Proof: docs/proofs/estimators.md.
    """

    kind: ClassVar[str] = "fit"
    version: ClassVar[int] = 1
    estimator: str
    settings: dict[str, Any]
    cost: Loss
    mechanism: str
    dataset: str
    measured: Callable[[Rows, Bits | None], dict[str, Any]]

    @property
    def unit(self) -> Unit:
        """What is protected: one row, added or removed."""
        return Unit()

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content: dict[str, Json] = {"dataset": self.dataset, "query": self.query}
        return hashlib.sha256(canonical(content).encode()).hexdigest()

    @property
    def query(self) -> dict[str, Json]:
        """The settings as plain values, for the record."""
        return {"fit": self.estimator, "settings": self.settings, "cost": loss_to_json(self.cost)}

    def measure(self, data: Rows, bits: Bits) -> dict[str, Any]:
        """Called by the one door only."""
        return self.measured(data, bits)

    def publish(self, measured: dict[str, Any]) -> dict[str, Any]:
        """As it was measured: what a fit makes of it is worked out by the estimator."""
        return measured


@dataclass(frozen=True, slots=True)
class FitPrice:
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
    """What one fit gives away, in words and numbers. Other fits on the same rows, and what looked at them before (a
    scaler in a pipeline), come on top."""

    loss: Loss
    claim: Claim
    release: str | None
    """The id on the ledger, if a ledger was charged."""

    def __str__(self) -> str:
        where = "" if self.release is None else f", on the ledger as {self.release}"
        return f"{claim_text(self.claim)} for each row added or removed, for this fit alone{where}"


def claim_text(claim: Claim) -> str:
    """A claim in words."""
    match claim:
        case Pure(epsilon):
            return f"epsilon = {readable(epsilon)}"
        case Approx(epsilon, delta):
            return f"epsilon = {readable(epsilon)} at delta = {readable(delta)}"
        case ZCDP(rho, _):
            return f"rho = {readable(rho)} (zCDP)"


def read_price(epsilon: Number | None, delta: Number | None, rho: Number | None) -> FitPrice:
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
        return FitPrice("rho", _positive(rho, "rho"), missed)
    target = _positive(epsilon, "epsilon")
    return FitPrice("rho", _largest_rho(target, missed), missed) if missed else FitPrice("epsilon", target)


def read_claim(price: FitPrice) -> Claim:
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
