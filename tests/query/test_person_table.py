"""Tables with a row for each person: what is declared about them, their JSON, and what is refused."""

import pytest

from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.query.aggregate import count, mean, total
from discreet.query.key import bins, discover
from discreet.query.notes import declared_notes
from discreet.query.person_table import Each, PersonTable
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.stream import plan_stream

COLUMNS = {
    "n": Integer(-2, 5, nullable=False),
    "x": Real(0, 10),
    "f": Boolean(),
    "d": Date("2024-01-01", "2024-12-31"),
    "g": Category(["a", "b"]),
}
VISITS = Schema("visits", COLUMNS, Unit("p", groups=3, rows=4))


def declared(text, name="made"):
    return Query().per_person(made=text).agg(n=count()).limited(VISITS).columns[name]


def test_what_a_column_can_be_follows_from_the_schema():
    assert declared("count(*)") == Integer(1, 4, nullable=False)
    assert declared("count(x)") == Integer(0, 4, nullable=False)
    assert declared("count(distinct g)") == Integer(0, 2, nullable=False)
    assert declared("count(distinct n)") == Integer(0, 4, nullable=False)
    assert declared("sum(n)") == Integer(-8, 20, nullable=False)
    assert declared("sum(x)") == Real(0, 40)
    assert declared("avg(n)") == Real(-2, 5, nullable=False)
    assert declared("min(n)") == Integer(-2, 5, nullable=False)
    assert declared("max(d)") == COLUMNS["d"]
    assert declared("max(f)") == COLUMNS["f"]
    assert declared("min(g)") == COLUMNS["g"]


def test_a_limit_that_is_stated_takes_the_place_of_the_schemas():
    assert declared("least(count(*), 50)") == Integer(1, 50, nullable=False)
    assert declared("greatest(least(sum(x), 500), 5)") == Real(5, 500)
    assert declared("least(sum(n), 7)") == Integer(-8, 7, nullable=False)


def test_a_person_has_one_row_or_one_for_each_combination_of_keys():
    alone = Query().per_person(m="count(*)")
    assert alone.agg(n=count()).limited(VISITS).unit == Unit("p", groups=1, rows=1)
    several = Query().group_by("g", "f").per_person(m="count(*)")
    assert several.agg(n=count()).limited(VISITS).unit == Unit("p", groups=3, rows=3)
    assert several.group_by("g", "f").agg(n=count()).limited(VISITS).unit == Unit("p", groups=3, rows=1)
    assert several.group_by("g").agg(n=count()).limited(VISITS).unit == Unit("p", groups=3, rows=3)


def test_a_question_is_read_again_from_its_json():
    query = Query().where("x > 1").group_by("g").per_person(m="count(*)", s=total("x"), a=mean("x"), k=count("x"))
    query = query.where("m > 1").group_by("m").agg(n=count(), s=mean("s")).checked(VISITS)
    assert Query.from_json(query.to_json(), VISITS) == query
    assert query.persons == PersonTable.from_dict(query.to_dict()["per_person"]).checked(VISITS)
    assert "per_person" not in Query().agg(n=count()).to_dict()
    assert query.limited(VISITS).to_dict()["persons"]["of"] == VISITS.to_dict()


def test_what_is_cut_is_said():
    query = Query().per_person(m="least(count(*), 9)", s="sum(x)").agg(n=mean("s")).checked(VISITS)
    texts = [note.text for note in declared_notes(query, query.limited(VISITS))]
    assert "m is one number for each p, at most 9: what is beyond 9 rows is left out." in texts
    assert "s is one sum for each p: a sum outside 0..40 is clipped to the nearer bound." in texts


@pytest.mark.parametrize(
    ("query", "word"),
    [
        (lambda: Query().per_person(m="median(x)"), "COUNT"),
        (lambda: Query().per_person(m="count(*), 1"), "COUNT"),
        (lambda: Query().per_person(m=3), "per_person"),
        (lambda: Query().per_person(m="sum(g)"), "numeric"),
        (lambda: Query().per_person(m="sum(nn)"), "declared"),
        (lambda: Query().per_person(p="count(*)"), "names of their own"),
        (lambda: Query().per_person(m="least(count(*), 5000000)"), "limit"),
        (lambda: Query().per_person(m="least(sum(x), -5)"), "limit"),
        (lambda: Query().group_by(bins("x", width=1)).per_person(m="count(*)"), "as they are"),
        (lambda: Query().group_by(discover("g")).per_person(m="count(*)"), "as they are"),
        (lambda: Query().group_by("x").per_person(m="count(*)"), "real number"),
        (lambda: Query().per_person(m="count(*)").per_person(k="count(*)"), "once"),
        (lambda: Query().per_person(m="count(*)").agg(s=total("m", bounds="private")), "beforehand"),
    ],
)
def test_what_makes_no_table_of_persons_is_refused(query, word):
    def checked():
        made = query()
        return (made if made.outputs else made.agg(n=count())).checked(VISITS)

    with pytest.raises(InputError, match=word):
        checked()


def test_where_rows_are_the_unit_nobody_has_rows():
    with pytest.raises(InputError, match="unit of the schema is a person"):
        Query().per_person(m="count(*)").agg(n=count()).checked(Schema("t", COLUMNS))


def test_streams_count_rows():
    query = Query().per_person(d="max(d)").agg(n=count())
    with pytest.raises(InputError, match="stream"):
        plan_stream(query, VISITS, Budget(epsilon=1).allotments[0], Price.read(epsilon=1), bins("d", every="month"))


@pytest.mark.parametrize("entry", [{}, {"of": "all"}, {"of": "sum"}, {"of": "count", "more": 1}, 3, {"of": []}])
def test_strange_json_is_refused(entry):
    with pytest.raises(InputError):
        Each.from_dict(entry)
    with pytest.raises(InputError):
        PersonTable.from_dict({"columns": {"a": entry}})
    with pytest.raises(InputError):
        PersonTable.from_dict([entry])
