"""Where the rows are, roughly: a box cut in two again and again, each time along its widest spread, under noise.

At every level each box gives out a noisy count and noisy sums of its rows' coordinates and their squares, measured from
the box's own middle in units of its own half widths, so noise shrinks with the boxes. What came out says where to cut.
A row is in one box of a level, so a level costs as much as one box. Proof: docs/proofs/estimators.md, "Cells".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.lattice import Lattice
from discreet.learn.estimators.box import Floats
from discreet.learn.estimators.price import Noise, Price
from discreet.learn.estimators.till import Till, room

__all__ = ["Cells", "cell_noise", "cells"]

_EXPONENT = -10
_UNIT = 2**10
_LATTICE = Lattice(-1, 1, _EXPONENT)
_CLEAR = 6.0  # a box is cut while its count is so many times the noise
_EDGE = 0.9  # cuts stay this far inside


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Boxes that were not cut: how many rows each holds, where they are, how spread. All noisy, all public."""

    counts: Floats
    centres: Floats
    spreads: Floats
    """Variances along each axis."""


def cell_noise(price: Price, share: Fraction, features: int) -> Noise:
    """The noise on the sums of one level: a row moves one count, `features` coordinates and as many squares by at most
    1 each."""
    moved = 1 + 2 * features
    return price.noise(share, l1=moved * _UNIT, l2_squared=moved * _UNIT**2)


def cells(rows: Floats, till: Till, levels: int, share: Fraction) -> Cells:
    """Cut the box [-1, 1]^d `levels` - 1 times and measure at every level, for `share` of the price in all.

    `rows` lie in that box. The cuts follow from noisy sums, so they are public; so is which level it ends at.
    """
    count, features = rows.shape
    room(count, _UNIT)
    noise = math.sqrt(cell_noise(till.price, share / levels, features).variance) / _UNIT
    lower, upper = -np.ones((1, features)), np.ones((1, features))
    where = np.zeros(count, dtype=np.int64)
    found: list[tuple[float, Floats, Floats]] = []
    moved = 1 + 2 * features
    for level in range(levels):
        exact = _sums(rows, where, lower, upper)
        told = till.sums(exact, share=share / levels, l1=moved * _UNIT, l2_squared=moved * _UNIT**2) / _UNIT
        cuts: list[tuple[int, int, float]] = []
        for place, line in enumerate(told):
            middle, half = (lower[place] + upper[place]) / 2, (upper[place] - lower[place]) / 2
            many = max(float(line[0]), 1.0)
            mean = np.clip(line[1 : 1 + features] / many, -1, 1)
            spread = np.clip(line[1 + features :] / many - mean**2, 0, 1) * half**2
            if level < levels - 1 and line[0] >= _CLEAR * noise:
                axis = int(spread.argmax())
                cuts.append((place, axis, float(middle[axis] + half[axis] * np.clip(mean[axis], -_EDGE, _EDGE))))
            elif line[0] > noise:
                kept = many**2 / (many**2 + 4 * noise**2)  # a count near the noise says little of where it is
                found.append((many, middle + half * mean * kept, spread))
        if not cuts:
            break
        lower, upper, where = _cut(rows, where, lower, upper, cuts)
    if not found:  # noise drowned everything: the whole box
        found.append((1.0, np.zeros(features), np.full(features, 1 / 3)))
    return Cells(*(np.array([one[part] for one in found]) for part in range(3)))


def _sums(rows: Floats, where: NDArray[np.int64], lower: Floats, upper: Floats) -> NDArray[np.int64]:
    """For every box: rows, sums of coordinates, sums of their squares, in steps. Exact."""
    lines = np.zeros((len(lower), 1 + 2 * rows.shape[1]), dtype=np.int64)
    for place, (low, high) in enumerate(zip(lower, upper, strict=True)):
        half = np.maximum((high - low) / 2, np.finfo(float).tiny)
        inside = _LATTICE.encode((rows[where == place] - (low + high) / 2) / half)  # clipped to [-1, 1]
        lines[place] = np.concatenate([[len(inside) * _UNIT], inside.sum(axis=0), (inside**2 // _UNIT).sum(axis=0)])
    return lines


def _cut(
    rows: Floats, where: NDArray[np.int64], lower: Floats, upper: Floats, cuts: list[tuple[int, int, float]]
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Two boxes for each that is cut; rows of the others are in none (-1)."""
    lows: list[Floats] = []
    highs: list[Floats] = []
    now = np.full_like(where, -1)
    for place, axis, at in cuts:
        here = np.flatnonzero(where == place)
        above = rows[here, axis] >= at
        now[here] = len(lows) + above
        left, right = upper[place].copy(), lower[place].copy()
        left[axis] = right[axis] = at
        lows += [lower[place], right]
        highs += [left, upper[place]]
    return np.array(lows), np.array(highs), now
