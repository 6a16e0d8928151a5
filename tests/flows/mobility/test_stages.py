"""Shares that follow from a noisy first look: charged whichever way they go, and decided by what was paid for."""

from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from mobility_desk import ask, curator

from chance import at_most
from discreet import Budget, Unit
from discreet.accounting import pure, zcdp
from discreet.accounting.compose import compose
from discreet.core.unit import Neighbours
from discreet.flows.mobility.layout import CELLS, ORIGINS, PILOT, WINDOWS
from discreet.flows.mobility.plan import MobilityPlan
from discreet.flows.mobility.stages import TOTAL, Stages, reaches
from seam import BrokenLawError, Tape, captured, within

WAYS = DENSE, SPARSE = {PILOT, CELLS}, {PILOT, CELLS, ORIGINS, "destinations", "zones", WINDOWS}


def table(plan, rows):
    """So many rows in all, a few of the cells empty."""
    flows = np.zeros(plan.layout.shape, dtype=np.int64)
    flows.ravel()[::2] = rows // 16
    flows[0, 0, 0] += rows - int(flows.sum())
    return flows


def both_ways(plan):
    """A table that is found dense, but for chances that no test meets, and an empty one."""
    far = 60 * plan.stages.pilot.noise.error(0.95)
    return table(plan, plan.stages.limit + far), table(plan, 0)


def found(plan, exact, way):
    """Noisy counts, drawn until they were measured in a way."""
    return next(noisy for noisy in iter(lambda: plan.noisy(exact), None) if set(noisy) == way)


def told_apart(plan, exact, other):
    """Refuse what tells two tables apart by more than the price, if both hear the same."""
    bits = Tape("one")
    with captured(bits) as first:
        plan.noisy(exact, bits)
    again = Tape("other")
    with captured(again, first) as second:
        plan.noisy(other, again)
    within(plan.allotment, plan.cost, first, second)


def test_the_first_look_decides_what_is_measured(tmp_path):
    plan = ask(curator(tmp_path)).plan(epsilon=1).plan
    dense, sparse = both_ways(plan)
    assert set(plan.noisy(dense)) == DENSE
    assert {frozenset(plan.noisy(sparse)) for _ in range(200)} == {frozenset(DENSE), frozenset(SPARSE)}
    assert plan.stages.after(np.array([plan.stages.limit, 0])) == plan.stages.sparse
    assert plan.stages.after(np.array([plan.stages.limit, 1])) == plan.stages.dense
    assert plan.stages.limit == 32  # so many cells, each with noise of scale 1 / 0.98


def test_what_is_published_has_the_same_shape_either_way(tmp_path):
    plan = ask(curator(tmp_path)).plan(epsilon=1).plan
    dense, sparse = (
        plan.tables(found(plan, flows, way))["parts"] for flows, way in zip(both_ways(plan), WAYS, strict=True)
    )
    assert list(dense) == list(sparse)
    for name in dense:
        assert len(dense[name]["columns"]["count"]) == len(sparse[name]["columns"]["count"])
        assert sum(dense[name]["columns"]["count"]) == dense["total"]["columns"]["count"][0]


@pytest.mark.parametrize("unit", [Unit(), Unit("who", groups=3, rows=2)], ids=str)
@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("way", ["epsilon", "rho"])
def test_either_way_costs_no_more_than_is_charged(tmp_path, unit, neighbours, way):
    desk = curator(tmp_path, Unit(unit.column, neighbours, unit.groups, unit.rows), budget=Budget(rho=4))
    plan = ask(desk).plan(**{way: "0.7"}).plan
    for after in (plan.stages.sparse, plan.stages.dense):
        paid = plan.allotment.price(compose([one.loss for one in (plan.stages.pilot, *after)])).amount
        assert paid <= plan.charge.amount
        assert paid > plan.charge.amount * Fraction(999, 1000)
    assert zcdp(plan.cost).rho <= Fraction(7, 10)


def test_in_a_pure_allotment_the_price_is_kept_to_the_last_digit(tmp_path):
    plan = ask(curator(tmp_path)).plan(epsilon="0.7").plan
    for after in (plan.stages.sparse, plan.stages.dense):
        assert pure(compose([one.loss for one in (plan.stages.pilot, *after)])).epsilon == Fraction(7, 10)
    assert pure(plan.cost).epsilon == Fraction(7, 10)


def neighbours_at_the_limit(plan):
    """Two tables of which one has one row more, and with it more than the limit."""
    exact = table(plan, plan.stages.limit)
    other = exact.copy()
    other[0, 0, 0] += 1
    return exact, other


