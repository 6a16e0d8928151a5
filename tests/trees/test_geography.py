"""Regions come from a public table or from the codes of leaves."""

from __future__ import annotations

import pyarrow
import pyarrow.parquet
from tree_desk import COUNTIES


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
