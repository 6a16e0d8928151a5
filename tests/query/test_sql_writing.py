"""A question as SQL: what is written is read back as the same question, and nothing else is written."""

import duckdb
import pytest

from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real, Text, Timestamp
from discreet.data.schema import Schema
from discreet.query.aggregate import count, mean
from discreet.query.key import bins, discover, key
from discreet.query.notation import read_key, read_outputs
from discreet.query.question import Query
from discreet.query.sql import parse_sql
from discreet.query.sql_writing import bin_sizes, write_sql
from discreet.query.top import Top

SCHEMA = Schema(
    "visits",
    {
        "age": Integer(0, 100, nullable=False),
        "pay, in €": Real(0, 1000),
        "hours": Integer(0, 80),
        "sex": Category(["f", "m"]),
        "works": Boolean(),
        "town": Text(),
        "day": Date("2024-01-01", "2024-12-31"),
        "at": Timestamp("2024-01-01T00:00:00", "2024-01-08T00:00:00", timezone="UTC"),
    },
    unit=Unit("person", groups=1, rows=1),
)
OUTPUTS = [
    "count",
    "count(age)",
    "people",
    "distinct(sex)",
    "sum(age)",
    'mean("pay, in €")',
    "variance(age)",
    "std(hours)",
    "covariance(age,hours)",
    "correlation(age,hours)",
    "slope(age,hours)",
    "intercept(age,hours)",
    "median(age)",
    "quantile(day,0.9)",
    "share(works)",
    "share(age > 18)",
    "mode(sex)",
    "older=mean(age)",
    "sum(age, person=0..500)",
    "sum(age * 2)",
]
KEYS = [
    None,
    "sex",
    "works",
    "age",
    "age/10",
    "age/0,18,65",
    "day/month",
    "day/7",
    "at/day",
    "town?",
    "age // 10",
    "pay, in €/100",
]


def same(text, query, schema=SCHEMA):
    read = parse_sql(text, schema).query
    return (read.names, read.condition, read.outputs, read.ordered) == (
        query.names,
        query.condition,
        query.outputs,
        query.ordered,
    )


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_function_is_written_and_read_back(output):
    query = Query().agg(**read_outputs([output])).checked(SCHEMA)
    assert same(write_sql(query, SCHEMA), query)


@pytest.mark.parametrize("by", KEYS)
def test_every_kind_of_key_is_written_and_read_back(by):
    query = Query() if by is None else Query().group_by(read_key(by, SCHEMA))
    query = query.agg(**read_outputs(["count"])).checked(SCHEMA)
    text = write_sql(query, SCHEMA)
    assert parse_sql(text, SCHEMA).query.keys == query.keys


def test_conditions_and_groups_alone_are_written_too():
    query = Query().where("sex = 'f' and not (age > 3 or town is null)").group_by("sex").agg(**read_outputs(["count"]))
    text = write_sql(query, SCHEMA)
    assert "WHERE sex = 'f' and not (age > 3 or town is null)" in text
    assert same(text, query.checked(SCHEMA))
    listing = write_sql(Query().group_by(discover("town")).list_groups(), SCHEMA)
    assert listing == "SELECT DISTINCT town\nFROM visits"


def test_bins_that_a_condition_rules_out_are_left_out_by_the_statement_alone():
    query = Query().where("age < 50").group_by(bins("age", width=10)).agg(**read_outputs(["count"]))
    text = write_sql(query, SCHEMA)
    assert "BIN(age, 10)" in text
    assert len(parse_sql(text, SCHEMA).query.keys[0].edges) == 6
    assert len(query.checked(SCHEMA).keys[0].edges) == 11


def test_columns_that_are_called_like_words_of_sql_are_quoted_so_that_a_database_reads_it_too():
    names = ("select", "order", "Group", "größe", "2020")
    schema = Schema("where", {name: Integer(0, 9) for name in names})
    for name in names:
        query = Query().where(f'"{name}" > 3').group_by(name).agg(n=count(), m=mean(name)).checked(schema)
        text = write_sql(query, schema)
        assert same(text, query, schema), name
        assert f'AVG("{name}")' in text
        with duckdb.connect() as database:
            columns = ", ".join(f'{place} AS "{each}"' for place, each in enumerate(names))
            database.execute(f'CREATE TABLE "where" AS SELECT {columns}')
            database.execute(text)


def test_a_key_is_shown_under_its_name():
    query = Query().group_by(key("age // 10", name="decade")).agg(**read_outputs(["count"]))
    assert "age // 10 AS decade" in write_sql(query, SCHEMA)


@pytest.mark.parametrize(
    "query",
    [
        Query().agg(**read_outputs(["mean(age,private)"])),
        Query().agg(**read_outputs(["mean(nothing)"])),
        Query().group_by(key("sex", ["f"])).agg(**read_outputs(["count"])),
        Query().group_by("sex").only_groups([("f",)]).agg(**read_outputs(["count"])),
        Query().per_person(visits="count(*)").agg(**read_outputs(["mean(visits)"])),
        Top(key("sex"), 1),
    ],
)
def test_what_sql_has_no_words_for_is_not_written(query):
    assert write_sql(query, SCHEMA) is None


def test_bins_are_named_as_shortly_as_can_be():
    sizes = [("day", {"every": "month"}), ("at", {"every": "hour"}), ("day", {"width": 7}), ("age", {"width": "2.5"})]
    assert [bin_sizes(bins(name, **how), SCHEMA) for name, how in sizes] == [("month",), ("hour",), ("week",), ("2.5",)]
    assert bin_sizes(bins("day", ["2024-01-01", "2024-03-01", "2024-12-31"]), SCHEMA)[1] == "2024-03-01"
