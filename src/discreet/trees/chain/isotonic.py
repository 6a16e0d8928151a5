"""Counts that never rise from one cell to the next: the nearest such numbers, whole or real.

Pooling adjacent violators: where a number is larger than the one before it, the two are replaced by their mean, and so
on until none is. Real numbers go through SciPy's compiled routine, whole ones through exact integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.trees.rules import NO_BOUND

__all__ = ["isotonic", "order_bounds", "ordered"]

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

_REACH = 2.0**33
"""How far apart the rows of one pass may be spread: leaves 2**-20 of precision for the numbers themselves."""


def isotonic(
    values: Sequence[int],
    weights: Sequence[int] | None = None,
    lower: Sequence[int] | None = None,
    upper: Sequence[int] | None = None,
) -> Array:
    """The whole numbers x_0 >= x_1 >= ... nearest to `values`: sum of weights * (x - values)^2 is least, exactly.

    `lower` and `upper` bound each number. The optimum over whole numbers is the optimum over real ones, rounded
    (docs/proofs/hierarchy-chain.md); a half is rounded down, so of two optima the smaller is returned.

    >>> isotonic([7, 9, 2, 3, -1], lower=[0] * 5).tolist()
    [8, 8, 2, 2, 0]
    """
    targets = [int(value) for value in values]
    counted = [1] * len(targets) if weights is None else [int(weight) for weight in weights]
    given_lower = np.full(len(targets), -NO_BOUND) if lower is None else np.asarray(lower)
    given_upper = np.full(len(targets), NO_BOUND) if upper is None else np.asarray(upper)
    for field, length in (("weights", len(counted)), ("lower", len(given_lower)), ("upper", len(given_upper))):
        if length != len(targets):
            raise InputError(field, Phrase(f"{length:,} numbers"), f"one for each value, {len(targets):,}")
    if any(weight <= 0 for weight in counted):
        raise InputError("weights", min(counted), "whole numbers above zero")
    lows, highs = order_bounds(given_lower[None, :], given_upper[None, :])
    if (lows > highs).any():
        place = int(np.argwhere(lows > highs)[0, 1])
        bounds = f"at least {int(lows[0, place]):,} and at most {int(highs[0, place]):,} at place {place}"
        raise InputError("bounds", bounds, "such that numbers that never rise can meet them")
    low, high = lows[0].tolist(), highs[0].tolist()
    # Blocks of equal numbers: [sum of weight * value, sum of weights, largest lower, smallest upper bound, length].
    blocks: list[list[int]] = []
    for place, (value, weight) in enumerate(zip(targets, counted, strict=True)):
        block = [weight * value, weight, low[place], high[place], 1]
        while blocks and _above(block, blocks[-1]):
            before = blocks.pop()
            block = [
                before[0] + block[0],
                before[1] + block[1],
                max(before[2], block[2]),
                min(before[3], block[3]),
                before[4] + block[4],
            ]
        blocks.append(block)
    found = np.empty(len(targets), np.int64)
    start = 0
    for total, weight, least, most, length in blocks:
        nearest = -((weight - 2 * total) // (2 * weight))  # ceil(total / weight - 1/2)
        found[start : start + length] = min(max(nearest, least), most)
        start += length
    return found


def _above(block: list[int], before: list[int]) -> bool:
    """Whether the best number for `block`, within its bounds, is above the best one for the block before it."""
    # Clipped means total / weight, compared without dividing: a fraction (numerator, denominator) each.
    top, under = _clipped(block), _clipped(before)
    return top[0] * under[1] > under[0] * top[1]


def _clipped(block: list[int]) -> tuple[int, int]:
    total, weight, least, most, _ = block
    if total < least * weight:
        return least, 1
    if total > most * weight:
        return most, 1
    return total, weight


def order_bounds(lower: Any, upper: Any) -> tuple[Array, Array]:
    """The bounds that order adds to bounds, row by row: what a later cell needs, an earlier one needs too."""
    lows = np.maximum.accumulate(np.asarray(lower, np.int64)[:, ::-1], axis=1)[:, ::-1]
    highs = np.minimum.accumulate(np.asarray(upper, np.int64), axis=1)
    return lows, highs


def ordered(values: Floats) -> Floats:
    """For each row the nearest real numbers that never rise and are not negative."""
    from scipy.optimize import isotonic_regression

    rows, cells = values.shape
    spread = float(values.max() - values.min()) + 1.0
    together = max(1, min(rows, int(_REACH / spread)))
    found = np.empty_like(values)
    for start in range(0, rows, together):
        part = values[start : start + together]
        # Rows laid end to end, each moved down so far that no number of it meets one of the row before: then the
        # order between rows holds by itself and one pass orders them all.
        offsets = spread * np.arange(len(part), 0, -1)[:, None]
        joined = isotonic_regression((part + offsets).ravel(), increasing=False).x
        found[start : start + together] = joined.reshape(len(part), cells) - offsets
    return np.maximum(found, 0.0)
