"""Streams: T periods under one price, each published once, totals that add up."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow
import pytest

import discreet
from discreet import Budget, Category, Date, Real, Schema, Unit, bins, count, mean, people, total
from discreet.accounting import pure, zcdp
from discreet.errors import BudgetError, InputError
from discreet.noise.bits import SystemBits
from discreet.query import stream as stream_module
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.source import source_of
from discreet.query.stream import StreamStep, plan_stream

MONTHS = bins("day", every="month")
COLUMNS = {"day": Date("2024-01-01", "2024-12-31"), "sex": Category(["f", "m"]), "pay": Real(0, 10)}


def rows_of(count_, seed=7):
    rng = np.random.default_rng(seed)
    return [
        {
            "p": int(rng.integers(0, count_ // 3)),
            "day": f"2024-{int(rng.integers(1, 13)):02d}-{int(rng.integers(1, 29)):02d}",
            "sex": ["f", "m", "x", None][int(rng.integers(0, 4))],
            "pay": float(rng.integers(-2, 14)),
        }
        for _ in range(count_)
    ]


def table(rows):
    return pyarrow.table({name: [row[name] for row in rows] for name in ("p", "day", "sex", "pay")})


def planned(unit, outputs, limit=1, price=None, keys=("sex",), budget=None):
    schema = Schema("t", COLUMNS, unit)
    allotment = (budget or Budget(epsilon=100)).allotments[0]
    query = Query().group_by(*keys).agg(**outputs)
    return plan_stream(query, schema, allotment, price or Price.read(epsilon=1), MONTHS, limit)


class FixedBits:
    """The same bytes every time, so that two runs pick groups alike."""

    def read(self, count_):
        return np.full(count_, 0b10110010, dtype=np.uint8)


def counted(plan, rows, period, first, bits=None):
    with source_of(table(rows)).open() as connection:
        return StreamStep(plan, period, "s")._counted(connection, bits or SystemBits(), first)


def reference(rows, plan, first, last):
    """Month by group, by hand: a person counts in their first `limit` months, as at most `rows` rows each."""
    unit = plan.schema.unit
    months = {}
    for row in rows:
        months.setdefault(row["p"], set()).add(int(row["day"][5:7]))
    out = np.zeros((last - first, 2), dtype=int)
    seen = {}
    for row in rows:
        month = int(row["day"][5:7])
        early = sorted(m for m in months[row["p"]] if m <= last)
        if row["sex"] not in ("f", "m") or not first < month <= last:
            continue
        if unit.column is not None:
            if month not in early[: plan.limit]:
                continue
            key = (row["p"], month, row["sex"])
            seen[key] = seen.get(key, 0) + 1
            if seen[key] > unit.rows:
                continue
        out[month - 1 - first, ["f", "m"].index(row["sex"])] += 1
    return out


@pytest.mark.parametrize("unit", [Unit(), Unit("p", groups=2, rows=2), Unit("p", groups=2, rows=1)], ids=str)
@pytest.mark.parametrize("limit", [1, 3])
def test_the_engine_counts_first_periods_only(unit, limit):
    rows = rows_of(200)
    plan = planned(unit, {"n": count()}, limit)
    for period, first in ((1, 0), (4, 0), (8, 0), (12, 8)):
        assert (counted(plan, rows, period, first)[0] == reference(rows, plan, first, period)).all()


@pytest.mark.parametrize(("limit", "groups", "careless"), [(1, 1, False), (2, 2, False), (1, 2, True)])
def test_one_person_moves_all_nodes_within_the_bound(limit, groups, careless):
    """Every node of every level, with and without one person: L1 and squared L2 stay within what is charged.

    A careless engine that counts all periods of a person must be seen to break it.
    """
    unit = Unit("p", groups=groups, rows=2)
    month_by_month = [f"2024-{month:02d}-15" for month in range(1, 13)]
    busy = [{"p": 999, "day": day, "sex": sex, "pay": 10.0} for day in month_by_month for sex in "ffmm"]
    without = rows_of(30)
    rows = without + busy
    charged = planned(unit, {"n": count(), "s": total("pay")}, limit)
    plan = replace(charged, limit=99) if careless else charged
    tree = plan.trees[0]
    moved, squared = np.zeros(2), np.zeros(2)
    for period in range(1, plan.periods + 1):
        levels = stream_module.closing(period, tree.levels)
        first = period - (1 << (levels - 1))
        # The same bits for both: which groups of the others count must not differ.
        pair = [counted(plan, some, period, first, FixedBits()) for some in (rows, without)]
        for index in (0, 1):
            difference = np.abs(pair[0][index] - pair[1][index]).astype(float)
            for level in range(levels):
                node = difference[len(difference) - (1 << level) :].sum(axis=0)
                moved[index] += node.sum()
                squared[index] += (node**2).sum()
    each = np.array([2, 2 * plan.measures[1].highest])
    assert (moved > 0).all()
    assert (moved <= tree.levels * limit * groups * each).all() != careless
    assert (squared <= groups * each**2 * tree.l2_squared).all() or careless


def test_the_price_of_a_stream_is_known_and_exact():
    pure_plan = planned(Unit("p", groups=2, rows=3), {"n": count(), "who": people()}, 2)
    assert pure(pure_plan.cost).epsilon == 1
    budget = Budget(rho=1)
    plan = planned(Unit("p", groups=2, rows=3), {"n": count()}, 2, Price.read(rho=Fraction(1, 2)), budget=budget)
    assert Fraction(4999, 10_000) < zcdp(plan.cost).rho <= Fraction(1, 2)
    assert StreamStep(plan, 1, "s").cost == plan.cost
    assert pure(StreamStep(plan, 2, "s").cost).epsilon == 0


@pytest.fixture
def curator(tmp_path):
    schema = Schema("t", COLUMNS, Unit("p", groups=1, rows=1))
    budget = Budget(epsilon=10**5)
    return discreet.open(table(rows_of(300)), schema, ledger=tmp_path / "l.db", budget=budget, who="t")


def test_a_year_is_charged_once_and_published_month_by_month(curator):
    offer = curator.table().agg(n=count(), pay=total("pay")).stream(MONTHS).plan(epsilon=10**4)
    assert "12 periods" in str(offer)
    stream = offer.start("year")
    running = 0
    for month in range(1, 13):
        answer = stream.release()
        running += answer["n"][0]
        assert answer["n_total"][0] == pytest.approx(running, abs=1)
        assert answer["day"] == [f"2024-{month:02d}-01..{'2025-01-01' if month == 12 else f'2024-{month + 1:02d}-01'}"]
        assert answer["n_lower"][0] <= answer["n"][0] <= answer["n_upper"][0]
    assert running == len({row["p"] for row in rows_of(300)})  # each person once, in their first month
    assert curator.ledger.remaining("t").amount == 10**5 - 10**4
    assert stream.released == 12
    assert stream.release(3).columns == offer.start("year").release(3).columns
    assert curator.release("year/3")["n"] == stream.release(3)["n"]
    with pytest.raises(InputError, match="period"):
        stream.release()


def test_periods_come_in_order_and_names_are_not_shared(curator):
    offer = curator.table().agg(n=count()).stream(MONTHS).plan(epsilon=1)
    with pytest.raises(InputError, match="in order"):
        offer.start("a").release(2)
    offer.start("a").release()
    other = curator.table().agg(n=people()).stream(MONTHS).plan(epsilon=1)
    with pytest.raises(InputError, match="another"):
        other.start("a").release()
    with pytest.raises(BudgetError):
        curator.table().agg(n=count()).stream(MONTHS).plan(epsilon=10**6).start("b").release()


def test_totals_of_many_periods_beat_separate_releases():
    """A thousand days: the error of the last total against that of a thousand answers added up, at one price."""
    schema = Schema("t", {"day": Date("2020-01-01", "2022-09-26")}, Unit("p"))
    budget = Budget(rho=1)
    query = Query().agg(n=count())
    plan = plan_stream(query, schema, budget.allotments[0], Price.read(rho=1), bins("day", every="day"))
    assert plan.periods == 1000
    together = plan.trees[0].error(0.95, period=1000, noise=plan.noises[0])
    apart = 1.96 * math.sqrt(1000) * math.sqrt(1 / 2)  # each day once in one of a thousand disjoint counts: rho = 1
    assert together < apart / 3


@pytest.mark.parametrize(
    ("outputs", "period", "limit", "says"),
    [
        ({"m": mean("pay")}, MONTHS, 1, "running totals"),
        ({"n": count()}, discreet.key("sex"), 1, "period"),
        ({"n": count()}, MONTHS, 0, "limit"),
        ({"n": count()}, MONTHS, True, "limit"),
        ({"n": count()}, bins("sex", [0, 1]), 1, "bins"),
    ],
)
def test_bad_streams_are_refused(curator, outputs, period, limit, says):
    with pytest.raises(InputError, match=says):
        curator.table().agg(**outputs).stream(period, limit=limit).plan(epsilon=1)


def test_streams_need_add_remove_neighbours():
    with pytest.raises(InputError, match="add-remove"):
        planned(Unit("p", neighbours="replace"), {"n": count()})


def test_two_spellings_of_one_person_are_one_person():
    """The engine takes 0.0 and -0.0 for one person: a stream must not count them as two."""
    rows = [{"p": p, "day": day, "sex": "f", "pay": 1.0} for p in (0.0, -0.0) for day in ("2024-01-03", "2024-02-03")]
    plan = planned(Unit("p"), {"n": people()}, keys=())
    assert [int(counted(plan, rows, month, month - 1)[0].sum()) for month in (1, 2)] == [1, 0]
