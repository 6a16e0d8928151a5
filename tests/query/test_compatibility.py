"""Whether stored data can be read as declared is settled from names and types, before anything is spent."""

from __future__ import annotations

import pyarrow
import pyarrow.parquet
import pytest

from discreet.core.unit import Unit
from discreet.data.column import Category, Date, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.query.aggregate import count, mean
from discreet.query.compatibility import check_columns, columns_read
from discreet.query.quantile import median
from discreet.query.question import Query

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
