"""The answer nearest to noisy measurements among all that meet the constraints.

Post-processing: it sees noisy values and public constraints, so it costs no privacy, and by convexity it never moves
away from a truth that meets the constraints (docs/proofs/constraints.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.constraints.system import (
    Constraint,
    Measurement,
    System,
    conflict,
    matrix_for,
    stack,
)
from discreet.core.signature import typed
from discreet.errors import DiscreetError, InputError, MissingExtraError, Phrase, kind_of

__all__ = ["Projection", "project"]

Floats = NDArray[np.float64]
Sparse = Any

_SOLVERS = ("auto", "osqp", "clarabel")
_DIGITS = (1e-11, 1e-8)  # what is asked of Clarabel: as many digits as there are, else its usual ones
_NEAR = 1e-6  # relative; OSQP that is not nearer to the constraints than this is followed by Clarabel


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """The nearest x, how near it is, and what is known about it.

    `objective` is the weighted sum of squared misses, `violation` how far the worst constraint is missed. `proven`
    says that no x (no whole x, if whole ones were asked for) does better, to the solver's tolerance.
    """

    values: NDArray[Any]
    objective: float
    violation: float
    solver: str
    proven: bool


@typed
def project(
    measurements: Sequence[Measurement],
    constraints: Sequence[Constraint] = (),
    *,
    whole: bool = False,
    solver: str = "auto",
    seconds: float = 60.0,
) -> Projection:
    """Minimise sum of weight * (matrix x - values)^2 over all x that meet the constraints; over whole x if `whole`.

    `solver` is "osqp", "clarabel" (slower, more digits), or "auto": OSQP, and Clarabel where OSQP does not converge.
    Constraints that contradict each other are an `InputError` that names them.

    Guarantee
        A function of its arguments, which hold noisy and public numbers only: whatever the measurements cost, the
        answer costs nothing more. If the truth c meets the constraints (no whole numbers asked), then the answer is at
        least as near to it as the measurements are: sum w (A x - A c)^2 <= sum w (y - A c)^2. Proof:
        docs/proofs/constraints.md.

    >>> from discreet.constraints.system import Between, Equal
    >>> noisy = Measurement("cells", None, [5, -2, 3], variance=200)
    >>> known = [Equal("total", [[1, 1, 1]], [10]), Between("counts")]
    >>> project([noisy], known, solver="clarabel").values.round(4).tolist()
    [6.0, 0.0, 4.0]
    """
    if not measurements:
        raise InputError("measurements", Phrase("none"), "at least one measurement")
    if solver not in _SOLVERS:
        raise InputError("solver", solver, among=_SOLVERS)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
        raise InputError("seconds", seconds, "more than zero")
    size = _size(measurements, constraints)
    system = stack(constraints, size)
    terms = Terms.of(measurements, size)
    x, used, proven = _solved(terms, system, constraints, solver, float(seconds))
    if whole:
        from discreet.constraints.rounding import nearest_integers

        return nearest_integers(x, terms, system, constraints, used, float(seconds))
    x = np.clip(x, system.lower, system.upper)
    return Projection(x, terms.objective(x), system.violation(x), used, proven)


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """All measurements in one matrix: the objective is sum of weight * (matrix x - values)^2."""

    matrix: Sparse
    values: Floats
    weight: Floats

    @classmethod
    def of(cls, measurements: Sequence[Measurement], size: int) -> Terms:
        """The measurements, stacked."""
        from scipy import sparse

        matrix = sparse.csr_array(sparse.vstack([matrix_for(m.matrix, size, m.name) for m in measurements]))
        values = np.concatenate([m.values for m in measurements])
        if len(values) != matrix.shape[0]:
            raise InputError("measurements", Phrase(f"{len(values)} values"), f"one for each row, {matrix.shape[0]}")
        return cls(matrix, values, np.concatenate([m.weight for m in measurements]))

    def objective(self, x: NDArray[Any]) -> float:
        """The weighted sum of squared misses."""
        return float((self.weight * (self.matrix @ x - self.values) ** 2).sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Programme:
    """1/2 v'Pv + q'v subject to below <= rows v <= above, where v is x and then z, and P is diagonal.

    z stands for sums of several unknowns, so that a total over a million cells adds a row and not a full matrix. Rows
    of one entry need none.
    """

    diagonal: Floats
    linear: Floats
    rows: Sparse
    below: Floats
    above: Floats

    @classmethod
    def of(cls, terms: Terms, system: System) -> _Programme:
        from scipy import sparse

        size = system.size
        several = np.diff(terms.matrix.indptr) > 1
        simple, sums = terms.matrix[~several], terms.matrix[several]
        scale = float(terms.weight.max())  # solvers' tolerances are made for numbers near 1
        light, heavy = terms.weight[~several] / scale, terms.weight[several] / scale
        squares = simple.multiply(simple)
        diagonal = np.concatenate([2 * (squares.T @ light), 2 * heavy])
        linear = -2 * np.concatenate([simple.T @ (light * terms.values[~several]), heavy * terms.values[several]])
        named = int(several.sum())
        bounded = np.flatnonzero(np.isfinite(system.lower) | np.isfinite(system.upper))
        nothing = sparse.csr_array((system.rows.shape[0] + len(bounded), named))
        rows = sparse.vstack(
            [
                sparse.hstack([sums, -sparse.eye_array(named)]),
                sparse.hstack([sparse.vstack([system.rows, sparse.eye_array(size, format="csr")[bounded]]), nothing]),
            ]
        )
        below = np.concatenate([np.zeros(named), system.below, system.lower[bounded]])
        above = np.concatenate([np.zeros(named), system.above, system.upper[bounded]])
        return cls(diagonal, linear, sparse.csc_matrix(rows), below, above)


def _size(measurements: Sequence[Measurement], constraints: Sequence[Constraint]) -> int:
    for part in (*measurements, *constraints):
        if not isinstance(part, Measurement | Constraint):
            raise InputError("measurements", kind_of(part), "a Measurement; constraints are Equal, AtMost or Between")
    sizes = [len(m.values) if m.matrix is None else m.matrix.shape[1] for m in measurements]
    return int(sizes[0])


def _solved(
    terms: Terms, system: System, constraints: Sequence[Constraint], solver: str, seconds: float
) -> tuple[Floats, str, bool]:
    """x, the solver that found it, and whether it is optimal to that solver's tolerance."""
    programme = _Programme.of(terms, system)
    near = _NEAR * max(1.0, float(np.abs(terms.values).max()))
    if solver != "clarabel":
        found = _osqp(programme, seconds)
        if found is not None:
            x = found[: system.size]
            if solver == "osqp" or system.violation(x) <= near:
                return x, "osqp", True
    if solver != "osqp":
        found = _clarabel(programme, seconds)
        if found is not None:
            return found[: system.size], "clarabel", True
    if (why := conflict(constraints, system.size)) is not None:
        raise why.error()
    raise DiscreetError(f"{solver} found no answer in {seconds:g} seconds, though the constraints can hold together.")


