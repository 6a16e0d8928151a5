"""From a raw file of trips to half hours in one command."""

import csv
import json
import tomllib
from datetime import datetime, timedelta

import pytest
from shell import run

TRIPS = ["mobility", "trips.csv", "--time", "pickup", "--origin", "start", "--destination", "end"]
DECLARED = {
    "--person": "rider",
    "--trips": "4",
    "--places": "zones.csv",
    "--first": "2024-03-01",
    "--last": "2024-03-02",
    "--timezone": "Europe/Vienna",
    "--budget": "4000",
}
PAID = ["--epsilon", "1000", "--yes"]


def words(options):
    return [word for pair in options.items() for word in pair]


@pytest.fixture
def folder(tmp_path):
    first = datetime(2024, 3, 1, 8)
    lines = ["rider,pickup,start,end"]
    times = [first + timedelta(minutes=7 * (number % 40)) for number in range(200)]
    lines += [f"r{number % 50},{time},A,{'BC'[number % 2]}" for number, time in enumerate(times)]
    lines += ["r1,2024-03-01 08:10:00,A,nowhere", "r2,soon,A,B", ",2024-03-01 08:00:00,A,B"]
    (tmp_path / "trips.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "zones.csv").write_text("place,zone\nA,in\nB,in\nC,out\n")
    (tmp_path / "unnamed.csv").write_text("place,zone\nA,in\nB,\nC,out\n")
    (tmp_path / "twice.csv").write_text("place,zone\nA,in\nB,in\nA,out\n")
    return tmp_path


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def test_one_command_makes_the_table_and_the_schema_for_all_later_ones(folder):
    wanted = ["--id", "day", "--out", "tables", "--plot", "day.svg"]
    said = run(*TRIPS, *words(DECLARED), *PAID, *wanted, cwd=folder)
    assert "Wrote discreet.toml: what is public about trips.csv, with 3 places." in said.stderr
    for part in ("busiest cells", "08:00-08:30", "Cost: epsilon = 1000", "Wrote day.svg"):
        assert part in said.stdout, said.stdout
    cells = rows_of(folder / "tables" / "cells.csv")
    assert len(cells) == 3 * 3 * 48
    assert {"start", "end", "pickup", "count", "count_lower", "count_upper"} == set(cells[0])
    assert sum(int(row["count"]) for row in cells) == 200  # four trips each of fifty riders
    assert sum(int(row["count"]) for row in rows_of(folder / "tables" / "zones.csv")) == 200
    declared = tomllib.loads((folder / "discreet.toml").read_text())
    assert declared["unit"] == {"column": "rider", "groups": 4, "rows": 4, "rows_total": 4}
    assert declared["columns"]["start"]["values"] == ["A", "B", "C"]
    # The schema stands for what was typed, and the ledger for what was paid.
    again = run(*TRIPS, "--every", "1 hour", *PAID, "--id", "hours", "--json", cwd=folder).stdout
    assert len(json.loads(again)["windows"]["columns"]["pickup"]) == 24
    assert len(json.loads(run("ledger", "show", "--json", cwd=folder).stdout)["charges"]) == 2
    shown = run("flows", "show", "day", "--part", "windows", cwd=folder).stdout
    assert "08:00-08:30" in shown


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        ({name: value for name, value in DECLARED.items() if name != "--person"}, "--person"),
        ({name: value for name, value in DECLARED.items() if name != "--trips"}, "--trips"),
        ({name: value for name, value in DECLARED.items() if name != "--budget"}, "--budget"),
        ({**DECLARED, "--person": "row"}, "--trips"),
        ({**DECLARED, "--first": "today"}, "--first"),
        ({**DECLARED, "--timezone": "Vienna"}, "--timezone"),
        ({**DECLARED, "--places": "nowhere.csv"}, "--places"),
        ({**DECLARED, "--places": "trips.csv"}, "--places"),
        ({**DECLARED, "--places": "twice.csv"}, "--places"),
        ({**DECLARED, "--places": "unnamed.csv"}, "--places"),
        ({**DECLARED, "--person": "start"}, "--person"),
        ({**DECLARED, "--destination": "start"}, "--destination"),
        ({**DECLARED, "--every": "7 minutes"}, "--every"),
        ({**DECLARED, "--budget": "-1"}, "--budget"),
        ({**DECLARED, "--trips": "0"}, "--trips"),
        ({**DECLARED, "--plot": "day.txt"}, "--plot"),
    ],
)
def test_what_is_missing_or_wrong_is_named_and_nothing_is_spent(folder, options, flag):
    found = run(*TRIPS, *words(options), *PAID, cwd=folder, code=2)
    assert f"`{flag}` must be" in found.stderr
    assert not (folder / "discreet.toml").exists()
    assert not (folder / ".discreet").exists()


def test_a_misspelt_file_or_column_leaves_nothing_in_the_way_of_the_right_one(folder):
    for wrong in (["mobility", "trip.csv", *TRIPS[2:]], [*TRIPS[:3], "pick", *TRIPS[4:]]):
        found = run(*wrong, *words(DECLARED), *PAID, cwd=folder, code=2)
        assert "Wrote" not in found.stderr
        assert not (folder / "discreet.toml").exists()
    assert "Cost: epsilon = 1000" in run(*TRIPS, *words(DECLARED), *PAID, cwd=folder).stdout


def test_options_that_contradict_the_schema_are_refused(folder):
    run(*TRIPS, *words(DECLARED), *PAID, "--json", cwd=folder)
    run(*TRIPS, *words(DECLARED), *PAID, "--json", cwd=folder)
    found = run(*TRIPS, *words({**DECLARED, "--trips": "5"}), *PAID, cwd=folder, code=2)
    assert "what discreet.toml declares" in found.stderr
    (folder / "other.csv").write_text((folder / "trips.csv").read_text())
    other = ["mobility", "other.csv", *TRIPS[2:], *words(DECLARED), *PAID]
    assert "what discreet.toml is about, 'trips'" in run(*other, cwd=folder, code=2).stderr
    run(*other, "--schema", "other.toml", "--ledger", "other.db", "--json", cwd=folder)


def test_a_trip_is_protected_where_nobody_has_a_name(folder):
    options = {name: value for name, value in DECLARED.items() if name != "--trips"} | {"--person": "row"}
    run(*TRIPS, *words(options), *PAID, "--out", "tables", cwd=folder)
    assert "unit" not in tomllib.loads((folder / "discreet.toml").read_text())
    assert rows_of(folder / "tables" / "total.csv")[0]["count"] == "201"  # the trip without a rider counts, too
