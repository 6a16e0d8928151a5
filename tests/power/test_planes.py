"""Planes below the cost of a power flow: whole slopes, never steeper than charged, close to the cost."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from chance import fits, laplace_pmf
from discreet.core.decimal_steps import to_steps
from discreet.mechanisms import Laplace
from discreet.noise.bits import SystemBits
from discreet.power.grid import Grid, Quadratic
from discreet.power.opf import Network, optimal_flow
from discreet.power.planes import PARTS, Planes, planes_near
from discreet.power.repair import Repair
from grids import planned, ring

pytest.importorskip("clarabel", reason="needs discreet[power]")


def test_the_measured_cost_has_the_noise_of_its_steepest_plane():
    grid, exact = ring()
    plan = planned(grid, alpha=0.1, epsilon=Fraction(8))
    steps = to_steps(exact, plan.step, plan.most)
    planes = Planes(np.full((1, grid.loads), 40), (100_000,), money=0.005)
    noise = [plan.height(steps, planes, SystemBits()) / planes.money - planes.height(steps) for _ in range(4000)]
    law = laplace_pmf(plan.shift * planes.steepest / plan.optimum_epsilon)
    assert fits(np.rint(noise), law)
    half = np.array(noise) / 2
    assert not fits(np.rint(half), law)


def test_one_load_moves_the_height_by_no_more_than_the_steepest_plane():
    grid, exact = ring()
    repair = Repair(grid, 0.01, np.full(grid.loads, 16_000))
    chance = np.random.default_rng(3)
    planes = planes_near(repair, np.rint(exact * 100).astype(np.int64), Fraction(500), 45.0, SystemBits())
    assert 1 <= planes.steepest <= PARTS
    moved = []
    for _ in range(300):
        here = chance.integers(0, 3000, grid.loads)
        there = here.copy()
        there[chance.integers(grid.loads)] += 100
        moved.append(abs(planes.height(there) - planes.height(here)))
    assert max(moved) <= 100 * planes.steepest
    assert max(moved) > 50 * planes.steepest  # a bound of half the slope would not hold
    assert planes.slopes.dtype == np.int64
    assert all(isinstance(height, int) for height in planes.heights)


def test_congestion_moves_the_cost_itself_by_more():
    """Why the cost is not measured as it is: where lines are full, its slope has no bound that a price list gives."""
    lines = [(0, 1, 1000, 30), (1, 2, 1000, 200), (0, 2, 1000, 200)]
    grid = Grid.of(3, lines, [(0, 0, 300, Quadratic(slope=10)), (2, 0, 300, Quadratic(slope=30))], [1])
    rise = optimal_flow(grid, [60.5]).cost - optimal_flow(grid, [60]).cost
    assert rise / 0.5 > 1.3 * grid.highest_price
    assert np.abs(Network(grid).flow([60.5], lost=30).prices).max() <= 30 + 1e-4


def test_planes_stay_below_the_cost_and_come_close():
    grid, exact = ring()
    repair = Repair(grid, 0.01, np.full(grid.loads, 16_000))
    cost = repair.network.flow(exact).cost
    steps = np.rint(exact * 100).astype(np.int64)
    noisy = steps + Laplace(400).release(np.zeros(grid.loads, dtype=int))
    planes = planes_near(repair, noisy, Fraction(400), 60.0, SystemBits())
    reached = planes.height(steps) * planes.money
    assert 0.98 * cost < reached < 1.001 * cost


def test_planes_are_there_even_if_the_solver_never_is(monkeypatch):
    grid, _ = ring()
    repair = Repair(grid, 0.01, np.full(grid.loads, 16_000))
    monkeypatch.setattr(Network, "flow", lambda *a, **k: None)
    monkeypatch.setattr(Repair, "closest", lambda *a, **k: None)
    planes = planes_near(repair, np.zeros(grid.loads, dtype=np.int64), Fraction(10), 40.0, SystemBits())
    assert planes.height(repair.anchor) * planes.money == pytest.approx(repair.anchor_flow.cost, rel=1e-3)
    found = repair.near(repair.anchor * 3, 3000.0, 0.01)
    assert (found.way, found.steps.tolist()) == ("anchor", repair.anchor.tolist())


def test_a_solver_that_answers_nonsense_makes_no_plane_steeper_than_charged(monkeypatch):
    grid, exact = ring()
    repair = Repair(grid, 0.01, np.full(grid.loads, 16_000))
    good = repair.network.flow(exact)
    bad = [replace(good, prices=np.where(np.arange(grid.loads) == 3, odd, 20.0)) for odd in (math.nan, math.inf)]
    answers = itertools.cycle([good, *bad, replace(good, cost=math.nan)])
    monkeypatch.setattr(Network, "flow", lambda *a, **k: next(answers))
    planes = planes_near(repair, np.rint(exact * 100).astype(np.int64), Fraction(500), 45.0, SystemBits())
    assert len(planes.heights) > 1
    assert np.abs(planes.slopes).max() == planes.steepest <= PARTS
    # What NaN becomes as a whole number: numpy's absolute value of it is negative.
    assert Planes(np.array([[np.iinfo(np.int64).min, 5]]), (0,), money=1.0).steepest == 2**63
