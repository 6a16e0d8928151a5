"""A declared number of rows is divided by without noise: the mean of the lectures, and only where it is public."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest
from interval_coverage import PURE, ZCDP, holds

import discreet.query.measure
import discreet.query.plan
from discreet.core.unit import Neighbours, Unit
from discreet.curator import Curator
from discreet.data.column import Integer, Real, Text
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.noise.replay import Replay, key_of
from discreet.query.aggregate import correlation, count, mean, share, total, variance
from discreet.query.estimate import estimate
from discreet.query.known_rows import NO_NOISE
from discreet.query.measure import Rows
from discreet.query.plan import plan_query
from discreet.query.price import Price
from discreet.query.question import Query
from neighbour_bugs import asked, find_bug, patched

COLUMNS = {"x": Real(0, 1, nullable=False), "y": Real(0, 1, nullable=True), "n": Integer(0, 9, nullable=False)}
REPLACE = Unit(neighbours=Neighbours.REPLACE)
SCHEMA = Schema("t", COLUMNS, REPLACE, row_count=1000)
PRICE = Price.read(epsilon=1)


def planned(query, schema=SCHEMA, price=PRICE, allotment=PURE):
    return plan_query(query, schema, allotment, price)


def simulated(output, total, rows=1000, draws=40_000):
    """Answers of a plan, from an exact sum around the middle."""
    plan = planned(Query().agg(o=output))
    bits = Replay(key_of([np.array([float(total)])], "sums"))
    noisy = [plan.noises[0].release(np.full(draws, total), bits=bits).astype(float), np.full(draws, float(rows))]
    return plan.question.outputs[0][1].estimate(SCHEMA, noisy)


def test_a_mean_of_public_rows_has_the_error_of_the_lecture():
    """Average plus Laplace noise of scale 1 / (n epsilon): 0.001 on average for 1,000 rows at epsilon 1."""
    assert abs(simulated(mean("x"), 0) - 0.5).mean() == pytest.approx(0.001, rel=0.03)
    assert 0.00093 < abs(simulated(share("x > 0.5"), 0) - 0.5).mean() < 0.001  # whole steps err a little less


def test_noise_is_for_the_whole_width_of_the_bounds_and_the_whole_price():
    plan = planned(Query().agg(m=mean("x")))
    (moment,) = plan.measures
    assert plan.noises[0].scale == moment.highest - moment.lowest
    assert plan.cost == plan.noises[0].loss(plan.moved[0])
    assert plan.rows == 1000


@pytest.mark.parametrize(
    "query",
    [
        Query().where("n > 3").agg(o=mean("x")),
        Query().group_by("n").agg(o=mean("x")),
        Query().agg(o=mean("y")),  # a value may be replaced by a missing one
        Query().agg(o=count("y"), p=variance("y")),
        Query().agg(o=count()),  # nothing else is measured
        Query().agg(o=correlation("x", "y")),
    ],
)
def test_elsewhere_the_number_of_rows_is_private_and_measured(query):
    plan = planned(query)
    assert plan.measures == planned(query, Schema("t", COLUMNS, REPLACE)).measures
    assert any("Rows" in type(one).__name__ or "Complete" in type(one).__name__ for one in plan.measures)


def test_a_search_for_bounds_keeps_the_price_of_every_measure(tmp_path):
    """The number of rows has a part of the price that was charged: another measure must not take it."""
    rows = pyarrow.table({"x": [0.5] * 10, "y": [0.1] * 10, "n": [1] * 10})
    curator = Curator.open(rows, SCHEMA, ledger=tmp_path / "l.db", budget=Budget(epsilon=9), create=True)
    plan = curator.table().agg(m=mean("x", bounds="private")).plan(epsilon=1).plan
    assert Rows() in plan.answering({}).measures


def test_all_that_is_divided_by_the_rows_shares_them(tmp_path):
    rows = pyarrow.table({"x": [0.25, 0.75] * 500, "y": [None, 0.5] * 500, "n": [1, 3] * 500})
    curator = Curator.open(rows, SCHEMA, ledger=tmp_path / "l.db", budget=Budget(epsilon=10**9), create=True)
    asked_ = curator.table().agg(m=mean("x"), s=share("n > 1"), k=count(), v=variance("n"), t=total("n"))
    offer = asked_.plan(epsilon=10**7)
    assert Rows() not in offer.plan.measures
    found = offer.release()
    read = {name: found.columns[name][0] for name in "mskvt"}
    assert read == pytest.approx({"m": 0.5, "s": 0.5, "k": 1000, "v": 1.0, "t": 2000}, abs=1e-5)
    assert "declared 1,000" in str(found)


def test_a_missing_value_of_a_complete_column_counts_as_the_middle(tmp_path):
    rows = pyarrow.table({"x": [1.0] * 500 + [None] * 500, "y": [None] * 1000, "n": [0] * 1000})
    curator = Curator.open(rows, SCHEMA, ledger=tmp_path / "l.db", budget=Budget(epsilon=10**9), create=True)
    found = curator.table().agg(m=mean("x")).plan(epsilon=10**7).release()
    assert found.columns["m"] == pytest.approx([0.75], abs=1e-5)


def test_its_error_is_known_beforehand_and_can_be_asked_for():
    (error,) = planned(Query().agg(m=mean("x"))).expected()
    assert error.half_width == pytest.approx(np.log(20) / 1000, rel=1e-3)
    plan = planned(Query().agg(m=mean("x")), price=Price.read(within=0.01))
    assert plan.expected()[0].half_width <= 0.01
    assert planned(Query().agg(m=mean("x")), allotment=ZCDP, price=Price.read(rho=1)).expected()[0].half_width < 0.002


@pytest.mark.statistical
@pytest.mark.parametrize("allotment", [(PURE, {"epsilon": 1}), (ZCDP, {"rho": 0.5})], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("sum_", [0, 2**21, -1000 * 2**21])
def test_the_interval_holds_the_mean(allotment, sum_):
    plan = planned(Query().agg(m=mean("x")), allotment=allotment[0], price=Price.read(**allotment[1]))
    output = plan.question.outputs[0][1]
    true = float(output.estimate(SCHEMA, [np.array([float(sum_)]), np.array([1000.0])])[0])
    hits = 0
    for _ in range(4):
        noisy = [plan.noises[0].release(np.full(200, sum_)), np.full(200, 1000)]
        found = estimate(output, SCHEMA, noisy, [plan.noises[0], NO_NOISE], 0.95)
        hits += int(((found.lower <= true) & (true <= found.upper)).sum())
    assert holds(hits, 800, 0.94, 1.0)


@pytest.mark.parametrize("rows", [0, -1, True, 1.5, "many", 2**53])
def test_a_number_of_rows_that_is_none_is_refused(rows):
    with pytest.raises(InputError, match="row_count"):
        Schema("t", COLUMNS, REPLACE, row_count=rows)


@pytest.mark.parametrize("unit", [Unit(), Unit("p", Neighbours.REPLACE, groups=1, rows=1)])
def test_it_is_refused_where_the_number_of_rows_is_private(unit):
    with pytest.raises(InputError, match=r"row_count.*private"):
        Schema("t", {**COLUMNS, "p": Text()}, unit, row_count=10)


def test_it_stands_in_the_file_of_the_schema_and_only_where_it_is_declared():
    assert Schema.from_dict(SCHEMA.to_dict()) == SCHEMA
    bare = Schema("t", COLUMNS, REPLACE).to_dict()
    assert bare["dataset"] == {"name": "t"}
    assert SCHEMA.to_dict()["dataset"] == {"name": "t", "row_count": 1000}


SENSITIVITY = discreet.query.measure.sensitivity


def width_of_one_side(measure, unit, groups):
    """A mean moved by its distance from the middle, as if rows came and went."""
    return SENSITIVITY(measure, Unit(rows=unit.rows), groups)


@pytest.mark.parametrize("output", [mean("y"), share("y > 3")], ids=["mean", "share"])
def test_noise_for_rows_that_come_and_go_is_too_little_where_they_are_replaced(output):
    find_bug(asked(REPLACE, output), patched((discreet.query.plan, "sensitivity"), by=width_of_one_side))
