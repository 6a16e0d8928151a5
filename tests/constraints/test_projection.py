"""Noisy measurements projected under constraints: nearer to the truth, and never back to the data."""

import ast
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import lsq_linear

import discreet
from discreet.constraints.projection import project
from discreet.constraints.system import AtMost, Between, Equal, Measurement
from discreet.errors import MissingExtraError
from discreet.flows.mobility.projection import nearest

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


AFTER = ["constraints", *(f"constraints.{name}" for name in ("projection", "system", "rounding", "convex"))]


AFTER += [f"flows.mobility.{name}" for name in ("projection", "gravity", "flows", "layout", "margins")]


@pytest.mark.parametrize("name", AFTER)
def test_what_comes_after_the_noise_cannot_reach_the_data(name):
    import_module(f"discreet.{name}")  # it is there
    assert not reads_data(f"discreet.{name}")


def test_and_the_walk_would_notice():
    assert "discreet.data.source" in reads_data("discreet.flows.mobility.plan")
