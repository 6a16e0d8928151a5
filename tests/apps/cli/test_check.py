"""`discreet check`: what does not fit is said to the custodian, with what to write; nothing else can reach it."""

from __future__ import annotations

import json

import pytest
from shell import run

SCHEMA = """
[dataset]
name = "visits"
[unit]
column = "patient"
groups = 1
rows = 1
[columns.age]
type = "integer"
lower = 0
upper = 120
[columns.pay]
type = "real"
lower = 0
upper = 5000
nullable = true
[columns.day]
type = "date"
lower = 2024-01-01
upper = 2024-12-31
nullable = true
[columns.city]
type = "category"
values = ["Köln", "Bonn"]
nullable = true
"""
HEADER = "patient,age,pay,day,city"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(folder, lines, schema=SCHEMA, *, name="visits.csv", encoding="utf-8", code=1):
    (folder / "discreet.toml").write_text(schema, encoding="utf-8")
    (folder / name).write_bytes("\n".join([*lines, ""]).encode(encoding))
    return json.loads(run("check", name, "--json", code=code).stdout)


def kinds(report, column=None):
    return {one["kind"]: one for one in report["findings"] if one["column"] == column}


def test_all_that_fits_ends_with_zero(folder):
    report = checked(folder, [HEADER, "1,34,1.5,2024-01-01,Köln", "2,61,,,"], code=0)
    assert report["fits"]
    assert report["rows"] == 2
    assert report["findings"] == []
    assert "All of it fits" in run("check", "visits.csv", "discreet.toml", code=0).stdout


def test_the_first_line_says_whose_eyes_it_is_for(folder):
    checked(folder, [HEADER, "1,34,1.5,2024-01-01,Köln"], code=0)
    assert run("check", "visits.csv", code=0).stdout.startswith("For the custodian's eyes only")
    assert json.loads(run("check", "visits.csv", "--json", code=0).stdout)["notice"].startswith(
        "For the custodian's eyes"
    )


def test_every_way_in_which_a_column_does_not_fit(folder):
    rows = ["1,999,9999,2023-05-05,Ulm", "2,-1,x,never,Ulm", "3,,7,2024-01-01,bonn", "4,33.5,,2025-01-01,Köln"]
    report = checked(folder, [HEADER, *rows])
    age = kinds(report, "age")
    assert {kind: one["rows"] for kind, one in age.items()} == {"missing": 1, "below": 1, "above": 1, "fraction": 1}
    assert age["above"]["values"] == [["999", 1]]
    assert age["above"]["share"] == 0.25
    assert age["missing"]["suggestion"] == "nullable = true under [columns.age]"
    assert age["fraction"]["suggestion"] == 'type = "real" under [columns.age]'
    assert set(kinds(report, "pay")) == {"above", "unreadable"}
    assert set(kinds(report, "day")) == {"below", "above", "unreadable"}
    city = kinds(report, "city")["undeclared"]
    assert city["values"] == [["Ulm", 2], ["bonn", 1]]
    assert "'bonn' for 'Bonn'" in city["suggestion"]


def test_limits_and_ids_are_checked(folder):
    rows = ["1,1,1,2024-01-01,Bonn", "1,1,1,2024-01-01,Köln", "1,1,1,2024-01-01,Köln", ",1,1,2024-01-01,Bonn"]
    patient = kinds(checked(folder, [HEADER, *rows]), "patient")
    assert patient["no person"]["rows"] == 1
    report = [one for one in checked(folder, [HEADER, *rows])["findings"] if one["kind"] == "limits"]
    assert [one["rows"] for one in report] == [2, 2]
    assert "1 person with more than 1 row" in report[0]["text"]


@pytest.mark.parametrize(
    ("name", "divided", "encoding", "advice"),
    [
        ("v.csv", ";", "latin-1", 'delimiter = ";"'),
        ("v.csv", "\t", "utf-8", r'delimiter = "\t"'),
        ("v.tsv", ",", "utf-8", 'delimiter = ","'),
    ],
)
def test_another_delimiter_is_recognised_by_the_header(folder, name, divided, encoding, advice):
    lines = [line.replace(",", divided) for line in (HEADER, "1,34,1.5,2024-01-01,Köln")]
    report = checked(folder, lines, name=name, encoding=encoding)
    assert kinds(report)["delimiter"]["suggestion"] == f"{advice} under [dataset]"


