"""MST, a maximum spanning tree of pairs (McKenna, Miklau and Sheldon 2021), on discreet's own core.

A third of the price measures single columns, whose codes are then merged where noise hides them; a third chooses pairs
that join the columns into a tree, each time one that independent columns get most wrong; a third measures these.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from discreet.core.progress import notify
from discreet.marginals.counts import Columns
from discreet.marginals.meter import Meter
from discreet.synth.compression import compress
from discreet.synth.junction import Floats
from discreet.synth.model import Model, fit, noisy_total, target_of
from discreet.synth.synthetic import Synthetic, draw_synthetic, read_rows
from discreet.synth.workload import Workload, read_workload

__all__ = ["column_prices", "mst", "outline"]

_MOST_CELLS = 2**24  # a pair with more is not counted
_END = 300  # steps of descent


def mst(meter: Meter, workload: Workload, rows: int | None = None) -> Synthetic:
    """Rows made by MST. It is one for all purposes: the workload is read, and changes nothing.

    In `rho` noise is Gaussian and a choice costs as its bounded range does, as published; in `epsilon` noise is Laplace
    and both cost their epsilon.

    Guarantee
        Everything private is asked of the meter: the whole costs its price, and no more.
        Proof: docs/proofs/synth-adaptive.md.
    """
    read_workload(workload, meter.domain)
    count = read_rows(rows)
    ones = [(column,) for column in range(len(meter.domain))]
    pairs = _pairs(meter)
    meter.prepare(ones)
    notify("measuring single columns")
    prices = column_prices(meter, workload)
    measured = [meter.measure(*asked) for asked in zip(ones, prices, strict=True)]
    bins = compress(meter.domain, [target_of(one) for one in measured], 0.0)
    pairs = [(left, right) for left, right in pairs if bins.sizes[left] > 1 and bins.sizes[right] > 1]
    many = _edges(pairs)
    notify("choosing and measuring pairs")  # in any case: whether there are any came out of the data
    if not many:  # noise hides all but single columns: they get the rest
        if meter.left > 0:
            again = meter.left / len(ones)
            measured += [meter.measure(columns, again) for columns in ones]
        model = fit(meter.domain.sizes, measured, steps=_END)
        return draw_synthetic("mst", model, count, measured, ["no pairs: columns are independent"])
    independent = fit(bins.sizes, bins.targets, total=noisy_total(bins.targets), steps=_END)
    coarse = meter.merged(bins.bins)
    coarse.prepare(pairs)
    tree = _chosen(coarse, pairs, independent, meter.left / 2 / many)
    each = meter.left / many
    measured += [coarse.measure(columns, each) for columns in tree]
    targets = [*bins.targets, *(target_of(one) for one in measured[len(ones) :])]
    model = fit(bins.sizes, targets, total=independent.total, start=independent, steps=_END)
    return draw_synthetic("mst", model, count, measured, [f"a tree of {many} pairs"], bins, len(ones))


def column_prices(meter: Meter, workload: Workload) -> list[Fraction]:
    """What each column is measured for alone, at first."""
    width = len(meter.domain)
    return [(meter.price / 3 if _pairs(meter) else meter.price) / width] * width


def outline(meter: Meter, workload: Workload, confidence: float) -> list[str]:
    """What would be measured, and how far it would be off: public, and known before."""
    width = len(meter.domain)
    pairs = _pairs(meter)
    noise = meter.noise(column_prices(meter, workload)[0])
    lines = [f"Measures {width:,} columns, one by one: a one-way count is off by +-{noise.error(confidence):,}."]
    if pairs:
        many = _edges(pairs)
        off = meter.noise(meter.price / 3 / many).error(confidence)
        lines.append(
            f"Measures up to {many:,} of {len(pairs):,} pairs, those that matter: a count is off by +-{off:,}."
        )
    return lines


def _pairs(meter: Meter) -> list[tuple[int, int]]:
    """Pairs of columns that have something to say and are not too large to be counted."""
    telling = [column for column, size in enumerate(meter.domain.sizes) if size > 1]
    return [pair for pair in itertools.combinations(telling, 2) if meter.domain.cells(pair) <= _MOST_CELLS]


def islands(pairs: Iterable[tuple[int, int]], start: Mapping[int, int] | None = None) -> dict[int, int]:
    """For every column of these pairs the name of the island it is on: the columns that pairs join, one by one.

    >>> islands([(0, 1), (3, 4), (1, 2)])
    {0: 0, 1: 0, 3: 3, 4: 3, 2: 0}
    """
    found = dict(start or {})
    for left, right in pairs:
        here, there = found.setdefault(left, left), found.setdefault(right, right)
        if here != there:
            found = {column: here if name == there else name for column, name in found.items()}
    return found


def _edges(pairs: Iterable[tuple[int, int]]) -> int:
    """How many pairs make a tree of all columns, or one for each island if not all can be joined."""
    found = islands(pairs)
    return len(found) - len(set(found.values()))


def _chosen(meter: Meter, pairs: Sequence[tuple[int, int]], model: Model, each: Fraction) -> list[tuple[int, int]]:
    """A tree of pairs far from what a model of independent columns says, chosen one by one at `each`."""
    columns = {column: model.marginal((column,)) for pair in pairs for column in pair}

    def guess(pair: Columns) -> Floats:
        return np.outer(columns[pair[0]], columns[pair[1]]) / model.total

    tree: list[tuple[int, int]] = []
    island = {column: column for column in columns}
    while apart := [pair for pair in pairs if island[pair[0]] != island[pair[1]]]:
        tree.append(apart[meter.choose(apart, guess, each)[0]])
        island = islands(tree[-1:], island)
    return tree
