"""Noisy measurement files of groups: the same release again, and nothing taken that contradicts itself."""

import json

import pyarrow
import pyarrow.parquet
import pytest
from group_desk import ask, curator

from discreet.errors import InputError
from discreet.trees.detail import read_groups


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    desk = curator(tmp_path_factory.mktemp("groups"))
    return ask(desk).plan(epsilon=5, thresholds={"sex": 3, "sex by age": 9}).release(release="groups")


@pytest.fixture
def folder(made, tmp_path):
    made.save_measurements(tmp_path)
    return tmp_path


def test_files_make_the_same_release(made, folder):
    again = read_groups(folder)
    assert dict(again.columns) == dict(made.columns)
    assert (again.id, again.cost, again.confidence, again.notes) == (made.id, made.cost, made.confidence, made.notes)
    assert again.sum({"county": ["0"]}, "a alone").to_dict() == made.sum({"county": ["0"]}, "a alone").to_dict()
    assert read_groups(folder, confidence=0.5)["count_upper"] != made["count_upper"]
    assert again.map().html == made.map().html


def test_rows_may_come_in_any_order(made, folder):
    path = folder / "measurements.parquet"
    table = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(table.take(list(reversed(range(len(table))))), path)
    assert dict(read_groups(folder).columns) == dict(made.columns)


def change_rows(folder, change):
    path = folder / "measurements.parquet"
    rows = pyarrow.parquet.read_table(path).to_pylist()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(change(rows)), path)


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[1:],
        lambda rows: [*rows, rows[0]],
        lambda rows: [*rows, {**rows[0], "group": "nobody"}],
        lambda rows: [{**rows[0], "scale": "7"}, *rows[1:]],
        lambda rows: [{**row, "value": row["value"] + 0.5} for row in rows],
        lambda rows: [{**row, "value": 10**6} if row["look"] == "first" else row for row in rows],
    ],
)
def test_rows_that_contradict_their_description_are_refused(folder, change):
    change_rows(folder, change)
    with pytest.raises(InputError, match=r"measurements\.parquet"):
        read_groups(folder)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("format", "another"),
        ("version", 7),
        ("confidence", 2),
        ("groups", []),
        ("names", "all"),
        ("details", [{"name": "sex"}]),
        ("levels", []),
        ("digest", 7),
        ("notes", [1]),
        ("query", None),
    ],
)
def test_descriptions_are_checked(folder, name, value):
    path = folder / "measurements.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    with pytest.raises(InputError):
        read_groups(folder)


@pytest.mark.parametrize(
    "limits", [None, 3, [3], [9, 3], ["a", "b"], [None, 9], [3, 9.5], [True, 9], [3, 10**30], [[3], 9]]
)
def test_thresholds_are_whole_numbers_that_rise(folder, limits):
    path = folder / "measurements.json"
    about = json.loads(path.read_text())
    about["levels"][0]["thresholds"] = limits
    path.write_text(json.dumps(about))
    with pytest.raises(InputError, match="rising whole numbers"):
        read_groups(folder)


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(InputError, match=r"a folder with measurements\.json"):
        read_groups(tmp_path)
