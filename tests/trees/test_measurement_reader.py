"""What is made of noisy measurement files is what the release has, by every method; wrong files are refused."""

import json
import shutil

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from tree_desk import COUNTIES, SCHEMA, table

import discreet
from discreet import Budget, Category, Rules, Schema, Text
from discreet.errors import InputError
from discreet.trees import METHODS, read_measurements


def same(one, two):
    for level in one.levels:
        assert one[level].columns == two[level].columns
        assert one.table(level, intervals="typical").columns == two.table(level, intervals="typical").columns


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release and the folder of its noisy numbers, whose ledger is closed."""
    place = tmp_path_factory.mktemp("made")
    curator = discreet.open(table(), SCHEMA, ledger=place / "b.db", budget=Budget(10), who="ann", create=True)
    rules = Rules(
        totals={"all": [4000]},
        upper={"county": [[9999, 999]] * 8},
        by={"": "Statistics Act"},
        covariate=[1600.5, 800, 400, 200, 120, 80, 40, 1],
    )
    release = curator.tree(["state", "county"], by=["sex"], rules=rules).plan(epsilon=1).release(release="census")
    release.save_measurements(place / "noisy")
    curator.ledger.close()
    return release, place / "noisy"


@pytest.fixture
def release(made):
    return made[0]


@pytest.fixture
def folder(made, tmp_path):
    shutil.copytree(made[1], tmp_path / "noisy")
    return tmp_path / "noisy"


@pytest.mark.parametrize("method", METHODS)
def test_the_numbers_of_every_method_are_those_of_the_release(release, folder, method):
    same(read_measurements(folder, method=method), release.again(method))
    free = read_measurements(folder, method=method, rules=Rules(), confidence=0.9)
    same(free, release.again(method, rules=Rules(), confidence=0.9))


def test_nothing_but_the_files_is_needed(release, folder):
    read = read_measurements(folder)
    same(read, release)
    assert (read.id, read.cost, read.dataset, read.method) == ("census", "epsilon = 1", "people", "bayes")
    assert [note.text for note in read.caveats] == [note.text for note in release.caveats]
    assert "left:" not in read.about
    assert "Totals of all: declared public by Statistics Act." in read.rules.declared
    picked = {"county": ["01000", "02001"]}, {"sex": "f"}
    assert read.sum(*picked).to_dict() == release.sum(*picked).to_dict()
    one, two = read.replicates(10), release.replicates(10)
    assert one.columns("county") == two.columns("county")
    again = read.save_measurements(folder.parent / "again")
    for path in again:
        assert path.read_bytes() == (folder / path.name).read_bytes()


def test_groups_by_size_are_read_in_their_order(tmp_path):
    schema = Schema("people", {"county": Category(COUNTIES, nullable=False), "house": Text()})
    rows = {"county": [code for code in COUNTIES for _ in range(60)], "house": [f"{i // 3}" for i in range(480)]}
    curator = discreet.open(
        pyarrow.table(rows), schema, ledger=tmp_path / "b.db", budget=Budget(9), who="ann", create=True
    )
    release = curator.tree(["county"], sizes="house", largest=4).plan(epsilon=1).release()
    release.save_measurements(tmp_path / "noisy")
    read = read_measurements(tmp_path / "noisy")
    same(read, release)
    assert read.sizes("county").columns == release.sizes("county").columns
    assert read.by == release.by


def test_rows_may_come_in_any_order(release, folder):
    for name in ("measurements.parquet", "regions.parquet"):
        whole = pyarrow.parquet.read_table(folder / name)
        order = np.random.default_rng(1).permutation(whole.num_rows)
        pyarrow.parquet.write_table(whole.take(order), folder / name)
    same(read_measurements(folder, method="topdown"), release.again("topdown"))


def changed(**fields):
    def change(folder):
        path = folder / "measurements.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))

    return change


def column(file, name, value):
    """The first row of a column changed."""

    def change(folder):
        whole = pyarrow.parquet.read_table(folder / file)
        values = whole.column(name).to_pylist()
        values[0] = value
        place = whole.column_names.index(name)
        pyarrow.parquet.write_table(whole.set_column(place, name, [values]), folder / file)

    return change


def rows(file, edit):
    def change(folder):
        pyarrow.parquet.write_table(edit(pyarrow.parquet.read_table(folder / file)), folder / file)

    return change


NUMBERS, REGIONS = "measurements.parquet", "regions.parquet"
LEVEL = {"name": "all", "counts": {"noise": "laplace", "scale": "1"}, "totals": None}
WRONG = {
    "no folder": (lambda folder: folder.rename(folder.parent / "other"), "with measurements.json"),
    "no JSON": (lambda folder: (folder / "measurements.json").write_text("{"), "no JSON"),
    "a list": (lambda folder: (folder / "measurements.json").write_text("[]"), "must be 'discreet measurements'"),
    "another format": (changed(format="csv"), "must be 'discreet measurements'; got 'csv'"),
    "a later version": (changed(version=9), "must be 1"),
    "no cost": (changed(cost=None), "`measurements.json: cost` is missing"),
    "another confidence": (changed(confidence=2), "confidence"),
    "cumulative as text": (changed(cumulative="no"), "must be true or false"),
    "cells as text": (changed(cells="sex"), "a list of objects with column, labels"),
    "cells without labels": (changed(cells=[{"column": "sex", "labels": []}]), "a list of labels"),
    "other labels": (changed(cells=[{"column": "sex", "labels": ["f", "x"]}]), "`measurements.parquet: cell_sex`"),
    "another column": (changed(cells=[{"column": "age", "labels": [1]}]), "no column 'cell_age'"),
    "levels without names": (changed(levels=[{**LEVEL, "name": 3}]), "levels with different names"),
    "fewer levels": (changed(levels=[LEVEL]), "`regions.parquet: level` must be all; got 'state'"),
    "no scale": (changed(levels=[{**LEVEL, "counts": {"noise": "laplace"}}]), "a fraction"),
    "a scale of 1/0": (changed(levels=[{**LEVEL, "counts": {"noise": "laplace", "scale": "1/0"}}]), "a fraction"),
    "another law": (changed(levels=[{**LEVEL, "counts": {"noise": "cauchy", "scale": "1"}}]), "laplace, gaussian"),
    "rules of nothing": (changed(rules={"upper": {"town": 3}}), "rules.upper"),
    "rules as text": (changed(rules="none"), "rules"),
    "declared as text": (changed(declared="all"), "a list of sentences"),
    "notes as text": (changed(notes=["a"]), "a list of notes"),
    "no Parquet": (lambda folder: (folder / NUMBERS).write_text("a,b"), "no Parquet file"),
    "no regions": (rows(REGIONS, lambda t: t.slice(0, 0)), "one region, in position 0"),
    "a region less": (rows(REGIONS, lambda t: t.slice(0, 10)), "region of a county"),
    "no position": (column(REGIONS, "position", None), "`regions.parquet: position`"),
    "a parent missing": (rows(REGIONS, lambda t: t.set_column(3, "parent", [["x"] * 11])), "of the level above"),
    "no values": (rows(NUMBERS, lambda t: t.drop_columns("value")), "no column 'value'"),
    "values of text": (rows(NUMBERS, lambda t: t.set_column(4, "value", [["x"] * t.num_rows])), "whole numbers"),
    "a value missing": (column(NUMBERS, "value", None), "none missing"),
    "a row less": (rows(NUMBERS, lambda t: t.slice(1)), "one row for each of 2 numbers; got 1 rows"),
    "a row twice": (rows(NUMBERS, lambda t: pyarrow.concat_tables([t, t.slice(0, 1)])), "3 rows, 2 of them different"),
    "another region": (column(NUMBERS, "region", "moon"), "region of a all"),
    "a scale that is not the law's": (column(NUMBERS, "scale", "x"), "as measurements.json has it; got 'x'"),
    "a law that is not the level's": (column(NUMBERS, "noise", "gaussian"), "laplace, as measurements.json has it"),
    "another question": (column(NUMBERS, "query", "means"), "counts, totals"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_are_refused_with_what_is_wrong(folder, case):
    spoil, said = WRONG[case]
    spoil(folder)
    with pytest.raises(InputError) as caught:
        read_measurements(folder, method="topdown")
    assert said in str(caught.value)
