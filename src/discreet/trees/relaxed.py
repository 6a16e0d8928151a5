"""The baseline: least squares without whole numbers as a condition, then rounded. Parents need not be sums any more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, MissingExtraError, Phrase
from discreet.trees.estimate import Estimate
from discreet.trees.exact.forest import Forest
from discreet.trees.exact.solve import whole_weights
from discreet.trees.measurement import Measurement
from discreet.trees.rules import NO_BOUND, Rules
from discreet.trees.tree import Hierarchy

__all__ = ["relaxed", "violations"]

Array = NDArray[np.int64]
Floats = NDArray[np.float64]


def relaxed(
    measured: Measurement,
    rules: Rules | None = None,
    *,
    solver: Literal["osqp", "clarabel"] = "osqp",
    precision: float = 1e-3,
) -> Estimate:
    """The quadratic program of `exact` over real numbers, each count then rounded to the nearest whole one.

    This is what others do, kept to compare with. The estimate is the exception among all methods: rounding breaks the
    sums, and public totals with them. `violations` says how many. Counts stay within whole bounds, up to `precision`,
    the solver's own absolute and relative tolerance.
    """
    if solver not in ("osqp", "clarabel"):
        raise InputError("solver", solver, among=("osqp", "clarabel"))
    if not 0 < precision < 1:
        raise InputError("precision", precision, "a number between 0 and 1")
    rules = rules or Rules()
    bounds = rules.bounds(measured.tree, measured.cells)
    weights = rules.level_weights(measured.tree, measured.cells, whole_weights(measured))
    targets = tuple(level.counts for level in measured.levels)
    alone = replace(bounds, totals=(None,) * measured.tree.depth)
    forest = Forest.plant(measured.tree, targets, weights, alone)
    matrix, sums = _sums(forest, bounds.totals)
    found = (_osqp if solver == "osqp" else _clarabel)(forest, matrix, sums, precision)
    levels = np.split(np.rint(found).astype(np.int64), np.cumsum([forest.size(level) for level in range(forest.depth)]))
    counts = tuple(np.ascontiguousarray(x.reshape(measured.cells, -1).T) for x in levels[:-1])
    broken = violations(measured.tree, counts)
    notes = [f"rounded: {broken:,} counts are not what their parts add up to"]
    notes += ["noisy margins were not used"] if measured.margins else []
    return Estimate(measured.tree, counts, notes=tuple(notes))


def violations(tree: Hierarchy, counts: tuple[Array, ...]) -> int:
    """How many counts break a promise: not the sum of the regions within, or negative."""
    if [level.shape[0] for level in counts] != list(tree.sizes):
        raise InputError(
            "counts", Phrase(f"shapes {[level.shape for level in counts]}"), f"levels of {tree.sizes} regions"
        )
    wrong = sum(int((level < 0).sum()) for level in counts)
    for level in range(tree.depth - 1):
        wrong += int((tree.add(level, counts[level + 1]) != counts[level]).sum())
    return wrong


def _sums(forest: Forest, totals: tuple[Array | None, ...]) -> tuple[Any, Floats]:
    """All that must add up, as matrix @ x = sums: parents, then public totals over cells."""
    from scipy.sparse import csc_array

    sizes = [forest.size(level) for level in range(forest.depth)]
    begin = np.concatenate([[0], np.cumsum(sizes)])
    inner = int(begin[-2])
    rows = [np.arange(inner)]
    columns = [np.arange(inner)]
    signs = [np.full(inner, -1.0)]
    for level in range(1, forest.depth):
        rows.append(begin[level - 1] + forest.parents[level])
        columns.append(begin[level] + np.arange(sizes[level]))
        signs.append(np.ones(sizes[level]))
    sums = [np.zeros(inner)]
    count, cells = inner, sizes[0]
    for level, known in enumerate(totals):
        public = np.flatnonzero(known >= 0) if known is not None else np.zeros(0, np.int64)
        if known is None or not len(public):
            continue
        regions = sizes[level] // cells
        rows.append(np.repeat(count + np.arange(len(public)), cells))
        columns.append((begin[level] + public[:, None] + regions * np.arange(cells)).reshape(-1))
        signs.append(np.ones(len(public) * cells))
        sums.append(known[public].astype(float))
        count += len(public)
    places = (np.concatenate(rows), np.concatenate(columns))
    return csc_array((np.concatenate(signs), places), shape=(count, int(begin[-1]))), np.concatenate(sums)


def _objective(forest: Forest) -> tuple[Any, Floats, Floats, Floats]:
    """The quadratic part, the linear part, and both bounds; infinite where there is none."""
    from scipy.sparse import diags_array

    weights = np.concatenate(forest.weights).astype(float)
    targets, lower, upper = (
        np.concatenate(part).astype(float) for part in (forest.targets, forest.lower, forest.upper)
    )
    upper[upper >= NO_BOUND] = np.inf
    return diags_array(2 * weights).tocsc(), -2 * weights * targets, lower, upper


def _osqp(forest: Forest, matrix: Any, sums: Floats, precision: float) -> Floats:
    try:
        import osqp
    except ImportError:
        raise MissingExtraError("constraints", "osqp") from None
    from scipy.sparse import csc_matrix, eye_array, vstack

    quadratic, linear, lower, upper = _objective(forest)
    rows = csc_matrix(vstack([matrix, eye_array(len(linear))]))
    ends = np.concatenate([sums, lower]), np.concatenate([sums, upper])
    problem = osqp.OSQP()
    settings = {"verbose": False, "eps_abs": precision, "eps_rel": precision, "max_iter": 100_000}
    problem.setup(csc_matrix(quadratic), linear, rows, *ends, **settings)
    solved = problem.solve(raise_error=False)
    return _checked(solved.x, solved.info.status, "solved" in solved.info.status)


def _clarabel(forest: Forest, matrix: Any, sums: Floats, precision: float) -> Floats:
    try:
        import clarabel
    except ImportError:
        raise MissingExtraError("constraints", "clarabel") from None
    from scipy.sparse import csc_matrix, eye_array, vstack

    quadratic, linear, lower, upper = _objective(forest)
    capped = np.flatnonzero(np.isfinite(upper))
    unit = eye_array(len(linear)).tocsr()
    rows = csc_matrix(vstack([matrix, -unit, unit[capped]]))
    ends = np.concatenate([sums, -lower, upper[capped]])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = min(precision, 1e-8)
    cones = [clarabel.ZeroConeT(len(sums)), clarabel.NonnegativeConeT(len(lower) + len(capped))]
    solved = clarabel.DefaultSolver(csc_matrix(quadratic), linear, rows, ends, cones, settings).solve()
    return _checked(np.array(solved.x), str(solved.status), str(solved.status) in ("Solved", "AlmostSolved"))


def _checked(found: Any, status: str, solved: bool) -> Floats:
    if "primal" in status.lower() and "infeasible" in status.lower():
        raise InputError(
            "rules", Phrase(f"bounds without a solution ({status})"), "bounds and totals that can all hold at once"
        )
    if not solved or found is None or not np.isfinite(found).all():
        hint = "Take the other solver, or `exact`."
        raise InputError("solver", Phrase(f"one that gave up ({status})"), "one that can solve this table", hint)
    return np.asarray(found, dtype=float)
