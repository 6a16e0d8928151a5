"""The clone reduction, computed: how well two counts tell which of two answers one person gave.

Every other report is, with some probability, a draw from one of two laws that one's own report is made of: a clone.
With C clones the crowd shows A + X and C - A + 1 - X, where A is Binomial(C, 1/2) and X is heads with odds
e^epsilon : 1 or 1 : e^epsilon. Proof, and what is rounded where: docs/proofs/shuffle.md.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["clones_delta"]

Floats = NDArray[np.float64]
_CELLS = 64  # numbers of clones are taken together in so many groups, each at its smallest
_TAIL = 1e-30
_SLACK = 1e-7  # above every rounding here for n up to 10^12: see the proof note


def clones_delta(local: Fraction, n: int, epsilon: Fraction, *, strong: bool) -> Fraction:
    """A bound from above on delta at `epsilon` of `n` shuffled reports of `local` epsilon.

    A report is a clone with probability e^-local; with `strong`, 2/(e^local + 1).
    """
    first, target = float(local), float(epsilon)
    share = 2 / (math.exp(first) + 1) if strong else math.exp(-first)
    share *= 1 - 1e-12  # fewer clones are less private, so from below
    others = n - 1
    mean, spread = others * share, math.sqrt(others * share * (1 - share))
    reach = 12 * spread + 60
    low, high = max(0, math.floor(mean - reach)), min(others, math.ceil(mean + reach))
    edges = np.unique(np.linspace(low, high + 1, min(_CELLS, high - low + 1) + 1).astype(np.int64))
    masses = _masses(others, share, np.arange(low, high + 1, dtype=np.float64)) if others else np.ones(1)
    sums = np.add.reduceat(masses, (edges[:-1] - low).clip(0, len(masses) - 1))
    total = _TAIL * 2 + 1e-300
    for edge, mass in zip(edges[:-1], sums, strict=True):
        if mass > 0:
            total += float(mass) * (1 + _SLACK) * _given(int(edge) + 1, first, target)
    return min(Fraction(1), Fraction(total * (1 + _SLACK)))


def _given(total: int, local: float, epsilon: float) -> float:
    """delta when `total` reports are one's own and clones, from above.

    Of a reports of the first kind, one's own included, the two answers have probabilities proportional to
    Binomial(total, 1/2)(a) times e^local a + total - a, and a + e^local (total - a).
    """
    odds, factor = math.exp(local), math.exp(epsilon)
    cut = (factor * odds - 1) / ((odds - 1) * (1 + factor)) * total  # from here on the first answer is likelier
    first = max(0, math.floor(cut))
    last = min(total, math.ceil(max(cut, total / 2) + 12 * math.sqrt(total) / 2 + 60))
    counts = np.arange(first, last + 1, dtype=np.float64)
    gain = (odds * counts + total - counts) - factor * (counts + odds * (total - counts))
    # Rounding of the difference is relative to its terms; where it may be of either sign it is taken as positive.
    gain = np.maximum(gain, 0) + 2.0**-48 * total * odds * factor * (gain > -(2.0**-40) * total)
    law = _masses(total, 0.5, counts)
    return min(1.0, float((law * gain).sum()) * 2 / (total * (odds + 1)) * (1 + _SLACK) + _TAIL)


def _masses(total: int, share: float, counts: Floats) -> Floats:
    """Binomial probabilities, in Loader's form: no large logarithms cancel, so few digits are lost."""
    rest = total - counts
    inside = (counts > 0) & (rest > 0)
    k, r = np.where(inside, counts, 1.0), np.where(inside, rest, 1.0)
    off = np.where(inside, k - total * share, 0.0)
    # k ln(k / (total share)) + r ln(r / (total (1 - share))), with k = total share + off.
    apart = -k * np.log1p(-off / k) - r * np.log1p(off / r)
    root = 0.5 * np.log(total / (2 * math.pi * k * r))
    logs = root - apart + _stirling(np.array([float(total)]))[0] - _stirling(k) - _stirling(r)
    with np.errstate(divide="ignore"):
        none, every = total * np.log1p(-share), total * np.log(share)
    return np.asarray(np.exp(np.where(inside, logs, np.where(counts > 0, every, none))))


_FACTORIALS = np.array(
    [0.0] + [math.lgamma(i + 1) - (i * math.log(i) - i + 0.5 * math.log(2 * math.pi * i)) for i in range(1, 32)]
)


def _stirling(x: Floats) -> Floats:
    """ln x! - (x ln x - x + ln(2 pi x)/2) for x >= 1: a table for small x, Stirling's series for large."""
    inverse = 1 / x
    series = inverse / 12 * (1 - inverse**2 / 30 * (1 - inverse**2 * 2 / 7))
    return np.where(x < 32, _FACTORIALS[np.minimum(x, 31).astype(np.int64)], series)
