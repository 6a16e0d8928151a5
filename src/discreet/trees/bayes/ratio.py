"""What to expect behind noisy totals whose size was guessed: how far true totals stray from the guess, as a ratio.

True total = guess x ratio. The spread of ratios is learned from all regions of a level under the known noise, one
distribution for each class of guesses, all drawn towards what they have in common. In terms of ratios a few thousand
regions show a narrow spread even where noise is wider than the totals; in terms of totals they would not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["ratio_moments"]

Reals = NDArray[np.float64]

_EDGES = np.concatenate([[0.0], np.exp(np.linspace(-3, 3, 41)), np.exp([3.5, 4, 5, 6, 8])])
_SMALL = 1.0  # guesses below this are taken for this
_CLASS = 500  # regions from which on a class of guesses has a spread of its own
_CLASSES = 8
_PSEUDO = 100.0  # how many observations the spread over all classes counts for
_ENOUGH = 20_000  # more regions than this teach little more: every so many-th is looked at
_STEPS = 60
_BLOCK = 1 << 14
_TINY = 1e-200


def ratio_moments(noisy: Reals, variance: Reals, guess: Reals) -> tuple[Reals, Reals]:
    """Mean and variance of the true totals behind `noisy`, whose noise is nearly normal; all (regions,).

    >>> noisy, guess = np.array([90.0, 210.0, 28.0] * 200), np.array([100.0, 200.0, 30.0] * 200)
    >>> mean, variance = ratio_moments(noisy, np.full(600, 10000.0), guess)  # noise alone explains what is off
    >>> bool((abs(mean - guess) < 0.15 * guess).all())
    True
    """
    base, deviation = np.maximum(guess, _SMALL), np.sqrt(np.maximum(variance, 1e-6))
    classes = int(np.clip(len(base) // _CLASS, 1, _CLASSES))
    cuts = np.quantile(base, np.arange(1, classes) / classes)
    kind = np.searchsorted(cuts, base, "right")
    weights = _spreads(noisy, deviation, base, kind, classes)
    mean, spread = np.empty_like(base), np.empty_like(base)
    for start in range(0, len(base), _BLOCK):
        part = slice(start, start + _BLOCK)
        likely, first, second = _intervals(noisy[part], deviation[part], base[part])
        posterior = likely * weights[kind[part]]
        posterior /= posterior.sum(axis=1, keepdims=True)
        mean[part] = (posterior * first).sum(axis=1)
        spread[part] = (posterior * second).sum(axis=1) - mean[part] ** 2
    return mean, np.maximum(spread, 0.0)


def _spreads(noisy: Reals, deviation: Reals, base: Reals, kind: NDArray[np.intp], classes: int) -> Reals:
    """The most likely distribution of ratios of every class: expectation maximisation, all together first."""
    some = slice(None, None, 1 + len(base) // _ENOUGH)
    likely, _, _ = _intervals(noisy[some], deviation[some], base[some])
    here = kind[some]
    # Ratios near one are likelier beforehand; nothing is impossible.
    start = np.append(1.0, 1 / (1 + np.abs(np.log(np.maximum(_EDGES[1:], 0.03)))))
    whole = _climb(likely, start / start.sum(), 1.0)
    if classes == 1:
        return whole[None, :]
    return np.stack([_climb(likely[here == one], whole, _PSEUDO) for one in range(classes)])


def _climb(likely: Reals, start: Reals, pseudo: float) -> Reals:
    weights = start.copy()
    for _ in range(_STEPS):
        weights = weights * (likely.T @ (1 / (likely @ weights))) + pseudo * start
        weights /= weights.sum()
    return weights


def _intervals(noisy: Reals, deviation: Reals, base: Reals) -> tuple[Reals, Reals, Reals]:
    """For a total of nothing, then for ratios between two edges: likelihood, and mean and mean square of the total."""
    from scipy.special import ndtr

    ends = (base[:, None] * _EDGES - noisy[:, None]) / deviation[:, None]
    low, high = ends[:, :-1], ends[:, 1:]
    above = low > 0  # upper tails are differences of lower ones: nothing is lost
    mass = np.where(above, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    dense = np.exp(-0.5 * np.minimum(ends**2, 1400.0)) / np.sqrt(2 * np.pi)
    safe = mass > 1e-12
    nearest = np.where(above, low, np.minimum(high, 0.0))
    divisor = np.where(safe, mass, 1.0)
    first = np.where(safe, (dense[:, :-1] - dense[:, 1:]) / divisor, nearest)
    bent = 1 + (np.clip(low, -40, 40) * dense[:, :-1] - np.clip(high, -40, 40) * dense[:, 1:]) / divisor
    second = np.where(safe, bent, nearest**2)
    mean = noisy[:, None] + deviation[:, None] * first
    square = noisy[:, None] ** 2 + 2 * noisy[:, None] * deviation[:, None] * first + deviation[:, None] ** 2 * second
    width = high - low
    likely = np.empty((len(base), len(_EDGES)))
    likely[:, 0] = dense[:, 0]
    likely[:, 1:] = mass / width
    likely += _TINY
    nothing = np.zeros((len(base), 1))
    return likely, np.hstack([nothing, mean]), np.hstack([nothing, square])
