"""The share of rows that meet a condition: asked in every language, priced once, with an interval of a ratio."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest
from interval_coverage import PURE, ZCDP, holds

from aggregate_kit import UNITS, attack, schema_of
from discreet import Budget, Integer, Schema, Unit, col, count, mean, share
from discreet.curator import Curator
from discreet.data.column import Boolean, Category, Real, Text
from discreet.errors import InputError
from discreet.noise.replay import Replay, key_of
from discreet.query.estimate import estimate
from discreet.query.measure import Moment
from discreet.query.notation import read_outputs
from discreet.query.plan import plan_query
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.sql import parse_sql

COLUMNS = {
    "age": Integer(0, 120, nullable=True),
    "sex": Category(["f", "m"], nullable=False),
    "smoker": Boolean(nullable=True),
    "pay": Real(0, 100, nullable=False),
}
SCHEMA = Schema("people", COLUMNS)
AGES = [10, 30, None, 50, 70, 80]
TABLE = pyarrow.table(
    {
        "age": AGES,
        "sex": ["f", "m", "f", "m", "f", "m"],
        "smoker": [True, None, False, True, True, False],
        "pay": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
)
OLD = "CASE WHEN age >= 50 THEN 1 ELSE 0 END"


def asked(folder, question, schema=SCHEMA):
    """The release of a question at a price at which no noise is left."""
    curator = Curator.open(TABLE, schema, ledger=folder / "l.db", budget=Budget(epsilon=10**9), create=True)
    return curator.question(question).plan(epsilon=10**7).release()


@pytest.mark.parametrize(
    "text",
    [
        "SHARE(age >= 50)",
        "AVG(CASE WHEN age >= 50 THEN 1 ELSE 0 END)",
        "COUNT(*) FILTER (WHERE age >= 50) / COUNT(*)",
        "CAST(COUNT_IF(age >= 50) AS DOUBLE) / NULLIF(COUNT(*), 0)",
        "(1.0 * SUM(CASE WHEN age >= 50 THEN 1 END)) / COUNT(1)",
        "COUNT(CASE WHEN age >= 50 THEN 1 END) / COUNT(*)",
        "SUM(age >= 50) / COUNT(*)",
        "SUM(CAST((age >= 50) AS INT)) * 1.0 / COUNT(*)",
    ],
)
def test_every_way_to_write_a_share_in_sql_is_one_output(text):
    statement = parse_sql(f"SELECT {text} AS s FROM people", SCHEMA)
    assert statement.query == Query().agg(s=share("age >= 50")).checked(SCHEMA)
    assert not statement.presentation.formulas


def test_a_factor_of_a_ratio_of_counts_is_computed_of_the_share():
    statement = parse_sql("SELECT 100.0 * COUNT_IF(age >= 50) / COUNT(*) AS s FROM people", SCHEMA)
    assert [output for _, output in statement.query.outputs] == [share(OLD)]
    assert [str(each.expression) for each in statement.presentation.formulas] == ["100.0 * share"]


def test_a_ratio_of_counts_that_are_both_asked_for_is_computed_of_them():
    text = "SELECT COUNT(*) n, COUNT_IF(age >= 50) k, COUNT_IF(age >= 50) / COUNT(*) s FROM people"
    statement = parse_sql(text, SCHEMA)
    assert all(output.named() == "count" for _, output in statement.query.outputs)


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("COUNT_IF(age >= 50) / COUNT(age)", "duckdb"),  # of other rows
        ("SUM(CASE WHEN age >= 50 THEN 2 END) / COUNT(*)", "duckdb"),
        ("SUM(age) / COUNT(*)", "duckdb"),
        ("SUM((age >= 50)::INT) / COUNT(*)", "postgres"),  # whole numbers are divided there
        ("COUNT_IF(age >= 50) / (2.0 * COUNT(*))", "duckdb"),  # half of one
        ("COUNT_IF(age >= 50) / NULLIF(COUNT(*) * 4, 0)", "duckdb"),
        ("COUNT(*) FILTER (WHERE age >= 50) / COUNT(*)", "postgres"),  # whole numbers are divided there
    ],
)
def test_another_ratio_is_no_share(text, dialect):
    statement = parse_sql(f"SELECT {text} AS s FROM people", SCHEMA, dialect)
    assert all(output.named() != "share" for _, output in statement.query.outputs)


def test_conditions_on_the_command_line_and_in_python_are_the_same_share():
    (typed,) = read_outputs(["share(age >= 50)"]).values()
    assert typed == share(col("age") >= 50) == share("age >= 50")
    query = Query().agg(s=typed).checked(SCHEMA)
    assert Query.from_json(query.to_json(), SCHEMA) == query
    assert dict(query.outputs)["s"].column == OLD


@pytest.mark.parametrize("column", ["pay", "sex", "age", "age * 2"])
def test_what_is_no_condition_is_refused(column):
    with pytest.raises(InputError, match="condition"):
        Query().agg(s=share(column)).checked(SCHEMA)


@pytest.mark.parametrize(
    ("question", "true"),
    [
        (Query().agg(s=share("age >= 50")), [3 / 6]),  # unknown: not met
        (Query().group_by("sex").agg(s=share("age >= 50")), [1 / 3, 2 / 3]),
        (Query().where("pay > 2").agg(s=share("smoker")), [2 / 4]),
        ("SELECT AVG(age >= 50) AS s FROM people", [3 / 5]),  # unknown: left out, as in SQL
        ("SELECT AVG(smoker) AS s FROM people GROUP BY sex", [2 / 3, 1 / 2]),
        ("SELECT AVG(smoker) FILTER (WHERE pay > 2) AS s FROM people", [2 / 4]),
    ],
)
def test_without_noise_it_is_the_share_of_the_engine(tmp_path, question, true):
    query = parse_sql(question, SCHEMA).query if isinstance(question, str) else question
    released = asked(tmp_path, query)
    assert released.columns["s"] == pytest.approx(true, abs=1e-9)


def test_each_person_counts_as_one_share_of_their_rows(tmp_path):
    schema = Schema("people", {**COLUMNS, "sex": Text()}, Unit("sex", groups=1, rows=1))  # two persons of three rows
    released = asked(tmp_path, Query().agg(s=share("age >= 50")), schema)
    assert released.columns["s"] == pytest.approx([(1 / 3 + 2 / 3) / 2], abs=1e-5)


def test_it_errs_half_as_much_as_the_mean_of_zeros_and_ones():
    """Yes and no lie on both sides of the middle: a row moves the sum by half of what it moves 0 or 1 by."""
    spread = []
    for output, exact in ((share(OLD), [0, 1000]), (mean(OLD), [500, 1000])):  # half of the rows meet it
        plan = plan_query(Query().agg(o=output), SCHEMA, PURE, Price.read(epsilon=1))
        bits = Replay(key_of([np.array([1.0])], output.named()))
        noisy = [n.release(np.full(4000, e), bits=bits).astype(float) for n, e in zip(plan.noises, exact, strict=True)]
        spread.append(float(output.estimate(SCHEMA, noisy).std()))
    assert 0.4 < spread[0] / spread[1] < 0.5  # the root of 1/5


def test_it_shares_its_count_with_the_number_of_rows():
    plan = plan_query(Query().agg(n=count(), s=share("age >= 50")), SCHEMA, PURE, Price.read(epsilon=1))
    assert len(plan.measures) == 2


@pytest.mark.statistical
@pytest.mark.parametrize("price", [(PURE, {"epsilon": 1}), (ZCDP, {"rho": 0.1})], ids=["laplace", "gaussian"])
@pytest.mark.parametrize(("rows", "yes"), [(1, 0), (3, 3), (10, 0), (10, 5), (1000, 1), (1000, 999), (1000, 300)])
def test_the_interval_holds_the_share_also_in_tiny_groups_and_at_the_ends(price, rows, yes):
    allotment, words = price
    plan = plan_query(Query().agg(s=share("age >= 50")), SCHEMA, allotment, Price.read(**words))
    output, exact, releases = plan.question.outputs[0][1], [2 * yes - rows, rows], 800
    hits = 0
    for _ in range(4):
        noisy = [n.release(np.full(releases // 4, one)) for n, one in zip(plan.noises, exact, strict=True)]
        found = estimate(output, SCHEMA, noisy, plan.noises, 0.95)
        held = (found.lower <= yes / rows + 1e-9) & (yes / rows - 1e-9 <= found.upper)
        hits += int((held | np.isnan(found.value)).sum())
    assert holds(hits, releases, 0.94, 1.0)


class Uncentred(Moment):
    """Yes and no as 0 and 2 half steps, with the bounds of -1 and 1."""

    __slots__ = ()

    def of(self, steps):
        return steps


@pytest.mark.parametrize("unit", UNITS[:2], ids=str)
def test_a_share_whose_yes_counts_twice_what_is_charged_is_caught(unit):
    limits = Real(-3, 10, nullable=False)
    taken = share("v > 1").moment(schema_of(limits, unit, 2))
    attack([taken], limits, unit)
    with pytest.raises(AssertionError, match="is charged"):
        attack([Uncentred(taken.column, taken.lattice, 1, taken.weight)], limits, Unit())


def test_notes_of_a_mean_of_a_condition_say_the_condition_and_no_cast(tmp_path):
    curator = Curator.open(TABLE, SCHEMA, ledger=tmp_path / "l.db", budget=Budget(epsilon=1), create=True)
    said = str(curator.sql("SELECT AVG(age >= 50) AS s FROM people").plan(epsilon="0.1"))
    assert "In age >= 50, values of age" in said
    assert "CAST" not in said
