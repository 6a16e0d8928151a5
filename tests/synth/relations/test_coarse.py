"""Parents' codes in few groups, from noisy counts alone."""

from __future__ import annotations

import numpy as np
from clinic_desk import SCHEMA

from discreet import Category, Integer, Schema, Unit
from discreet.marginals.meter import Noisy
from discreet.mechanisms import Laplace
from discreet.synth.relations.coarse import child_bins, coarsened
from discreet.synth.relations.levels import read_levels


def noisy(column: int, values: np.ndarray) -> Noisy:
    return Noisy((column,), np.asarray(values, dtype=np.int64), Laplace.for_epsilon(1))


def test_groups_of_an_ordered_column_hold_about_as_many_parents_each():
    levels = read_levels(SCHEMA, ["age"], ["ward"], "day", 3)
    counts = np.r_[np.full(50, 100), np.full(50, 10)]
    bins = child_bins(levels, [noisy(0, counts)])
    inside = np.bincount(bins[0], weights=counts)
    assert len(inside) == 12
    assert inside.max() < 2 * inside.min()
    assert (np.diff(bins[0]) >= 0).all()
    for one, attribute in zip(bins[1:], levels.children.attributes[1:], strict=True):
        assert np.array_equal(one, np.arange(attribute.size))
    assert coarsened(levels.children, bins).sizes[0] == 12


def test_rare_codes_are_put_together_and_what_is_missing_is_alone():
    words = [f"w{place:02d}" for place in range(30)]
    schema = Schema("t", {"town": Category(words, nullable=True), "n": Integer(0, 3)}, Unit("who", groups=1, rows=1))
    levels = read_levels(schema, ["town"], ["n"], None, 2)
    counts = np.r_[np.full(20, 1), np.full(10, 100), 7]
    bins = child_bins(levels, [noisy(0, counts)])[0]
    assert len(set(bins[20:30].tolist())) == 10
    assert len(set(bins[:20].tolist())) <= 2  # one of the rare ones is the eleventh
    assert (bins == bins[-1]).sum() == 1


def test_without_counts_groups_are_even():
    levels = read_levels(SCHEMA, ["age"], ["ward"], "day", 3)
    assert set(np.bincount(child_bins(levels, [])[0]).tolist()) == {8, 9}
