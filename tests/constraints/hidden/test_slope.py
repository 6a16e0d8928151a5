"""How far an objective moves: as declared, as floats have it, and as linear and quadratic ones are known to."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import discreet.constraints.hidden.slope as slope_module
from discreet import Budget
from discreet.constraints import Convex, Quadratic
from discreet.curator import hide_values
from discreet.errors import InputError
from discreet.ledger.ledger import Ledger

pytest.importorskip("clarabel", reason="needs discreet[constraints]")


@pytest.fixture
def far(tmp_path):
    """An objective that is large beside what one step moves it by: plans of it, by step."""

    ledger = Ledger.open(tmp_path / "books.db", create=True)

    def planned(step, constant, slope="1.1"):
        cost = Convex("cost", lambda x: constant + float(x.sum()))
        terms = {"highest": 1, "step": step, "optimum": "measured", "lipschitz": slope}
        values, budget = {"a": 0.25, "b": 0.5}, Budget(epsilon=10)
        asked = hide_values(values, ledger, alpha=step, objective=cost, constraints=(), budget=budget)
        return asked.plan(epsilon=1, **terms).plan

    return planned


def _jump(plan, start, tried=400):
    """How far the objective moves at most between neighbours, as it is measured."""
    heights = [plan.height(np.array([start + more, plan.most // 2])) for more in range(tried)]
    return max(abs(b - a) for a, b in zip(heights, heights[plan.shift :], strict=False))


@pytest.mark.parametrize(
    ("step", "constant", "slope"), [("1e-9", 1e8, "1.1"), ("1e-6", 1e11, 10), ("1e-8", float("inf"), 1)]
)
def test_steps_that_floats_lose_are_refused(far, step, constant, slope):
    with pytest.raises(InputError, match="floats do not tell apart"):
        far(step, constant, slope)


def test_an_objective_moves_by_no_more_than_is_charged_and_would_where_floats_lose_steps(far, monkeypatch):
    """The planted bug: the check left out, as it was; a step moved the optimum by 16 units where 2 were charged."""
    plan = far("1e-9", 100)
    assert _jump(plan, 250_000_000) <= plan.shift + 1
    monkeypatch.setattr(slope_module, "compare_digits", lambda *_: None)
    plan = far("1e-9", 1e8)
    assert _jump(plan, 250_000_000) > plan.shift + 1


LOSSES = Quadratic("losses", [1, -3], "0.5")


@pytest.fixture
def measured(tmp_path):
    """Plans of a measured optimum of two numbers from 0 to 8."""
    ledger = Ledger.open(tmp_path / "books.db", create=True)

    def planned(objective=LOSSES, **terms):
        asked = hide_values([3, 4], ledger, alpha=2, objective=objective, budget=Budget(epsilon=10))
        return asked.plan(**{"epsilon": 1, "highest": 8, "step": 1, "optimum": "measured", **terms})

    return planned


def _worst(plan):
    """How far neighbours move the optimum, over all of them."""
    points = list(product(range(plan.least, plan.most + 1), repeat=2))
    heights = {point: plan.height(np.array(point)) for point in points}
    near = [(a, b) for a, b in product(points, repeat=2) if sum(x != y for x, y in zip(a, b, strict=True)) == 1]
    return max(abs(heights[a] - heights[b]) for a, b in near if sum(map(abs, np.subtract(a, b))) <= plan.shift)


def test_the_slope_of_a_quadratic_objective_is_computed_and_no_neighbours_move_it_farther(measured):
    offer = measured()
    plan = offer.plan
    assert plan.lipschitz == 9  # 1 + 2 * 0.5 * 8
    assert _worst(plan) == plan.shift
    assert "custodian" not in str(offer)
    assert not [note for note in offer.release().table.notes if note.kind == "promise"]
    slower = replace(plan, lipschitz=Fraction(1))  # planted: half of the square's slope, at one end
    assert _worst(slower) > slower.shift + 1


def test_a_stated_slope_is_checked_where_it_can_be(measured):
    assert measured(lipschitz=12).plan.lipschitz == 12
    assert measured(lipschitz=9).plan.digest == measured().plan.digest
    for stated, objective in (("8.999", LOSSES), (1, Quadratic("sum", "1.001"))):
        with pytest.raises(InputError, match="Leave it out") as caught:
            measured(objective, lipschitz=stated)
        assert caught.value.field == "lipschitz"
    with pytest.raises(InputError, match="moves with the numbers"):
        measured(Quadratic("none", 0))
    with pytest.raises(InputError, match="one number, or 2"):
        measured(Quadratic("three", [1, 2, 3]))


def test_an_exact_objective_loses_no_digits_beside_a_large_constant(measured):
    """Of a function of floats such a plan is refused: it would jump."""
    plan = measured(Quadratic("far", 1, constant=10**13), step="1e-3").plan
    heights = [plan.height(np.array([place, 5])) for place in range(20)]
    assert np.diff(heights).tolist() == [1] * 19


def test_another_function_of_the_same_name_is_another_plan(measured):
    assert measured(Quadratic("losses", [1, -3], "0.49999999999"), lipschitz=9).plan.digest != measured().plan.digest
