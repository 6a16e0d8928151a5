"""Bits from a key: the same again, another for another key, and evenly spread."""

import numpy as np

from discreet.noise.replay import Replay


def test_equal_keys_give_equal_bits_however_they_are_read():
    whole = Replay(b"key").read(1000)
    parts = Replay(b"key")
    assert np.array_equal(whole, np.concatenate([parts.read(1), parts.read(0), parts.read(15), parts.read(984)]))


def test_other_keys_give_other_bits():
    assert not np.array_equal(Replay(b"a").read(64), Replay(b"b").read(64))


def test_bytes_are_even():
    counts = np.bincount(Replay(b"even").read(1 << 18), minlength=256)
    assert ((counts - 1024) ** 2 / 1024).sum() < 400  # chi-square with 255 degrees of freedom: fixed key, no chance