def test_a_row_is_told_apart_by_no_more_than_the_price_whichever_way_is_taken(tmp_path):
    plan = ask(curator(tmp_path)).plan(epsilon=1).plan
    for exact in (*neighbours_at_the_limit(plan), *both_ways(plan)):
        other = exact.copy()
        other[1, 2, 3] += 1
        told_apart(plan, exact, other)


def by_the_truth(plan, exact, bits=None):
    """The way is decided by how many rows there are, and not by how many were found."""
    sums = plan.layout.sums(exact)
    sums[PILOT] = sums[WINDOWS]
    measures = (plan.stages.pilot, *plan.stages.after(sums[WINDOWS]))
    return {one.name: one.noise.release(sums[one.name].ravel(), bits=bits) for one in measures}


def without_the_first_look(stages, allotment):
    """The first look goes unpaid."""
    return compose([one.claim for one in stages.dense])


@pytest.mark.parametrize(
    ("place", "name", "bug"),
    [(MobilityPlan, "noisy", by_the_truth), (Stages, "cost", without_the_first_look)],
    ids=["decided by the truth", "first look unpaid"],
)
def test_planted_bugs_are_caught(tmp_path, place, name, bug):
    plan = ask(curator(tmp_path)).plan(epsilon=1).plan
    with mock.patch.object(place, name, bug), pytest.raises(BrokenLawError):
        told_apart(plan, *neighbours_at_the_limit(plan))


def test_a_plan_says_both_ways_and_when_each_is_taken(tmp_path):
    offer = ask(curator(tmp_path)).plan(epsilon=1)
    text = str(offer)
    for part in (
        "First 2% of the price",
        "more than 32 ",
        "cells, if sparse: ",
        "cells, if dense: ",
        "zones, if dense",
    ):
        assert part in text, text
    assert offer.explained.facts["dense_from"] == 33


def test_fixed_shares_are_what_earlier_versions_made_of_no_shares(tmp_path):
    desk = curator(tmp_path)
    staged, fixed = ask(desk).plan(epsilon=1).plan, ask(desk).plan(epsilon=1, shares={"cells": 30}).plan
    assert fixed.stages is None
    assert [one.digest for one in staged.former] == [fixed.digest] != [staged.digest]
    assert fixed.former == ()


def test_what_was_paid_with_fixed_shares_is_read_and_published_as_it_was(tmp_path):
    desk = curator(tmp_path)
    old = ask(desk).plan(epsilon=1, shares={"cells": 30}).release(release="old")
    offer = ask(desk).plan(epsilon=1)
    with pytest.warns(UserWarning, match="may describe earlier data"):
        assert offer.release(release="old")["cells"].columns == old["cells"].columns
    assert offer.publish("old")["origins"].columns == old["origins"].columns


@pytest.mark.parametrize(("way", "sizes"), [(DENSE, [0, 3, 40, 1000]), (SPARSE, [0, 0, 0, 2])], ids=["dense", "sparse"])
def test_intervals_of_every_table_hold_in_every_class_of_size_whichever_way_was_taken(tmp_path, way, sizes):
    plan = ask(curator(tmp_path)).plan(epsilon=1, confidence=0.9).plan
    truth = np.random.default_rng(5).choice(sizes, plan.layout.shape).astype(np.int64)
    exact = {**plan.layout.sums(truth), TOTAL: truth.sum(keepdims=True)}
    missed, trials = {}, 40
    for _ in range(trials):
        for name, part in plan.tables(found(plan, truth, way))["parts"].items():
            true = np.moveaxis(exact[name], 0, -1).ravel()
            low, high = (np.array(part["columns"][f"count{end}"]) for end in ("_lower", "_upper"))
            for size in np.unique(np.minimum(true, 100)):
                where = np.minimum(true, 100) == size
                outside = ((true < low) | (true > high))[where]
                before, of = missed.get((name, size), (0, 0))
                missed[name, size] = before + int(outside.sum()), of + len(outside)
    for group, (misses, of) in missed.items():
        assert at_most(misses, of, 0.1), group


def test_intervals_of_sums_are_as_wide_as_the_sum_of_their_noise(tmp_path):
    plan = ask(curator(tmp_path)).plan(epsilon=1).plan
    reach = reaches(plan.layout, (plan.stages.pilot, *plan.stages.dense), 0.95)
    cells = plan.stages.dense[0].noise
    assert reach[CELLS] == (CELLS, cells.error(0.95))
    assert reach[ORIGINS][1] > cells.error(0.95)
    assert reach["zones"][1].shape == (2, 2)
    assert {source for source, _ in reach.values()} == {CELLS}  # never the first look: it decided what is measured
