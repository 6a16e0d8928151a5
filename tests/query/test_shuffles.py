"""What Spark sends between machines: rows once, brought together by person, and after that groups alone."""

from __future__ import annotations

import random
from contextlib import contextmanager
from fractions import Fraction

import pytest

from discreet.core.unit import Unit
from discreet.data.column import Category, Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.data.view import Lookup, widened
from discreet.query.aggregate import count, distinct, mean, people, total
from discreet.query.compile import compile_query
from discreet.query.grid import grid_for
from discreet.query.key import key
from discreet.query.predicate import Compare
from discreet.query.question import Query
from discreet.query.tally import compile_tally
from servers import spark

pytestmark = pytest.mark.spark

SALT = list(range(7, 17))
WARDS = [f"ward {number}" for number in range(40)]
COLUMNS = {
    "ward": Category(WARDS, nullable=False),
    "month": Integer(1, 12, nullable=False),
    "cost": Real(0, 100, nullable=False),
}
UNIT = Unit("who", groups=3, rows=4)
OUTPUTS = (("who", people()), ("rows", count()), ("cost", total("cost")), ("mean", mean("cost")))


@pytest.fixture(scope="module")
def frame():
    chance = random.Random(1)
    cells = [(chance.randrange(300), chance.choice(WARDS), chance.randint(1, 12), chance.random()) for _ in range(2000)]
    return spark().createDataFrame(cells, "who long, ward string, month int, cost double").repartition(3)


@contextmanager
def partitions(number: int):
    """As on a cluster, where to bring rows together is to send them: with one part only, nothing need be sent."""
    name = "spark.sql.shuffle.partitions"
    before = spark().conf.get(name)
    spark().conf.set(name, str(number))
    try:
        yield
    finally:
        spark().conf.set(name, before)


def exchanges(frame, expression_of):
    """What each exchange of the physical plan sends, from the files on: what it is parted by, and whether what is sent
    is already one row for each group of a part.
    """
    with partitions(4), source_of(frame).open() as connection:
        compiled = connection._backend.compile(expression_of(connection.table))
        plan = connection._backend.raw_sql(compiled)._jdf.queryExecution().executedPlan()
        found = []
        gather(plan, found)
    return found[::-1]


def gather(node, found):
    kind = node.nodeName()
    if kind == "Exchange" and "RoundRobin" not in node.outputPartitioning().toString():  # that of `repartition`
        found.append((parted(node.outputPartitioning()), summed_up(node.child())))
    elif kind == "BroadcastExchange":
        found.append(("everywhere", "a public table" if not files(node.child()) else "rows"))
    children = node.children()
    for place in range(children.size()):
        gather(children.apply(place), found)


def names(expressions):
    return tuple(expressions.apply(place).toString().split("#")[0] for place in range(expressions.size()))


def parted(partitioning):
    hashed = partitioning.getClass().getSimpleName() == "HashPartitioning"
    return names(partitioning.expressions()) if hashed else ()


def summed_up(node):
    """The groups that one row each is sent of; "rows" where more may be."""
    if "Aggregate" not in node.nodeName():
        return "rows"
    return names(node.groupingExpressions())


def files(node):
    children = node.children()
    if "Scan" in node.nodeName() and "OneRow" not in node.nodeName():
        return True
    return any(files(children.apply(place)) for place in range(children.size()))


def question(keys, *, unit=UNIT, condition=None, outputs=OUTPUTS, **more):
    schema = Schema("visits", COLUMNS, unit, **more)
    query = Query(condition, tuple(key(name) for name in keys), outputs).checked(schema)
    measures = [measure for _, output in query.outputs for measure in output.measures(schema)]
    return lambda table: compile_query(query, schema, list(dict.fromkeys(measures)), table, SALT)


BY_PERSON = (("person",), "rows")
BY_GROUP = (("group",), ("group",))
LABELS = ("everywhere", "a public table")


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        (question(["month"]), [BY_PERSON, BY_GROUP]),
        (question(["month"], condition=Compare("cost", ">", Fraction(1, 2))), [BY_PERSON, BY_GROUP]),
        (question(["ward"]), [LABELS, BY_PERSON, BY_GROUP]),
        (question(["ward", "month"]), [LABELS, BY_PERSON, BY_GROUP]),
        (question(["month"], unit=Unit("who", groups=3, rows=4, rows_total=6)), [BY_PERSON, BY_GROUP]),
        (question(["month"], unit=Unit(), outputs=OUTPUTS[1:]), [BY_GROUP]),
    ],
    ids=["counts and sums", "a condition", "labels", "two keys", "a limit over all groups", "rows"],
)
def test_rows_are_sent_once_and_then_groups(frame, asked, sent):
    assert exchanges(frame, asked) == sent


def test_quantiles_send_rows_once_and_then_bins(frame):
    schema = Schema("visits", COLUMNS, UNIT)
    query = Query(None, (key("month"),), (("rows", count()),)).checked(schema)
    grid = grid_for(COLUMNS["cost"], 64)
    sent = exchanges(frame, lambda table: compile_tally(query, schema, "cost", grid, table, SALT))
    assert sent == [BY_PERSON, (("group", "bin"), ("group", "bin"))]


def test_where_all_groups_count_persons_are_summed_before_they_are_sent(frame):
    """Where every group of a person counts, no order is needed: one row for each person and group is sent."""
    few = question(["month"], unit=Unit("who", groups=12, rows=4))
    assert exchanges(frame, few) == [(("group", "person"), ("group", "person")), BY_GROUP]


def test_tables_joined_by_person_are_sent_once_each(frame):
    people_frame = frame.select("who").distinct().withColumnRenamed("who", "other")
    spark().conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    try:
        joined = frame.join(people_frame, frame["who"] == people_frame["other"]).drop("other")
        sent = exchanges(joined, question(["month"]))
    finally:
        spark().conf.unset("spark.sql.autoBroadcastJoinThreshold")
    assert sent[-1] == BY_GROUP
    assert sorted(keys for keys, _ in sent[:-1]) == [("who",), ("who",)]  # the join brought the persons together


def test_looked_up_columns_are_sent_everywhere_and_no_row_again(frame):
    regions = Lookup(
        "ward",
        {"ward": WARDS, "region": ["north" if number % 2 else "south" for number in range(len(WARDS))]},
        {"region": Category(["north", "south"], nullable=False)},
    )
    schema = Schema("visits", COLUMNS, Unit("who", groups=1, rows=4), lookups={"regions": regions})
    query = Query(None, (key("region"),), (("rows", count()),)).checked(schema)
    measures = [measure for _, output in query.outputs for measure in output.measures(schema)]

    def asked(table):
        return compile_query(query, schema, measures, widened(table, schema.lookups, {}, schema.columns), SALT)

    assert exchanges(frame, asked) == [LABELS, BY_PERSON, BY_GROUP]


def test_different_values_are_brought_together_as_well(frame):
    """The exception: a value that two persons have counts once, so the kept values meet in one place."""
    sent = exchanges(frame, question(["month"], outputs=(("wards", distinct("ward")),)))
    assert sent[0] == BY_PERSON
    assert sent[-1] == BY_GROUP
    assert len([keys for keys, _ in sent if keys != "everywhere"]) > 2


def test_a_plan_that_sends_rows_twice_is_noticed(frame, monkeypatch):
    monkeypatch.setattr("discreet.query.contribution.shuffles", lambda engine: False)
    sent = exchanges(frame, question(["month"]))
    assert sent == [BY_PERSON, (("group", "person"), ("group", "person")), BY_GROUP]
