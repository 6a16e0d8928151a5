"""Flags go by the standard error, and not by what zero leaves of an interval."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest

import discreet
from discreet import Budget, Category, Rules, Schema
from discreet.trees.quality import FLAGS, flags, qualities

BLOCKS = [f"{county}{block:02}" for county in "ab" for block in range(40)]


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """Blocks with one person each and noise of many: most intervals are cut, some to nothing."""
    schema = Schema("people", {"block": Category(BLOCKS), "sex": Category(["f", "m"]), "old": Category(["y", "n"])})
    table = pyarrow.table({"block": BLOCKS, "sex": ["f", "m"] * 40, "old": ["y", "y", "n", "n"] * 20})
    ledger = tmp_path_factory.mktemp("flags") / "l.db"
    curator = discreet.open(table, schema, ledger=ledger, budget=Budget(9), who="ann", create=True)
    targets = {"block": BLOCKS, "place": ["x"] * 50 + ["y"] * 30}
    asked = curator.tree({"county": 1, "block": 3}, by=["sex", "old"], targets=targets, queries={"sex": 1, "all": 1})
    return asked.plan(epsilon=0.5).release()


def test_no_number_below_its_noise_is_relied_on(release):
    tables = release.tables()
    for name in ("block", "block-totals", "block-by-sex"):
        table = tables[name]
        assert min(release.covariance.linear.variance[-1]) > 1
        small = [flag for count, flag in zip(table["count"], table["count_quality"], strict=True) if count < 3]
        assert set(small) == {"do not use"}, name
    assert set(tables["place"]["count_quality"]) <= set(FLAGS)


def test_a_number_has_one_flag_in_tables_and_sums(release):
    for level in ("block", "county"):
        table = release.tables()[level]
        for row in range(0, len(table["count"]), 7):
            figure = release.sum({level: table[level][row]}, {name: table[name][row] for name in ("sex", "old")})
            assert figure.quality == table["count_quality"][row]


def test_a_zero_that_is_public_is_relied_on(release):
    known = release.again("topdown", rules=Rules(upper={"block": {BLOCKS[3]: 0}}, zeros=[{"sex": "m"}]))
    table = known.tables()["block"]
    rows = zip(table["block"], table["sex"], table["count"], table["count_quality"], strict=True)
    for block, sex, count, flag in rows:
        if block == BLOCKS[3] or sex == "m":
            assert (count, flag) == (0, "reliable")
        elif count < 3:
            assert flag == "do not use"


def test_numbers_measured_alike_have_the_standard_error_of_the_widest():
    columns = {"n": [0, 100, 0], "n_lower": [0, 60, 0], "n_upper": [0, 140, 0]}
    assert flags(columns, "n", 0.95, ["a", "a", "b"]) == ["do not use", "with care", "reliable"]
    assert qualities(np.array([0.0]), np.array([0.0])).tolist() == ["reliable"]
