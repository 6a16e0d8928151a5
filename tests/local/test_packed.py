"""Sums of packed bits: the same numbers as the slow way."""

import numpy as np
import pytest

from discreet.local import packed
from discreet.local.packed import bit_sums


@pytest.mark.parametrize("categories", [1, 7, 100, 505, 600, 2000])
@pytest.mark.parametrize("n", [0, 1, 9, 1000, 5000])
def test_bit_sums_are_sums_of_bits(categories, n):
    chance = np.random.default_rng(1)
    rows = np.packbits(chance.random((n, categories)) < 0.3, axis=1)
    expected = np.unpackbits(rows, axis=1).sum(axis=0)[:categories]
    assert (bit_sums(rows, categories) == expected).all()
    times = chance.integers(0, 5, n)
    weighted = (np.unpackbits(rows, axis=1) * times[:, None]).sum(axis=0)[:categories]
    assert (bit_sums(rows, categories, times) == weighted).all()


@pytest.mark.parametrize("categories", [3, 100, 2000])
@pytest.mark.parametrize("blocks", [1, 2, 3, 4, 5, 6, 7, 8, 40, 63, 64])
def test_bit_sums_are_the_same_however_many_blocks_are_carried(categories, blocks, monkeypatch):
    width = packed.width_of(categories)
    monkeypatch.setattr(packed, "_BLOCK", 3 * width)  # three reports a block: carries go up many levels
    rows = np.random.default_rng(blocks).integers(0, 256, (3 * blocks + 2, 2 * width), dtype=np.uint8)[:, ::2]
    before = rows.copy()
    expected = np.unpackbits(rows, axis=1).sum(axis=0)[:categories]
    assert (bit_sums(rows, categories) == expected).all()
    assert (rows == before).all()  # what is added up is not written over
    assert (bit_sums(np.full((3 * blocks, width), 255, dtype=np.uint8), categories) == 3 * blocks).all()


def test_an_adder_that_loses_carries_is_caught(monkeypatch):
    class Forgetful(packed._Adder):
        def left(self):
            return (one for one in super().left() if one[0] < 8)

    rows = np.full((90, 250), 255, dtype=np.uint8)
    monkeypatch.setattr(packed, "_BLOCK", 250)
    assert (bit_sums(rows, 2000) == 90).all()
    monkeypatch.setattr(packed, "_Adder", Forgetful)
    assert not (bit_sums(rows, 2000) == 90).all()
