"""The noisy measurement file holds every noisy number once, with the law of its noise, in an open format."""

import json
from fractions import Fraction

import numpy as np
import pyarrow
import pyarrow.parquet
from tree_desk import COUNTIES

from discreet import Rules


def test_every_noisy_number_is_a_row_with_the_law_of_its_noise(curator, tmp_path):
    rules = Rules(totals={"all": [4000]})
    release = curator.tree(["state", "county"], by=["sex"], rules=rules).plan(epsilon=1).release(release="census")
    paths = release.save_measurements(tmp_path / "noisy")
    assert [path.name for path in paths] == ["measurements.parquet", "regions.parquet", "measurements.json"]
    numbers = pyarrow.parquet.read_table(paths[0])
    assert numbers.column_names == [
        "level", "region", "cell_sex", "query", "value", "noise", "scale", "variance",
    ]  # fmt: skip
    assert {str(numbers.schema.field(name).type) for name in ("level", "region", "cell_sex")} == {"string"}
    leaf = release.measured.levels[-1]
    rows = [row for row in numbers.to_pylist() if (row["level"], row["query"]) == ("county", "counts")]
    assert [(row["region"], row["cell_sex"]) for row in rows] == [(code, sex) for code in COUNTIES for sex in "fm"]
    np.testing.assert_array_equal([row["value"] for row in rows], leaf.counts.ravel())
    assert {(row["noise"], Fraction(row["scale"])) for row in rows} == {("laplace", leaf.noise.scale)}
    totals = [row for row in numbers.to_pylist() if row["query"] == "totals"]
    assert {row["cell_sex"] for row in totals} == {None}
    regions = pyarrow.parquet.read_table(paths[1]).to_pylist()
    assert regions[0] == {"level": "all", "position": 0, "region": "all", "parent": None}
    assert regions[3] == {"level": "county", "position": 0, "region": "01000", "parent": "01"}
    about = json.loads(paths[2].read_text())
    assert (about["release"], about["cost"], about["cells"]) == (
        "census", "epsilon = 1", [{"column": "sex", "labels": ["f", "m"]}],
    )  # fmt: skip
    assert about["rules"]["totals"] == {"all": [4000]}
    assert about["levels"][2]["counts"]["scale"] == str(leaf.noise.scale)
    assert about["protects"] == str(curator.schema.unit)
    described = set(about["files"]["measurements.parquet"]) - {"cell_NAME"}
    assert described == set(numbers.column_names) - {"cell_sex"}


def test_large_trees_are_written_in_parts(curator, tmp_path, monkeypatch):
    release = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1, method="topdown").release()
    whole = pyarrow.parquet.read_table(release.save_measurements(tmp_path / "one")[0])
    monkeypatch.setattr("discreet.trees.measurement_file._BLOCK", 6)
    parts = release.save_measurements(tmp_path / "two")[0]
    assert pyarrow.parquet.ParquetFile(parts).num_row_groups > 6
    assert pyarrow.parquet.read_table(parts).equals(whole)
