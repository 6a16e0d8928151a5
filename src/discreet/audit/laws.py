"""What a pair of neighbours can show at most, from the exact laws of both outputs: to choose pairs by.

An audit sees no more than its pair of neighbours shows. Where the law of the output can be written down, how much that
is follows without a run: the loss of the pair, and what a number of runs is expected to prove of it. In floating point:
pairs are chosen by it, nothing is decided.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.audit.intervals import lower
from discreet.mechanisms import NoisyMax, SparseVector, TopK
from discreet.noise.choice import Gaps, pick_law

__all__ = ["best_pair", "expected", "noisy_max_law", "reachable", "sparse_vector_law", "top_k_law"]

Reals = NDArray[np.float64]
Data = TypeVar("Data")

_FAR = 60  # scales of noise: e^-60 is nothing
_EVENTS = 12  # intervals among which an audit divides its chance of being wrong


def reachable(inside: ArrayLike, outside: ArrayLike, delta: float = 0.0) -> float:
    """The loss of two laws over the same outputs: the least epsilon that is true of both directions, at this delta.

    >>> round(reachable([0.75, 0.25], [0.25, 0.75]), 4)
    1.0986
    """
    p, q = np.asarray(inside, dtype=np.float64), np.asarray(outside, dtype=np.float64)
    if delta == 0:
        some = (p > 0) | (q > 0)
        with np.errstate(divide="ignore"):
            return float(np.abs(np.log(p[some]) - np.log(q[some])).max())

    def excess(epsilon: float) -> float:
        steep = math.exp(epsilon)
        return float(max(np.maximum(p - steep * q, 0).sum(), np.maximum(q - steep * p, 0).sum()))

    low, high = 0.0, 100.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > delta else (low, middle)
    return high


def expected(inside: ArrayLike, outside: ArrayLike, runs: int, miss: float, delta: float = 0.0) -> float:
    """About the bound on epsilon that an audit finds with `runs` runs a side to judge by, if it looks at the best set.

    The best set for a number of false alarms is one of the likeliest outputs (Neyman and Pearson).
    """
    best, z = 0.0, -NormalDist().inv_cdf(miss / _EVENTS / 2)
    for one, other in ((inside, outside), (outside, inside)):
        p, q = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
        order = np.argsort(-(p + 1e-300) / (q + 1e-300), kind="stable")
        hits, alarms = np.cumsum(p[order])[:-1], np.cumsum(q[order])[:-1]
        detected, alarmed = lower(hits * runs, runs, z), 1 - lower((1 - alarms) * runs, runs, z)
        with np.errstate(divide="ignore", invalid="ignore"):
            straight = np.log(np.maximum(detected - delta, 1e-300) / alarmed)
            opposite = np.log(np.maximum(1 - delta - alarmed, 1e-300) / np.maximum(1 - detected, 1e-300))
        best = max(best, float(np.maximum(straight, opposite).max(initial=0.0)))
    return best


def best_pair(
    pairs: Iterable[tuple[Data, Data]], law: Callable[[Data], ArrayLike], runs: int, miss: float, delta: float = 0.0
) -> tuple[Data, Data]:
    """Of pairs of neighbours the one that so many runs are expected to prove most of."""
    return max(pairs, key=lambda pair: expected(law(pair[0]), law(pair[1]), runs, miss, delta))


def noisy_max_law(mechanism: NoisyMax, scores: Sequence[int]) -> Reals:
    """How likely `NoisyMax` selects each score: the lowest index wins ties."""
    span = _grid(mechanism.scale, max(scores) - min(scores)) + int(np.mean(scores))
    masses = [_masses(mechanism.scale, span - score) for score in scores]
    upto = [np.cumsum(mass) for mass in masses]
    chances = []
    for place, mass in enumerate(masses):
        for other, (below, own) in enumerate(zip(upto, masses, strict=True)):
            if other != place:
                mass = mass * (below - own if other < place else below)
        chances.append(mass.sum())
    return np.array(chances)


def sparse_vector_law(mechanism: SparseVector, values: Sequence[int]) -> Reals:
    """How likely a session gives each sequence of answers to these values, in the order of binary numbers.

    After the last yes the answers are no, as `release_many` has them.
    """
    level = mechanism.threshold + _grid(mechanism.threshold_scale, 0)
    weight = _masses(mechanism.threshold_scale, level - mechanism.threshold)
    above = [_at_least(mechanism.value_scale, level - value) for value in values]
    chances = []
    for answers in itertools.product((False, True), repeat=len(values)):
        chance, left = weight.copy(), mechanism.count
        for yes, each in zip(answers, above, strict=True):
            if left:
                chance = chance * (each if yes else 1 - each)
            elif yes:
                chance = chance * 0
            left -= yes
        chances.append(chance.sum())
    return np.array(chances)


def top_k_law(mechanism: TopK, scores: Sequence[int]) -> Reals:
    """How likely `TopK` selects each list of different indices, in the order of `itertools.permutations`."""
    exact, chances = np.array(scores), []
    for chosen in itertools.permutations(range(len(scores)), mechanism.k):
        chance, left = 1.0, list(range(len(scores)))
        for index in chosen:
            chance *= pick_law(Gaps(exact[left], mechanism.rate))[left.index(index)]
            left.remove(index)
        chances.append(chance)
    return np.array(chances)


def _grid(scale: Fraction, more: int) -> NDArray[np.int64]:
    reach = int(_FAR * scale) + abs(more) + 2
    return np.arange(-reach, reach + 1)


def _masses(scale: Fraction, at: NDArray[np.int64]) -> Reals:
    """Of the discrete Laplace law."""
    rate = 1 / float(scale)
    return np.asarray(math.tanh(rate / 2) * np.exp(-rate * np.abs(at)))


def _at_least(scale: Fraction, at: NDArray[np.int64]) -> Reals:
    """P[noise >= at]."""
    rate = 1 / float(scale)
    right = np.exp(-rate * np.maximum(at, 0)) / (1 + math.exp(-rate))
    left = 1 - np.exp(-rate * np.maximum(1 - at, 0)) / (1 + math.exp(-rate))
    return np.asarray(np.where(at > 0, right, left))
