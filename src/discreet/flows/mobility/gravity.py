"""What noisy cells say once it is known about how large they should be: empirical Bayes, post-processing only.

A model gives every cell a size m (a share of its row times a share of its column, say). True counts are m times an
unknown factor; how factors are spread is learned from the noisy cells themselves, by maximum likelihood over all
distributions on a grid of factors, one for each range of sizes, drawn a little towards what all have in common.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import Gaussian, Laplace

__all__ = ["Posterior", "posterior"]

Floats = NDArray[np.float64]
Noise = Laplace | Gaussian

_FACTORS: Floats = np.concatenate([[0.0], 1.6 ** np.arange(-6, 25)])  # edges; factors are even between neighbours
_WIDER: Floats = np.concatenate([1.6 ** np.arange(-24, -6), _FACTORS[1:]])  # the same beside an atom at zero
_SMALLEST = 0.05  # sizes below this are taken for it
_MEMBERS = 400  # cells in a range of sizes, at least
_SHARED = 30.0  # so many cells is what all ranges have in common worth in each
_LEARNED = 100_000  # cells that are learned from, at most
_STEPS = 40
_AT_ONCE = 1 << 16
_LEAST = 1e-300


@dataclass(frozen=True, slots=True)
class Posterior:
    """What is known of the true count behind each noisy one."""

    mean: Floats
    variance: Floats
    median: Floats


def posterior(noisy: NDArray[np.int64], sizes: Floats, noise: Noise, *, atom: bool = False) -> Posterior:
    """Mean, variance and median of the true count behind each noisy one. Takes noisy and modelled numbers only.

    With an `atom`, a count is zero with a chance of its own, else at least a half, over a wider grid: for cells that
    are large where they are not empty.
    """
    size = np.maximum(sizes, _SMALLEST)
    ranges = _ranges(size)
    weights = _learned(noisy, size, ranges, noise, atom)
    mean, variance, median = (np.empty(len(size)) for _ in range(3))
    for start in range(0, len(size), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        likely, first, second = _moments(noisy[part], size[part], noise, atom)
        mass = weights[ranges[part]]
        chance = likely * mass
        total = np.maximum(chance.sum(axis=1), _LEAST)
        stray = (first * mass).sum(axis=1) / total
        mean[part] = np.maximum(noisy[part] - stray, 0.0)
        variance[part] = np.maximum((second * mass).sum(axis=1) / total - stray**2, 1e-3)
        median[part] = _median(noisy[part], _edges(size[part], atom), chance, mass, noise, atom)
    return Posterior(mean, variance, median)


def _ranges(size: Floats) -> NDArray[np.intp]:
    """Which range of sizes each cell is in: about a factor of two wide, and never with few members."""
    order = np.argsort(size, kind="stable")
    logs = np.log2(size[order])
    found = np.empty(len(size), dtype=np.intp)
    start, number = 0, 0
    while start < len(size):
        end = max(int(np.searchsorted(logs, logs[start] + 1)), start + _MEMBERS)
        end = len(size) if len(size) - end < _MEMBERS else end
        found[order[start:end]] = number
        start, number = end, number + 1
    return found


def _learned(noisy: NDArray[np.int64], size: Floats, ranges: NDArray[np.intp], noise: Noise, atom: bool) -> Floats:
    """The weight of every factor in every range, by expectation maximisation."""
    every = -(-len(size) // _LEARNED)
    chosen = np.argsort(ranges, kind="stable")[::every]
    likely = np.maximum(_moments(noisy[chosen], size[chosen], noise, atom)[0], _LEAST)
    common = np.full(likely.shape[1], 1 / likely.shape[1])
    for _ in range(_STEPS):
        common *= (likely / (likely @ common)[:, None]).mean(axis=0)
    weights = np.tile(common, (int(ranges.max()) + 1, 1))
    for number in range(len(weights)):
        inside = likely[ranges[chosen] == number]
        for _ in range(_STEPS):
            found = weights[number] * (inside / (inside @ weights[number])[:, None]).sum(axis=0)
            weights[number] = (found + _SHARED * common) / (len(inside) + _SHARED)
    return weights


def _edges(size: Floats, atom: bool) -> Floats:
    """Between which counts a factor is even, for every cell."""
    return np.maximum(size[:, None] * _WIDER, 0.5) if atom else size[:, None] * _FACTORS


def _moments(noisy: NDArray[np.int64], size: Floats, noise: Noise, atom: bool) -> tuple[Floats, Floats, Floats]:
    """Of noise that leads from a count even between neighbouring factors to `noisy`: density, first, second moment.

    With an atom, its probability stands first: that of noise between half a count below and above.
    """
    edges, seen = _edges(size, atom), noisy[:, None].astype(np.float64)
    below = [_up_to(noise, seen - edges, power) for power in range(3)]
    width = np.diff(edges, axis=1)
    there = width > 0  # factors of less than half a count say nothing
    none, first, second = (np.where(there, -np.diff(part, axis=1) / np.where(there, width, 1.0), 0.0) for part in below)
    none = np.maximum(none, 0.0)
    if not atom:
        return none, first, second
    zero = _up_to(noise, seen + 0.5, 0) - _up_to(noise, seen - 0.5, 0)
    return np.hstack([zero, none]), np.hstack([zero * seen, first]), np.hstack([zero * seen**2, second])


def _median(noisy: NDArray[np.int64], edges: Floats, chance: Floats, mass: Floats, noise: Noise, atom: bool) -> Floats:
    """The count that the truth is as likely above as below."""
    seen, total = noisy.astype(np.float64), chance.sum(axis=1)
    up_to = np.cumsum(chance, axis=1)
    bin_of = (up_to >= total[:, None] / 2).argmax(axis=1)
    cell, start = np.arange(len(seen)), np.maximum(bin_of - int(atom), 0)
    low, high = edges[cell, start], edges[cell, start + 1]
    before = up_to[cell, bin_of] - chance[cell, bin_of]
    missing = (total / 2 - before) * (high - low) / np.maximum(mass[cell, bin_of], _LEAST)
    within = np.clip(seen - _quantile(noise, _up_to(noise, seen - low, 0) - missing), low, high)
    within = np.where(bin_of < int(atom), 0.0, within)
    return np.where(total > _LEAST, within, np.maximum(seen, 0.0))  # beyond every factor: what was measured


def _quantile(noise: Noise, p: Floats) -> Floats:
    """Where the noise, as if it were continuous, is below with probability p."""
    p = np.clip(p, _LEAST, 1 - 1e-16)
    match noise:
        case Laplace(scale=scale):
            tail = np.log(2 * np.minimum(p, 1 - p))
            return np.asarray(float(scale) * np.where(p < 0.5, tail, -tail), dtype=np.float64)
        case Gaussian(sigma=sigma):
            from scipy.special import ndtri

            return np.asarray(float(sigma) * ndtri(p), dtype=np.float64)


def _up_to(noise: Noise, t: Floats, power: int) -> Floats:
    """The integral of x^power times the density of the noise, as if it were continuous, up to t."""
    match noise:
        case Laplace(scale=scale):
            b = float(scale)
            tail = np.exp(-np.abs(t) / b) / 2
            if power == 0:
                return np.where(t < 0, tail, 1 - tail)
            if power == 1:
                return -(np.abs(t) + b) * tail
            square = (t * t + 2 * b * np.abs(t) + 2 * b * b) * tail
            return np.where(t < 0, square, 2 * b * b - square)
        case Gaussian(sigma=sigma):
            from scipy.special import ndtr

            s = float(sigma)
            density = np.exp(-((t / s) ** 2) / 2) / (s * math.sqrt(2 * math.pi))
            if power == 0:
                return np.asarray(ndtr(t / s))
            return -s * s * density if power == 1 else s * s * (np.asarray(ndtr(t / s)) - t * density)
