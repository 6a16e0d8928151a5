"""Two looks at groups: charged whatever is chosen, decided by what was paid for, with the chances that are stated."""

from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from group_desk import ask, curator

from chance import frequency_fits
from discreet import Budget, Unit
from discreet.accounting import pure, zcdp
from discreet.accounting.compose import compose
from discreet.core.packing import pack, unpack
from discreet.core.unit import Neighbours
from discreet.noise.bits import SystemBits
from discreet.trees.detail.plan import DetailPlan
from discreet.trees.detail.stages import LevelStages
from seam import BrokenLawError, Tape, captured, within

LIMITS = {"sex": 30, "sex by age": 60}


@pytest.mark.parametrize("unit", [Unit(), Unit("who", groups=3, rows=2)], ids=str)
@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("way", ["epsilon", "rho"])
def test_whatever_is_chosen_costs_no_more_than_is_charged(tmp_path, unit, neighbours, way):
    desk = curator(tmp_path, Unit(unit.column, neighbours, unit.groups, unit.rows), budget=Budget(rho=4))
    plan = ask(desk).plan(**{way: "0.7"}).plan
    for after in (lambda one: [one.alone], lambda one: [one.total, one.detail]):
        losses = [loss.loss for stage in plan.stages for loss in (stage.first, *after(stage))]
        paid = plan.allotment.price(compose(losses)).amount
        assert plan.charge.amount * Fraction(999, 1000) < paid <= plan.charge.amount
    assert zcdp(plan.cost).rho <= Fraction(7, 10)


def test_in_a_pure_allotment_the_price_is_kept_to_the_last_digit(tmp_path):
    assert pure(ask(curator(tmp_path)).plan(epsilon="0.7").plan.cost).epsilon == Fraction(7, 10)


def test_thresholds_are_where_an_average_cell_is_no_longer_unfit_for_use(tmp_path):
    plan = ask(curator(tmp_path)).plan(epsilon=1).plan
    for stage in plan.stages:
        cells = (2, 4)
        spread, stray = stage.detail.noise.variance**0.5, stage.first.noise.error(0.9) + 1
        assert stage.thresholds == tuple(max(stray, int(np.ceil(3 * many * spread))) for many in cells)
        assert stage.chances(0)[0] >= 0.95
    plan = ask(curator(tmp_path)).plan(epsilon=1, thresholds=LIMITS).plan
    assert plan.stages[0].chosen(np.array([29, 30, 59, 60])).tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize("way", ["epsilon", "rho"])
def test_the_chances_of_a_plan_are_those_of_its_runs(tmp_path, way):
    plan = ask(curator(tmp_path, budget=Budget(rho=4)), groups={"all": "age >= 0"}).plan(**{way: "0.5"}).plan
    stage, draws = plan.stages[0], 20_000
    for size in (0, stage.thresholds[0], sum(stage.thresholds) // 2):
        chosen = stage.chosen(stage.first.noise.release(np.full(draws, size)))
        chances = stage.chances(size)
        assert sum(chances) == pytest.approx(1)
        for detail, chance in enumerate(chances):
            assert frequency_fits(int((chosen == detail).sum()), draws, min(max(chance, 1e-9), 1 - 1e-9))


def at_the_limit(plan):
    """Two tables of which one has one row more, and with it as many as a level of detail needs."""
    exact = np.zeros((12, 3, 4), np.int64)
    exact[:, :, 0] = 29
    other = exact.copy()
    other[0, :, 2] += 1
    return exact, other


def told_apart(plan, exact, other):
    """Refuse what tells two tables apart by more than the price, if both hear the same."""
    bits, again = Tape("one"), Tape("other")
    with captured(bits) as first:
        plan.noisy(exact, bits)
    with captured(again, first) as second:
        plan.noisy(other, again)
    within(plan.allotment, plan.cost, first, second)


def test_a_row_is_told_apart_by_no_more_than_the_price(tmp_path):
    plan = ask(curator(tmp_path)).plan(epsilon=1, thresholds=LIMITS).plan
    told_apart(plan, *at_the_limit(plan))


def by_the_truth(plan, exact, bits):
    """The detail is decided by how many there are, and not by how many were found."""
    for stage, level in zip(plan.stages, plan.counted.finest.tree.sums(exact), strict=True):
        counts = level.reshape(-1, exact.shape[2])
        totals = counts.sum(axis=1)
        stage.first.noise.release(totals, bits=bits)
        choice = stage.chosen(totals)
        stage.alone.noise.release(totals[choice == 0], bits=bits)
        stage.detail.noise.release(plan.counted.details.add(0, counts[choice == 1]).ravel(), bits=bits)


def without_the_first_look(stage, allotment):
    return compose([stage.total.loss, stage.detail.loss])


def without_the_total(stage, allotment):
    return compose([stage.first.loss, stage.detail.loss])


@pytest.mark.parametrize(
    ("place", "name", "bug"),
    [
        (DetailPlan, "noisy", by_the_truth),
        (LevelStages, "cost", without_the_first_look),
        (LevelStages, "cost", without_the_total),
    ],
    ids=["decided by the truth", "first look unpaid", "total unpaid"],
)
def test_planted_bugs_are_caught(tmp_path, place, name, bug):
    first = -(10**6) if name == "cost" else 30  # every group gets detail, or one row more decides
    plan = ask(curator(tmp_path)).plan(epsilon=1, thresholds={"sex": 30, "sex by age": 10**9}).plan
    plan = replace(plan, stages=tuple(replace(stage, thresholds=(first, 10**9)) for stage in plan.stages))
    with mock.patch.object(place, name, bug), pytest.raises(BrokenLawError):
        told_apart(plan, *at_the_limit(plan))


def test_what_is_published_follows_from_what_was_measured(tmp_path):
    plan = ask(curator(tmp_path)).plan(epsilon=1, thresholds=LIMITS).plan
    exact = np.random.default_rng(2).integers(0, 40, (12, 3, 4))
    measured = plan.noisy(exact, SystemBits())
    assert plan.publish(measured) == plan.publish(measured)
    chosen = [stage.chosen(unpack(one["first"])) for stage, one in zip(plan.stages, measured["levels"], strict=True)]
    for choice, one in zip(chosen, measured["levels"], strict=True):
        assert len(unpack(one["alone"])) == (choice == 0).sum()
        assert [unpack(cells).shape for _, cells in one["detailed"]] == [
            ((choice == 1).sum(), 2),
            ((choice == 2).sum(), 4),
        ]
    moved = {"levels": [{**one, "first": pack(unpack(one["first"]))} for one in measured["levels"]]}
    assert plan.publish(moved) == plan.publish(measured)
