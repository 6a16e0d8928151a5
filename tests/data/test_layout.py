"""A CSV file that is written in another way gives the same integers as a plain one, or a missing value."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dirty import engine
from discreet.core.unit import Unit
from discreet.curator import open_curator
from discreet.data.column import Category, Date, Integer, Real, Timestamp
from discreet.data.layout import Layout
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.query.aggregate import count, total
from discreet.query.question import Query

COLUMNS = {
    "age": Integer(0, 120),
    "pay": Real(0, 10**7),
    "day": Date("2024-01-01", "2024-12-31"),
    "city": Category(["Köln", "Bonn"]),
}
QUESTION = Query().group_by("city").agg(n=count(), age=total("age"), pay=total("pay"), pays=count("pay"))
BY_MONTH = Query().group_by("day").agg(n=count("day"))
PLAIN = [
    ("34", "1234.5", "2024-02-01", "Köln"),
    ("61", "1000000", "2024-12-31", "Bonn"),
    ("7", "0.25", "2024-01-02", "Bonn"),
    ("", "-3.5", "", "Köln"),
    ("12.4", "1e3", "2024-03-04", "Köln"),
    ("9", "inf", "no day", "Bonn"),
]


def written(path, rows, delimiter=",", encoding="utf-8"):
    lines = [delimiter.join(line) for line in (COLUMNS, *rows)]
    path.write_bytes(("\n".join(lines) + "\n").encode(encoding))
    return path


def read(path, question=QUESTION, columns=COLUMNS, layout=None, unit=None):
    schema = Schema("t", columns, Unit() if unit is None else unit, layout=layout or Layout())
    return engine(replace(source_of(path), layout=schema.layout, written=schema.stored), question, schema)


@pytest.mark.parametrize(
    ("name", "delimiter", "encoding", "layout", "rows"),
    [
        (
            "german.csv",
            ";",
            "latin-1",
            Layout(delimiter=";", decimal=",", thousands=".", dates="dd/mm/yyyy"),
            [
                ("34", "1.234,5", "01.02.2024", "Köln"),
                ("61", "1.000.000", "31.12.2024", "Bonn"),
                ("7", "0,25", "2.1.2024", "Bonn"),
                ("", "-3,5", "", "Köln"),
                ("12,4", "1e3", "04.03.2024", "Köln"),
                ("9", "inf", "no day", "Bonn"),
            ],
        ),
        (
            "american.tsv",
            "\t",
            "cp1252",
            Layout(thousands=",", dates="mm/dd/yyyy"),
            [
                ("34", "1,234.5", "02/01/2024", "Köln"),
                ("61", "1,000,000", "12/31/2024", "Bonn"),
                ("7", ".25", "1/2/2024", "Bonn"),
                ("", "-3.5", "", "Köln"),
                ("12.4", "1e3", "2024-03-04", "Köln"),
                ("9", "inf", "no day", "Bonn"),
            ],
        ),
        (
            "french.csv",
            "|",
            "utf-8",
            Layout(delimiter="|", decimal=",", thousands=" ", dates="dd/mm/yyyy"),
            [
                ("34", "1\u202f234,5", "01/02/2024", "Köln"),
                ("61", "1 000\u00a0000", "31/12/2024", "Bonn"),
                ("7", " 0,25 ", "02-01-2024", "Bonn"),
                ("", "-3,5", "", "Köln"),
                ("12,4", "1000,", "04/03/2024", "Köln"),
                ("9", "inf", "no day", "Bonn"),
            ],
        ),
    ],
)
def test_the_same_integers_as_from_a_plain_file(tmp_path, name, delimiter, encoding, layout, rows):
    plain = written(tmp_path / "plain.csv", PLAIN)
    other = written(tmp_path / name, rows, delimiter, encoding)
    assert read(other, layout=layout) == read(plain)
    days = {**COLUMNS, "day": Date("2024-01-01", "2024-12-31")}
    months = Query().where("day >= '2024-02-01'").group_by("city").agg(n=count("day"))
    assert read(other, months, days, layout) == read(plain, months, days)


@pytest.mark.parametrize("value", ["1.5", "1,23,4", "1.23", "1.2345", "1,5,", "1.234.56,7", ",", ".", "1.234e2"])
def test_a_number_written_in_another_way_is_missing(tmp_path, value):
    path = written(tmp_path / "t.csv", [("1", value, "", "Bonn")], ";")
    layout = Layout(delimiter=";", decimal=",", thousands=".")
    whole = {"pay": Real(0, 10**7)}
    found = read(path, Query().agg(n=count("pay"), pay=total("pay")), whole, layout)
    assert found[0][0] == (value == "1.234e2")  # a group of three digits, and an exponent


@pytest.mark.parametrize("value", ["31/12/24", "13/13/2024", "1/2", "12/31/2024", "01/02/20244"])
def test_a_day_written_in_another_way_is_missing(tmp_path, value):
    path = written(tmp_path / "t.csv", [("1", "1", value, "Bonn")])
    days = {"day": Date("1900-01-01", "2100-12-31")}
    assert read(path, Query().agg(n=count("day")), days, Layout(dates="dd/mm/yyyy")) == {0: [0]}


def test_no_text_makes_a_run_fail(tmp_path):
    odd = [
        "1;5",
        "\u00a0",
        "'",
        "--1",
        "1e999",
        "1e",
        "\u0663,\u0665",
        "\\",
        "$1,5",
        "9" * 400 + ",5",
        "1/1/0000",
        "\0",
        "a\tb",
    ]
    rows = [(f'"{value}"', f'"{value}"', f'"{value}"', "Bonn") for value in odd]
    path = written(tmp_path / "t.csv", rows, ";")
    layout = Layout(delimiter=";", decimal=",", thousands="'", dates="mm/dd/yyyy")
    assert read(path, Query().agg(n=count()), layout=layout) == {0: [len(odd)]}
    read(path, layout=layout)


def test_a_schema_file_declares_it_and_keeps_it(tmp_path):
    written(tmp_path / "t.csv", [("34", "1.234,5", "01.02.2024", "Köln")], ";", "latin-1")
    tables = {
        "dataset": {"name": "t", "delimiter": ";", "decimal": ",", "thousands": ".", "dates": "dd/mm/yyyy"},
        "columns": {
            "pay": {"type": "real", "lower": 0, "upper": 10000},
            "city": {"type": "category", "values": ["Köln"]},
        },
    }
    schema = Schema.from_dict(tables)
    assert schema.layout == Layout(";", ",", ".", "dd/mm/yyyy")
    assert Schema.from_dict(schema.to_dict()) == schema
    curator = open_curator(tmp_path / "t.csv", tables, ledger=tmp_path / "b.db", budget=Budget(10**6), create=True)
    answer = curator.table().group_by("city").agg(pay=total("pay")).plan(epsilon=10**5).release()
    assert abs(answer.rows()[0]["pay"] - 1234.5) < 5


def test_a_schema_without_it_has_the_digest_it_had():
    assert Schema("t", {"age": Integer(0, 120)}).to_dict()["dataset"] == {"name": "t"}
    assert (
        Schema("t", {"age": Integer(0, 120)}).digest == Schema("t", {"age": Integer(0, 120)}, layout=Layout("")).digest
    )


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"delimiter": "tab"}, r"`dataset.delimiter` must be one of ',', ';', .*; got 'tab'"),
        ({"delimiter": 5}, "`dataset.delimiter` must be one of"),
        ({"decimal": ";"}, r"`dataset.decimal` must be one of '.', ','; got ';'"),
        ({"decimal": ",", "thousands": ","}, "`dataset.thousands` must be another mark than `decimal`"),
        ({"dates": "dd.mm.yyyy"}, "one of yyyy-mm-dd, dd/mm/yyyy, mm/dd/yyyy; got 'dd.mm.yyyy'. Did you mean"),
    ],
)
def test_another_mark_is_refused(said, message):
    with pytest.raises(InputError, match=message):
        Layout(**said)


def test_it_is_for_csv_files_only():
    import pyarrow

    schema = Schema("t", {"age": Integer(0, 120)}, layout=Layout(decimal=","))
    with pytest.raises(InputError, match=r"`dataset.decimal` must be left out unless the data is a CSV or TSV file"):
        open_curator(pyarrow.table({"age": [1]}), schema, ledger="x.db", budget=Budget(1))
    with pytest.raises(InputError, match="`layout` must be a Layout"):
        Schema("t", {"age": Integer(0, 120)}, layout={"decimal": ","})


def test_times_of_day_follow_the_order_of_days_and_the_zone_of_the_dataset(tmp_path):
    (tmp_path / "t.csv").write_text("at\n1.2.2024 09:30\n31.12.2024 23:59:59\n2024-02-01T08:30:00Z\n30/2/2024 10:00\n")
    tables = {
        "dataset": {"name": "t", "dates": "dd/mm/yyyy", "timezone": "Europe/Vienna"},
        "columns": {"at": {"type": "timestamp", "lower": "2024-01-01", "upper": "2024-12-31", "nullable": True}},
    }
    schema = Schema.from_dict(tables)
    assert schema.columns["at"] == Timestamp("2024-01-01", "2024-12-31", "Europe/Vienna")
    source = replace(source_of(tmp_path / "t.csv"), layout=schema.layout, written=schema.stored)
    hours = Query().where("at >= '2024-02-01T09:30' and at < '2024-02-01T09:31'").agg(n=count("at"))
    assert engine(source, hours, schema) == {0: [2]}
    assert engine(source, Query().agg(n=count("at")), schema) == {0: [3]}


def test_the_zone_of_the_dataset_is_that_of_every_timestamp_that_names_none():
    entry = {"type": "timestamp", "lower": "2024-01-01", "upper": "2024-12-31"}
    tables = {
        "dataset": {"name": "t", "timezone": "Asia/Tokyo"},
        "columns": {"a": entry, "b": {**entry, "timezone": "UTC"}},
    }
    schema = Schema.from_dict(tables)
    assert [schema.columns[name].timezone for name in "ab"] == ["Asia/Tokyo", "UTC"]
    named = {name: {**entry, "timezone": zone} for name, zone in (("a", "Asia/Tokyo"), ("b", "UTC"))}
    assert schema.digest == Schema.from_dict({"dataset": {"name": "t"}, "columns": named}).digest
    with pytest.raises(InputError, match=r"`dataset.timezone` must be a time zone.*Did you mean `Asia/Tokyo`"):
        Schema.from_dict(tables | {"dataset": {"name": "t", "timezone": "Tokio"}})
