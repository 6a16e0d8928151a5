"""Sets of a fixed size: the same as ranking every candidate's number, and all of them equally likely."""

import itertools
import math

import numpy as np
import pytest

import discreet.local.subset as sets
from chance import fits, frequency_fits
from discreet.local.packed import width_of
from discreet.noise.bits import SystemBits


class Kept:
    """Real bits, kept to be looked at."""

    def __init__(self):
        self.bits, self.seen = SystemBits(), []

    def read(self, count):
        self.seen.append(self.bits.read(count).copy())
        return self.seen[-1].copy()


class Leaning:
    """Bits of which the first of every 64 is always set: digits of the first category."""

    def read(self, count):
        drawn = SystemBits().read(count)
        drawn[::8] |= 128
        return drawn


def drawn(categories, size, values, own, bits=None):
    packed = sets.packed_sets(categories, size, np.asarray(values), np.asarray(own), bits or SystemBits())
    assert packed.shape == (len(values), width_of(categories))
    cells = np.unpackbits(packed, axis=1)
    assert not cells[:, categories:].any()
    return cells[:, :categories].astype(bool)


def even_numbers(cells):
    """Sets as the place they have among all sets of their size."""
    size = int(cells[0].sum())
    listed = {chosen: i for i, chosen in enumerate(itertools.combinations(range(cells.shape[1]), size))}
    return np.array([listed[tuple(np.flatnonzero(row))] for row in cells]), len(listed)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(
    ("categories", "size"), [(2, 1), (5, 4), (9, 1), (20, 7), (40, 13), (64, 30), (100, 27), (300, 80), (2000, 538)]
)
def test_the_largest_are_chosen_as_by_ranking(categories, size, own):
    """One respondent at a time, with the digits that were read: sorted the slow way."""
    for value in (0, categories // 2, categories - 1):
        bits = Kept()
        chosen = drawn(categories, size, [value], [own], bits)[0]
        assert chosen[value] == own
        if size == own:
            assert not bits.seen  # nothing to draw
            continue
        digits = np.array([np.unpackbits(read) for read in bits.seen])
        others = [place for place in range(categories) if place != value]
        numbers = {place: tuple(digits[:, place].tolist()) for place in others}
        ranked = sorted(others, key=numbers.__getitem__, reverse=True)
        cut = size - own
        assert set(np.flatnonzero(chosen)) - {value} == set(ranked[:cut])
        if 0 < cut < len(others):
            assert numbers[ranked[cut - 1]] > numbers[ranked[cut]]  # no tie was broken by place


@pytest.mark.parametrize("room", [1, 200, 1 << 19])
@pytest.mark.parametrize(
    ("categories", "size"), [(2, 1), (7, 6), (17, 5), (100, 27), (255, 254), (256, 70), (1000, 999)]
)
def test_sets_have_their_size_and_ones_own_where_asked(categories, size, room, monkeypatch):
    monkeypatch.setattr(sets, "_BYTES", room)
    values = np.arange(120) % categories
    own = np.arange(120) % 3 == 0
    cells = drawn(categories, size, values, own)
    assert (cells.sum(axis=1) == size).all()
    assert (cells[np.arange(120), values] == own).all()
    assert drawn(categories, size, values[:0], own[:0]).shape == (0, categories)


@pytest.mark.statistical
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(("categories", "size"), [(4, 2), (9, 3), (9, 6)])
def test_all_sets_are_equally_likely(categories, size, own):
    count = 60_000
    everyone = np.full(count, 1), np.full(count, own)

    def even(bits):
        others = np.delete(drawn(categories, size, *everyone, bits), 1, axis=1)
        places, many = even_numbers(others)
        return fits(places, lambda x: np.where((x >= 0) & (x < many), 1 / many, 0))

    assert even(SystemBits())
    assert not even(Leaning())  # digits that favour one category


@pytest.mark.statistical
def test_sets_of_neighbours_have_nothing_to_do_with_each_other():
    count, many = 80_000, math.comb(4, 2)
    places, _ = even_numbers(np.delete(drawn(5, 2, np.full(count, 4), np.zeros(count, dtype=bool)), 4, axis=1))
    for apart in (1, count // 2):
        pairs = many * places[: count - apart] + places[apart:]
        flat = lambda x: np.where((x >= 0) & (x < many**2), 1 / many**2, 0)  # noqa: E731
        assert fits(pairs[:: 2 * apart] if apart == 1 else pairs, flat)
        assert not fits(many * places + places, flat)


@pytest.mark.statistical
def test_wide_sets_are_even_in_every_place_and_pair():
    """A hundred categories take two words: places in both, and pairs across, come as often as they should."""
    categories, size, count = 100, 27, 40_000
    values = np.full(count, 70)
    cells = drawn(categories, size, values, np.zeros(count, dtype=bool))
    leaning = drawn(categories, size, values, np.zeros(count, dtype=bool), Leaning())
    each, pair = size / 99, size * (size - 1) / (99 * 98)
    for one, other in ((0, 1), (0, 63), (62, 64), (65, 99), (0, 64)):
        assert frequency_fits(int(cells[:, one].sum()), count, each)
        assert frequency_fits(int(cells[:, other].sum()), count, each)
        assert frequency_fits(int((cells[:, one] & cells[:, other]).sum()), count, pair)
        assert not frequency_fits(int((cells[:, one] & cells[:, other]).sum()), count, each**2 * 1.2)
    assert not frequency_fits(int(leaning[:, 0].sum()), count, each)
