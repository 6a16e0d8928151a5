"""What was measured with noise, and what must hold of the answer: linear, in plain arrays, without any data.

A `Measurement` is noisy values of linear functions of the unknown x, at one aggregation; constraints are linear
equalities, inequalities and bounds with names that people know. `project` finds the x that fits.
Nothing in these modules can reach private data: they take noisy values and public numbers, and import no room that
opens a table (tests/constraints/test_constraints.py walks the imports).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.signature import typed
from discreet.errors import InputError, Phrase, kind_of
from discreet.mechanisms.inputs import read_count

__all__ = ["AtMost", "Between", "Conflict", "Constraint", "Equal", "Measurement", "System", "conflict", "stack"]

Floats = NDArray[np.float64]
Sparse = Any  # scipy's sparse arrays carry no static types here

_NAMED = 8  # so many constraints are named in an error
_CLEAR = 1e-7  # a multiplier or a gap above this is no rounding


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """Noisy values y of the linear functions `matrix` x: cells, sums of rows, a total.

    `matrix` is a scipy sparse or a numpy array, one row for each value; None stands for x itself. `variance` is that of
    the noise on each value; `weight` is how much a squared miss counts, 1/variance unless given. Both are one number
    or one for each value.

    >>> Measurement("total", [[1, 1, 1]], [12], variance=200.0).weight
    array([0.005])
    """

    name: str
    matrix: Sparse
    values: Floats
    weight: Floats

    def __init__(
        self,
        name: str,
        matrix: Any,
        values: ArrayLike,
        *,
        variance: ArrayLike | None = None,
        weight: ArrayLike | None = None,
    ) -> None:
        found = _vector(values, f"{name}.values")
        if variance is not None:
            spread = _each(variance, f"{name}.variance", len(found))
        if weight is not None:
            counted = _each(weight, f"{name}.weight", len(found))
        else:
            counted = 1 / spread if variance is not None else np.ones(len(found))
        object.__setattr__(self, "name", _named(name, "measurement"))
        object.__setattr__(self, "matrix", _matrix(matrix, len(found), name))
        object.__setattr__(self, "values", found)
        object.__setattr__(self, "weight", counted)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Rows of `matrix` x beside `values`. `labels` name the rows for people; else they are numbered."""

    name: str
    matrix: Sparse
    values: Floats
    labels: tuple[str, ...] = ()

    def __init__(self, name: str, matrix: Any, values: ArrayLike, labels: Sequence[str] = ()) -> None:
        found = _vector(values, f"{name}.values")
        if not isinstance(labels, (list, tuple)):
            raise InputError(f"{name}.labels", kind_of(labels), f"none, or a list of {len(found)} labels")
        if labels and len(labels) != len(found):
            allowed = f"none, or one for each value, {len(found)}"
            raise InputError(f"{name}.labels", Phrase(f"{len(labels)} labels"), allowed)
        object.__setattr__(self, "name", _named(name, "constraint"))
        object.__setattr__(self, "matrix", _matrix(matrix, len(found), name))
        object.__setattr__(self, "values", found)
        object.__setattr__(self, "labels", tuple(str(label) for label in labels))


class Equal(_Rows):
    """`matrix` x = `values`, row by row. `labels` name the rows for people; else they are numbered."""

    __slots__ = ()