def _osqp(programme: _Programme, seconds: float) -> Floats | None:
    from scipy import sparse

    osqp = _module("osqp")
    problem = osqp.OSQP()
    problem.setup(
        sparse.csc_matrix(sparse.diags_array(programme.diagonal)),
        programme.linear,
        programme.rows,
        programme.below,
        programme.above,
        verbose=False,
        eps_abs=1e-7,
        eps_rel=1e-7,
        max_iter=20_000,
        polishing=True,
        time_limit=seconds,
    )
    found = problem.solve(raise_error=False)
    solved = found.info.status_val == osqp.SolverStatus.OSQP_SOLVED
    return np.asarray(found.x, dtype=np.float64) if solved else None


def _clarabel(programme: _Programme, seconds: float) -> Floats | None:
    from scipy import sparse

    clarabel = _module("clarabel")
    equal = programme.below == programme.above
    over = ~equal & np.isfinite(programme.above)
    under = ~equal & np.isfinite(programme.below)
    rows = sparse.csr_array(programme.rows)
    matrix = sparse.vstack([rows[equal], rows[over], -rows[under]])
    ends = np.concatenate([programme.above[equal], programme.above[over], -programme.below[under]])
    cones = [clarabel.ZeroConeT(int(equal.sum())), clarabel.NonnegativeConeT(int(over.sum() + under.sum()))]
    quadratic = sparse.csc_matrix(sparse.diags_array(programme.diagonal))
    for tolerance in _DIGITS:
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.time_limit = seconds
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        problem = (quadratic, programme.linear, sparse.csc_matrix(matrix), ends, cones, settings)
        found = clarabel.DefaultSolver(*problem).solve()
        if str(found.status) == "Solved":
            return np.asarray(found.x, dtype=np.float64)
        if "Infeasible" in str(found.status):
            return None
    return None


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError("constraints", name) from None
