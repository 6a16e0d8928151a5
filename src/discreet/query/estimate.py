"""From noisy measures to published numbers, each with an interval. Pure post-processing: no private value comes here.

A count or a sum errs by its noise alone, whose half-width is known exactly. A mean, a variance or a standard deviation
is a function of several noisy measures; what its true value may be is found by taking fresh draws of the very same
noise away from the measures and computing it again, many times. For a mean this is Fieller's interval, which covers
exactly; docs/proofs/query.md has the argument, tests/query/test_estimate.py the measured coverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.data.schema import Schema
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise.replay import Replay, key_of
from discreet.query.aggregate import ENDLESS, Additive, Aggregate, Derived
from discreet.query.known_rows import NoNoise

__all__ = ["Estimate", "estimate", "linear_step"]

Noise = Laplace | Gaussian | NoNoise
Floats = NDArray[np.float64]

_DRAWS = 4000
_AT_ONCE = 4_000_000  # numbers in memory at a time


@dataclass(frozen=True, slots=True)
class Estimate:
    """One output over all groups. The value lies within its interval; where nothing is known, all three are NaN."""

    value: NDArray[np.int64] | Floats
    lower: NDArray[np.int64] | Floats
    upper: NDArray[np.int64] | Floats


def linear_step(aggregate: Aggregate, schema: Schema) -> float | None:
    """The size of one lattice step of an output whose error is its noise alone; None for the others."""
    return aggregate.step(schema) if isinstance(aggregate, Additive) else None


def estimate(
    aggregate: Aggregate,
    schema: Schema,
    noisy: Sequence[NDArray[np.int64]],
    noises: Sequence[Noise],
    confidence: float,
) -> Estimate:
    """Values and intervals of one output, from its noisy measures and the noise that is on them."""
    if isinstance(aggregate, Derived):
        return _simulated(aggregate, schema, noisy, noises, confidence)
    if not isinstance(aggregate, Additive):
        raise TypeError(f"{type(aggregate).__name__} is neither additive nor derived")
    half = noises[0].error(confidence)
    steps = [noisy[0], noisy[0] - half, noisy[0] + half]  # below zero, too: cut there, counts would not add up
    if (ends := aggregate.extent(schema)) != (None, None):
        steps = [np.clip(numbers, *ends) for numbers in steps]
    if aggregate.whole(schema):
        return Estimate(*steps)
    return Estimate(*(numbers.astype(np.float64) * aggregate.step(schema) for numbers in steps))


def _simulated(
    aggregate: Derived,
    schema: Schema,
    noisy: Sequence[NDArray[np.int64]],
    noises: Sequence[Noise],
    confidence: float,
) -> Estimate:
    groups = len(noisy[0])
    draws = _DRAWS if groups <= 20_000 else _DRAWS // 4
    zeros = np.zeros(draws, dtype=np.int64)
    # One set of draws serves all groups: each interval is right for itself. They follow from what was measured, so that
    # published again it has the same intervals.
    bits = Replay(key_of([measure.astype(np.float64) for measure in noisy], "intervals"))
    strays = [noise.release(zeros, bits=bits).astype(np.float64) for noise in noises]
    # Noise adds its variance to the square of a noisy sum; taking a draw away adds it once more.
    excess = [noise.variance for noise in noises]
    twice = [2 * variance for variance in excess]
    plain = [measure.astype(np.float64) for measure in noisy]
    value = aggregate.corrected(schema, plain, excess)
    lower, upper = np.empty(groups), np.empty(groups)
    held = confidence if aggregate.tail == 1 else 1 - (1 - confidence) * aggregate.tail
    tails = ((1 - held) / 2, (1 + held) / 2)
    floor, ceiling = aggregate.extent(schema)
    size = max(1, _AT_ONCE // draws)
    for start in range(0, groups, size):
        part = slice(start, start + size)
        truths = [measure[part, None].astype(np.float64) - stray for measure, stray in zip(noisy, strays, strict=True)]
        possible = aggregate.corrected(schema, truths, twice)
        # Where the group may as well be empty its mean may be anything: such draws count on both sides.
        blank = aggregate.undefined(schema, truths, twice)
        lower[part] = _quantile(np.where(blank, floor, possible), tails[0])
        upper[part] = _quantile(np.where(blank, ceiling, possible), tails[1])
    unknown = (lower <= floor) & (upper >= ceiling)  # all that was declared: nothing is known
    if ceiling >= ENDLESS:  # one end or the other is nowhere: draws on both sides of infinity
        unknown = (lower < -ENDLESS / 2**20) | (upper > ENDLESS / 2**20)
    off = aggregate.rounding(schema, plain, excess)
    lower, upper = aggregate.widened(schema, np.minimum(lower, value) - off, np.maximum(upper, value) + off)
    lower, upper = np.maximum(lower, floor), np.minimum(upper, ceiling)
    return Estimate(*(np.where(unknown, np.nan, numbers) for numbers in (value, lower, upper)))


def _quantile(rows: Floats, tail: float) -> Floats:
    """What `np.quantile` says of each row, by sorting it: numpy sorts several times as fast as it parts."""
    ordered = np.sort(rows, axis=1)
    at = (ordered.shape[1] - 1) * tail
    index = min(int(at), ordered.shape[1] - 2)
    share, left, right = at - index, ordered[:, index], ordered[:, index + 1]
    found = right - (right - left) * (1 - share) if share >= 0.5 else left + (right - left) * share
    return np.where(np.isnan(ordered[:, -1]), np.nan, found)
