"""Wide tables: a few hidden factors that all columns lean on, found in all pairs at once.

Of a hundred columns there are 4,950 pairs. Each of them is mostly noise, and no tree holds them. But laid out as one
matrix, a line and a column for every code, what the pairs have beyond independence has few directions, and noise has
all of them: the largest eigenvalues stand clear of it, and their number is how many factors can be told.

The model gives each of some hundred kinds of row a place z by chance, and there every column a distribution of its own,
with probabilities in proportion to exp(b + z A). Directions A start at the eigenvectors and are moved, by gradients,
until the pairs of the mixture come near to the noisy ones: a few numbers for each code, so noise is hardly followed.
Everything here works on what was measured, and is free.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.noise.replay import uniforms
from discreet.synth.descent import Target
from discreet.synth.junction import Floats
from discreet.synth.sample import CODE, Codes, deal

__all__ = ["Factors", "fit_factors"]

_KINDS = 512
_MOST = 12  # factors
_CLEAR = 1.1  # how far above the edge of the noise an eigenvalue must be
_FILLS = 4  # rounds in which what was not measured is filled in by what was found
_STEPS, _PACE = 60, 0.03
_LEVEL = 20  # rounds in which single columns are made what they were
_SLOW, _SLOWER, _TINY = 0.9, 0.99, 1e-8  # Adam's
_RARE = 0.02  # of all rows: rarer codes are moved less, or noise would move them most
_LEAST = 1e-6  # of all rows: what any code still weighs


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """A mixture: for every kind of row and every column the codes' probabilities, kinds in lines."""

    tables: tuple[Floats, ...]
    many: int
    """How many factors there are."""

    def rows(self, count: int, bits: Bits) -> Codes:
        """So many rows, about as many of each kind, every column dealt by itself."""
        kind = np.arange(count) * len(self.tables[0]) // max(count, 1)
        return np.stack([deal(table, kind, bits).astype(CODE) for table in self.tables], axis=1)


def fit_factors(shares: Sequence[Floats], pairs: Sequence[Target], total: float, bits: Bits) -> Factors:
    """The factors that noisy pairs of columns show; `shares` are those of single columns' codes."""
    sizes = [len(one) for one in shares]
    alone = [np.maximum(one, _LEAST) / np.maximum(one, _LEAST).sum() for one in shares]
    flat = np.concatenate(alone)
    excess, known = _laid_out(sizes, flat, pairs, total)
    noise = math.sqrt(max(float(np.mean([np.mean(one.variance) for one in pairs])), 1e-12)) / total
    directions = _directions(excess, known, noise)
    many = directions.shape[1]
    if many == 0:
        return Factors(tuple(one[None] for one in alone), 0)
    places = _scattered(many, bits)
    starts = np.r_[0, np.cumsum(sizes)[:-1]]
    found = _moved(directions.T / (flat + _RARE), places, flat, excess, known, starts)
    return Factors(tuple(np.split(found, starts[1:], axis=1)), many)


def _laid_out(
    sizes: Sequence[int], flat: Floats, pairs: Sequence[Target], total: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """What pairs have beyond independence, as one symmetric matrix of shares; and where it was measured."""
    ends = np.cumsum(sizes)
    parts = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    excess, known = np.zeros((len(flat), len(flat))), np.zeros((len(flat), len(flat)), dtype=bool)
    for target in pairs:
        one, two = (parts[column] for column in target.columns)
        off = target.values / total - np.outer(flat[one], flat[two])
        # Single columns were measured better: what a pair says of them is taken out.
        off -= off.mean(axis=0, keepdims=True) + off.mean(axis=1, keepdims=True) - off.mean()
        excess[one, two], excess[two, one] = off, off.T
        known[one, two] = known[two, one] = True
    return excess, known


def _directions(excess: Floats, known: NDArray[np.bool_], noise: float) -> Floats:
    """Eigenvectors that stand clear of noise, as long as the square root of what noise leaves of their eigenvalues.

    Noise of deviation s in a symmetric matrix of size D has eigenvalues up to 2 s sqrt(D), and makes t of a true t into
    t + s^2 D / t, in a direction of which the part 1 - s^2 D / t^2 is right.
    """
    variance = noise**2 * known.mean() * len(excess)
    edge = 2 * math.sqrt(variance)
    filled = excess
    found = np.zeros((len(excess), 0))
    for _ in range(_FILLS):
        values, vectors = np.linalg.eigh(filled)
        kept = np.flatnonzero(values > _CLEAR * edge)[::-1][:_MOST]
        seen = values[kept]
        true = (seen + np.sqrt(seen**2 - edge**2)) / 2
        found = vectors[:, kept] * np.sqrt(np.maximum(true - variance / true, 0.0))
        filled = np.where(known, excess, found @ found.T)
    return found


def _scattered(many: int, bits: Bits) -> Floats:
    """Normal places for the kinds of row, each with its mirror image, of unit variance and uncorrelated."""
    half = _KINDS // 2
    first, second = uniforms(bits, 2 * half * many).reshape(2, half, many)
    normal = np.sqrt(-2 * np.log(1 - first)) * np.cos(2 * math.pi * second)
    both = np.concatenate([normal, -normal])
    values, vectors = np.linalg.eigh(both.T @ both / len(both))
    return np.asarray(both @ (vectors / np.sqrt(np.maximum(values, _LEAST))) @ vectors.T)


def _moved(
    directions: Floats,
    places: Floats,
    flat: Floats,
    excess: Floats,
    known: NDArray[np.bool_],
    starts: NDArray[np.int64],
) -> Floats:
    """The kinds' distributions after Adam moved the directions; single columns are kept as they are."""
    level = np.log(flat)
    target = np.where(known, excess + np.outer(flat, flat), 0.0)
    slow, slower = np.zeros_like(directions), np.zeros_like(directions)
    sizes = np.diff(np.r_[starts, len(flat)])

    def shares(rounds: int) -> Floats:
        nonlocal level
        for _ in range(rounds):
            heights = level + places @ directions
            heights -= np.repeat(np.maximum.reduceat(heights, starts, axis=1), sizes, axis=1)
            table = np.exp(heights)
            table /= np.repeat(np.add.reduceat(table, starts, axis=1), sizes, axis=1)
            level = level + np.log(flat / np.maximum(table.mean(axis=0), _LEAST))
        return table

    for step in range(1, _STEPS + 1):
        table = shares(2)
        off = np.where(known, table.T @ table / len(table) - target, 0.0)
        pull = table @ off
        pull -= np.repeat(np.add.reduceat(table * pull, starts, axis=1), sizes, axis=1)
        slope = places.T @ (table * pull) / len(table)
        slope /= flat + _RARE  # rare codes answer less, and are moved as far
        slow += (1 - _SLOW) * (slope - slow)
        slower += (1 - _SLOWER) * (float(np.mean(slope**2)) - slower)
        pace = _PACE * (1 - step / (_STEPS + 1))
        directions = directions - pace * (slow / (1 - _SLOW**step)) / (np.sqrt(slower / (1 - _SLOWER**step)) + _TINY)
    return shares(_LEVEL)
