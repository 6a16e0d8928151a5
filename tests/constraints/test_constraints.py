"""Noisy measurements under constraints: nearer to the truth, never back to the data, and honest about proofs."""

import ast
import itertools
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import lsq_linear

import discreet
from discreet.constraints import whole as whole_module
from discreet.constraints.project import Terms, project
from discreet.constraints.system import AtMost, Between, Equal, Measurement, conflict, stacked
from discreet.errors import InputError, MissingExtraError
from discreet.flows.mobility.nearest import nearest

SOURCE = Path(discreet.__file__).parent
COUNTS = Between("counts")


def case(seed, size=12):
    """A truth, constraints it meets, and noisy values of it."""
    chance = np.random.default_rng(seed)
    truth = chance.poisson(chance.choice([0.3, 3, 30], size)).astype(float)
    sums = (chance.random((3, size)) < 0.5).astype(int)
    limits = chance.integers(-2, 3, (2, size))
    known = [
        Equal("totals", sums, sums @ truth),
        AtMost("limits", limits, limits @ truth + chance.integers(0, 5, 2)),
        Between("counts", 0, 60),
    ]
    return chance, truth, known, truth + chance.integers(-20, 21, size)


def nearer(estimate, noisy, truth):
    """Whether an estimate keeps the promise of a projection: no farther from the truth than the noisy values were."""
    return np.linalg.norm(estimate - truth) <= np.linalg.norm(noisy - truth) * (1 + 1e-6)


def dumped(noisy, known):
    """Meets the first sum by changing one cell: a way to meet it, but not the nearest point that does."""
    total, found = known[0], noisy.copy()
    inside = np.flatnonzero(total.matrix.toarray()[0])
    if len(inside):
        found[inside[0]] += total.values[0] - found[inside].sum()
    return found


def test_a_projection_never_moves_away_from_a_truth_that_meets_the_constraints():
    broken = {"not the nearest": 0, "whole numbers, which are not convex": 0}
    for seed in range(40):
        _, truth, known, noisy = case(seed)
        cells = [Measurement("cells", None, noisy)]
        found = project(cells, known, solver="clarabel")
        assert found.violation < 1e-5
        assert nearer(found.values, noisy, truth)
        broken["not the nearest"] += not nearer(dumped(noisy, known), noisy, truth)
    # The same check must see that other ways of meeting constraints keep no such promise.
    truth, noisy = np.array([0.5, 0.5]), np.array([0.6, 0.6])
    half = [Equal("sum", [[1, 1]], [1])]
    broken["whole numbers, which are not convex"] = not nearer(
        project([Measurement("cells", None, noisy)], half, whole=True).values, noisy, truth
    )
    assert all(broken.values()), broken


def test_with_several_aggregations_the_promise_holds_in_the_measured_norm():
    broken = 0
    for seed in range(25):
        chance, truth, known, noisy = case(seed)
        groups = (chance.random((4, len(truth))) < 0.4).astype(int)
        seen = groups @ truth + chance.integers(-9, 10, 4)
        asked = [Measurement("cells", None, noisy, variance=140), Measurement("groups", groups, seen, variance=30)]
        found = project(asked, known, solver="clarabel").values
        before = ((noisy - truth) ** 2).sum() / 140 + ((seen - groups @ truth) ** 2).sum() / 30
        after, other = (
            ((x - truth) ** 2).sum() / 140 + ((groups @ (x - truth)) ** 2).sum() / 30
            for x in (found, dumped(noisy, known))
        )
        assert after <= before * (1 + 1e-6)
        broken += other > before
    assert broken  # another way of meeting a sum does not keep the promise


@pytest.mark.parametrize("seed", range(6))
def test_the_solvers_agree(seed):
    chance, _, known, noisy = case(seed)
    asked = [Measurement("cells", None, noisy, variance=5)]
    precise, quick = (project(asked, known, solver=solver) for solver in ("clarabel", "osqp"))
    assert quick.solver == "osqp"
    assert quick.values == pytest.approx(precise.values, abs=1e-3)
    assert quick.objective == pytest.approx(precise.objective, rel=1e-4, abs=1e-6)
    spread = chance.uniform(0.5, 4, len(noisy))
    ours = nearest(noisy, spread, known[0].matrix, known[0].values)
    theirs = project([Measurement("cells", None, noisy, variance=spread)], [known[0], COUNTS], solver="clarabel")
    assert ours == pytest.approx(theirs.values, abs=1e-4)


