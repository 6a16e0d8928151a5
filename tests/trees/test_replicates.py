"""Replicate tables tell the error of statistics that nobody thought of before."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet
import pytest
from test_sums import TREE, measured

from chance import at_most
from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.noise.replay import Replay
from discreet.trees.intervals.typical import remeasure
from discreet.trees.release import TreeRelease
from discreet.trees.rules import Rules
from discreet.trees.topdown import topdown


def published(asked) -> TreeRelease:
    about = {"id": "r", "dataset": "d", "cost": "", "remaining": "", "mechanism": "", "digest": "", "query": {}}
    found = object.__new__(TreeRelease)
    parts = {
        **about,
        "confidence": 0.95,
        "by": (("cell", ("a", "b", "c")),),
        "cumulative": False,
        "method": "topdown",
        "measured": asked,
        "_published": topdown(asked, Rules()),
        "rules": Rules(),
    }
    for name, value in parts.items():
        object.__setattr__(found, name, value)
    return found


def test_replicates_add_up_and_are_the_same_every_time(curator, tmp_path):
    release = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1, method="topdown").release()
    found = release.replicates(10)
    assert len(found) == 10
    again = release.replicates(10)
    assert all((one == two).all() for one, two in zip(found.leaves, again.leaves, strict=True))
    states = list(found.levels("state"))
    assert all((one == release.tree.add(1, leaves)).all() for one, leaves in zip(states, found.leaves, strict=True))
    paths = found.save(tmp_path)
    assert [path.name for path in paths] == [f"{level}-replicates.parquet" for level in ("all", "state", "county")]
    table = pyarrow.parquet.read_table(paths[1])
    assert table.column("count").to_pylist() == release["state"]["count"]
    assert table.column("count_replicate_10").to_pylist() == states[9].ravel().tolist()
    assert found.save(tmp_path, "csv")[0].read_text().startswith("sex,count,count_replicate_1,")
    everyone, direct = found.sum(), release.sum()
    assert everyone.value == direct.value
    assert direct.deviation / 3 < everyone.deviation < 3 * direct.deviation


def test_intervals_from_replicates_cover_sums_and_statistics_of_ones_own():
    leaves = np.random.default_rng(7).poisson(40, size=(TREE.leaves, 3))
    asked = measured([Laplace(4), Laplace(6), Laplace(5), Laplace(9)], leaves=leaves)
    bits, runs, missed = Replay(b"replicates"), 60, np.zeros(2, int)

    def largest(table) -> float:
        return float(table.sum(axis=1)[:5].max())

    for _ in range(runs):
        found = published(remeasure(asked, leaves, bits)).replicates(12)
        for place, (figure, truth) in enumerate(
            (
                (found.sum({"block": ["aab", "bba"]}, {"cell": "b"}), leaves[[1, 6], 1].sum()),
                (found.estimate(largest), largest(leaves)),
            )
        ):
            missed[place] += not figure.lower <= truth <= figure.upper
    assert at_most(int(missed[0]), runs, 0.05)
    assert at_most(int(missed[1]), runs, 0.10)  # the largest of several is biased upward: said, not hidden


@pytest.mark.parametrize("many", [9, True, "many", 10_000])
def test_how_many_replicates_is_checked(curator, many):
    release = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1).release()
    with pytest.raises(InputError, match="from 10 to 1,000"):
        release.replicates(many)
