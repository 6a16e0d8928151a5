"""Hidden loads: the noise follows the charge, nothing private reaches the repair, and the repair is always feasible."""

import inspect
import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from chance import at_most, fits, laplace_pmf
from discreet import Allotment, Budget, Ledger
from discreet.accounting.convert import pure
from discreet.curator import hide_loads
from discreet.errors import BudgetError, InputError
from discreet.mechanisms import Laplace
from discreet.noise.bits import SystemBits
from discreet.power import opf
from discreet.power import plan as load_plan
from discreet.power.grid import Grid, Quadratic
from discreet.power.loads import Loads, to_steps
from discreet.power.opf import Network, optimal_flow
from discreet.power.plan import LoadPlan, plan_loads
from discreet.power.planes import PARTS, Planes, planes_near
from discreet.power.repair import Repair
from jobs import run_plan

pytest.importorskip("clarabel", reason="needs discreet[power]")

ALLOTMENT = Allotment("questions", "pure", epsilon=100)


def ring(buses=12, limit=70.0):
    """A ring with two chords, three generators and a load at every bus."""
    chance = np.random.default_rng(5)
    lines = [(place, (place + 1) % buses, 1000 + 100 * place, limit) for place in range(buses)]
    lines += [(0, buses // 2, 900, limit), (2, buses - 2, 700, limit)]
    costs = [Quadratic(0.02, 20), Quadratic(0.05, 15), Quadratic(0, 45)]
    units = [(bus, 0, 160, cost) for bus, cost in zip((0, buses // 3, buses // 2), costs, strict=True)]
    return Grid.of(buses, lines, units, list(range(buses))), np.round(chance.uniform(5, 25, buses), 2)


def crowd(loads=300):
    """Two buses and many loads on one of them: many draws for one flow."""
    units = [(0, 0, 20_000, Quadratic(slope=30))]
    return Grid.of(2, [(0, 1, 1000, math.inf)], units, [1] * loads), np.full(loads, 20.0)


def planned(grid, cost="measured", **how):
    asked = {"alpha": 1, "epsilon": Fraction(1), "beta": 0.01, "step": 0.01, "highest": None, "highest_price": None}
    asked |= {"cost_share": 0.25, "confidence": 0.95} | how
    return plan_loads(grid, "loads", ALLOTMENT, cost=cost, **asked)


def feasible(grid, loads):
    """Whether some generation feeds the loads, by another solver."""
    from scipy.optimize import linprog

    net = Network(grid)
    found = linprog(
        np.zeros(net.width),
        A_ub=net.rows,
        b_ub=net.most + 1e-7,
        A_eq=net.balance,
        b_eq=net.demand + net.load_at @ (np.asarray(loads) / net.base),
        bounds=(None, None),
    )
    return found.status == 0


# What is charged, and the noise that is drawn


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
        return Laplace(self.shift / self.loads_epsilon / 2)

    @property
    def cost(self):
        return Laplace.for_epsilon(self.loads_epsilon, self.shift).loss(self.shift)


class Uncharged(LoadPlan):
    """Measures the cost and does not charge for it."""

    __slots__ = ()

    @property
    def cost(self):
        return self.noise.loss(self.shift)


def as_mutant(kind, plan):
    return kind(**{name: getattr(plan, name) for name in LoadPlan.__slots__})


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


def test_the_measured_cost_has_the_noise_of_its_steepest_plane():
    grid, exact = ring()
    plan = planned(grid, alpha=0.1, epsilon=Fraction(8))
    steps = to_steps(exact, plan.step, plan.most)
    planes = Planes(np.full((1, grid.loads), 40), (100_000,), money=0.005)
    noise = [plan.height(steps, planes, SystemBits()) / planes.money - planes.height(steps) for _ in range(4000)]
    law = laplace_pmf(plan.shift * planes.steepest / plan.cost_epsilon)
    assert fits(np.rint(noise), law)
    half = np.array(noise) / 2
    assert not fits(np.rint(half), law)


# Neighbours


def test_neighbours_are_no_more_than_the_shift_apart():
    chance = np.random.default_rng(2)
    step, alpha = Fraction(1, 100), 0.237
    one = chance.uniform(0, 60, 4000)
    other = np.maximum(one + chance.choice([-alpha, alpha], 4000), 0)  # beyond 50 both are clamped
    apart = np.abs(to_steps(one, step, 5000) - to_steps(other, step, 5000))
    close = np.abs([Fraction(float(a)) - Fraction(float(b)) for a, b in zip(one, other, strict=True)]) <= Fraction(
        "0.237"
    )
    assert apart[close].max() == 24  # alpha in steps, rounded up
    assert (apart > 23).any()  # rounded down it would not be enough


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


def test_a_flow_that_is_not_a_number_is_not_feasible(monkeypatch):
    grid, exact = ring()
    solved = opf.solve
    monkeypatch.setattr(opf, "solve", lambda *a: tuple(part * math.nan for part in solved(*a)))
    assert Network(grid).flow(exact) is None


# The repair


def test_the_repair_cannot_see_the_private_loads():
    assert list(inspect.signature(LoadPlan.publish).parameters) == ["self", "measured", "beta", "confidence"]
    assert list(inspect.signature(LoadPlan.table).parameters) == ["self", "noisy", "reference"]
    assert list(inspect.signature(Repair.near).parameters) == ["self", "noisy", "reference", "beta"]
    assert list(inspect.signature(Repair.__init__).parameters) == ["self", "grid", "step", "most"]
    names = {field for cls in (Repair, Grid) for field in inspect.get_annotations(cls)}
    assert not any("private" in name or name == "exact" for name in names)
    grid, exact = ring()
    plan = planned(grid, 3000)
    noisy = to_steps(exact, plan.step, plan.most) + 37
    assert plan.table(noisy, 3000.0) == plan.table(noisy.copy(), 3000.0)


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
    plan = planned(grid, 3000)
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
        abs(true - value) > plan.load_error() / 8 for c in table for true, value in zip(exact, c["mw"], strict=True)
    )
    assert not at_most(narrow, 5 * grid.loads, 0.05)


# As a person uses it


@pytest.fixture
def ledger(tmp_path):
    return Ledger.open(tmp_path / "ledger.db", create=True)


class Watched(Loads):
    """Counts how often it was opened."""

    __slots__ = ("opened",)

    def open(self):
        self.opened = getattr(self, "opened", 0) + 1
        return super().open()


def test_describe_plan_release(ledger):
    grid, exact = ring()
    loads = Watched(exact)
    question = hide_loads(grid, loads, ledger, alpha=1, budget=Budget(epsilon=1), who="me")
    offer = question.plan(epsilon=0.6, cost="measured")
    told = str(offer)
    assert "protects one load, moved by at most 1 MW" in told
    assert "measured with epsilon = 0.15" in told
    assert not hasattr(loads, "opened")
    answer = offer.release(release="first")
    assert loads.opened == 1
    assert "measured" in str(answer)
    assert len(answer.loads) == len(answer.noisy) == grid.loads
    assert answer.table["load"][0] == "load 0"
    assert ledger.remaining("loads").amount == Fraction(2, 5)
    with pytest.warns(UserWarning, match="may describe earlier data"):
        assert offer.release(release="first").loads == answer.loads
    assert loads.opened == 1
    with pytest.raises(BudgetError):
        offer.release()
    assert loads.opened == 1
    assert "would be refused" in str(offer)
    assert "declared public" in str(question.plan(epsilon=0.2, cost=3000))
    assert str(exact[0]) not in repr(loads)


def test_the_answer_says_when_the_cost_was_declared(ledger):
    grid, exact = ring()
    question = hide_loads(grid, Loads(exact), ledger, alpha=1, budget=Budget(epsilon=2, delta=1e-6), who="me")
    answer = question.plan(epsilon=0.1, cost=2900).release()
    assert "declared public" in str(answer)
    assert answer.report["reference"] == 2900
    assert "NOT within" in str(replace(answer, report={**answer.report, "within": False}))


def test_an_account_protects_one_alpha(ledger):
    grid, exact = ring()
    first = hide_loads(grid, Loads(exact), ledger, alpha=1, budget=Budget(epsilon=1), who="me")
    first.plan(epsilon=0.1, cost=2900).release()  # with which the account is opened
    hide_loads(grid, Loads(exact), ledger, alpha=1, who="me")
    with pytest.raises(InputError, match="alpha"):
        hide_loads(grid, Loads(exact), ledger, alpha=0.5, who="me")
    with pytest.raises(InputError, match="budget"):
        hide_loads(grid, Loads(exact), ledger, alpha=0.5, budget=Budget(epsilon=1), who="me")


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
    assert small.load_error() == pytest.approx(10 * large.load_error(), rel=0.01)
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


@pytest.mark.parametrize(
    "values", [[1.0, math.nan], [1.0, math.inf], [-3.25, 1.0], [], [[1.0]], ["x"], 5, None, [1.0, None]]
)
def test_loads_that_are_none_are_refused_without_being_shown(values):
    with pytest.raises(InputError) as caught:
        Loads(values)
    assert caught.value.field == "loads"
    assert "3.25" not in str(caught.value)


def test_what_does_not_fit_together_is_refused(ledger):
    grid, exact = ring()
    budget = {"budget": Budget(epsilon=1), "who": "me"}
    for given, field in [
        (lambda: hide_loads(grid, Loads(exact[:3]), ledger, alpha=1, **budget), "loads"),
        (lambda: hide_loads(grid, exact, ledger, alpha=1, **budget), "loads"),
        (lambda: hide_loads("grid", Loads(exact), ledger, alpha=1, **budget), "grid"),
        (lambda: hide_loads(grid, Loads(exact), ledger, alpha=0, **budget), "alpha"),
        (lambda: hide_loads(grid, Loads(exact), ledger, alpha=1, who="me"), "dataset"),
    ]:
        with pytest.raises(InputError) as caught:
            given()
        assert caught.value.field == field
    assert ledger.datasets() == ()


def test_loads_beyond_all_generation_are_released_and_feasible(ledger):
    """A grid that cannot feed its true loads is no reason to fail after the charge: that would tell."""
    grid, exact = ring()
    question = hide_loads(grid, Loads(exact * 100), ledger, alpha=1, budget=Budget(epsilon=2), who="me")
    answer = question.plan(epsilon=1, cost="measured").release()
    assert feasible(grid, answer.loads)


def test_a_grid_that_can_feed_nothing_is_refused():
    must_run = Grid.of(2, [(0, 1, 1000, 10)], [(0, 50, 90, Quadratic(slope=1))], [1])  # 50 MW at least, over 10 MW
    with pytest.raises(InputError) as caught:
        planned(must_run, highest=20)
    assert caught.value.field == "grid"


def test_a_zcdp_allotment_pays_what_laplace_noise_costs_it(ledger):
    grid, exact = ring()
    hide_loads(grid, Loads(exact), ledger, alpha=1, budget=Budget(rho=1), who="me")
    question = hide_loads(grid, Loads(exact), ledger, alpha=1, who="me")
    assert 0 < question.plan(epsilon=0.5, cost=3000).plan.charge.amount <= Fraction(1, 8)
    with pytest.raises(InputError, match="share"):
        question.plan(share=0.5, cost=3000)
