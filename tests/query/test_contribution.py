"""What a person adds to a group: counts and sums are cut at the limits, moments are scaled with their counts."""

from __future__ import annotations

import math
from fractions import Fraction

import ibis
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.lattice import Lattice
from discreet.core.unit import Unit
from discreet.query.contribution import limited
from discreet.query.measure import Moment, Rows, Total, contribution

UNIT = Unit("p", groups=1, rows=3)
LATTICE = Lattice(-100, 2**22 - 100)


def counted(measure, sums, counts, unit=UNIT):
    """What persons with these sums of so many values count as."""
    table = ibis.memtable(pyarrow.table({"i": range(len(sums)), "s": sums, "n": counts}))
    found = table.select("i", found=limited(measure, table["s"], table["n"], unit)).order_by("i")
    return [int(value) for value in ibis.duckdb.connect().to_pyarrow(found)["found"].to_pylist()]


persons = st.integers(1, 2**31).flatmap(lambda n: st.tuples(st.just(n), st.integers(-(2**21) * n, 2**21 * n)))


@settings(max_examples=60, deadline=None)
@given(st.lists(persons, min_size=1, max_size=20), st.integers(1, 2**20))
def test_a_moment_is_scaled_exactly_however_large(people, rows):
    unit = Unit("p", groups=1, rows=rows)
    measure = Moment("x", Lattice(0, 2**22), 1, Rows())
    found = counted(measure, [s for _, s in people], [n for n, _ in people], unit)
    low, high = contribution(measure, unit)
    for (n, s), value in zip(people, found, strict=True):
        assert value == (s if n <= rows else math.floor(Fraction(s * rows, n) + Fraction(1, 2)))
        assert low <= value <= high


@pytest.mark.parametrize("power", [1, 2])
def test_no_sum_leaves_the_contribution_even_one_that_cannot_be(power):
    measure = Moment("x", LATTICE, power, Rows())
    low, high = contribution(measure, UNIT)
    for value in counted(measure, [2**60, -(2**60), 2**60, 0], [1, 1, 4, 10**9]):
        assert low <= value <= high


def test_sums_and_counts_are_cut():
    assert counted(Rows(), [2, 3, 9], [2, 3, 9]) == [2, 3, 3]
    assert counted(Total("x", Lattice(-2, 5)), [-30, 4, 30], [30, 4, 30]) == [-6, 4, 15]


def test_a_mean_of_whole_numbers_is_not_rounded_to_one_of_them():
    fine = Moment("x", Lattice(0, 1, -20), 1, Rows())  # zeros and ones: a third of three rows is a one
    assert counted(fine, [2**20 - 3 * fine.middle], [3], Unit("p", groups=1, rows=1)) == [
        round(2**20 / 3) - fine.middle
    ]
