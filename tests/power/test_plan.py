"""Plans of hidden loads: the noise follows the charge, and bad input is refused before anything is spent."""

import math
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most, fits, laplace_pmf
from discreet.accounting.convert import pure
from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.noise.bits import SystemBits
from discreet.power import plan as load_plan
from discreet.power.grid import Grid, Quadratic
from discreet.power.opf import optimal_flow
from discreet.power.plan import LoadPlan
from grids import planned, ring
from jobs import run_plan

pytest.importorskip("clarabel", reason="needs discreet[power]")


def crowd(loads=300):
    """Two buses and many loads on one of them: many draws for one flow."""
    units = [(0, 0, 20_000, Quadratic(slope=30))]
    return Grid.of(2, [(0, 1, 1000, math.inf)], units, [1] * loads), np.full(loads, 20.0)


@pytest.mark.parametrize("cost", [3000, "measured"])
@pytest.mark.parametrize("epsilon", ["1/10", "3/2"])
def test_the_price_is_exactly_what_was_asked(cost, epsilon):
    plan = planned(ring()[0], cost, epsilon=Fraction(epsilon))
    assert pure(plan.cost).epsilon == Fraction(epsilon)
    assert plan.charge.amount == Fraction(epsilon)


@pytest.mark.parametrize(("alpha", "step", "shift"), [(1, 0.01, 100), (0.015, 0.01, 2), ("1/3", "0.001", 334)])
def test_alpha_is_rounded_up_to_steps(alpha, step, shift):
    assert planned(ring()[0], alpha=alpha, step=step).shift == shift


class HalfNoise(LoadPlan):
    """Charges for the noise it should add and adds half of it."""

    __slots__ = ()

    @property
    def noise(self):
        return Laplace(self.shift / self.values_epsilon / 2)

    @property
    def cost(self):
        return Laplace.for_epsilon(self.values_epsilon, self.shift).loss(self.shift)


class Uncharged(LoadPlan):
    """Measures the cost and does not charge for it."""

    __slots__ = ()

    @property
    def cost(self):
        return self.noise.loss(self.shift)


def as_mutant(kind, plan):
    return kind(**{name: getattr(plan, name) for name in (one.name for one in fields(LoadPlan))})


def load_noise(plan, exact, runs):
    drawn = [run_plan(plan, exact, SystemBits())["noisy"] for _ in range(runs)]
    return np.rint((np.array(drawn) - exact) / float(plan.step)).astype(np.int64).ravel()


def test_the_noise_on_loads_follows_the_charge_and_half_of_it_is_caught():
    grid, exact = crowd()
    plan = planned(grid, 180_000, alpha=0.1, epsilon=Fraction(1, 2))
    law = laplace_pmf(plan.shift / pure(plan.cost).epsilon)
    assert fits(load_noise(plan, exact, 60), law)
    assert not fits(load_noise(as_mutant(HalfNoise, plan), exact, 60), law)


def spent(plan, exact, monkeypatch):
    """The epsilon of all noise that one run adds to what it computes from the private loads."""
    total, planes = [Fraction(0)], []
    real, make = Laplace.release, load_plan.planes_near

    def release(self, values, *, bits=None):
        moved = plan.shift * (planes[0].steepest if planes else 1)
        total[0] += moved / self.scale
        return real(self, values, bits=bits)

    def near(*args):
        planes.append(make(*args))
        return planes[0]

    monkeypatch.setattr(Laplace, "release", release)
    monkeypatch.setattr(load_plan, "planes_near", near)
    run_plan(plan, exact, SystemBits())
    monkeypatch.undo()
    return total[0]


def test_a_measured_cost_is_charged_and_one_that_is_not_is_caught(monkeypatch):
    grid, exact = ring()
    for cost in (3000, "measured"):
        plan = planned(grid, cost)
        assert spent(plan, exact, monkeypatch) == pure(plan.cost).epsilon
    assert spent(as_mutant(Uncharged, plan), exact, monkeypatch) > pure(as_mutant(Uncharged, plan).cost).epsilon


