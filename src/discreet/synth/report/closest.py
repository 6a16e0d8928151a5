"""How far synthetic rows are from the closest real ones: a sanity check, and no statement about privacy.

Real rows are split in two halves. For some synthetic rows, and for some real rows of the second half, the closest row
of the first half is looked for. If synthetic rows are copies, or much closer to real ones than other real ones are,
something is wrong with how they were made. That they are not says nothing: what protects is the noise, and its price is
on the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.noise.replay import Replay, uniforms
from discreet.synth.junction import Floats
from discreet.synth.report.prediction import halves
from discreet.synth.report.values import Values

__all__ = ["Closest", "closest"]

_LOOKED_AT = 500  # rows of each sort whose closest one is looked for
_AMONG = 10_000  # rows that it is looked for among
_AT_ONCE = 50
_FAR = 1e9
_INNER = (0.01, 0.99)  # the quantiles between which differences of numbers are measured


@dataclass(frozen=True, slots=True)
class Closest:
    """Distances to the closest of some real rows, of synthetic rows and of other real rows.

    A distance is the mean over columns of how far two values are apart: 0 if equal, 1 if two names differ or two
    numbers are as far apart as the real ones are. `copies` are the shares of rows that equal one in every column,
    `median` and `low` (a twentieth is below) say how far the others are; each of (synthetic, real).
    """

    rows: tuple[int, int]
    among: int
    copies: tuple[float, float]
    low: tuple[float, float]
    median: tuple[float, float]


def closest(values: Sequence[Values]) -> Closest | None:
    """Of the columns of two tables; None if there are too few rows."""
    columns = [one for one in values if not one.derived]
    if not columns or len(columns[0].real) < 4 or len(columns[0].synthetic) == 0:
        return None
    first, second = halves(len(columns[0].real))
    among, others = first[:_AMONG], second[:_LOOKED_AT]
    order = np.argsort(uniforms(Replay(b"closest"), len(columns[0].synthetic)), kind="stable")[:_LOOKED_AT]
    made = _distances(columns, [one.synthetic[order] for one in columns], among)
    real = _distances(columns, [one.real[others] for one in columns], among)
    both = (made, real)
    return Closest(
        (len(order), len(others)),
        len(among),
        _each(both, lambda side: float((side == 0).mean())),
        _each(both, lambda side: float(np.quantile(side, 0.05))),
        _each(both, lambda side: float(np.median(side))),
    )


def _each(both: tuple[Floats, Floats], figure: Callable[[Floats], float]) -> tuple[float, float]:
    return figure(both[0]), figure(both[1])


def _distances(columns: Sequence[Values], rows: Sequence[Floats], among: NDArray[np.int64]) -> Floats:
    """The distance of every row to the closest of the real rows chosen."""
    scaled = [_scaled(column, side, column.real[among]) for column, side in zip(columns, rows, strict=True)]
    found = []
    for start in range(0, len(rows[0]), _AT_ONCE):
        total = np.zeros((len(rows[0][start : start + _AT_ONCE]), len(among)), dtype=np.float32)
        for looked, fixed in scaled:
            gaps = np.subtract(looked[start : start + _AT_ONCE, None], fixed[None, :])
            total += np.minimum(np.abs(gaps, out=gaps), 1.0, out=gaps)
        found.append(total.min(axis=1) / len(columns))
    return np.concatenate(found).astype(np.float64)


def _scaled(column: Values, rows: Floats, among: Floats) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Values whose difference, cut at 1, is how far they are apart; a missing one is far from all but its like."""
    known = among[~np.isnan(among)]
    low, wide = 0.0, 1.0  # two names differ by at least 1
    if column.ordered and len(known):
        low, high = (float(end) for end in np.quantile(known, _INNER))
        wide = high - low or float(known.max() - known.min()) or 1.0
    first, second = (np.where(np.isnan(side), _FAR, (side - low) / wide).astype(np.float32) for side in (rows, among))
    return first, second
