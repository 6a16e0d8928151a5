"""Files and maps of every level, with a description of their columns."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow
import pyarrow.parquet
import pytest
from tree_desk import COUNTIES

import discreet
from discreet import Budget, Category, Schema, Text
from discreet.errors import InputError


def test_the_file_of_groups_by_size_says_what_it_counts(tmp_path):
    schema = Schema("people", {"county": Category(COUNTIES, nullable=False), "house": Text()})
    rows = {"county": [code for code in COUNTIES for _ in range(60)], "house": [f"{i // 3}" for i in range(480)]}
    curator = discreet.open(
        pyarrow.table(rows), schema, ledger=tmp_path / "b.db", budget=Budget(9000), who="ann", create=True
    )
    release = curator.tree(["county"], sizes="house", largest=4).plan(epsilon=4000).release()
    paths = release.save(tmp_path / "out", "csv")
    assert [path.name for path in paths] == [
        *(names := ["all.csv", "all-at-least.csv", "county.csv", "county-at-least.csv"]),
        *(f"{name}-metadata.json" for name in names), "dictionary.md", "README.json",
    ]  # fmt: skip
    exact, at_least = (paths[place].read_text().splitlines() for place in (2, 3))
    assert exact[0] == "county,size,size_name,count,count_lower,count_upper,count_quality"
    assert [line.split(",")[2] for line in exact[1:5]] == ["1", "2", "3", "4 or more"]
    assert [line.split(",")[3] for line in exact[1:5]] == ["0", "0", "20", "0"]
    assert at_least[0].startswith("county,size,at_least,at_least_lower,at_least_upper")
    assert [line.split(",")[2] for line in at_least[1:5]] == ["20", "20", "20", "0"]


def test_files_and_maps_of_every_level(curator, tmp_path):
    release = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1, method="topdown").release()
    paths = release.save(tmp_path / "out")
    names = [f"{level}{what}" for level in ("all", "state", "county") for what in ("", "-totals")]
    assert [path.name for path in paths] == [*(f"{name}.parquet" for name in names), "dictionary.md", "README.json"]
    assert pyarrow.parquet.read_table(paths[4]).column("count").to_pylist() == release["county"]["count"]
    totals = pyarrow.parquet.read_table(paths[5])
    assert totals.column("count").to_pylist() == release.totals("county")["count"]
    paths = release.save(tmp_path / "out", "csv")
    both = "count,count_lower,count_upper,count_typical_lower,count_typical_upper,count_quality"
    assert paths[2].read_text().splitlines()[0] == f"state,sex,{both}"
    about = json.loads(paths[-1].read_text())
    assert about["files"]["county-totals.csv"]["columns"] == ["state", "county", *both.split(",")]
    assert "not simultaneous" in about["intervals"]["_lower, _upper"]
    page = release.map(title="People").html
    assert "People" in page
    assert "01003" in page
    with pytest.raises(InputError, match="kind"):
        release.save(tmp_path, "xls")


def test_a_stored_release_whose_levels_are_named_as_paths_stays_in_its_folder(curator, tmp_path):
    release = curator.tree(["state", "county"]).plan(epsilon=1).release()
    outside = tmp_path / "people.csv"
    outside.write_text("kept")
    names = ("all", "../people", str(tmp_path / "people"))
    tree = replace(release.tree, names=names)
    named = replace(release, measured=replace(release.measured, tree=tree))
    paths = named.save(tmp_path / "out" / "deep", "csv")
    assert {path.parent for path in paths} == {tmp_path / "out" / "deep"}
    assert outside.read_text() == "kept"
    assert [path.name for path in tmp_path.glob("*.csv*")] == ["people.csv"]
