"""Quantiles of dates: sorted by the day on every stored type, published as days with intervals."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import pyarrow
import pytest
from visit_days import DAY, LOW, SCHEMA, place

import discreet
from chance import at_most
from discreet.core.unit import Unit
from discreet.data.column import Category
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.ledger.budget import Allotment, Budget
from discreet.noise.bits import SystemBits
from discreet.query.aggregate import count
from discreet.query.grid import DECADES, grid_for
from discreet.query.price import Price
from discreet.query.quantile import At, median, quantile, quantiles, spread
from discreet.query.quantile_plan import plan_quantiles
from discreet.query.question import Query
from jobs import run_plan
from plan_text import explain

PURE = Allotment("questions", "pure", epsilon=10_000)


def middle_of_may(n=4000):
    return [date(2020, 5, 15) + timedelta(days=i % 21 - 10) for i in range(n)]


def run(made, days):
    with source_of(pyarrow.table({"day": days, "g": ["a"] * len(days)})).open() as connection:
        return run_plan(made, connection, SystemBits())["columns"]


@pytest.mark.parametrize("method", ["tree", "flip"])
def test_a_median_day_is_a_day_with_an_interval(method):
    outputs = {"m": median("day", grid=2**16, method=method), "s": spread("day", tail=0.25, grid=2**16, method=method)}
    made = plan_quantiles(Query().group_by("g").agg(**outputs), SCHEMA, PURE, Price.read(epsilon=1000))
    table = run(made, middle_of_may())
    assert table["m"][0] == "2020-05-15"
    assert table["m_lower"][0] <= table["m"][0] <= table["m_upper"][0]
    assert 9 <= table["s"][0] <= 11
    assert (table["m_lower"][1], table["m_upper"][1]) == ("1960-02-28", "2024-12-31")  # nothing is known
    assert "1960-02-28..2024-12-31 are clipped to the nearer bound." in explain(made)
    coarse = plan_quantiles(Query().agg(m=median("day")), SCHEMA, PURE, Price.read(epsilon=1))
    assert f"in steps of {grid_for(DAY, 1024).width} days" in explain(coarse)


@pytest.mark.statistical
def test_intervals_hold_what_they_promise():
    query = Query().agg(**quantiles("day", [0.1, 0.5], grid=2048))
    made = plan_quantiles(query, SCHEMA, PURE, Price.read(epsilon=1, confidence=0.8))
    days = sorted(LOW + timedelta(days=11 * i) for i in range(2000))
    counts = np.bincount([place(day, made.grid) for day in days], minlength=made.grid.bins)
    missed, trials = 0, 300
    for _ in range(trials):
        table = made.table(made._searched(counts, SystemBits())[:, :, None])["columns"]
        missed += not table["q50_lower"][0] <= days[999].isoformat() <= table["q50_upper"][0]
    assert at_most(missed, trials, 0.2)


@pytest.fixture
def curator(tmp_path):
    table = pyarrow.table({"day": middle_of_may(), "g": ["a", "b"] * 2000, "p": list(range(4000))})
    schema = Schema("visits", {"day": DAY, "g": Category(["a", "b"], nullable=False)}, Unit("p", groups=1, rows=1))
    return discreet.open(
        table, schema, ledger=tmp_path / "l.db", budget=Budget(epsilon=10_000), who="test", create=True
    )


def test_through_the_door_in_sql_and_on_paper(curator):
    text = (
        "SELECT g, COUNT(day) AS n, MEDIAN(day) AS middle FROM visits GROUP BY g HAVING COUNT(day) > 5 ORDER BY middle"
    )
    answer = curator.sql(text).plan(epsilon=300).release()
    assert answer["middle"][0].startswith("20")
    assert "[" in answer.to_markdown()
    assert answer["middle"][0] in repr(answer)
    with pytest.raises(InputError, match="one type"):
        curator.sql("SELECT MEDIAN(day) AS m FROM visits HAVING MEDIAN(day) > 5")
    with pytest.raises(InputError, match="height"):
        answer.plot("middle")
    both = curator.table().agg(n=count(), q=quantile("day", 0.9)).plan(epsilon=2)
    assert both.plan.charge.amount == 2


@pytest.mark.parametrize(
    ("output", "field"),
    [(median("g"), "quantile"), (median("nothing"), "quantile"), (At("day", Fraction(1, 2), DECADES), "grid")],
)
def test_what_is_refused(output, field):
    with pytest.raises(InputError) as caught:
        plan_quantiles(Query().agg(m=output), SCHEMA, PURE, Price.read(epsilon=1))
    assert caught.value.field == field
