"""Code that asks a recorded question asks the same one: SQL is read back, Python is run; what has no form has none."""

from types import SimpleNamespace

import pytest

import discreet
from discreet import bins, count, discover, key, mean, median, people, quantile, share, std, total, variance
from discreet.core.unit import Unit
from discreet.curator.question import Question
from discreet.data.column import Boolean, Category, Date, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.query.aggregate import correlation, covariance, distinct, intercept, slope
from discreet.query.code import question_python, question_sql
from discreet.query.modes import mode
from discreet.query.question import Query
from discreet.query.sql import parse_sql
from discreet.query.top import Top

SCHEMA = Schema(
    "people",
    {
        "sector": Category(["farming", "office"], nullable=False),
        "works": Boolean(nullable=False),
        "age": Integer(0, 100),
        "hours": Integer(0, 80, nullable=False),
        "pay, in €": Real(0, 1000, nullable=False),
        "day": Date("2024-01-01", "2024-12-31", nullable=False),
        "city": Text(),
    },
    unit=Unit("person", groups=2, rows=3),
)
PAY = "pay, in €"
IN_SQL = [
    Query().agg(n=count()),
    Query().agg(n=count("age"), p=people(), d=distinct("sector")),
    Query().where("hours > 0 and not (sector in ('farming') or age is null)").group_by("sector").agg(m=mean(PAY)),
    Query().group_by(bins("age", width=20), "works").agg(t=total("hours"), m=median(PAY), q=quantile("hours", 0.9)),
    Query().agg(v=variance("hours"), s=std("hours", sample=True), c=covariance("hours", "age")),
    Query().agg(r=correlation("hours", "age"), s=slope("hours", "age"), i=intercept("hours", "age")),
    Query().group_by("age // 10").agg(n=count()),
    Query().group_by(discover("city")).agg(n=count()),
    Query().agg(m=mode("sector")),
]
IN_PYTHON_ONLY = [
    Query().group_by(key("age // 10", name="decade")).agg(n=count()),
    Top(key("sector"), 1).where("hours > 0"),
    Top(key("sector"), 2, counts=False).limits(rows=2),
    Query().group_by(bins("age", [0, 18, 65, 100])).agg(n=count()),
    Query().group_by(key("sector", ["office"])).agg(n=count()),
    Query().limits(groups=1, rows=2).group_by("sector").agg(n=count()),
    Query().agg(m=mean("hours", bounds=(0, 40)), t=total("hours", person=(0, 50))),
    Query().agg(q=quantile("hours", 0.9, grid=64, interval=False)),
    Query().group_by(bins("day", every="month")).agg(n=count()),
    Query().group_by(discover("city")).list_groups(),
    Query().group_by("sector", "works").only_groups([("office", True)]).agg(n=count()),
    Query().per_person(visits="count(*)").agg(m=mean("visits")),
]


def ran(code):
    """The question that a piece of Python asks, without a curator behind it."""
    desk = SimpleNamespace(offer=lambda ask, *_: ask.query, declared=SCHEMA)
    curator = SimpleNamespace(
        table=lambda: Question(desk, Query()), question=lambda entry: Question(desk, Query.from_dict(entry, SCHEMA))
    )
    names = {"curator": curator}
    exec(code, names)
    return names["offer"]


@pytest.mark.parametrize("query", IN_SQL)
def test_sql_reads_back_as_the_question_it_was_made_of(query):
    recorded = query.checked(SCHEMA).to_dict()
    text = question_sql(recorded, SCHEMA)
    assert text.startswith("SELECT")
    assert parse_sql(text, SCHEMA).query.to_dict() == recorded


@pytest.mark.parametrize("query", IN_PYTHON_ONLY)
def test_a_question_without_sql_has_none_rather_than_another(query):
    recorded = query.checked(SCHEMA).to_dict()
    text = question_sql(recorded, SCHEMA)
    assert text == "" or parse_sql(text, SCHEMA).query.to_dict() == recorded


@pytest.mark.parametrize("query", [*IN_SQL, *IN_PYTHON_ONLY])
@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["record", "schema"])
def test_python_asks_the_question_it_was_made_of(query, schema):
    recorded = query.checked(SCHEMA).to_dict()
    delta = {"delta": 1e-7} if any(one.discovered for one in query.keys) else {}
    assert ran(question_python(recorded, {"epsilon": 0.5, **delta}, schema)).checked(SCHEMA).to_dict() == recorded


def test_bins_of_equal_width_are_written_by_it_where_the_schema_says_so():
    recorded = Query().histogram("hours", width=20).checked(SCHEMA).to_dict()
    assert 'bins("hours", width=20)' in question_python(recorded, schema=SCHEMA)
    assert 'bins("hours", [0, 20, 40, 60, 80])' in question_python(recorded)


def test_what_has_no_words_is_written_as_its_values():
    recorded = Query().per_person(visits="count(*)").agg(m=mean("visits")).checked(SCHEMA).to_dict()
    assert "curator.question({" in question_python(recorded, {"epsilon": 1})
    assert question_sql(recorded, SCHEMA) == ""
    assert question_sql({"tree": {}}, SCHEMA) == ""


def test_texts_from_people_end_in_quotes_and_nothing_runs():
    evil = Schema("t", {"c": Category(['a"); boom("', "it's \\ b"], nullable=False)}, unit=Unit())
    for value in evil.columns["c"].values:
        recorded = Query().where(f"c = '{value.replace(chr(39), chr(39) * 2)}'").agg(n=count()).checked(evil).to_dict()
        code = question_python(recorded, {"epsilon": 1})
        desk = SimpleNamespace(offer=lambda ask, *_: ask.query, declared=evil)
        names = {"curator": SimpleNamespace(table=lambda desk=desk: Question(desk, Query()))}
        exec(code, names)  # a call of `boom` would be an error
        assert names["offer"].checked(evil).to_dict() == recorded


def test_every_name_in_the_code_is_one_of_the_package():
    assert {"bins", "discover", "key", "count", "share"} <= set(dir(discreet))
    assert share("hours > 0") == share("hours > 0")
