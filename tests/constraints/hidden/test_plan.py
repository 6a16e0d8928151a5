"""Private numbers under constraints of one's own: what is paid, what is released, and bugs that would show."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet import Budget
from discreet.audit.many_runs import audit
from discreet.audit.outputs import Pair
from discreet.constraints import Convex, Equal
from discreet.constraints.hidden import HidePlan, PrivateValues
from discreet.core.decimal_steps import to_steps
from discreet.core.loss import Pure
from discreet.core.packing import unpack
from discreet.curator import hide_values
from discreet.curator.kinds import read_release
from discreet.errors import InputError
from discreet.ledger.ledger import Ledger
from discreet.noise.bits import SystemBits

pytest.importorskip("clarabel", reason="needs discreet[constraints]")

VALUES = {"a": 12.5, "b": 40, "c": "7.25"}
COST = Convex("cost", lambda x: float((x**2).sum() / 100))
TOTAL = Equal("total", [[1, 1, 1]], [59.75])
TERMS = {"epsilon": 1, "highest": 100, "step": "0.1"}
PAID = {**TERMS, "optimum": "measured", "lipschitz": 2, "beta": 0.05}


@pytest.fixture
def ledger(tmp_path):
    return Ledger.open(tmp_path / "books.db", create=True)


def draft(ledger, *, alpha=2, objective=COST, constraints=(TOTAL,), values=VALUES, **more):
    return hide_values(
        values, ledger, alpha=alpha, objective=objective, constraints=constraints, budget=Budget(epsilon=10), **more
    )


def test_numbers_meet_what_was_asked_and_are_read_again(ledger):
    offer = draft(ledger).plan(**{**TERMS, "optimum": 18.1, "beta": 0.05})
    made = offer.release(release="x", why="test")
    assert sum(made.values) == pytest.approx(59.75, abs=1e-4)
    assert COST.value(np.array(made.values)) == pytest.approx(made.report["objective"], rel=1e-6)
    if made.report["within"]:
        assert abs(made.report["objective"] - 18.1) <= 0.0501 * 18.1
    assert all(
        low <= value <= high
        for low, value, high in zip(made.columns["value_lower"], made.values, made.columns["value_upper"], strict=True)
    )
    again = read_release(ledger, "x")
    assert again.values == made.values
    assert again.table.notes == made.table.notes
    assert offer.publish("x", beta=0.5).report["beta"] == 0.5
    assert json.loads(json.dumps(made.to_dict()))["noisy"] == list(made.noisy)
    assert set(made.tables()) == {"", "noisy"}
    assert "3 numbers" in str(made)


def test_the_price_is_split_between_numbers_and_optimum(ledger):
    plan = draft(ledger).plan(**PAID).plan
    assert plan.values_epsilon + plan.optimum_epsilon == 1
    assert plan.charge.amount == 1
    assert plan.shift == 20
    assert plan.noise.scale == Fraction(20) / Fraction(3, 4)
    assert plan.optimum_noise.scale == Fraction(21) / Fraction(1, 4)
    alone = draft(ledger, objective=None, constraints=(), dataset="alone").plan(**TERMS)
    assert alone.plan.noise.scale == 20
    assert "declared by the custodian" in str(draft(ledger, dataset="said").plan(**PAID))
    said = draft(ledger, dataset="released").plan(**PAID).release()
    assert "custodian declares" in next(note.text for note in said.table.notes if note.kind == "promise")


def test_an_optimum_that_noise_moved_out_of_reach_is_left_and_said(ledger):
    plan = draft(ledger).plan(**PAID).plan
    table = plan.table(np.array([200, 200, 200]), -1e9)
    assert not table["report"]["within"]
    assert sum(table["columns"]["value"]) == pytest.approx(59.75, abs=1e-4)
    assert any("out of their reach" in note["text"] for note in table["notes"])


def test_a_declared_optimum_that_constraints_do_not_reach_is_told_before_it_costs(ledger):
    """Three numbers that sum to 59.75 cost 11.9 at least."""
    offer = draft(ledger).plan(**{**TERMS, "optimum": 12, "beta": 0.05})
    with pytest.raises(InputError, match="contradict each other"):
        draft(ledger).plan(**{**TERMS, "optimum": 5, "beta": 0.05})
    assert ledger.standing("values")[0].spent.amount == 0
    # What was paid for is published all the same.
    table = replace(offer.plan, declared=Fraction(5)).table(np.array([200, 200, 200]), None)
    assert sum(table["columns"]["value"]) == pytest.approx(59.75, abs=1e-4)
    assert any("declared of cost is out of their reach" in note["text"] for note in table["notes"])


def test_other_constraints_are_free(ledger):
    made = draft(ledger, constraints=(), objective=None).plan(**TERMS).release()
    before = ledger.standing("values")[0].left
    moved = made.again([Equal("total", [[1, 1, 1]], [60])], objective=COST, optimum=20.0, beta=0.1)
    assert sum(moved.values) == pytest.approx(60, abs=1e-4)
    assert moved.noisy == made.noisy
    assert ledger.standing("values")[0].left == before
    with pytest.raises(InputError, match="optimum"):
        made.again(objective=COST)


def released(plan, values, runs):
    """Noisy numbers and optimum of many runs, a row each."""
    exact = PrivateValues(values)
    rows = []
    for _ in range(runs):
        with exact.open() as data:
            found = plan.measure(data, SystemBits())
        rows.append([*unpack(found["noisy"])[:1].tolist(), found["optimum"]])
    return np.array(rows)


def pair(plan, inside, outside):
    return Pair(
        lambda runs: released(plan, inside, runs), lambda runs: released(plan, outside, runs), "one number moved"
    )


STEEP = Convex("steep", lambda x: float(2 * x[0]))


@pytest.fixture
def small(ledger) -> HidePlan:
    """One number in large steps, whose optimum moves as far as it was declared to."""
    given = draft(ledger, values=[3], objective=STEEP, constraints=(), alpha=1)
    return given.plan(epsilon=1, highest=10, step=1, optimum="measured", lipschitz=2, optimum_share=0.5).plan


@pytest.mark.statistical
def test_neighbours_are_not_told_apart_by_more_than_the_price(small):
    assert not audit(pair(small, [4], [3]), Pure(1), runs=2000, confidence=1 - 1e-12).violated


@pytest.mark.statistical
@pytest.mark.parametrize("bug", ["alpha", "lipschitz", "unpaid"])
def test_planted_bugs_are_caught(small, bug):
    """Numbers that move farther than declared, a slope declared too small, an optimum measured at no charge."""
    moved, plan = [4], small
    if bug == "alpha":
        moved = [7]
    elif bug == "lipschitz":
        plan = replace(small, lipschitz=Fraction(1, 4))
    else:
        plan = replace(small, optimum_epsilon=Fraction(4))
    assert audit(pair(plan, moved, [3]), Pure(1), runs=3000, confidence=1 - 1e-12).violated


def test_numbers_are_clamped_and_rounded_as_written(ledger):
    plan = draft(ledger, values=[-5, 1e9, "0.25"], objective=None, constraints=()).plan(**TERMS).plan

    with PrivateValues([-5, 1e9, "0.25"]).open() as data:
        assert to_steps(data, plan.step, plan.most, plan.least).tolist() == [0, 1000, 3]


def test_an_objective_that_fails_tells_nothing(ledger):
    def moody(x):
        if x[0] > 99.5 and x[1] < 1:
            raise RuntimeError("private")
        return float(x[0])

    plan = draft(ledger, objective=Convex("moody", moody), constraints=()).plan(**{**PAID, "lipschitz": 1}).plan
    found = released(plan, [99.9, 0.3, 5], 3)
    assert np.isfinite(found).all()


def test_another_function_is_another_plan(ledger):
    one = draft(ledger).plan(**PAID).plan
    other = Convex("cost", lambda x: float((x**2).sum() / 101))
    assert draft(ledger, objective=other, dataset="values").plan(**PAID).plan.digest != one.digest
    assert draft(ledger).plan(**{**PAID, "beta": 0.06}).plan.digest != one.digest


@pytest.mark.parametrize(
    ("changes", "terms", "field"),
    [
        ({}, {}, "optimum"),
        ({}, {"optimum": "measured"}, "lipschitz"),
        ({}, {"optimum": "measured", "lipschitz": 1}, "lipschitz"),
        ({}, {"optimum": "measured", "lipschitz": 2, "optimum_share": 1}, "optimum_share"),
        ({}, {"optimum": 18, "beta": 1}, "beta"),
        ({}, {"optimum": 18, "highest": None}, "highest"),
        ({}, {"optimum": 18, "lowest": 100}, "highest"),
        ({}, {"optimum": 18, "step": 0}, "step"),
        ({}, {"optimum": 18, "step": "1e-12"}, "step"),
        ({"alpha": 200}, {"optimum": 18}, "alpha"),
        ({"objective": None}, {"optimum": 18}, "optimum"),
        ({"constraints": (TOTAL, Equal("other", [[1, 1, 1]], [3]))}, {"optimum": 18}, "constraints"),
        ({"objective": Convex("moody", lambda x: 1 / 0)}, {"optimum": 18}, "moody.function"),
        ({"objective": Convex("words", lambda x: "much")}, {"optimum": 18}, "words.function"),
        ({"constraints": (Equal("short", [[1, 1]], [3]),)}, {"optimum": 18}, "short.matrix"),
    ],
    ids=lambda given: "-".join(given) if isinstance(given, dict) else str(given),
)
def test_what_cannot_be_is_refused_before_anything_is_spent(ledger, changes, terms, field):
    with pytest.raises(InputError) as caught:
        draft(ledger, **changes).plan(**{**TERMS, **terms})
    assert caught.value.field == field
    assert ledger.standing("values")[0].spent.amount == 0


@pytest.mark.parametrize("values", [[], {}, "abc", 3, [None], [True], [[1, 2]]], ids=str)
def test_values_are_numbers(values):
    with pytest.raises(InputError, match="values"):
        PrivateValues(values)


def test_asks_are_about_what_was_declared(ledger):
    with pytest.raises(InputError, match="alpha"):
        draft(ledger, alpha=0)
    with pytest.raises(InputError, match="measure"):
        draft(ledger, measure="")
    with pytest.raises(InputError, match="objective"):
        draft(ledger, objective=3)
    with pytest.raises(InputError, match="constraints"):
        draft(ledger, constraints=(3,))
    draft(ledger)
    with pytest.raises(InputError, match="alpha"):
        hide_values(VALUES, ledger, alpha=3)
    assert "private values" in repr(PrivateValues(VALUES))
