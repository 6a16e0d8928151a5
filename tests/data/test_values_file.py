"""Public values from a file: read once, with the schema, and as if they stood in it."""

from __future__ import annotations

import pytest

from discreet.core.unit import Unit
from discreet.curator import open_curator
from discreet.data.column import Category, Integer
from discreet.data.schema import Schema
from discreet.data.values_file import read_values
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.query.aggregate import count

TOML = """
[dataset]
name = "visits"
[columns.code]
type = "category"
values_file = "codes/icd10.csv"
nullable = true
"""


@pytest.mark.parametrize(
    ("name", "data", "column", "values"),
    [
        ("a.txt", b"A00\nB01, with a comma\n\nC 02 \n", None, ["A00", "B01, with a comma", "C 02 "]),
        ("a.csv", b'A00,Cholera\r\n"B,01",Other\r\n', None, ["A00", "B,01"]),
        ("a.tsv", b"A00\tCholera\nB01\n", None, ["A00", "B01"]),
        ("a.csv", b"\xef\xbb\xbfname,code\nCholera,A00\nOther,B01\nNone,\n", "code", ["A00", "B01"]),
        ("a.txt", "K\u00f6ln\nBonn".encode("latin-1"), None, ["K\u00f6ln", "Bonn"]),
    ],
)
def test_values_of_every_kind_of_file(tmp_path, name, data, column, values):
    (tmp_path / name).write_bytes(data)
    assert read_values(tmp_path / name, column) == values
    assert Category.from_file(tmp_path / name, column) == Category(values)


def test_a_schema_reads_them_beside_itself_and_has_them_from_then_on(tmp_path):
    (tmp_path / "codes").mkdir()
    (tmp_path / "codes" / "icd10.csv").write_text("A00,Cholera\nB01,Varicella\n")
    (tmp_path / "discreet.toml").write_text(TOML)
    schema = Schema.load(tmp_path / "discreet.toml")
    assert schema.columns["code"] == Category(["A00", "B01"])
    assert schema.digest == Schema("visits", {"code": Category(["A00", "B01"])}).digest
    (tmp_path / "codes" / "icd10.csv").unlink()
    assert Schema.from_dict(schema.to_dict()) == schema


def test_a_release_is_read_again_without_the_file(tmp_path):
    (tmp_path / "codes").mkdir()
    listed = tmp_path / "codes" / "icd10.csv"
    listed.write_text("".join(f"A{n:04d}\n" for n in range(2000)))
    (tmp_path / "discreet.toml").write_text(TOML)
    (tmp_path / "v.csv").write_text("code\nA0007\nA1999\nA1999\nother\n")
    said = {"ledger": tmp_path / "b.db", "budget": Budget(10**6)}
    curator = open_curator(tmp_path / "v.csv", tmp_path / "discreet.toml", create=True, **said)
    question = curator.table().group_by("code").agg(n=count())
    made = question.plan(epsilon=10**5).release(release="codes")
    listed.unlink()
    later = open_curator(tmp_path / "v.csv", Schema("visits", {"code": Category(["A0007"])}), **said)
    assert later.release("codes").rows() == made.rows()
    found = {row["code"]: row["n"] for row in made.rows() if row["n"]}
    assert found == {"A0007": 1, "A1999": 2, None: 1}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"values_file": "none.csv"}, r"`columns.code.values_file` must be a readable file \(No such file"),
        ({"values_file": "empty.csv"}, r"`columns.code.values_file` must be a file with a value in each line"),
        ({"values_file": "twice.csv"}, r"`columns.code.values` must be a list with each value once; got 'B'"),
        ({"values_file": 5}, r"`columns.code.values_file` must be the path of a file"),
        ({"values_file": "twice.csv", "values": ["A"]}, r"`columns.code.values_file` must be left out"),
        (
            {"values_file": "twice.csv", "values_column": "B"},
            r"`columns.code.values_column` must be a column of the file",
        ),
        ({"values": ["A"], "values_column": "B"}, r"`columns.code.values_column` must be left out"),
        ({"values_fiel": "twice.csv", "values": ["A"]}, "Did you mean `values_file`"),
        ({}, r"`columns.code.values` must be given"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, entry, message):
    (tmp_path / "empty.csv").write_text("\n\n")
    (tmp_path / "twice.csv").write_text("A\nB\nB\n")
    tables = {"dataset": {"name": "t"}, "columns": {"code": {"type": "category", **entry}}}
    with pytest.raises(InputError, match=message):
        Schema.from_dict(tables, tmp_path)


def test_joined_and_looked_up_columns_have_files_too(tmp_path):
    (tmp_path / "codes.txt").write_text("A\nB\n")
    column = {"type": "category", "values_file": "codes.txt"}
    tables = {
        "dataset": {"name": "t"},
        "unit": {"column": "who", "groups": 1, "rows": 1},
        "columns": {"age": {"type": "integer", "lower": 0, "upper": 9}},
        "joins": {"more": {"columns": {"code": column}}},
    }
    schema = Schema.from_dict(tables, tmp_path)
    assert schema.columns["code"] == Category(["A", "B"], nullable=False)
    assert schema.columns["age"] == Integer(0, 9, nullable=False)
    assert schema.unit == Unit("who", groups=1, rows=1)


def test_functions_of_long_lists_are_looked_up(tmp_path):
    values = [f"{letter}{n:03d}" for letter in "AB" for n in range(600)]
    (tmp_path / "v.csv").write_text('code\nA007\nB599\nB000\nC000\n""\n')
    schema = Schema("t", {"code": Category(values)})
    curator = open_curator(tmp_path / "v.csv", schema, ledger=tmp_path / "b.db", budget=Budget(10**7), create=True)
    for text, expected in {
        "left(code, 1)": {"A": 1, "B": 2, None: 2},
        "length(code)": {4: 3, None: 2},
        "case when code like 'B%' then 'b' else 'other' end": {"b": 2, "other": 3},
    }.items():
        rows = curator.table().group_by(text).agg(n=count()).plan(epsilon=10**6).release().rows()
        assert {row[next(iter(row))]: row["n"] for row in rows if row["n"]} == expected
