"""Differencing: two harmless counts whose difference is one person."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.mechanisms import Laplace

__all__ = ["Difference", "differencing"]


@dataclass(frozen=True, slots=True)
class Difference:
    """How often two counts, one of everybody and one of everybody but the target, told the target's secret."""

    people: int
    targets: int
    right_exact: float
    right_noisy: float
    epsilon: float
    best: float
    """What no attack on epsilon-private answers beats on average, for bits that are even odds: e^eps / (1 + e^eps)."""

    def explain(self) -> str:
        """In words."""
        return (
            f"'How many have it' and 'how many besides this one have it', over {self.people:,} people: exact counts "
            f"tell the secret of {self.right_exact:.1%} of {self.targets:,} targets. Both counts under a budget of "
            f"epsilon = {self.epsilon:g}: {self.right_noisy:.1%} are guessed right, where coin flips get 50% and no "
            f"attack is sure to get more than {self.best:.1%}."
        )

    def __str__(self) -> str:
        return self.explain()


def differencing(
    secret: NDArray[np.bool_], epsilon: float, *, targets: int | None = None, bits: Bits | None = None
) -> Difference:
    """Attack the first `targets` people of a column of secret bits, each by two counts.

    Guarantee of the noisy answers, for each target: epsilon-private for one person's bit, half of it for each count.
    """
    bit = np.asarray(secret, dtype=bool)
    if bit.ndim != 1 or len(bit) < 2:
        raise InputError("secret", Phrase(f"shape {bit.shape}"), "a column of at least two bits")
    if not 0 < epsilon < float("inf"):
        raise InputError("epsilon", epsilon, "more than zero")
    many = len(bit) if targets is None else targets
    if not 1 <= many <= len(bit):
        raise InputError("targets", targets, f"a whole number from 1 to {len(bit):,}")
    noise = Laplace(2 / Fraction(epsilon))
    total = np.full(many, bit.sum(), dtype=np.int64)
    without = total - bit[:many]
    gap = noise.release(total, bits=bits) - noise.release(without, bits=bits)
    guess = np.where(gap == 0, np.arange(many) % 2 == 0, gap > 0)  # a tie is decided by nothing at all
    return Difference(
        len(bit),
        many,
        float(((total - without) == bit[:many]).mean()),
        float((guess == bit[:many]).mean()),
        float(epsilon),
        float(np.exp(epsilon) / (1 + np.exp(epsilon))),
    )
