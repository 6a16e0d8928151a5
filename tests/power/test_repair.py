"""The repair of noisy loads: it sees nothing private, and what it returns is feasible at about the cost."""

import inspect
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.decimal_steps import to_steps
from discreet.noise.bits import SystemBits
from discreet.power.grid import Grid
from discreet.power.opf import optimal_flow
from discreet.power.plan import LoadPlan
from discreet.power.repair import Repair
from grids import feasible, planned, ring
from jobs import run_plan

pytest.importorskip("clarabel", reason="needs discreet[power]")


def test_the_repair_cannot_see_the_private_loads():
    assert list(inspect.signature(LoadPlan.publish).parameters) == ["self", "measured", "beta", "confidence"]
    assert list(inspect.signature(LoadPlan.table).parameters) == ["self", "noisy", "measured"]
    assert list(inspect.signature(Repair.near).parameters) == ["self", "noisy", "reference", "beta"]
    assert list(inspect.signature(Repair.__init__).parameters) == ["self", "grid", "step", "most"]
    names = {field for cls in (Repair, Grid) for field in inspect.get_annotations(cls)}
    assert not any("private" in name or name == "exact" for name in names)
    grid, exact = ring()
    plan = planned(grid, 3000)
    noisy = to_steps(exact, plan.step, plan.most) + 37
    assert plan.table(noisy, None) == plan.table(noisy.copy(), None)


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 1])
def test_released_loads_are_feasible_at_about_the_cost_where_noisy_ones_are_not(epsilon):
    grid, exact = ring()
    cost = optimal_flow(grid, exact).cost
    plan = planned(grid, cost, epsilon=Fraction(str(epsilon)))
    broken = 0
    for _ in range(12):
        result = run_plan(plan, exact, SystemBits())
        released = np.array(result["columns"]["mw"])
        assert result["report"]["within"], result["report"]
        assert abs(result["report"]["cost"] / cost - 1) <= 0.01
        assert feasible(grid, released)
        assert optimal_flow(grid, released).cost == pytest.approx(result["report"]["cost"], rel=1e-6)
        assert (released >= 0).all()
        assert np.abs(released * 100 - np.rint(released * 100)).max() < 1e-6
        noisy = np.array(result["noisy"])
        flow = optimal_flow(grid, noisy) if feasible(grid, noisy) else None
        broken += flow is None or abs(flow.cost / cost - 1) > 0.01
    assert broken or epsilon == 1  # the check has teeth: plain noise fails it


@pytest.mark.parametrize("step", [0.001, 0.1, 2.0])
@pytest.mark.parametrize("noisy", [0, -(10**9), 10**9, None])
def test_the_repair_always_returns_feasible_loads(noisy, step):
    grid, _ = ring()
    most = int(grid.capacity / step)
    repair = Repair(grid, step, np.full(grid.loads, most))
    asked = np.full(grid.loads, noisy) if noisy is not None else np.where(np.arange(12) % 2, 10**7, -(10**7))
    for reference in (3000.0, max(repair.cheapest, 1e-9), repair.dearest):
        found = repair.near(asked, reference, 0.01)
        assert found.steps.min() >= 0
        assert found.steps.max() <= most
        assert feasible(grid, found.steps * step)
        assert repair.flow(found.steps).cost == pytest.approx(found.cost)
        assert found.way != "window" or abs(found.cost - reference) <= 0.01 * reference


def test_a_cost_that_no_loads_have_is_reported_as_missed():
    grid, exact = ring()
    plan = planned(grid)
    report = plan.table(to_steps(exact, plan.step, plan.most), plan.repair.dearest * 3)["report"]
    assert not report["within"]
    assert report["way"] != "window"
    assert report["gap"] > 0.01


def test_nearer_than_noise_where_loads_cannot_be_negative():
    grid, exact = ring()
    plan = planned(grid, optimal_flow(grid, exact).cost, epsilon=Fraction(1, 50))
    before, after = 0.0, 0.0
    for _ in range(15):
        result = run_plan(plan, exact, SystemBits())
        before += np.abs(np.array(result["noisy"]) - exact).sum()
        after += np.abs(np.array(result["columns"]["mw"]) - exact).sum()
    assert after < 0.7 * before
