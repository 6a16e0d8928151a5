"""The least error any way of scrambling can have: what the mechanisms here are measured against."""

from __future__ import annotations

import math

from discreet.core.exact import Number
from discreet.errors import InputError
from discreet.local.ratio import read_epsilon
from discreet.mechanisms.inputs import read_count

__all__ = ["limit"]

_MOST, _LARGEST = 2**32, 300  # squares of both stay far inside floating point


def limit(categories: int, epsilon: Number) -> float:
    """n times the mean squared error of a frequency that no mechanism beats when respondents are many (Ye and Barg).

    For people spread evenly over the categories, the worst case; the respondents are fixed, as in `Oracle.variance`.

    >>> round(limit(2, epsilon=1), 3), round(limit(100, epsilon=1), 2)
    (0.921, 3.6)
    """
    k, budget = read_count(categories, "categories", least=2), read_epsilon(epsilon)
    if k > _MOST or budget > _LARGEST:
        raise InputError("categories", categories, f"at most 2**32, with an epsilon of at most {_LARGEST}")
    odds = math.exp(budget)
    near = math.floor(k / (odds + 1))
    best = min(_risk(k, odds, size) for size in {max(1, near), min(k - 1, near + 1)})
    return best - (1 - 1 / k) / k


def _risk(k: int, odds: float, size: int) -> float:
    return (k - 1) ** 2 / (k * (odds - 1)) ** 2 * (size * odds + k - size) ** 2 / (size * (k - size))