def test_intervals_hold_the_true_loads():
    grid, exact = crowd()
    plan = planned(grid, 180_000, alpha=2, epsilon=Fraction(1))
    table = [run_plan(plan, exact, SystemBits())["columns"] for _ in range(5)]
    outside = sum(
        not low <= true <= high
        for columns in table
        for true, low, high in zip(exact, columns["mw_lower"], columns["mw_upper"], strict=True)
    )
    assert at_most(outside, 5 * grid.loads, 0.05)
    narrow = sum(
        abs(true - value) > plan.value_error() / 8 for c in table for true, value in zip(exact, c["mw"], strict=True)
    )
    assert not at_most(narrow, 5 * grid.loads, 0.05)


def test_plans_differ_by_digest():
    grid = ring()[0]
    digests = {
        planned(grid, *args, **how).digest
        for args, how in [
            ((3000,), {}),
            ((3001,), {}),
            ((), {}),
            ((3000,), {"beta": 0.02}),
            ((3000,), {"alpha": 2}),
            ((3000,), {"step": 0.1}),
            ((3000,), {"epsilon": Fraction(2)}),
            ((), {"highest_price": 100}),
            ((3000,), {"highest": 50}),
        ]
    }
    assert len(digests) == 9
    assert planned(ring(limit=71.0)[0], 3000).digest not in digests
    assert planned(grid, 3000).digest in digests


def test_more_accurate_plans_say_so():
    grid = ring()[0]
    small, large = planned(grid, epsilon=Fraction(1, 10)), planned(grid, epsilon=Fraction(1))
    assert small.value_error() == pytest.approx(10 * large.value_error(), rel=0.01)
    assert small.cost_error() == pytest.approx(10 * large.cost_error(), rel=0.01)
    assert planned(grid, 3000).cost_error() is None


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"alpha": 0}, "alpha"),
        ({"alpha": -1}, "alpha"),
        ({"alpha": math.nan}, "alpha"),
        ({"alpha": 10_000}, "alpha"),
        ({"beta": -0.1}, "beta"),
        ({"beta": 0}, "beta"),
        ({"beta": 1}, "beta"),
        ({"step": 0}, "step"),
        ({"step": 1000}, "step"),
        ({"step": 1e-9}, "step"),
        ({"highest": 0}, "highest"),
        ({"highest_price": -1}, "highest_price"),
        ({"cost_share": 1}, "cost_share"),
        ({"cost": "public"}, "cost"),
        ({"cost": -5}, "cost"),
        ({"cost": 10**9}, "cost"),
        ({"confidence": 1.0}, "confidence"),
        ({"epsilon": Fraction(1, 10**12)}, "step"),
    ],
)
def test_bad_input_is_refused_before_anything_is_spent(how, field):
    with pytest.raises(InputError) as caught:
        planned(ring()[0], **how)
    assert caught.value.field == field


def test_a_grid_that_can_feed_nothing_is_refused():
    must_run = Grid.of(2, [(0, 1, 1000, 10)], [(0, 50, 90, Quadratic(slope=1))], [1])  # 50 MW at least, over 10 MW
    with pytest.raises(InputError) as caught:
        planned(must_run, highest=20)
    assert caught.value.field == "grid"


@pytest.mark.parametrize(
    ("cost", "digits"), [("3000", 0), ("3012", 0), ("3012.5", 5), (3000.0000001, 11), ("9001/3", 21)]
)
def test_a_declared_cost_of_many_digits_is_met_with_a_note(cost, digits):
    grid, _ = ring()
    notes = planned(grid, cost).explained().notes
    assert bool(notes) == bool(digits)
    assert not digits or f"{digits} digits" in notes[0]


@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_the_repair_aims_at_the_cost_and_not_at_the_edge_of_its_window(epsilon):
    grid, exact = ring()
    cost = optimal_flow(grid, exact).cost
    plan = planned(grid, cost, epsilon=Fraction(str(epsilon)))
    gaps = [run_plan(plan, exact, SystemBits())["report"]["gap"] for _ in range(10)]
    assert max(gaps) <= 0.001  # a tenth of what is allowed
