"""The privacy loss distribution: how much an output gives away, and how often.

For outputs P on one dataset and Q on its neighbour, the loss of an output o is ln(P(o)/Q(o)), and o is drawn from P.
Its distribution says everything there is to say: `delta(epsilon)` is the part of it above epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.words import readable
from discreet.core.exact import Number, as_written, exactly, round_up
from discreet.errors import InputError, LossError, Phrase

__all__ = ["PrivacyLoss", "Side"]

Reals = NDArray[np.float64]

_GRID = 10**9
_ROUNDING = 2.0**-46  # what the rounding of a sum or a transform may hide of a total probability of one


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One direction (a unit removed, or added): `losses` in rising order, their `probabilities`, and `infinity`, the
    probability of an output that the neighbour can never give."""

    losses: Reals
    probabilities: Reals
    infinity: float

    def delta(self, epsilon: float) -> float:
        """infinity + the sum of (1 - e^(epsilon - loss)) over losses above epsilon."""
        first = int(np.searchsorted(self.losses, epsilon, side="right"))
        gain = -np.expm1(epsilon - self.losses[first:])
        return self.infinity + float(gain @ self.probabilities[first:])

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon >= 0 with delta(epsilon) <= delta; infinity when there is none."""
        if self.infinity > delta:
            return math.inf
        if self.delta(0.0) <= delta:
            return 0.0
        low, high = int(np.searchsorted(self.losses, 0.0, side="right")) - 1, len(self.losses) - 1
        while high - low > 1:  # delta is above the target at `low` (or at zero), not above it at `high`
            middle = (low + high) // 2
            low, high = (middle, high) if self.delta(float(self.losses[middle])) > delta else (low, middle)
        # Between two losses the curve is upper - e^(epsilon - loss) lower.
        upper = self.infinity + float(self.probabilities[high:].sum())
        lower = float(np.exp(self.losses[high] - self.losses[high:]) @ self.probabilities[high:])
        return min(float(self.losses[high]), float(self.losses[high]) + math.log((upper - delta) / lower))


@dataclass(frozen=True, slots=True, eq=False)
class PrivacyLoss:
    """The privacy loss distribution of a plan, in both directions, never below the true one.

    `remove` and `add` hold arrays ready to plot. `margin` is added to every delta: it covers the rounding of floating
    point. Guarantee: `delta(epsilon)` and `epsilon(delta)` are upper bounds, up to that margin's own argument in
    docs/proofs/composition.md.

    >>> coin = PrivacyLoss.of([0.75, 0.25], [0.25, 0.75])
    >>> round(float(coin.epsilon(0)), 6), round(float(coin.delta(0)), 6)
    (1.098612, 0.5)
    """

    remove: Side
    add: Side
    margin: float = _ROUNDING

    @classmethod
    def of(cls, p: Sequence[Number] | NDArray[Any], q: Sequence[Number] | NDArray[Any]) -> PrivacyLoss:
        """From the output probabilities of a mechanism on a dataset (`p`) and on its neighbour (`q`)."""
        first, second = _probabilities(p, "p"), _probabilities(q, "q")
        if len(first) != len(second):
            raise InputError("q", Phrase(f"{len(second)} probabilities"), f"as long as p, {len(first)} probabilities")
        return cls(_side(first, second), _side(second, first), margin=0.0)

    def delta(self, epsilon: Number) -> Fraction:
        """The delta at `epsilon`, from above."""
        wanted = as_written(epsilon, "epsilon")
        at = math.nextafter(float(wanted), -math.inf)
        worst = max(self.remove.delta(at), self.add.delta(at)) * (1 + 1e-12) + self.margin
        return min(Fraction(1), Fraction(worst))

    def epsilon(self, delta: Number) -> Fraction:
        """The smallest epsilon at `delta`, from above, to within 1e-9."""
        wanted = as_written(delta, "delta")
        left = float(wanted) * (1 - 1e-12) - self.margin if wanted else 0.0
        if left < 0 or (wanted == 0 and self.margin > 0):
            raise LossError(
                f"A privacy loss distribution in floating point says nothing at a delta of {readable(wanted)}: "
                f"its rounding alone is {readable(self.margin)}. Use zcdp or pure claims there."
            )
        worst = max(self.remove.epsilon(left), self.add.epsilon(left))
        if math.isinf(worst):
            lost = max(self.remove.infinity, self.add.infinity)
            raise LossError(
                f"Outputs that reveal everything have probability {readable(lost)}, above the requested delta."
            )
        return round_up(Fraction(worst) * (1 + Fraction(1, 10**12)), _GRID)

    def sentence(self, delta: Number = Fraction(1, 10**6)) -> str:
        """What the distribution means, in one line."""
        wanted = as_written(delta, "delta")
        bound = self.epsilon(wanted)
        factor = readable(math.exp(min(float(bound), 700.0)), 3)
        return (
            f"Whatever is released, its chance is at most {factor} times what it would be without a person's data, "
            f"plus {readable(wanted)} (epsilon {readable(bound)})."
        )


def _probabilities(values: Sequence[Number] | NDArray[Any], field: str) -> list[Fraction]:
    numbers = [exactly(value, field) for value in (values.tolist() if isinstance(values, np.ndarray) else values)]
    total = sum(numbers, Fraction(0))
    if not numbers or min(numbers) < 0 or abs(total - 1) > Fraction(1, 10**9):
        raise InputError(
            field, Phrase(f"{len(numbers)} numbers that sum to {float(total):.6g}"), "probabilities that sum to 1"
        )
    return [number / total for number in numbers]


def _side(upper: list[Fraction], lower: list[Fraction]) -> Side:
    pairs = [(_log(p / q), float(p)) for p, q in zip(upper, lower, strict=True) if p and q]
    pairs.sort()
    infinity = float(sum((p for p, q in zip(upper, lower, strict=True) if not q), Fraction(0)))
    losses = np.array([loss for loss, _ in pairs], dtype=np.float64)
    return Side(losses, np.array([p for _, p in pairs], dtype=np.float64), infinity)


def _log(ratio: Fraction) -> float:
    """ln(ratio), a little above."""
    value = math.log(ratio.numerator) - math.log(ratio.denominator)
    size = math.log(ratio.numerator) + math.log(ratio.denominator) + 1  # what the difference was taken from
    return value + size * 2.0**-50 if ratio != 1 else 0.0