def test_bounded_least_squares_is_that_of_scipy():
    chance = np.random.default_rng(5)
    matrix = chance.integers(-1, 3, (15, 6))
    seen = chance.normal(0, 9, 15)
    wanted = lsq_linear(matrix, seen, bounds=(0, 4), tol=1e-12).x
    found = project([Measurement("sums", matrix, seen)], [Between("range", 0, 4)])
    assert found.values == pytest.approx(wanted, abs=1e-4)
    weights = chance.uniform(0.1, 10, 15)
    root = np.sqrt(weights)
    wanted = lsq_linear(root[:, None] * matrix, root * seen, bounds=(0, 4), tol=1e-12).x
    found = project([Measurement("sums", matrix, seen, weight=weights)], [Between("range", 0, 4)])
    assert found.values == pytest.approx(wanted, abs=1e-4)


def test_a_total_over_many_cells_adds_one_row_and_not_a_full_matrix():
    size = 20_000
    chance = np.random.default_rng(1)
    truth = chance.poisson(2, size)
    cells = Measurement("cells", None, truth + chance.integers(-9, 10, size), variance=30)
    total = Measurement("total", sparse.csr_array(np.ones((1, size))), [truth.sum() + 5], variance=2)
    found = project([cells, total], [COUNTS])
    assert found.violation < 1e-3
    assert abs(found.values.sum() - truth.sum()) < abs(np.maximum(cells.values, 0).sum() - truth.sum()) / 10


def test_constraints_that_contradict_each_other_are_named():
    noisy = Measurement("cells", None, [5, -2, 3, 8])
    zones = Equal("zones", [[1, 1, 0, 0], [0, 0, 1, 0]], [4, 2], labels=["north", "south"])
    hours = Equal("hours", [[1, 1, 1, 0]], [10], labels=["morning"])
    harmless = AtMost("cap", [[0, 0, 0, 1]], [100])
    for solver in ("auto", "osqp", "clarabel"):
        with pytest.raises(InputError, match="zones") as caught:
            project([noisy], [harmless, zones, hours, COUNTS], solver=solver)
        for name in ("zones[north]", "zones[south]", "hours[morning]"):
            assert name in str(caught.value)
        assert "cap" not in str(caught.value)
    with pytest.raises(InputError, match=r"zones\[north\] and counts"):
        project([noisy], [Equal("zones", [[1, 1, 0, 0]], [-4], ["north"]), COUNTS])
    with pytest.raises(InputError, match=r"zones\[north\]"):
        project([noisy], [zones, hours, COUNTS], whole=True)


def test_what_is_named_contradicts_itself_without_the_rest():
    caught = 0
    for seed in range(20):
        chance = np.random.default_rng(seed)
        known = [
            Equal("e", chance.integers(0, 2, (4, 6)), chance.integers(0, 9, 4)),
            AtMost("g", chance.integers(0, 3, (4, 6)), chance.integers(0, 9, 4)),
            Between("b", 0, 5),
        ]
        why = conflict(known, 6)
        if why is None:
            assert project([Measurement("cells", None, np.ones(6))], known).violation < 1e-4
            continue
        caught += 1
        system = stacked(known, 6)
        rows = [row for row, name in enumerate(system.names) if name in why.names]
        low, high = system.below[rows], system.above[rows]
        finite = np.isfinite(low)
        alone = [AtMost("above", system.rows[rows], high), COUNTS if "b" not in why.names else known[2]]
        if finite.any():
            alone.append(AtMost("below", -system.rows[rows][finite], -low[finite]))
        assert conflict(alone, 6) is not None
    assert caught > 3


def brute(asked, known, size, most):
    system = stacked(known, size)
    terms = Terms.of(asked, size)
    grid = (np.array(point, dtype=float) for point in itertools.product(range(most + 1), repeat=size))
    return min(terms.objective(x) for x in grid if system.violation(x) < 1e-9)


def test_whole_numbers_are_the_best_there_are_where_that_is_claimed():
    proven = 0
    for seed in range(24):
        chance = np.random.default_rng(seed)
        rows = chance.integers(-1, 3, (3, 4)) if seed % 2 else (chance.random((3, 4)) < 0.5).astype(int)
        truth = chance.integers(0, 4, 4)
        asked = [
            Measurement("cells", None, truth + chance.integers(-4, 5, 4), variance=int(chance.integers(1, 9))),
            Measurement("sums", rows, rows @ truth + chance.integers(-4, 5, 3), variance=int(chance.integers(1, 9))),
        ]
        known = [
            Equal("e", rows[:1], rows[:1] @ truth),
            AtMost("g", rows[1:2], rows[1:2] @ truth + 1),
            Between("b", 0, 5),
        ]
        found = project(asked, known, whole=True)
        assert found.values.dtype == np.int64
        assert found.violation == 0
        if found.proven:
            proven += 1
            assert found.objective == pytest.approx(brute(asked, known, 4, 5))
    assert proven > 8


