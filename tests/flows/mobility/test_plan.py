"""The plan of flows: one charge, the noise that was priced, and intervals that hold."""

import itertools
from fractions import Fraction

import numpy as np
import pyarrow
import pytest
from mobility_desk import ask, curator, trips

from chance import LEVEL, at_most, fit, fits, laplace_pmf
from discreet import Budget, Unit
from discreet.accounting import pure, zcdp
from discreet.core.unit import Neighbours
from discreet.data.source import source_of
from discreet.flows.mobility.layout import CELLS, ORIGINS
from discreet.mechanisms import Gaussian
from discreet.query.compile import GROUP, compile_query, measure_name
from discreet.query.measure import Rows
from discreet.query.noisy_sums import moved_sums

FIXED = {"cells": 30}


def test_all_tables_agree_and_one_charge_pays(tmp_path):
    desk = curator(tmp_path)
    offer = ask(desk).plan(epsilon=1)
    assert offer.plan.charge.amount == 1
    found = offer.release(release="flows")
    assert set(found) == {"cells", "origins", "destinations", "zones", "windows", "total"}
    cells = np.array(found["cells"]["count"]).reshape(4, 4, 2)
    assert cells.min() >= 0
    assert cells.dtype.kind == "i"
    sides = cells.reshape(2, 2, 2, 2, 2)
    for name, sums in {
        "origins": cells.sum(axis=1),
        "destinations": cells.sum(axis=0),
        "zones": sides.sum(axis=(1, 3)),
        "windows": cells.sum(axis=(0, 1)),
        "total": cells.sum(keepdims=True),
    }.items():
        assert found[name]["count"] == sums.ravel().tolist(), name
        for value, low, high in zip(*(found[name][f"count{end}"] for end in ("", "_lower", "_upper")), strict=True):
            assert 0 <= low <= value <= high
    assert found["cells"].keys == ("start", "end", "hour")
    assert found["zones"].rows()[0].keys() >= {"start_zone", "end_zone", "hour"}
    assert found["zones"]["start_zone"][:4] == ["north"] * 4
    assert [record.kind for record in desk.ledger.records()].count("charge") == 1
    with pytest.warns(UserWarning, match="may describe earlier data"):
        assert offer.release(release="flows")["cells"].columns == found["cells"].columns
    assert desk.release("flows", "origins").columns == found["origins"].columns
    assert abs(found["total"]["count"][0] - 3000) < 1000


def test_explain_says_cost_and_error_before_anything_is_spent(tmp_path):
    desk = curator(tmp_path, Unit("who", groups=2, rows=3))
    offer = ask(desk).plan(epsilon=1, shares=FIXED)
    text = str(offer)
    for part in ("epsilon = 1 ", "cells: +-60", "origins: +-72", "zones: ", "windows: ", "total: ", "at most 2 cells"):
        assert part in text, text
    assert "charge" not in {record.kind for record in desk.ledger.records()}
    assert "refused" in str(ask(desk).plan(epsilon=100))


def test_gaussian_noise_where_rho_is_counted(tmp_path):
    desk = curator(tmp_path, Unit("who", groups=3, rows=1), budget=Budget(rho=0.5))
    offer = ask(desk).plan(rho=0.25)
    assert all(isinstance(measure.noise, Gaussian) for measure in offer.plan.measures)
    assert zcdp(offer.plan.cost).rho <= Fraction(1, 4)
    assert zcdp(offer.plan.cost).rho > Fraction(2499, 10000)
    assert len(offer.release()["cells"]) == 32
    assert zcdp(ask(desk).plan(epsilon="0.5").plan.cost).rho <= Fraction(1, 8)


@pytest.mark.parametrize("unit", [Unit(), Unit("who", groups=1, rows=1), Unit("who", groups=3, rows=2)], ids=str)
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_price_is_kept_to_the_last_digit(tmp_path, unit, neighbours):
    unit = Unit(unit.column, neighbours, unit.groups, unit.rows)
    assert pure(ask(curator(tmp_path, unit)).plan(epsilon="0.7").plan.cost).epsilon == Fraction(7, 10)


def counted(plan, table, salt):
    """What the engine counts, and its sums."""
    with source_of(table).open() as data:
        found = data.integers(compile_query(plan.question, plan.schema, (Rows(),), data.table, salt))
    exact = np.zeros(32, dtype=np.int64)
    exact[found[GROUP]] = found[measure_name(0)]
    return plan.layout.sums(exact.reshape(4, 4, 2).transpose(2, 0, 1))


