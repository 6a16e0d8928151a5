"""The closest record: copies are found, and other rows of the same law are as far as real ones."""

import numpy as np
import pytest

from discreet.synth.report.closest import closest
from discreet.synth.report.values import Values


def table(real, synthetic):
    """A number with missing values and a name, of rows given as pairs."""
    kinds = (("x", "number", ()), ("y", "category", ("a", "b", "c")))
    return [
        Values(name, kind, real[:, place], synthetic[:, place], labels)
        for place, (name, kind, labels) in enumerate(kinds)
    ]


def rows(many, seed):
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(many) < 0.1, np.nan, rng.gamma(2, 2, many))
    return np.stack([x, rng.integers(0, 3, many).astype(float)], axis=1)


def test_distances_are_those_of_brute_force():
    real = np.array([[0.0, 0], [0, 0], [10, 1], [10, 1], [np.nan, 2], [np.nan, 2]])
    found = closest(table(np.tile(real, (20, 1)), np.array([[0.0, 0], [5, 1], [np.nan, 0], [10, 2]])))
    # An equal row; half the range away; a missing value as far as can be, or the name; the name.
    assert found.copies == (0.25, 1)
    assert found.median[0] == pytest.approx((0.25 + 0.5) / 2)
    assert (found.rows, found.among) == ((4, 60), 60)


def test_rows_of_the_same_law_are_as_far_as_real_ones():
    found = closest(table(rows(4000, 1), rows(900, 2)))
    assert found.rows == (500, 500)
    assert found.median[0] == pytest.approx(found.median[1], rel=0.25)
    assert found.copies[0] == pytest.approx(found.copies[1], abs=0.06)  # with a missing value and an equal name


def test_copies_are_found():
    real = rows(4000, 1)
    copied = closest(table(real, real[:2000]))
    honest = closest(table(real, rows(2000, 5)))
    assert copied.copies[0] > 0.4 > 0.2 > honest.copies[0]


def test_derived_columns_and_tiny_tables_are_left_alone():
    one = table(rows(40, 1), rows(40, 2))
    more = Values("z", "days", np.zeros(40), np.ones(40), derived=True)
    assert closest([*one, more]) == closest(one)
    assert closest(table(rows(3, 1), rows(9, 2))) is None
    assert closest([]) is None