def test_a_worse_start_is_left_and_a_stopped_search_claims_nothing(monkeypatch):
    asked = [Measurement("cells", None, [5, -2, 3, 9], variance=2), Measurement("sum", [[1, 1, 1, 1]], [20])]
    known = [Equal("pair", [[1, 1, 0, 0]], [4]), Between("b", 0, 12)]
    best = brute(asked, known, 4, 12)
    monkeypatch.setattr(whole_module, "_first", lambda box, x, until: np.array([0, 4, 12, 0]))
    assert project(asked, known, whole=True).objective == pytest.approx(best)
    monkeypatch.setattr(whole_module, "_ROUNDS", 2)
    stopped = project(asked, known, whole=True)
    assert stopped.objective > best
    assert not stopped.proven


def test_whole_numbers_that_cannot_be_are_refused():
    noisy = Measurement("cells", None, [1.0, 1.0])
    with pytest.raises(InputError, match="whole"):
        project([noisy], [Equal("odd", [[2, 2]], [3])], whole=True)
    with pytest.raises(InputError, match="measurements hold fractions"):
        project([Measurement("cells", [[0.5, 1]], [1.0])], whole=True)


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: Measurement("cells", None, [1, float("nan")]), "cells.values"),
        (lambda: Measurement("cells", None, []), "cells.values"),
        (lambda: Measurement("cells", None, ["a"]), "cells.values"),
        (lambda: Measurement("", None, [1]), "measurement.name"),
        (lambda: Measurement("cells", None, [1, 2], weight=-1), "cells.weight"),
        (lambda: Measurement("cells", None, [1, 2], weight=[1, float("inf")]), "cells.weight"),
        (lambda: Measurement("cells", None, [1, 2], variance=0), "cells.variance"),
        (lambda: Measurement("cells", None, [1, 2], variance=[1, 2, 3]), "cells.variance"),
        (lambda: Measurement("cells", [[1, 2]], [1, 2]), "cells.matrix"),
        (lambda: Measurement("cells", [[1, np.nan]], [1]), "cells.matrix"),
        (lambda: Measurement("cells", "abc", [1]), "cells.matrix"),
        (lambda: Equal("totals", [[1, 1]], [np.inf]), "totals.values"),
        (lambda: AtMost("limits", [[1, 1]], [1], labels=["a", "b"]), "limits.labels"),
        (lambda: Between("range", np.nan), "range.lower"),
        (lambda: project([]), "measurements"),
        (lambda: project([[1, 2, 3]]), "measurements"),
        (lambda: project([Measurement("a", None, [1])], solver="excel"), "solver"),
        (lambda: project([Measurement("a", None, [1])], seconds=0), "seconds"),
        (lambda: project([Measurement("a", None, [1, 2])], [Equal("t", [[1, 1, 1]], [3])]), "t.matrix"),
        (lambda: project([Measurement("a", None, [1, 2])], [Between("b", [0, 0, 0])]), "b.lower"),
        (lambda: project([Measurement("a", None, [1, 2])], [Between("b", 3, 1)]), "b"),
        (lambda: project([Measurement("a", None, [1]), Measurement("b", None, [1, 2])]), "measurements"),
    ],
)
def test_what_is_not_allowed_is_refused_by_name(build, field):
    with pytest.raises(InputError) as caught:
        build()
    assert caught.value.field == field


def test_one_cell():
    assert project([Measurement("cell", None, [-3])], [COUNTS]).values == pytest.approx([0], abs=1e-6)
    assert project([Measurement("cell", None, [2.6])], [COUNTS], whole=True).values.tolist() == [3]


def test_a_missing_solver_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "osqp", None)
    with pytest.raises(MissingExtraError, match=r"discreet\[constraints\]"):
        project([Measurement("cell", None, [1])])


def reaches(module):
    """Every module of the house that importing this one, or running any function in it, can lead to."""
    found, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        path = SOURCE.joinpath(*name.split(".")[1:])
        path = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
        if name in found or not path.exists():
            continue
        found.add(name)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("discreet"):
                waiting += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                waiting += [alias.name for alias in node.names if alias.name.startswith("discreet")]
    return found


def reads_data(module):
    return {
        name
        for name in reaches(module)
        if name.split(".")[1:2] in (["data"], ["query"], ["ledger"], ["apps"], ["curator"])
    }


AFTER = ["constraints", "constraints.project", "constraints.system", "constraints.whole"]
AFTER += [f"flows.mobility.{name}" for name in ("nearest", "gravity", "table", "flows")]


@pytest.mark.parametrize("name", AFTER)
def test_what_comes_after_the_noise_cannot_reach_the_data(name):
    import_module(f"discreet.{name}")  # it is there
    assert not reads_data(f"discreet.{name}")


def test_and_the_walk_would_notice():
    assert "discreet.data.source" in reads_data("discreet.flows.mobility.plan")
