"""Tiles lose and add nothing."""

from __future__ import annotations

import itertools

import numpy as np

from discreet.synth.tiles import cut


def test_tiles_lose_and_add_nothing():
    sizes = (3, 70, 2, 9, 40)
    marginals = [columns for many in range(1, 5) for columns in itertools.combinations(range(5), many)][:-2]
    tiles = cut(sizes, marginals)
    everything = np.zeros((len(tiles), *tiles.shape))
    tables = []
    for number, columns in enumerate(marginals):
        shape = tuple(sizes[column] for column in columns)
        tables.append(np.arange(1.0, np.prod(shape) + 1).reshape(shape))
        laid = tiles.lay(number, tables[-1])
        assert laid.sum() == tables[-1].sum()
        everything[tiles.of(number)] += laid
    for number, table in enumerate(tables):
        assert np.array_equal(tiles.read(number, everything), table)
