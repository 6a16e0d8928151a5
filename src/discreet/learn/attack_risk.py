"""What an attack on a trained model could gain at most: from the price, before anyone has tried.

Whoever guesses whether a unit was in the training data has detections and false alarms; the privacy curve bounds the
first by the second. Proof: docs/proofs/tradeoff.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.accounting.pld import COARSE, privacy_loss
from discreet.accounting.tradeoff import advantage
from discreet.accounting.words import percent
from discreet.core.loss import Approx, Loss
from discreet.errors import LossError

__all__ = ["AttackRisk"]

_FALSE_ALARMS = (Fraction(1, 100), Fraction(1, 1000))
_EPSILONS = tuple(step / 8 for step in range(81))


@dataclass(frozen=True, slots=True)
class AttackRisk:
    """The most that any membership attack gains: its advantage, and what share of members it finds at few false alarms.

    Guarantee
        Of no attack, whatever it knows of the others in the data, are detections minus false alarms more than
        `advantage`, or detections more than `found[i]` at a rate of false alarms of `false_alarms[i]`. All are rounded
        up. It is about one unit, added or removed.
    """

    advantage: Fraction
    false_alarms: tuple[Fraction, ...]
    found: tuple[Fraction, ...]

    @classmethod
    def of(
        cls,
        epsilon: Fraction,
        delta: Fraction,
        loss: Loss | None = None,
        false_alarms: Sequence[Fraction] = _FALSE_ALARMS,
    ) -> AttackRisk:
        """From a claim, and from the whole loss behind it where it is known, which says more."""
        curve = [(float(epsilon), Fraction(delta))]
        best = advantage(Approx(epsilon, delta))
        if loss is not None:
            curve += _curve(loss)
            best = min([best, *(missed for at, missed in curve if at == 0)])
        found = tuple(min(Fraction(1), *(_found(rate, at, missed) for at, missed in curve)) for rate in false_alarms)
        return cls(best, tuple(false_alarms), found)

    def text(self) -> str:
        """For the model card."""
        shown = [
            f"{percent(share, 3, 'up')} of members at {percent(rate)} false alarms"
            for rate, share in zip(self.false_alarms, self.found, strict=True)
        ]
        right = percent((1 + self.advantage) / 2, 3, "up")
        return (
            f"whoever guesses at 50:50 who was in the data is right at most {right} of the time; "
            f"finds at most {', '.join(shown)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, in percent as they are shown."""
        rates = [percent(rate) for rate in self.false_alarms]
        shares = [percent(share, 3, "up") for share in self.found]
        return {
            "advantage_at_most": percent(self.advantage, 3, "up"),
            "found_at_most": dict(zip(rates, shares, strict=True)),
        }


def _found(rate: Fraction, epsilon: float, delta: Fraction) -> Fraction:
    """The most detections at a rate of false alarms, by one line of the privacy curve and by its mirror image."""
    steep = Fraction(math.exp(min(epsilon, 700.0))) * rate + delta
    flat = 1 - Fraction(math.exp(-epsilon)) * (1 - delta - rate)
    return min(steep, flat) * (1 + Fraction(1, 10**12)) + Fraction(1, 10**15)


@lru_cache(maxsize=64)
def _curve(loss: Loss) -> list[tuple[float, Fraction]]:
    """Epsilons and the deltas that go with them, by the privacy loss distribution on a coarse grid, rounded up."""
    try:
        distribution = privacy_loss(loss, COARSE)
    except LossError:
        return []
    return [(epsilon, Fraction(distribution.delta(Fraction(epsilon)))) for epsilon in _EPSILONS]
