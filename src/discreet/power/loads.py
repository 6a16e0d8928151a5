"""What the loads of a grid draw: private, opened by the one door only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.decimal_steps import Exact, exact_numbers
from discreet.errors import InputError, Phrase, kind_of
from discreet.power.clock import read_times

__all__ = ["Loads", "megawatts"]


class Loads:
    """MW drawn by each load of a grid, in the grid's order; or, of a list of such lists, at each of several times.

    What the times are called is public: `times` is a list of names or times of day, or text such as "every hour".

    >>> Loads([21.7, 94.2, 47.8])
    <private loads, 3 of them>
    >>> Loads([[21.7, 94.2, 47.8], [20.1, 95.0, 47.8]])
    <private loads, 3 of them at 2 times>
    >>> Loads([[21.7, 94.2], [20.1, 95.0]], times=["08:00", "08:30"]).clock
    ('08:00', '08:30')
    """

    __slots__ = ("_times", "_values", "clock")

    def __init__(
        self,
        values: Sequence[float] | Sequence[Sequence[float]] | NDArray[Any],
        times: Sequence[str | time] | str | None = None,
    ) -> None:
        self._values, self._times = megawatts(values)
        many, self.clock = (self._times, ()) if times is None else read_times(times, "times")
        if many != self._times:
            raise InputError("times", many, f"as many as there are lists of loads, {self._times:,}")

    @classmethod
    def from_pandapower(cls, net: Any) -> Loads:
        """The loads of a pandapower net that are in service, `p_mw` times `scaling`."""
        from discreet.power.pandapower import load_powers

        return cls._of(load_powers(net))

    @classmethod
    def from_matpower(cls, path: str | Path, loads: Sequence[int] | None = None) -> Loads:
        """`Pd` of the buses of a MATPOWER case that have a load: those with the numbers `loads`, or every bus."""
        from discreet.power.matpower import Case

        return cls._of(Case.read(path).drawn_at(loads))

    @classmethod
    def _of(cls, values: Iterable[object]) -> Loads:
        """What a file says, whatever it says: nothing may be refused that depends on it."""
        made = cls.__new__(cls)
        made._values, made._times, made.clock = exact_numbers(values), 1, ()
        return made

    @property
    def times(self) -> int:
        """How many times there are."""
        return self._times

    def __len__(self) -> int:
        """How many loads there are."""
        return len(self._values) // self._times

    def __repr__(self) -> str:
        return f"<private loads, {len(self):,} of them{f' at {self._times:,} times' if self._times > 1 else ''}>"

    @contextmanager
    def open(self) -> Iterator[Exact]:
        """The numbers, one time after the other. Called by the one door only, after the charge is durable."""
        yield self._values.copy()


def megawatts(values: Any) -> tuple[Exact, int]:
    """Loads that a caller gives, as fractions, if they are loads; and at how many times."""
    problem: Phrase | None = None
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        problem = kind_of(values)
    # Outside the handler, and in words only: what is wrong with private numbers must not be shown.
    if problem is not None:
        raise InputError("loads", problem, "a list of numbers, MW")
    if found.ndim not in (1, 2) or not found.size:
        allowed = "a list of numbers, one for each load, or one such list for each time"
        raise InputError("loads", Phrase(f"an array of shape {found.shape}"), allowed)
    if not np.isfinite(found).all():
        raise InputError("loads", Phrase("infinite or missing numbers"), "finite MW for every load")
    if (found < 0).any():
        hint = "Generation is a generator of the grid, which is public."
        raise InputError("loads", Phrase("negative numbers"), "0 MW or more for every load", hint)
    if found.ndim == 1:
        return exact_numbers(values), 1
    return exact_numbers(value for row in values for value in row), len(found)
