"""Partitions: every point of a lattice is in one code, codes rise, and engines find the code that arithmetic finds."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import ibis
import numpy as np
import pytest

from discreet.marginals.partition import Labels, Partition
from discreet.query.key import Bin

CUTS = {
    "points": Partition.points(Fraction(3), Fraction(1), 99),
    "even": Partition.even(Fraction(0), Fraction(1), 1439, 15),
    "cents": Partition.scaled(Fraction(0), Fraction(1, 100), 50_000).apart([576, 1152]),
    "signed": Partition.scaled(Fraction(-5000), Fraction(1), 12_000),
    "far": Partition.scaled(Fraction(250), Fraction(1, 1000), 70_000),
    "steps": Partition.scaled(Fraction(0), Fraction(30), 2000),
    "short": Partition.points(Fraction(0), Fraction(1), 0),
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_every_point_is_in_one_code(cut):
    assert cut.starts[0] == 0
    assert cut.ends[-1] == cut.last
    assert np.array_equal(cut.starts[1:], cut.ends[:-1] + 1)
    assert len(cut.starts) == cut.size
    assert Partition.from_json(cut.to_json()) == cut


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_engines_find_the_code_that_arithmetic_finds(cut):
    rng = np.random.default_rng(5)
    index = np.unique(np.r_[0, cut.last, cut.starts, cut.ends, rng.integers(0, cut.last + 1, 500)])
    values = np.array([float(cut.origin + int(one) * cut.unit) for one in index])
    wanted = np.searchsorted(cut.starts, index, side="right") - 1
    assert np.array_equal(cut.codes(values), wanted)
    whole = cut.unit.denominator == 1
    rows = ibis.memtable({"v": values.astype(np.int64) if whole else values})
    found = ibis.duckdb.connect().execute(rows.select(code=cut.code(rows["v"], cut.nearest(rows["v"], whole=whole))))
    assert np.array_equal(found["code"].to_numpy(), wanted)


def test_numbers_between_points_go_to_the_nearest_or_to_a_code_of_their_own():
    cut = Partition.points(Fraction(0), Fraction(1, 100), 1000)
    strict = Partition.points(Fraction(0), Fraction(1, 100), 1000, other=True)
    rows = ibis.memtable({"v": [0.57, 0.574, 0.575001, 10.0, 0.29, 0.1 + 0.2]})
    engine = ibis.duckdb.connect()
    for one, wanted in ((cut, [57, 57, 58, 1000, 29, 30]), (strict, [57, 1001, 1001, 1000, 29, 1001])):
        code = one.code(rows["v"], one.nearest(rows["v"], whole=False))
        assert engine.execute(rows.select(code=code))["code"].tolist() == wanted  # 0.1 + 0.2 is not the float 0.3 is


def test_runs_widen_with_the_distance_from_zero_and_bounds_are_codes_of_their_own():
    cut = CUTS["signed"]
    zero = int(-cut.origin)
    widths = cut.ends - cut.starts + 1
    code = int(np.searchsorted(cut.starts, zero, side="right") - 1)
    assert widths[code] == 1
    assert cut.starts[code] == zero
    assert widths[0] == widths[-1] == 1
    assert widths[code : code + 8].max() == 1
    assert widths[code:-2].max() > 8
    assert widths.max() <= -(-(cut.last + 1) // 64)
    even = CUTS["far"].ends - CUTS["far"].starts + 1
    assert len(set(even[2:-2].tolist())) == 1  # far from zero no number is many times another


def test_values_set_apart_split_their_run():
    cut = CUTS["cents"]
    code = int(np.searchsorted(cut.starts, 576, side="right") - 1)
    assert (cut.starts[code], cut.ends[code]) == (576, 576)
    assert cut.index(Fraction("5.76")) == 576
    assert cut.index(Fraction("5.765")) is None
    assert cut.apart([576]) == cut


def test_labels_are_values_and_runs():
    labels = Labels(Partition.even(Fraction(0), Fraction(1), 99, 10), True, "integer")
    assert labels[0] == 0
    assert labels[1] == Bin(1, 10)
    assert labels[-1] is None
    assert labels[-2] == 99
    assert len(list(labels)) == len(labels) == 13
    assert labels[:2] == (0, Bin(1, 10))
    with pytest.raises(IndexError):
        labels[13]
    days = Labels(Partition.points(Fraction(0), Fraction(1), 9), False, "date")
    assert days[3] == date(1970, 1, 4)
    assert list(Labels(Partition.points(Fraction(0), Fraction(1, 4), 2), False, "real")) == [
        0,
        Fraction(1, 4),
        Fraction(1, 2),
    ]
