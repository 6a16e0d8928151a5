"""Regions come from a public table or from the codes of leaves."""

from __future__ import annotations

import pyarrow
import pyarrow.parquet
import pytest
from tree_desk import COUNTIES

from discreet.errors import InputError
from discreet.trees.geography import check_file_names


def test_regions_come_from_a_public_table_or_from_codes(curator, tmp_path):
    named = curator.tree(["state", "county"])
    by_length = curator.tree({"state": 2, "county": 5})
    (tmp_path / "regions.csv").write_text("state,county\n" + "\n".join(f"{c[:2]},{c}" for c in COUNTIES))
    from_file = curator.tree(["state", "county"], geography=tmp_path / "regions.csv")
    frame = pyarrow.table({"state": [c[:2] for c in COUNTIES], "county": COUNTIES})
    pyarrow.parquet.write_table(frame, tmp_path / "regions.parquet")
    others = [tmp_path / "regions.parquet", frame, frame.to_pandas(), frame.to_pydict()]
    found = [named, by_length, from_file, *(curator.tree(["state", "county"], geography=one) for one in others)]
    found.append(curator.tree({"state": 2, "county": 5}, geography=COUNTIES))
    assert len({question.checked.counted.tree.digest for question in found}) == 1
    less = curator.tree({"state": 2, "county": 5}, geography=COUNTIES[:3])
    assert less.checked.counted.tree.sizes == (1, 1, 3)


@pytest.mark.parametrize(
    "names",
    [
        ["city/town", "block"],
        ["../evil", "block"],
        [".hidden", "block"],
        ["part", "part-totals"],
        ["County", "county"],
        ["size-at-least", "size"],
        ["a:b", "block"],
        ["line\nbreak", "block"],
    ],
)
def test_names_that_files_cannot_have_are_refused(names):
    with pytest.raises(InputError, match="a name"):
        check_file_names("levels", names)
    check_file_names("levels", ["block group", "county-subdivision", "county", "Gemeinde (2020)"], ["state"])


@pytest.mark.parametrize("level", ["city/town", "count_quality", "count_typical_lower"])
def test_they_are_refused_before_anything_is_spent(curator, level):
    regions = {level: ["x"] * len(COUNTIES), "county": COUNTIES}
    with pytest.raises(InputError, match="levels"):
        curator.tree([level, "county"], geography=regions).plan(epsilon=1)
    targets = {"county": COUNTIES, "state-totals": ["x"] * len(COUNTIES)}
    with pytest.raises(InputError, match="a name whose files"):
        curator.tree(["state", "county"], targets=targets).plan(epsilon=1)
