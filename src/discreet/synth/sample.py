"""Rows from a junction tree, stratified: every cell gets its expected number of rows, rounded up or down.

Going down the tree, the rows that agree in a separator are put in random order and dealt to the new columns' cells by
systematic sampling. So a cell's count is within one of what its parent's rows call for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.noise.replay import uniforms
from discreet.synth.junction import Floats, Junction

__all__ = ["CODE", "Codes", "chance_order", "deal", "open_bins", "sample", "sorted_order"]

Codes = NDArray[np.signedinteger[Any]]
"""Rows of codes, or whatever is counted through: in 32 bits where many of them are kept."""
CODE = np.int32


def sample(tree: Junction, sizes: Sequence[int], beliefs: Sequence[Floats], count: int, bits: Bits) -> Codes:
    """So many rows, one column for each of the table's."""
    rows = np.zeros((count, len(sizes)), dtype=CODE)
    if count == 0:
        return rows
    for clique, separator, belief in zip(tree.cliques, tree.separators, beliefs, strict=True):
        # Columns of few codes first: in that order whole rows add up to their shares, and rounding is left to the long.
        fresh = tuple(
            sorted((column for column in clique if column not in separator), key=lambda column: sizes[column])
        )
        order = [clique.index(column) for column in (*separator, *fresh)]
        shape = tuple(sizes[column] for column in fresh)
        table = belief.transpose(order).reshape(-1, math.prod(shape))
        given = np.zeros(count, dtype=np.int64)
        if separator:
            given = np.ravel_multi_index(
                tuple(rows[:, column] for column in separator), tuple(sizes[column] for column in separator)
            ).astype(np.int64)
        cells = deal(table, given, bits)
        for column, codes in zip(fresh, np.unravel_index(cells, shape), strict=True):
            rows[:, column] = codes
    return rows


def deal(table: Floats, given: Codes, bits: Bits) -> Codes:
    """For every row a column of `table`, with the probabilities of the table's row that is `given` for it.

    Rows with the same `given` are dealt systematically: how many get a cell is what is expected, up or down to a whole.
    """
    count, wide = len(given), table.shape[1]
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    masses = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, masses, out=np.full_like(table, 1 / wide), where=masses > 0)
    order, places, first, lengths = _places(given, bits)
    groups = given[order]
    seen = groups[first]
    edges = np.cumsum(shares[seen], axis=1)
    edges /= edges[:, -1:]
    # One search for all groups: those of group g are moved to between g and g + 1.
    block = np.repeat(np.arange(len(seen)), lengths)
    flat = (edges + np.arange(len(seen))[:, None]).ravel()
    found = np.searchsorted(flat, places + block, side="right") - block * wide
    last = wide - 1 - np.argmax(shares[seen][:, ::-1] > 0, axis=1)  # rounding must not reach an impossible cell
    cells = np.minimum(np.maximum(found, 0), np.repeat(last, lengths))
    dealt = np.empty(count, dtype=np.int64)
    dealt[order] = cells
    return dealt


def _places(given: Codes, bits: Bits) -> tuple[Codes, Floats, Codes, Codes]:
    """Rows in order of what is given, by chance where that is the same, and each group's evenly from 0 up to 1.

    Also the first row of each group, and how many it has.
    """
    count = len(given)
    order = sorted_order(chance_order(count, bits), given)
    groups = given[order]
    first = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    lengths = np.diff(np.r_[first, count])
    rank = np.arange(count) - np.repeat(first, lengths)
    shift = np.repeat(uniforms(bits, len(first)), lengths)
    return order, (rank + shift) / np.repeat(lengths, lengths), first, lengths


def chance_order(count: int, bits: Bits) -> Codes:
    """Rows in an order of chance: that of so many uniform numbers, sorted."""
    return sorted_order(np.arange(count), (uniforms(bits, count) * 2.0**53).astype(np.int64))


def sorted_order(order: Codes, numbers: Codes) -> Codes:
    """Rows in the order of whole numbers from 0 on; those with the same number stay in the order they are in.

    By digits of 16 bits, the least first: numpy sorts these by counting, in a fraction of the time.
    """
    bits = int(numbers.max(initial=0)).bit_length()
    for shift in range(0, bits, 16):
        digit = (numbers >> shift).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
    return order


def open_bins(bins: Codes, shares: Floats, given: Codes, bits: Bits) -> Codes:
    """For every row a code of the bin that is `given` for it, dealt systematically by the codes' shares of their bin.

    >>> from discreet.noise.replay import Replay
    >>> open_bins(np.array([0, 1, 0]), np.array([1.0, 1.0, 0.0]), np.array([1, 0, 0]), Replay(b"x"))
    array([1, 0, 0])
    """
    if len(given) == 0:
        return np.zeros(0, dtype=np.int64)
    by_bin = np.argsort(bins, kind="stable")
    by_bin = by_bin[shares[by_bin] > 0]
    many = np.bincount(bins[by_bin], minlength=int(bins.max()) + 1)
    ends = np.cumsum(many)
    edges = np.cumsum(shares[by_bin])
    starts = np.r_[0.0, edges][ends - many]
    widths = edges[ends - 1] - starts
    order, places, first, lengths = _places(given, bits)
    group = np.repeat(given[order][first], lengths)
    found = np.searchsorted(edges, starts[group] + places * widths[group], side="right")
    opened = np.empty(len(given), dtype=np.int64)
    opened[order] = by_bin[np.clip(found, (ends - many)[group], ends[group] - 1)]  # whatever rounding does
    return opened
