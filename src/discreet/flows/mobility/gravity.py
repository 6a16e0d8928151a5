"""What noisy cells say once it is known about how large they should be: empirical Bayes, post-processing only.

A model gives every cell a size m (a share of its row times a share of its column, say). True counts are m times an
unknown factor; how factors are spread is learned from the noisy cells themselves, by maximum likelihood over all
distributions on a grid of factors, one for each range of sizes, drawn a little towards what all have in common.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import Gaussian, Laplace

__all__ = ["posterior"]

Floats = NDArray[np.float64]
Noise = Laplace | Gaussian

_FACTORS: Floats = np.concatenate([[0.0], 1.6 ** np.arange(-6, 25)])  # edges; factors are even between neighbours
_SMALLEST = 0.05  # sizes below this are taken for it
_MEMBERS = 400  # cells in a range of sizes, at least
_SHARED = 30.0  # so many cells is what all ranges have in common worth in each
_LEARNED = 100_000  # cells that are learned from, at most
_STEPS = 40
_AT_ONCE = 1 << 16
_LEAST = 1e-300


def posterior(noisy: NDArray[np.int64], sizes: Floats, noise: Noise) -> tuple[Floats, Floats]:
    """Mean and variance of the true count behind each noisy one. Takes noisy and modelled numbers only."""
    size = np.maximum(sizes, _SMALLEST)
    ranges = _ranges(size)
    weights = _learned(noisy, size, ranges, noise)
    mean, variance = np.empty(len(size)), np.empty(len(size))
    for start in range(0, len(size), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        likely, first, second = _moments(noisy[part], size[part], noise)
        mass = weights[ranges[part]]
        total = np.maximum((likely * mass).sum(axis=1), _LEAST)
        stray = (first * mass).sum(axis=1) / total
        mean[part] = np.maximum(noisy[part] - stray, 0.0)
        variance[part] = np.maximum((second * mass).sum(axis=1) / total - stray**2, 1e-3)
    return mean, variance


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


def _learned(noisy: NDArray[np.int64], size: Floats, ranges: NDArray[np.intp], noise: Noise) -> Floats:
    """The weight of every factor in every range, by expectation maximisation."""
    every = -(-len(size) // _LEARNED)
    chosen = np.argsort(ranges, kind="stable")[::every]
    likely = np.maximum(_moments(noisy[chosen], size[chosen], noise)[0], _LEAST)
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


def _moments(noisy: NDArray[np.int64], size: Floats, noise: Noise) -> tuple[Floats, Floats, Floats]:
    """Of noise that leads from a count even between neighbouring factors to `noisy`: density, first, second moment."""
    edges = size[:, None] * _FACTORS
    below = [_up_to(noise, noisy[:, None] - edges, power) for power in range(3)]
    width = np.diff(edges, axis=1)
    none, first, second = (-np.diff(part, axis=1) / width for part in below)
    return np.maximum(none, 0.0), first, second


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
