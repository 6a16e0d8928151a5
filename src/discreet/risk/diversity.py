"""What a class gives away about its members: how many secrets it holds, and how far they are from everybody's."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.risk.classes import Classes
from discreet.risk.records import Coded

__all__ = ["Diversity", "diversity"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Diversity:
    """One sensitive column, over classes of rows that look alike.

    `distinct`: the fewest different values in a class (distinct l-diversity). `entropy`: the least exp(entropy) of a
    class (entropy l-diversity). `closeness`: the largest distance of a class's distribution from everybody's
    (t-closeness), by half the sum of differences for names and by the earth mover's distance for ordered values.
    `told`: rows in classes with a single value: who finds the class knows the secret.
    """

    column: str
    distinct: int
    entropy: float
    closeness: float
    told: int


def diversity(name: str, secret: Coded, classes: Classes) -> Diversity:
    """Measure one sensitive column. Time and memory grow with the rows, not with classes times values."""
    pair, counts = np.unique(classes.of * secret.size + secret.codes, return_counts=True)
    which, value = np.divmod(pair, secret.size)
    many = len(classes.sizes)
    share = counts / classes.sizes[which]
    distinct = np.bincount(which, minlength=many)
    entropy = np.bincount(which, weights=-share * np.log(share), minlength=many)
    everybody = np.bincount(secret.codes, minlength=secret.size) / len(secret.codes)
    far = _ordered if secret.ordered and secret.size > 1 else _named
    return Diversity(
        name,
        int(distinct.min()),
        math.exp(float(entropy.min())),
        float(far(which, value, share, everybody, many).max()),
        int(classes.sizes[distinct == 1].sum()),
    )


def _named(which: NDArray[np.int64], value: NDArray[np.int64], share: Floats, everybody: Floats, many: int) -> Floats:
    """Half the sum of |p - q|, which is the sum of p - q where p is larger: so values a class lacks do not matter."""
    over = np.maximum(share - everybody[value], 0)
    return np.asarray(np.bincount(which, weights=over, minlength=many), dtype=np.float64)


def _ordered(which: NDArray[np.int64], value: NDArray[np.int64], share: Floats, everybody: Floats, many: int) -> Floats:
    """The sum of |P - Q| over cumulative shares, divided by the steps there are.

    Between two values that a class has, P is constant and Q rises: it crosses P once, at a place found by bisection,
    and both sides follow from sums of Q. The stretch before a class's first value has P = 0.
    """
    steps = len(everybody) - 1
    level = np.cumsum(everybody)[:-1]  # Q after each value but the last, where both are 1
    sums = np.concatenate([[0.0], np.cumsum(level)])
    start = np.flatnonzero(np.concatenate([[True], which[1:] != which[:-1]]))
    running = np.cumsum(share)
    before = np.concatenate([[0.0], running])[start]
    reached = running - np.repeat(before, np.diff(np.concatenate([start, [len(which)]])))
    end = np.minimum(np.concatenate([value[1:], [steps]]), steps)
    last = np.concatenate([which[1:] != which[:-1], [True]])
    end[last] = steps
    first = np.minimum(value, steps)
    cross = np.clip(np.searchsorted(level, reached), first, end)
    gap = reached * (cross - first) - (sums[cross] - sums[first]) + (sums[end] - sums[cross]) - reached * (end - cross)
    total = np.bincount(which, weights=gap, minlength=many)
    total += sums[first[start]]  # P = 0 up to the first value
    return np.asarray(total / steps)
