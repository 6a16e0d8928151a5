"""How far two answers' laws are apart in all, mechanism by mechanism, and what a crowd hides because of it.

A mechanism of ratio e^epsilon is bounded in a crowd as if its two laws were as far apart as that ratio allows. Most are
nearer: two marks of a hundred differ, and half the time a report says nothing about either. Their total variation is a
fraction that follows from the law, and a smaller one hides more. Proof: docs/proofs/shuffle.md, "By total variation".
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.local.binomial import TAIL, binomial_masses
from discreet.local.duchi import Duchi
from discreet.local.grr import GRR
from discreet.local.hadamard import Hadamard
from discreet.local.olh import OLH
from discreet.local.subset import Subset
from discreet.local.unary import OUE, SUE

__all__ = ["total_variations", "variation_delta"]

Floats = NDArray[np.float64]
_SLACK = 1e-7  # above every rounding here: see the proof note
_EXACT = 1e-10  # of the tails of a binomial law, relative
_MOST = 1e7  # clones up to which tails are as exact as that


def total_variations(mechanism: Any) -> tuple[Fraction, ...] | None:
    """The total variation between the laws of two different answers: one for each sort of pair. None: not known here.

    >>> total_variations(GRR.coin())
    (Fraction(1, 2),)
    """
    match mechanism:
        case GRR() | OUE() | SUE():
            return (mechanism.hit - mechanism.miss,)
        case Duchi():  # the answer moved to an end by chance, then two coins
            return ((mechanism.ratio - 1) / (mechanism.ratio + 1),)
        case OLH():  # where the key tells the two apart
            other = (1 - mechanism.hit) / (mechanism.buckets - 1)
            return ((1 - mechanism.miss) * (mechanism.hit - other),)
        case Subset():  # sets with one of the two and not the other
            k, s, ratio = mechanism.categories, mechanism.size, mechanism.ratio
            total = ratio * math.comb(k - 1, s - 1) + math.comb(k - 1, s)
            return ((ratio - 1) * math.comb(k - 2, s - 1) / total,)
        case Hadamard():  # two rows of a block differ in half their places, of two blocks in all
            half, mates = mechanism.length // 2, min(mechanism.length - 1, mechanism.categories)
            weight = (mechanism.ratio - 1) / (half * mechanism.ratio + mechanism.reports - half)
            near = (weight * half / 2,) if mates > 1 else ()
            return (*near, weight * half) if mechanism.blocks > 1 else near
    return None


def variation_delta(ratio: Fraction, variation: Fraction, n: int, epsilon: Fraction) -> Fraction:
    """A bound from above on delta at `epsilon` of `n` shuffled reports whose laws differ by `ratio` and `variation`."""
    p, factor = float(ratio), math.exp(float(epsilon))
    alpha = float(variation / (ratio - 1))
    share, others = 2 * alpha * (1 - 1e-12), n - 1  # fewer clones are less private
    if others * share > _MOST:
        return Fraction(1)
    told = min(1.0, alpha * (p + 1) * (1 + 1e-12))  # the chance that one's own report is of either kind
    mean, spread = others * share, math.sqrt(others * share * (1 - share))
    reach = 12 * spread + 60
    clones = np.arange(max(0, math.floor(mean - reach)), min(others, math.ceil(mean + reach)) + 1, dtype=np.float64)
    masses = binomial_masses(others, share, clones) if others else np.ones(1)
    total = clones + 1  # reports of either kind, one's own among them
    instead = _instead(others, share, (1 - told) / p, clones)
    slope, low = (p - 1) * (1 + factor), 1 - factor * p
    lost = (factor - 1) * (1 - told) * instead
    cut = (-low * total + lost * total * (p + 1) / (2 * told)) / slope
    best = np.zeros_like(total)
    for step in (0, 1, 2):  # the sum from its first positive term on, wherever rounding puts that
        start = np.clip(np.floor(cut) + step, 0, total + 1)
        every, fewer = _tail(start, total), _tail(start - 1, total - 1)
        gain = 2 * told / (total * (p + 1)) * (slope * total / 2 * fewer + low * total * every) - lost * every
        best = np.maximum(best, gain + _EXACT * 4 * p * factor * every)
    return min(Fraction(1), Fraction(float(masses @ best) * (1 + _SLACK) + 4 * TAIL))


def _instead(others: int, share: float, third: float, clones: Floats) -> Floats:
    """How much likelier it is that one's own report is of the third kind and there is a clone more of the first two.

    Others are clones of the third kind with probability `third`. The more of them there are, the more is hidden; they
    are taken to be as few as they are once in 10^30.
    """
    if third <= 0 or share >= 1:
        return np.zeros_like(clones)
    chance = min(1.0, third / (1 - share))
    mean = (others - clones) * chance
    fewest = np.maximum(0, np.floor(mean - 12 * np.sqrt(mean * (1 - chance)) - 60))
    return np.asarray(share * fewest / (third * (clones + 1)))


def _tail(start: Floats, total: Floats) -> Floats:
    """The probability that of `total` fair coins at least `start` are heads."""
    from scipy.special import betainc  # dp-accounting brings it

    inside = (start > 0) & (start <= total)
    safe, size = np.where(inside, start, 1.0), np.where(inside, total, 1.0)
    return np.where(inside, betainc(safe, size - safe + 1, 0.5), (start <= 0) * 1.0)
