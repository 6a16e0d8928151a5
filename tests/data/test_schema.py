"""The custodian's declaration: read, written back, and refused by the name of what is wrong."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest

from dirty import schema_for
from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real, Text, column_from, column_to
from discreet.data.schema import Schema
from discreet.errors import InputError

FILE = """
[dataset]
name = "visits"

[unit]
column = "patient"
groups = 3
rows = 10
neighbours = "replace"

[columns.age]
type = "integer"
lower = 0
upper = 120

[columns.cost]
type = "real"
lower = 0.1
upper = 99.9
nullable = true

[columns.county]
type = "category"
values = ["Ash", "Elm", 7]

[columns.day]
type = "date"
lower = 2024-01-01
upper = "2024-12-31"

[columns.flag]
type = "boolean"

[columns.note]
type = "text"
"""


def test_a_file_is_read_and_written_back(tmp_path):
    path = tmp_path / "discreet.toml"
    path.write_text(FILE)
    schema = Schema.load(path)
    assert schema.unit == Unit("patient", "replace", groups=3, rows=10)
    assert schema.columns["cost"] == Real("0.1", "99.9", nullable=True)
    assert schema.columns["county"] == Category(["Ash", "Elm", "7"], nullable=False)
    assert schema.columns["day"] == Date(date(2024, 1, 1), date(2024, 12, 31), nullable=False)
    assert schema.columns["flag"] == Boolean(nullable=False)
    assert schema.columns["patient"] == Text()  # named by the unit, so declared
    again = Schema.from_dict(schema.to_dict())
    assert again == schema
    assert again.digest == schema.digest
    assert Schema.from_dict({**schema.to_dict(), "budget": {"epsilon": 1}}) == schema


@pytest.mark.parametrize(
    ("unit", "field"),
    [(Unit("p"), "unit.groups"), (Unit("p", groups=2), "unit.rows"), (Unit("p", rows=2), "unit.groups")],
)
def test_a_schema_takes_no_person_whose_limits_nobody_stated(unit, field):
    """545 people with 8 rows each were counted as 72 [72, 72] in 8 groups, by limits nobody had chosen."""
    with pytest.raises(InputError, match=f"`{field}` must be .*State groups, .*, and rows, .*left out") as refusal:
        Schema("t", {"a": Integer(0, 9, nullable=False)}, unit)
    assert refusal.value.field == field
    Schema("t", {"a": Integer(0, 9, nullable=False)}, Unit("p", groups=2, rows=2))


@pytest.mark.parametrize(("line", "limits"), [("groups", (1, 10)), ("rows", (3, 1)), ("both", (1, 1))])
def test_a_file_of_version_0_1_that_leaves_limits_out_means_one_and_says_so(tmp_path, line, limits):
    path = tmp_path / "discreet.toml"
    gone = [text for name, text in {"groups": "groups = 3\n", "rows": "rows = 10\n"}.items() if line in (name, "both")]
    text = FILE
    for one in gone:
        text = text.replace(one, "")
    path.write_text(text)
    with pytest.warns(UserWarning, match="The schema states no unit.*: 1 is taken. State groups"):
        schema = Schema.load(path)
    assert (schema.unit.groups, schema.unit.rows) == limits
    assert schema.unit.unstated == ()
    stated = 'column = "patient"\n' + "".join(one.replace("10", "1").replace("3", "1") for one in gone)
    path.write_text(text.replace('column = "patient"\n', stated))
    assert Schema.load(path).digest == schema.digest  # so that what was released is the same question


@pytest.mark.parametrize(
    "column",
    [Integer(0, 9), Real(0, 9), Category(["a"]), Boolean(), Date("2024-01-01", "2024-12-31")],
    ids=lambda column: type(column).__name__,
)
def test_values_may_be_missing_unless_said_otherwise_and_never_in_a_file_without_the_key(column):
    """The second is what files always meant, and what was released from them must be the same question today."""
    assert column.nullable
    entry = column_to(column)
    assert column_from("c", entry) == column
    del entry["nullable"]
    assert not column_from("c", entry).nullable


def test_the_digest_sees_every_declaration():
    base = {"a": Integer(0, 9, nullable=False), "b": Category(["x", "y"], nullable=False)}
    schemas = [
        Schema("t", base),
        Schema("u", base),
        Schema("t", {**base, "a": Integer(0, 10, nullable=False)}),
        Schema("t", {**base, "a": Integer(0, 9, nullable=True)}),
        Schema("t", {**base, "a": Real(0, 9, nullable=False)}),
        Schema("t", {**base, "b": Category(["y", "x"], nullable=False)}),
        Schema("t", base, Unit(neighbours="replace")),
        Schema("t", base, Unit("p", groups=1, rows=1)),
        Schema("t", base, Unit("p", groups=1, rows=2)),
        Schema("t", base, Unit("p", groups=2, rows=1)),
        Schema("t", {**base, "a": Real(0, "28/3", nullable=False)}),
        Schema("t", {**base, "a": Real(0, 28 / 3, nullable=False)}),
    ]
    assert len({schema.digest for schema in schemas}) == len(schemas)
    assert Schema.from_dict(schemas[-2].to_dict()) == schemas[-2]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (("lower = 0\nupper = 120", "lower = 0"), "columns.age.upper"),
        (("lower = 0\nupper = 120", "upper = 120"), "columns.age.lower"),
        (("upper = 120", 'upper = "?"'), "columns.age.upper"),
        (("upper = 120", "upper = -1"), "columns.age.upper"),
        (("upper = 120", "upper = 1.5"), "columns.age.upper"),
        (("upper = 120", "upper = nan"), "columns.age.upper"),
        (("upper = 120", "upper = inf"), "columns.age.upper"),
        (("upper = 120", "upper = true"), "columns.age.upper"),
        (("upper = 120", "upper = 1e30"), "columns.age.upper"),
        (("lower = 0\n", "lower = -1e30\n"), "columns.age.lower"),
        (('type = "integer"', 'type = "whole"'), "columns.age.type"),
        (('type = "integer"', 'type = "?"'), "columns.age.type"),
        (('type = "integer"', ""), "columns.age.type"),
        (('type = "integer"', "type = []"), "columns.age.type"),
        (("upper = 120", "upper = 120\nmaximum = 5"), "columns.age.maximum"),
        (("nullable = true", 'nullable = "yes"'), "columns.cost.nullable"),
        (('values = ["Ash", "Elm", 7]', ""), "columns.county.values"),
        (('values = ["Ash", "Elm", 7]', "values = []"), "columns.county.values"),
        (('values = ["Ash", "Elm", 7]', 'values = "Ash"'), "columns.county.values"),
        (('values = ["Ash", "Elm", 7]', 'values = ["a", "a"]'), "columns.county.values"),
        (('values = ["Ash", "Elm", 7]', 'values = ["a\\u0000"]'), "columns.county.values"),
        (("lower = 2024-01-01", "lower = 2025-01-01"), "columns.day.upper"),
        (("lower = 2024-01-01", 'lower = "January"'), "columns.day.lower"),
        (("lower = 2024-01-01", "lower = 2024-01-01T10:00:00"), "columns.day.lower"),
        (("groups = 3", "groups = 0"), "unit.groups"),
        (("groups = 3", "groups = 1.5"), "unit.groups"),
        (("rows = 10", "rows = 10000000"), "unit.rows"),
        (('neighbours = "replace"', 'neighbours = "both"'), "unit.neighbours"),
        (('column = "patient"', "column = 5"), "unit.column"),
        (('column = "patient"', 'column = ""'), "unit.column"),
        (('column = "patient"', 'column = "county"'), "columns.county.type"),
        (('column = "patient"', ""), "unit"),
        (("[unit]", "[unit]\nkeys = 3"), "unit.keys"),
        (('name = "visits"', ""), "dataset.name"),
        (('name = "visits"', "name = 5"), "dataset.name"),
        (("[dataset]", "[data]\nx = 1\n[dataset]"), "data"),
        (("[columns.flag]", "[columns]\nx = 5\n[columns.flag]"), "columns.x"),
        (("[dataset]", "[dataset"), "schema"),
    ],
)
def test_a_mistake_is_named(change, field, tmp_path):
    old, new = change
    assert old in FILE
    path = tmp_path / "discreet.toml"
    path.write_text(FILE.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        Schema.load(path)
    assert caught.value.field == field, caught.value


def test_tables_that_are_no_tables(tmp_path):
    for text, field in [('dataset = "x"', "dataset"), ("unit = 1", "unit"), ("columns = []", "columns")]:
        path = tmp_path / "discreet.toml"
        path.write_text(text)
        with pytest.raises(InputError) as caught:
            Schema.load(path)
        assert caught.value.field == field
    with pytest.raises(InputError, match="discreet init"):
        Schema.load(tmp_path / "none.toml")


def test_a_schema_has_columns_with_names():
    with pytest.raises(InputError):
        Schema("t", {})
    with pytest.raises(InputError):
        Schema("t", {1: Integer(0, 1, nullable=False)})
    with pytest.raises(InputError):
        Schema("t", {"a": "integer"})


def test_numbers_are_read_as_written():
    assert Real(0, 0.1, nullable=False).upper == Fraction(1, 10)
    assert column_from("a", {"type": "real", "lower": 0.1, "upper": 0.3}).upper == Fraction(3, 10)


def test_columns_are_found_by_name():
    schema = schema_for()
    assert schema.column("n") is schema.columns["n"]
    with pytest.raises(InputError, match="big, d, flag"):
        schema.column("nothing")
    with pytest.raises(InputError, match="numeric"):
        schema.numeric("short", "sum")
