"""DC optimal power flow, against hand calculation and HiGHS."""

import math

import numpy as np
import pytest

from discreet.errors import MissingExtraError
from discreet.power import opf
from discreet.power.grid import Grid, Piecewise, Quadratic
from discreet.power.opf import Network, optimal_flow
from grids import DEAR, pair

pytest.importorskip("clarabel", reason="needs discreet[power]")


def ring(seed, buses=12, costs="linear"):
    """A connected grid with a few extra branches, from a seed."""
    chance = np.random.default_rng(seed)
    lines = [(place, (place + 1) % buses, chance.uniform(500, 3000), chance.uniform(40, 120)) for place in range(buses)]
    lines += [(0, buses // 2, 900, 60), (2, buses - 2, 700, 60)]
    kinds = {
        "linear": lambda: Quadratic(slope=float(chance.uniform(10, 60))),
        "quadratic": lambda: Quadratic(float(chance.uniform(0.01, 0.2)), float(chance.uniform(10, 60))),
    }
    units = [(int(bus), 0, 150, kinds[costs]()) for bus in chance.choice(buses, 4, replace=False)]
    return Grid.of(buses, lines, units, loads=list(range(buses)))


def highs(grid, loads):
    """The cost by another solver, for linear costs; None if infeasible."""
    from scipy.optimize import linprog

    net = Network(grid)
    found = linprog(
        net.slope,
        A_ub=net.rows,
        b_ub=net.most,
        A_eq=net.balance,
        b_eq=net.demand + net.load_at @ (np.asarray(loads) / net.base),
        bounds=(None, None),
    )
    return found.fun + net.fixed if found.status == 0 else None


def test_a_congested_line_makes_two_prices():
    grid = pair(loads=[0, 1])
    flow = optimal_flow(grid, [30, 100])
    assert flow.cost == pytest.approx(110 * 20 + 20 * 50, rel=1e-6)
    assert flow.prices == pytest.approx([20, 50], rel=1e-5)
    assert flow.generation == pytest.approx([110, 20], abs=1e-3)


def test_quadratic_generators_share_until_their_prices_meet():
    grid = pair(limit=math.inf, costs=(Quadratic(0.1, 20), Quadratic(0.05, 30)))
    flow = optimal_flow(grid, [200])  # 0.2 g + 20 = 0.1 h + 30, g + h = 200
    assert flow.generation == pytest.approx([100, 100], abs=1e-3)
    assert flow.prices == pytest.approx([40], rel=1e-6)


def test_piecewise_costs_are_followed():
    grid = pair(limit=math.inf, costs=(Piecewise(((0, 0), (50, 500), (200, 8000))), DEAR))
    flow = optimal_flow(grid, [120])
    assert flow.cost == pytest.approx(500 + 70 * 50, rel=1e-6)  # both dearer pieces cost 50
    assert optimal_flow(grid, [20]).prices == pytest.approx([10], rel=1e-5)


def test_fixed_costs_and_public_demand_count():
    grid = pair(limit=math.inf, costs=(Quadratic(0, 20, 7), DEAR), demand=[0, 15])
    assert optimal_flow(grid, [100]).cost == pytest.approx(7 + 115 * 20, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_cost_and_feasibility_agree_with_highs(seed):
    grid, chance = ring(seed), np.random.default_rng(seed)
    verdicts = set()
    for scale in (5, 20, 40, 120):
        loads = chance.uniform(0, scale, grid.loads)
        ours, theirs = optimal_flow(grid, loads), highs(grid, loads)
        verdicts.add(ours is None)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert ours.cost == pytest.approx(theirs, rel=1e-6)
    assert verdicts == {True, False}


@pytest.mark.parametrize("costs", ["linear", "quadratic"])
def test_prices_are_slopes_of_a_convex_cost(costs):
    grid, chance = ring(3, costs=costs), np.random.default_rng(1)
    net = Network(grid)
    here = chance.uniform(5, 15, grid.loads)
    flow, too_steep = net.flow(here), 0
    for _ in range(10):
        there = np.maximum(here + chance.normal(0, 5, grid.loads), 0)
        reached = net.flow(there)
        if reached is not None:
            rise = flow.prices @ (there - here)
            assert reached.cost >= flow.cost + rise - 1e-4
            too_steep += reached.cost < flow.cost + 1.5 * rise - 1e-4
    assert too_steep  # other slopes would not do


def test_with_lost_load_there_is_always_a_flow_and_no_price_beyond():
    grid = ring(2)
    net = Network(grid)
    for scale in (5, 60, 600):
        loads = np.random.default_rng(0).uniform(0, scale, grid.loads)
        soft, strict = net.flow(loads, lost=70), net.flow(loads)
        assert np.abs(soft.prices).max() <= 70 + 1e-4
        assert strict is None or soft.cost <= strict.cost + 1e-3
    assert net.flow(loads) is None


def test_angle_limits_and_shifts():
    base = pair(limit=math.inf)
    kept = {name: getattr(base, name) for name in base.__slots__}
    limited = Grid(**{**kept, "angle_upper": np.array([0.05])})
    assert optimal_flow(limited, [100]).generation == pytest.approx([50, 50], abs=1e-3)  # 1000 MW a radian
    assert optimal_flow(base, [100]).generation == pytest.approx([100, 0], abs=1e-3)
    shifted = Grid(**{**kept, "shift": np.array([0.1])})
    flow = optimal_flow(shifted, [100])
    assert flow.angles[0] - flow.angles[1] == pytest.approx(0.1 + 0.1, abs=1e-6)


def test_a_missing_solver_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "clarabel", None)
    with pytest.raises(MissingExtraError, match=r"discreet\[power\]"):
        opf.optimal_flow(pair(), [10])


def test_a_flow_that_is_not_a_number_is_not_feasible(monkeypatch):
    grid = ring(3)
    loads = np.full(grid.loads, 5.0)
    assert Network(grid).flow(loads) is not None
    solved = opf.solve
    monkeypatch.setattr(opf, "solve", lambda *a: tuple(part * math.nan for part in solved(*a)))
    assert Network(grid).flow(loads) is None
