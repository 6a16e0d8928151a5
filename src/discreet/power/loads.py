"""What the loads of a grid draw: private, opened by the one door only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase, kind_of

__all__ = ["Loads", "megawatts", "to_steps"]


class Loads:
    """MW drawn by each load of a grid, in the grid's order.

    >>> Loads([21.7, 94.2, 47.8])
    <private loads, 3 of them>
    """

    __slots__ = ("_values",)

    def __init__(self, values: Sequence[float] | NDArray[Any]) -> None:
        self._values = megawatts(values)

    @classmethod
    def from_pandapower(cls, net: Any) -> Loads:
        """The loads of a pandapower net that are in service, `p_mw` times `scaling`."""
        from discreet.power.pandapower import load_powers

        return cls(load_powers(net))

    @classmethod
    def from_matpower(cls, path: str | Path) -> Loads:
        """The positive `Pd` of a MATPOWER case."""
        from discreet.power.matpower import Case

        return cls(Case.read(path).loads)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<private loads, {len(self):,} of them>"

    @contextmanager
    def open(self) -> Iterator[NDArray[np.float64]]:
        """The numbers themselves. Called by the one door only, after the charge is durable."""
        yield self._values.copy()


def megawatts(values: Sequence[float] | NDArray[Any]) -> NDArray[np.float64]:
    """Private loads as an array, if they are loads."""
    problem: Phrase | None = None
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        problem = kind_of(values)
    # Outside the handler, and in words only: what is wrong with private numbers must not be shown.
    if problem is not None:
        raise InputError("loads", problem, "a list of numbers, MW")
    if found.ndim != 1 or not len(found):
        raise InputError("loads", Phrase(f"an array of shape {found.shape}"), "a list of numbers, one for each load")
    if not np.isfinite(found).all():
        raise InputError("loads", Phrase("infinite or missing numbers"), "finite MW for every load")
    if (found < 0).any():
        hint = "Generation that counts as a negative load belongs to the grid, which is public."
        raise InputError("loads", Phrase("negative numbers"), "0 MW or more for every load", hint)
    return found


def to_steps(values: Sequence[float] | NDArray[Any], step: Fraction, most: int) -> NDArray[np.int64]:
    """Whole steps from 0 to `most`, the nearest to each value (halves upward), in exact arithmetic.

    Two values that differ by at most k steps are at most k steps apart afterwards, for every whole k.

    >>> to_steps([0.25, 21.7, 900.0], Fraction(1, 10), 5000).tolist()
    [3, 217, 5000]
    """
    half = Fraction(1, 2)
    highest = most * step
    found = []
    for value in values:
        kept = min(max(Fraction(float(value)), Fraction(0)), highest)
        found.append(min(most, int(kept / step + half)))  # int() rounds down: nothing here is negative
    return np.array(found, dtype=np.int64)
