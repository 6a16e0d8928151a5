"""A declared slope: what floats lose of it is refused before anything is spent."""

import numpy as np
import pytest

import discreet.constraints.hidden.plan as plan_module
from discreet import Budget
from discreet.constraints import Convex
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
    monkeypatch.setattr(plan_module, "compare_digits", lambda *_: None)
    plan = far("1e-9", 1e8)
    assert _jump(plan, 250_000_000) > plan.shift + 1
