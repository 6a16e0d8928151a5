"""The bias of what is published is shown within its standard error."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from sparse_trees import asked, clipped, sparse

from discreet.mechanisms import Gaussian
from discreet.trees.estimate import Estimate
from discreet.trees.intervals.typical import Replay, remeasure
from discreet.trees.topdown.solve import topdown

# By its path: names in that folder (coverage, ...) are those of libraries too.
_SPEC = spec_from_file_location("bias", Path(__file__).parents[2] / "bench" / "bias.py")
assert _SPEC is not None
assert _SPEC.loader is not None
_MODULE = module_from_spec(_SPEC)
sys.modules["bias"] = _MODULE
_SPEC.loader.exec_module(_MODULE)
bias = _MODULE.bias


def test_the_bias_is_shown_for_what_it_is():
    tree, leaves = sparse(2)
    measured = remeasure(asked(tree, 4, Gaussian(10)), leaves, Replay(b"shown"))
    rows = {(row.level, row.what, row.least): row for row in bias(topdown(measured), measured)}
    wrong = {(row.level, row.what, row.least): row for row in bias(clipped(measured), measured)}
    assert abs(rows["all", "totals", 0].mean) < 1
    assert wrong["all", "totals", 0].mean > 1000
    assert sum(row.counts for row in rows.values() if (row.level, row.what) == ("part", "cells")) == leaves.size


def test_a_known_shift_is_found_within_its_standard_error():
    tree, leaves = sparse(3)
    measured = remeasure(asked(tree, 4, Gaussian(10)), leaves + 1000, Replay(b"shift"))
    shifted = Estimate.of_leaves(tree, topdown(measured).counts[-1] + 3)
    for row in bias(shifted, measured):
        per_leaf = row.mean * (tree.sizes[tree.level(row.level)] / tree.leaves) / (4 if row.what == "totals" else 1)
        assert abs(per_leaf - 3) < 0.1
        assert row.level == "all" or row.standard_error < 0.5
