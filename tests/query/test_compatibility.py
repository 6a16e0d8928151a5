"""Whether stored data can be read as declared is settled from names and types, before anything is spent."""

from __future__ import annotations

import ibis
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest

from discreet.core.unit import Unit
from discreet.curator.question import Question
from discreet.data.column import Category, Date, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.query.aggregate import count, mean
from discreet.query.compatibility import check_columns, columns_read
from discreet.query.quantile import median
from discreet.query.question import Query
from small_desk import open_desk

SCHEMA = Schema("t", {"age": Integer(0, 120), "sex": Category(["f", "m"])}, Unit("id", groups=1, rows=1))
TABLE = pyarrow.table({"id": [1], "age": [30], "sex": ["f"], "Day": [1]})


def check(columns, names, table=TABLE):
    check_columns(source_of(table), Schema("t", columns, Unit("id", groups=1, rows=1)), names)


def test_columns_that_are_there_and_can_be_read_pass():
    check(SCHEMA.columns, ["age", "sex", "id"])


@pytest.mark.parametrize(
    ("columns", "name", "said"),
    [
        ({"pay": Real(0, 1)}, "pay", r"3 others|4 others"),
        ({"day": Text()}, "day", "Did you mean `Day`"),
        ({"age": Date("2020-01-01", "2021-01-01")}, "age", r"columns\.age"),
    ],
)
def test_a_column_that_is_not_there_or_cannot_be_read_is_refused(columns, name, said):
    with pytest.raises(InputError, match=said):
        check(columns, [name])


def test_names_of_other_columns_are_not_told():
    """They may be a person's values in the first line of a file."""
    with pytest.raises(InputError) as caught:
        check({"pay": Real(0, 1)}, ["pay"])
    assert "sex" not in str(caught.value)
    assert "age" not in str(caught.value)


def test_types_that_differ_between_files_are_refused_where_values_identify(tmp_path):
    for name, kind in (("a", pyarrow.int64()), ("b", pyarrow.float64())):
        table = pyarrow.table({"id": pyarrow.array([1], kind), "age": pyarrow.array([30], kind), "sex": ["f"]})
        pyarrow.parquet.write_table(table, tmp_path / f"{name}.parquet")
    check_columns(source_of(tmp_path), Schema("t", SCHEMA.columns), ["age"])  # a number is a number
    with pytest.raises(InputError, match="stored alike"):
        check_columns(source_of(tmp_path), SCHEMA, ["age"])
    with pytest.raises(InputError, match="stored alike"):
        check_columns(source_of(tmp_path), Schema("t", SCHEMA.columns), ["age"], exact=["age"])


def test_a_question_reads_its_keys_outputs_conditions_and_persons():
    query = Query().where("sex = 'f'").group_by("sex").agg(n=count(), m=mean("age"), q=median("age")).checked(SCHEMA)
    assert set(columns_read(query, SCHEMA)) == {"sex", "age", "id"}
    alone = Schema("t", SCHEMA.columns)
    assert columns_read(Query().agg(n=count()).checked(alone), alone) == []


def test_values_of_several_types_are_refused_before_anything_is_spent(tmp_path):
    schema = Schema("people", {"age": Integer(0, 120, nullable=False), "note": Text(nullable=False)})
    desk = open_desk(tmp_path, schema, pyarrow.table({"age": [30], "note": ["x"]}))
    mixed = ["COALESCE(note, age)", "CASE WHEN TRUE THEN age ELSE note END", "NULLIF(age, age)"]
    for text in mixed:
        with pytest.raises(InputError, match=r"of one type|something else than NULL"):
            Question(desk, Query().where(f"({text}) IS NOT NULL").agg(n=count())).plan(epsilon=1)
    plan = Question(desk, Query().agg(m=mean("CASE WHEN TRUE THEN age ELSE 1.5 END"))).plan(epsilon=1)
    assert plan.release()["m"] is not None


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_an_expression_that_an_engine_cannot_compute_is_refused_before_anything_is_spent(tmp_path, monkeypatch, kind):
    table = pyarrow.table({"age": [30, 40], "sex": ["f", "m"]})
    pyarrow.csv.write_csv(table, tmp_path / "t.csv")
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    place = table if kind == "frame" else str(tmp_path / f"t.{kind}")
    desk = open_desk(tmp_path, Schema("t", {"age": Integer(0, 120), "sex": Category(["f", "m"])}), place)
    asked = Question(desk, Query().agg(m=mean("age * 2")))
    assert asked.plan(epsilon=1).release()["m"] is not None
    offer = asked.plan(epsilon=1)
    spent = desk.standing()[0].left

    @ibis.udf.scalar.builtin
    def no_such_function() -> int: ...

    def computed(made, table, columns):
        return table.mutate(**dict.fromkeys(made, no_such_function()))

    monkeypatch.setattr("discreet.data.columns.with_expressions", computed)
    with pytest.raises(InputError, match="that the engine can compute"):
        offer.release()
    assert desk.standing()[0].left == spent