class AtMost(_Rows):
    """`matrix` x <= `values`, row by row. `labels` name the rows for people; else they are numbered."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Between:
    """`lower` <= x <= `upper`, each one number or one for each unknown; infinite where there is no bound."""

    name: str
    lower: Floats
    upper: Floats

    def __init__(self, name: str, lower: ArrayLike = 0.0, upper: ArrayLike = np.inf) -> None:
        object.__setattr__(self, "name", _named(name, "constraint"))
        for field, value in (("lower", lower), ("upper", upper)):
            found = np.asarray(value, dtype=np.float64)
            if found.ndim > 1 or np.isnan(found).any():
                raise InputError(f"{name}.{field}", value, "a number, or one for each unknown; no NaN")
            object.__setattr__(self, field, found)


Constraint = Equal | AtMost | Between


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """All constraints on `size` unknowns in one place: below <= rows x <= above, and lower <= x <= upper."""

    size: int
    rows: Sparse
    below: Floats
    above: Floats
    names: tuple[str, ...]
    lower: Floats
    upper: Floats
    bounded_by: tuple[str, ...]

    def violation(self, x: Floats) -> float:
        """How far the worst constraint is missed."""
        found = self.rows @ x
        misses = [self.below - found, found - self.above, self.lower - x, x - self.upper]
        return max([0.0, *(float(miss.max()) for miss in misses if len(miss))])


@dataclass(frozen=True, slots=True)
class Conflict:
    """Constraints that cannot hold together, and the least sum of changes to their values that lets them.

    `names` is the support of a Farkas certificate: a weighted sum of just these says 0 <= a negative number.
    """

    names: tuple[str, ...]
    gap: float

    def error(self) -> InputError:
        """What to raise: it names the constraints."""
        shown = " and ".join(self.names[:_NAMED])
        more = len(self.names) - _NAMED
        with_more = f"{shown} and {more:,} more" if more > 0 else shown
        hint = f"{with_more} contradict each other; together they miss by {self.gap:.6g}. Change one of them."
        return InputError("constraints", Phrase("a contradiction"), "constraints that can hold together", hint)


def stack(constraints: Sequence[Constraint], size: int) -> System:
    """The constraints in one system; sizes and bounds are checked here."""
    from scipy import sparse

    parts, below, above, names, bounded_by = [], [], [], [], []
    lower, upper = np.full(size, -np.inf), np.full(size, np.inf)
    for constraint in constraints:
        match constraint:
            case Equal() | AtMost():
                matrix = matrix_for(constraint.matrix, size, constraint.name)
                parts.append(matrix)
                above.append(constraint.values)
                equal = isinstance(constraint, Equal)
                below.append(constraint.values if equal else np.full(len(constraint.values), -np.inf))
                labels = constraint.labels or tuple(str(row) for row in range(len(constraint.values)))
                names += [f"{constraint.name}[{label}]" for label in labels]
            case Between(name, low, high):
                for field, end in (("lower", low), ("upper", high)):
                    if end.ndim and len(end) != size:
                        raise InputError(f"{name}.{field}", Phrase(f"{len(end)} numbers"), f"one number, or {size}")
                lower, upper = np.maximum(lower, low), np.minimum(upper, high)
                bounded_by.append(name)
            case _:
                assert_never(constraint)
    if (crossed := np.flatnonzero((lower > upper) | np.isposinf(lower) | np.isneginf(upper))).size:
        place = int(crossed[0])
        got = f"{lower[place]:g} <= x[{place}] <= {upper[place]:g}"
        raise InputError(" and ".join(bounded_by), Phrase(got), "a lower bound that is not above the upper one")
    rows = sparse.csr_array(sparse.vstack(parts)) if parts else sparse.csr_array((0, size))
    low, high = (np.concatenate(part) if part else np.zeros(0) for part in (below, above))
    return System(size, rows, low, high, tuple(names), lower, upper, tuple(bounded_by))


@typed
def conflict(constraints: Sequence[Constraint], size: int) -> Conflict | None:
    """Which constraints cannot hold together; None if some real x meets all. Takes public numbers only.

    An elastic programme: every row may be missed at a price of 1 a unit, bounds may not. If the least price is zero
    they can all hold; if not, its multipliers are a certificate that these rows and bounds contradict each other.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    system = stack(constraints, read_count(size, "size"))
    if not system.names:
        return None
    # Each row in the form  rows x <= above + slack,  -rows x <= -below + slack, where the end is finite.
    over, under = np.flatnonzero(np.isfinite(system.above)), np.flatnonzero(np.isfinite(system.below))
    place = np.concatenate([over, under])
    matrix = sparse.vstack([system.rows[over], -system.rows[under]])
    many = len(system.names)
    slack = sparse.csr_array((np.full(len(place), -1.0), (np.arange(len(place)), place)), (len(place), many))
    lowest = np.concatenate([system.lower, np.zeros(many)])
    highest = np.concatenate([system.upper, np.full(many, np.inf)])
    found = linprog(
        np.concatenate([np.zeros(size), np.ones(many)]),
        A_ub=sparse.hstack([matrix, slack]).tocsr(),
        b_ub=np.concatenate([system.above[over], -system.below[under]]),
        bounds=np.column_stack([lowest, highest]),
        method="highs",
    )
    scale = max(1.0, float(np.abs(np.concatenate([system.above[over], system.below[under]])).max()))
    if found.status != 0 or found.fun <= _CLEAR * scale:
        return None
    used = np.zeros(len(system.names), dtype=bool)
    used[place[np.abs(found.ineqlin.marginals) > _CLEAR]] = True
    names = [name for name, mark in zip(system.names, used, strict=True) if mark]
    ends = np.abs(found.lower.marginals[:size]) + np.abs(found.upper.marginals[:size])
    return Conflict((*names, *(system.bounded_by if (ends > _CLEAR).any() else ())), float(found.fun))


def matrix_for(matrix: Sparse, size: int, name: str) -> Sparse:
    """The matrix of a measurement or a constraint, for so many unknowns."""
    from scipy import sparse

    if matrix is None:
        return sparse.eye_array(size, format="csr")
    if matrix.shape[1] != size:
        raise InputError(f"{name}.matrix", Phrase(f"{matrix.shape[1]} columns"), f"one column for each unknown, {size}")
    return matrix


def _named(name: Any, what: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{what}.name", name, "text: errors use it as a name")
    return name


def _vector(values: ArrayLike, field: str) -> Floats:
    try:
        found = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        raise InputError(field, kind_of(values), "a list of numbers") from None
    if found.ndim != 1 or found.size == 0:
        raise InputError(field, Phrase(f"shape {found.shape}"), "a list of at least one number")
    if not np.isfinite(found).all():
        raise InputError(field, Phrase("NaN or infinite"), "finite numbers")
    return found


def _each(values: ArrayLike, field: str, count: int) -> Floats:
    found = _vector(values, field)
    if len(found) not in (1, count):
        raise InputError(field, Phrase(f"{len(found)} numbers"), f"one number, or one for each value, {count}")
    if (found <= 0).any():
        raise InputError(field, float(found.min()), "more than zero")
    return np.broadcast_to(found, count).copy()


def _matrix(matrix: Any, count: int, name: str) -> Sparse:
    from scipy import sparse

    if matrix is None:
        return None
    try:
        found = sparse.csr_array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}.matrix", kind_of(matrix), "a sparse or dense matrix of numbers") from None
    if found.ndim != 2 or found.shape[0] != count:
        raise InputError(
            f"{name}.matrix", Phrase(f"shape {found.shape}"), f"a matrix with a row for each value, {count}"
        )
    if not np.isfinite(found.data).all():
        raise InputError(f"{name}.matrix", Phrase("NaN or infinite"), "finite numbers")
    return found