def test_no_person_moves_any_sum_further_than_stated(tmp_path):
    """Each person is taken out; every aggregation is counted anew. A bound that forgets merging must be broken."""
    unit = Unit("who", groups=3, rows=2)
    table = trips(rows=120, people=6)
    plan = ask(curator(tmp_path, unit, table)).plan(epsilon=1).plan
    salt = list(range(1001, 1009))
    whole = counted(plan, table, salt)
    forgetful = 0
    who = np.array(table["who"])
    for person in range(6):
        less = counted(plan, table.filter(pyarrow.array(who != person)), salt)
        for measure in plan.measures:
            move = np.abs(whole[measure.name] - less[measure.name])
            assert move.sum() <= measure.moved.l1
            assert (move**2).sum() <= measure.moved.l2_squared
            forgetful += int((move**2).sum()) > 3 * 2**2  # three outputs by two each: cells, not sums of cells
    assert forgetful


@pytest.mark.parametrize(("neighbours", "times"), [(Neighbours.ADD_REMOVE, 1), (Neighbours.REPLACE, 2)])
def test_norms_of_merged_cells_are_bounded_and_reached(neighbours, times):
    unit = Unit("who", neighbours, groups=3, rows=2)
    moved, merged = moved_sums(unit, cells=12, outputs=4)
    assert merged
    l1 = l2 = one = 0
    places = list(itertools.combinations(range(12), 3))
    before = [np.bincount(np.array(cells) % 4, minlength=4) * 2 for cells in places]
    for a, b in itertools.product(before, before if times == 2 else [np.zeros(4, int)]):
        l1, l2 = max(l1, np.abs(a - b).sum()), max(l2, ((a - b) ** 2).sum())
        one = max(one, abs(int((a - b)[0])))
    assert (moved.l1, moved.l2_squared) == (l1, l2)
    single, _ = moved_sums(unit, cells=12, outputs=1)
    assert single.l1 == one


def test_every_aggregation_gets_the_noise_that_was_priced(tmp_path):
    plan = ask(curator(tmp_path)).plan(epsilon=1, shares=FIXED).plan
    nothing = np.zeros(plan.layout.shape, dtype=np.int64)
    draws = [plan.noisy(nothing) for _ in range(1500)]
    for measure in plan.measures:
        seen = np.concatenate([draw[measure.name].ravel() for draw in draws])
        assert fits(seen, laplace_pmf(measure.noise.scale)), measure.name
        assert fit(seen, laplace_pmf(measure.noise.scale * 2)) < LEVEL


def test_noise_is_drawn_anew_for_each_aggregation(tmp_path):
    plan = ask(curator(tmp_path), zones=None).plan(epsilon=1, shares=FIXED).plan
    nothing = np.zeros(plan.layout.shape, dtype=np.int64)
    assert any(plan.noisy(nothing)[ORIGINS].sum() != plan.noisy(nothing)[CELLS].sum() for _ in range(50))


def test_intervals_hold_as_often_as_they_say(tmp_path):
    plan = ask(curator(tmp_path)).plan(epsilon=1, confidence=0.9, shares=FIXED).plan
    chance = np.random.default_rng(2)
    truth = chance.poisson(chance.choice([0.2, 5, 50], plan.layout.shape)).astype(np.int64)
    exact = {**plan.layout.sums(truth), "total": truth.sum(keepdims=True)}
    misses = dict.fromkeys([*(measure.name for measure in plan.measures), "total"], 0)
    short, halves, trials = 0, plan.measures[0].noise.error(0.9), 150
    for _ in range(trials):
        noisy = plan.noisy(truth)
        for name, part in plan.tables(noisy)["parts"].items():
            true = np.moveaxis(exact[name], 0, -1).ravel()
            low, high = (np.array(part["columns"][f"count{end}"]) for end in ("_lower", "_upper"))
            misses[name] += int(((true < low) | (true > high)).sum())
        short += int((np.abs(noisy[CELLS] - truth) > halves // 2).sum())
    for name, missed in misses.items():
        assert at_most(missed, trials * exact[name].size, 0.1), name
    assert not at_most(short, trials * exact[CELLS].size, 0.1)  # half as wide would be caught
