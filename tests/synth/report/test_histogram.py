"""Every row is in a bin or on a line, and a spike does not look like a smear."""

import numpy as np
import pytest

from discreet.synth.report.histogram import BINS, histogram_of
from discreet.synth.report.likeness import likeness_of
from discreet.synth.report.values import Values


def drawn(real, synthetic, kind="number", **more):
    values = Values("x", kind, np.asarray(real, dtype=float), np.asarray(synthetic, dtype=float), **more)
    return histogram_of(values, likeness_of(values))


def whole(histogram, side):
    return sum(getattr(one, side) for one in (*histogram.slots, *histogram.spikes))


RNG = np.random.default_rng(5)
CASES = {
    "number": (RNG.gamma(2, 3, 900).round(1), RNG.normal(5, 9, 700)),
    "whole": (RNG.integers(-3, 5, 900), RNG.integers(0, 900, 800)),
    "day": (RNG.integers(18000, 18030, 900), RNG.integers(18000, 18400, 900)),
    "days": (RNG.integers(-9, 9, 50), np.zeros(40)),
    "seconds": (RNG.integers(-9, 3000, 500), np.full(70, 60.0)),
    "instant": (RNG.integers(10**9, 10**9 + 10**6, 500), np.full(70, 10.0**9)),
    "category": (RNG.integers(0, 3, 90), RNG.integers(0, 30, 900)),
}


@pytest.mark.parametrize("kind", CASES)
def test_every_row_is_in_a_bin_or_on_a_line(kind):
    real, synthetic = (np.append(side.astype(float), np.nan) for side in CASES[kind])
    found = drawn(real, synthetic, kind, labels=tuple(f"n{i}" for i in range(30)))
    assert whole(found, "real") == pytest.approx(1 - 1 / len(real))
    assert whole(found, "synthetic") == pytest.approx(1 - 1 / len(synthetic))
    assert len(found.slots) <= BINS
    assert all(one.end == other.start for one, other in zip(found.slots, found.slots[1:], strict=False))
    assert found.missing == (1 / len(real), 1 / len(synthetic))


def test_a_spike_is_a_line_and_a_smear_is_none():
    rng = np.random.default_rng(2)
    # The tail is so long that the smear is inside one bin.
    tail = rng.uniform(0, 5000, 400)
    found = drawn([*np.zeros(3600), *tail], [*rng.uniform(0, 1, 3600), *tail])
    assert found.slots[0].end > 10
    (spike,) = found.spikes
    assert (spike.text, spike.real, spike.synthetic) == ("0", 0.9, 0)
    assert found.slots[0].synthetic > 0.9 > 0.1 > found.slots[0].real
    assert found.lopsided
    assert not drawn(tail, tail).lopsided


def test_few_whole_numbers_have_a_bin_each():
    found = drawn([0, 1, 1, 6], [0, 1, 2, 6], "whole")
    assert [one.words for one in found.slots] == ["0", "1", "2", "3", "4", "5", "6"]
    assert [one.real for one in found.slots] == [0.25, 0.5, 0, 0, 0, 0, 0.25]
    assert not found.spikes


def test_what_is_far_out_lies_in_the_last_bins():
    rng = np.random.default_rng(1)
    found = drawn([*rng.random(999), 1e6], rng.random(1000))
    assert found.beyond
    assert found.slots[-1].end < 2
    assert whole(found, "real") == pytest.approx(1)
    assert not drawn(np.arange(10), np.arange(10), "whole").beyond


def test_rare_names_are_drawn_together():
    found = drawn(np.repeat(np.arange(20), np.arange(20)), np.arange(20), "category", labels=tuple(map(str, range(20))))
    assert [one.label for one in found.slots] == ["19", "18", "17", "16", "15", "14", "13", "12", "11", "11 others"]


def test_equal_values_and_none_at_all():
    found = drawn([7, 7], [7.0])
    assert [one.real for one in found.spikes] == [1]
    assert found.slots
    assert drawn([np.nan], [np.nan]) is None
    assert drawn([], [], "category") is None