def fixed(schema, advice):
    """The schema with the lines of an advice written under [dataset]."""
    lines = advice.split(" under ")[0].replace("They are numbers with ", "").split(" and ")
    lines = [line.replace("They are days with ", "") for line in lines]
    return schema.replace("[dataset]\n", "[dataset]\n" + "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("rows", "column"),
    [
        (['1,34,"12,5",,', '2,34,"1,75",,'], "pay"),
        (['1,34,"1.234,5",,', '2,34,"2.000",,', '3,34,"0,5",,'], "pay"),
        (['1,34,"1,234.5",,', '2,34,"2,000",,'], "pay"),
        (["1,34,1 234.5,,", "2,34,2 000,,"], "pay"),
        (["1,34,,31.12.2024,", "2,34,,01.02.2024,"], "day"),
        (["1,34,,12/31/2024,", "2,34,,1/2/2024,"], "day"),
    ],
)
def test_what_is_suggested_for_numbers_and_days_makes_them_fit(folder, rows, column):
    report = checked(folder, [HEADER, *rows])
    advice = kinds(report, column)["unreadable"]["suggestion"]
    assert checked(folder, [HEADER, *rows], fixed(SCHEMA, advice), code=0)["fits"]


def test_days_that_cannot_be_told_from_months_are_said_to_be_so(folder):
    both = checked(folder, [HEADER, "1,34,,31/12/2024,", "2,34,,12/31/2024,"])
    assert "Some begin with the day" in kinds(both, "day")["unreadable"]["suggestion"]
    either = checked(folder, [HEADER, "1,34,,01/02/2024,"])
    assert "no day here is above 12" in kinds(either, "day")["unreadable"]["suggestion"]
    short = checked(folder, [HEADER, "1,34,,31/12/24,"])
    assert "Write all four" in kinds(short, "day")["below"]["suggestion"]  # of the year 31


def test_a_header_that_is_missing_or_one_too_many_is_noticed(folder):
    report = checked(folder, ["1,34,1.5,2024-01-01,Bonn", "2,34,1.5,2024-01-01,Bonn"])
    assert "names = " in kinds(report)["header"]["suggestion"]
    named = SCHEMA.replace("[dataset]\n", '[dataset]\nnames = ["patient", "age", "pay", "day", "city"]\n')
    assert "Leave out names" in kinds(checked(folder, [HEADER, "1,1,1,,Bonn"], named))["header"]["suggestion"]
    assert checked(folder, ["1,34,1.5,2024-01-01,Bonn"], named, code=0)["fits"]


def test_encodings_and_broken_lines_are_noticed(folder):
    report = checked(folder, [HEADER, "1,34,1.5,2024-01-01,Köln"], encoding="latin-1", code=0)
    assert kinds(report)["encoding"]["note"]
    assert (
        "UTF-16" in kinds(checked(folder, [HEADER, "1,34,1.5,2024-01-01,Köln"], encoding="utf-16"))["encoding"]["text"]
    )
    report = checked(folder, [HEADER, "1,34,1,5,2024-01-01,Bonn", "2,34"])
    assert (kinds(report)["long lines"]["rows"], kinds(report)["short lines"]["rows"]) == (1, 1)
    twice = "Köln".encode().decode("cp1252")
    assert "'Köln'" in kinds(checked(folder, [HEADER, f"1,34,1,,{twice}"]), "city")["undeclared"]["suggestion"]


def test_times_with_a_zone_in_a_column_of_days_are_a_note(folder):
    report = checked(folder, [HEADER, "1,34,,2024-05-01T23:30:00+02:00,"], code=0)
    assert kinds(report, "day")["time zone"]["note"]


def test_times_with_and_without_an_offset_in_one_column_are_a_note(folder):
    timed = SCHEMA.replace('type = "date"', 'type = "timestamp"\ntimezone = "UTC"')
    rows = ["1,34,,2024-05-01T23:30:00+02:00,", "2,34,,2024-05-01 10:00,"]
    assert "naive = ..." in kinds(checked(folder, [HEADER, *rows], timed, code=0), "day")["offset"]["suggestion"]
    assert checked(folder, [HEADER, rows[0]], timed, code=0)["findings"] == []
    report = checked(folder, [HEADER, "1,34,,31.12.2024 10:00,", "2,34,,2020-05-01 10:00,"], timed)
    assert set(kinds(report, "day")) == {"unreadable", "below"}
    assert 'dates = "dd/mm/yyyy"' in kinds(report, "day")["unreadable"]["suggestion"]


def test_columns_that_are_absent_or_stored_otherwise_are_named(folder):
    import pyarrow
    from pyarrow import parquet

    (folder / "discreet.toml").write_text(SCHEMA, encoding="utf-8")
    table = {"patient": ["1"], "Age": [1], "pay": pyarrow.array([[1.0]]), "city": ["Bonn"], "more": [1]}
    parquet.write_table(pyarrow.table(table), folder / "v.parquet")
    report = json.loads(run("check", "v.parquet", "--json", code=1).stdout)
    assert kinds(report, "age")["absent"]["suggestion"] == "[columns.Age], as the data spells it"
    assert "stored type" in kinds(report, "pay")
    assert kinds(report)["not declared"]["note"]


def test_values_are_listed_as_far_as_asked(folder):
    checked(folder, [HEADER, *(f"{n},34,,,{n}" for n in range(9))])
    report = json.loads(run("check", "visits.csv", "--values", "7", "--json", code=1).stdout)
    assert len(kinds(report, "city")["undeclared"]["values"]) == 7
