"""The nearest whole numbers that meet the constraints, and a proof that they are the nearest where there is one.

Each squared miss is replaced by straight lines between whole numbers. That function F is convex and equals the
objective at whole points, so a whole x that is best for F among all real x in a box around it is best among all real x
that meet the constraints, and with them among all whole ones. Linear programmes decide both: the box [floor, floor + 1]
for a first answer (its corners are whole where the constraints form a tree or a network), then boxes of one either
side until none is better. Where a corner is not whole, HiGHS branches, under a limit on time, and nothing is proven.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.constraints.projection import Floats, Projection, Sparse, Terms
from discreet.constraints.system import Constraint, System, conflict
from discreet.errors import DiscreetError, InputError

__all__ = ["nearest_integers"]

Whole = NDArray[np.int64]

_TOLERANCE = 1e-6
_WIDER = (1, 4, 32)  # how far beyond [floor, floor + 1] the first answer is looked for
_ROUNDS = 200


def nearest_integers(
    x: Floats, terms: Terms, system: System, constraints: Sequence[Constraint], solver: str, seconds: float
) -> Projection:
    """Whole numbers near the real optimum `x` that meet the constraints; `proven` if no others do better."""
    if terms.matrix.nnz and (terms.matrix.data % 1).any():
        hint = "Measure in smaller units, so that all entries are whole."
        raise InputError("whole", True, "left out where matrices of measurements hold fractions", hint)
    until = time.monotonic() + seconds
    box = _Box.of(terms, system)
    best = _first(box, x, until)
    if best is None:
        if (why := conflict(constraints, system.size)) is not None:
            raise why.error()
        hint = "Some real numbers meet them. Leave whole out, or change a constraint."
        raise InputError("whole", True, "left out: no whole numbers were found that meet the constraints", hint)
    best, proven = _descended(box, best, until)
    return Projection(
        best, terms.objective(best), system.violation(best.astype(np.float64)), f"{solver}, highs", proven
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Box:
    """The programme in coordinates t = (x, sums of x): each coordinate costs square * t^2 + linear * t."""

    square: Floats
    linear: Floats
    sums: Sparse  # the sums, in terms of x
    rows: Sparse  # of the constraints, in terms of t
    below: Floats
    above: Floats
    lower: Floats
    upper: Floats
    size: int

    @classmethod
    def of(cls, terms: Terms, system: System) -> _Box:
        from scipy import sparse

        several = np.diff(terms.matrix.indptr) > 1
        simple, sums = terms.matrix[~several], terms.matrix[several]
        light, heavy = terms.weight[~several], terms.weight[several]
        named = int(several.sum())
        square = np.concatenate([simple.multiply(simple).T @ light, heavy])
        linear = -2 * np.concatenate([simple.T @ (light * terms.values[~several]), heavy * terms.values[several]])
        rows = sparse.vstack(
            [
                sparse.hstack([sums, -sparse.eye_array(named)]),
                sparse.hstack([system.rows, sparse.csr_array((system.rows.shape[0], named))]),
            ]
        )
        free = np.full(named, np.inf)
        return cls(
            square,
            linear,
            sums,
            sparse.csr_array(rows),
            np.concatenate([np.zeros(named), system.below]),
            np.concatenate([np.zeros(named), system.above]),
            np.concatenate([np.ceil(system.lower - _TOLERANCE), -free]),
            np.concatenate([np.floor(system.upper + _TOLERANCE), free]),
            system.size,
        )

    def lifted(self, x: NDArray[Any]) -> Floats:
        """x and its sums."""
        return np.concatenate([x, self.sums @ x]).astype(np.float64)

    def cost(self, x: NDArray[Any]) -> float:
        """The objective, but for a constant."""
        t = self.lifted(x)
        return float((self.square * t * t + self.linear * t).sum())

    def best(self, start: Floats, steps: int, until: float, *, whole: bool) -> tuple[Floats, float] | None:
        """The best x with start <= t <= start + steps, and its cost; None if there is none. Real unless `whole`.

        Every step of a coordinate is a variable in [0, 1] that costs what the objective gains on it. Gains rise, so
        the first step is taken first.
        """
        from scipy import sparse
        from scipy.optimize import Bounds, LinearConstraint, milp

        low = np.clip(start, self.lower, self.upper)
        reach = np.minimum(start + steps, self.upper) - low
        gains = [self.square * (2 * (low + k) + 1) + self.linear for k in range(steps)]
        room = np.concatenate([np.clip(reach - k, 0, 1) for k in range(steps)])
        base = self.rows @ low
        matrix = sparse.hstack([self.rows] * steps)
        scale = max(1.0, max(float(np.abs(gain).max()) for gain in gains))
        found = milp(
            np.concatenate(gains) / scale,
            constraints=LinearConstraint(matrix, self.below - base, self.above - base) if self.rows.shape[0] else None,
            bounds=Bounds(0, room),
            integrality=np.tile(np.arange(len(low)) < self.size, steps).astype(int) if whole else None,
            options={"time_limit": max(0.01, until - time.monotonic())},
        )
        if found.x is None:
            return None
        t = low + np.asarray(found.x).reshape(steps, -1).sum(axis=0)
        constant = float((self.square * low * low + self.linear * low).sum())
        return t[: self.size], float(found.fun) * scale + constant

    def any_whole(self, until: float) -> Whole | None:
        """Whole numbers anywhere that meet the constraints, whatever they cost."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        rows = self.rows[self.sums.shape[0] :, : self.size]
        ends = (self.below[self.sums.shape[0] :], self.above[self.sums.shape[0] :])
        found = milp(
            np.zeros(self.size),
            constraints=LinearConstraint(rows, *ends) if rows.shape[0] else None,
            bounds=Bounds(self.lower[: self.size], self.upper[: self.size]),
            integrality=np.ones(self.size, dtype=int),
            options={"time_limit": max(0.01, until - time.monotonic())},
        )
        return None if found.x is None else _rounded(np.asarray(found.x))


def _first(box: _Box, x: Floats, until: float) -> Whole | None:
    """Whole numbers next to x, or near it, or anywhere."""
    below = np.floor(box.lifted(x) + _TOLERANCE)
    corner = box.best(below, 1, until, whole=False)
    if corner is not None and _is_whole(corner[0]):
        return _rounded(corner[0])
    for more in (0, *_WIDER):
        found = box.best(below - more, 1 + 2 * more, until, whole=True)
        if found is not None:
            return _rounded(found[0])
    return box.any_whole(until)


def _descended(box: _Box, x: Whole, until: float) -> tuple[Whole, bool]:
    """Better whole numbers as long as one step either side has some; and whether the last ones are proven best."""
    for _ in range(_ROUNDS):
        here = box.cost(x)
        slack = _TOLERANCE * max(1.0, abs(here)) * 1e-2
        around = box.lifted(x) - 1
        found = box.best(around, 2, until, whole=False)
        if found is None or time.monotonic() > until:
            return x, False
        if found[1] >= here - slack:
            return x, True
        step = found[0]
        if not _is_whole(step):
            branched = box.best(around, 2, until, whole=True)
            if branched is None:
                return x, False
            step = branched[0]
        if box.cost(_rounded(step)) >= here - slack:
            return x, False
        x = _rounded(step)
    return x, False


def _is_whole(x: Floats) -> bool:
    return bool((np.abs(x - np.round(x)) < _TOLERANCE).all())


def _rounded(x: Floats) -> Whole:
    found = np.round(x)
    if np.abs(found).max(initial=0) > 2**52:
        raise DiscreetError("The nearest whole numbers are larger than a float can hold exactly.")
    return found.astype(np.int64)
