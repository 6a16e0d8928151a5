"""Values that many rows share, found under the budget: a toll of 0, a wage of 50,000, midnight.

All points of a column's lattice are counted with noise, however many there are; those that stand out from their
neighbours by more than noise would make any of them stand out get a code of their own. The rest of the price is spent
on the codes that come out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.core.progress import notify
from discreet.core.sensitivity import Sensitivity
from discreet.marginals.counts import Counts
from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.meter import Currency, Meter
from discreet.marginals.partition import Labels, Partition
from discreet.mechanisms import Gaussian, Laplace

__all__ = ["SHARE", "Spikes", "apart", "find_spikes", "least_rows", "searched"]

SHARE = Fraction(1, 20)
"""The part of the price that looks for them, where there is a column to look in."""
_MOST_POINTS = 2**23
_MOST_FOUND = 96  # of one column
_CHANCE = 4  # standard deviations by which as many rows as neighbours have happen to be more
_CONFIDENCE = 0.9  # that no point of a column is lifted or lowered so far by noise alone

Spikes = Mapping[str, tuple[int, ...]]
"""For every column that was searched, the points of its lattice that stand out."""


def searched(domain: Domain) -> Domain:
    """The columns to look in, cut into single points: numbers and days of which a code stands for several."""
    found = []
    for one in domain.attributes:
        cut = one.partition
        if cut is None or not isinstance(one.labels, Labels) or not cut.size <= cut.last < _MOST_POINTS:
            continue
        points = Partition.points(cut.origin, cut.unit, cut.last, other=one.labels.kind == "real")
        labels = Labels(points, one.missing, one.labels.kind)
        found.append(replace(one, partition=points, labels=labels))
    return Domain(tuple(found))


def find_spikes(
    domain: Domain,
    counts: Callable[[Domain], Counts],
    moved: Sensitivity,
    currency: Currency,
    price: Fraction,
    bits: Bits,
) -> Spikes:
    """The points that stand out in any column of the domain.

    Guarantee
        Costs `price` in its currency: an equal part for the counts of each column's points, which one unit moves by at
        most `moved`; what is done with the noisy counts is post-processing. Proof: docs/proofs/synth.md.
    """
    fine = searched(domain)
    notify("looking for values that many rows share")
    meter = Meter(counts(fine), moved, currency, price, bits)
    meter.prepare([(column,) for column in range(len(fine))])
    found = {}
    for column, attribute in enumerate(fine.attributes):
        noisy = meter.measure((column,), price / len(fine))
        cut = domain.attributes[domain.place(attribute.name)].partition
        if cut is not None:
            found[attribute.name] = _standing_out(noisy.values[: cut.last + 1], cut, noisy.noise)
    return found


def apart(domain: Domain, spikes: Spikes) -> Domain:
    """The domain in which these values have codes of their own."""
    return Domain(tuple(_apart(one, spikes.get(one.name, ())) for one in domain.attributes))


def _apart(attribute: Attribute, points: tuple[int, ...]) -> Attribute:
    return attribute.apart(points) if points else attribute


def least_rows(attribute: Attribute, noise: Laplace | Gaussian) -> int:
    """About how many rows must share a value for it to be found."""
    return 0 if attribute.partition is None else noise.error(_CONFIDENCE, attribute.partition.last + 1)


def _standing_out(counts: NDArray[np.int64], cut: Partition, noise: Laplace | Gaussian) -> tuple[int, ...]:
    """Points above their neighbours in a run by more than noise would lift the highest of them all, and chance too."""
    sums = np.add.reduceat(counts, cut.starts)
    many = cut.ends - cut.starts + 1
    run = np.repeat(np.arange(len(many)), many)
    others = np.maximum(many - 1, 1)[run]
    usual = np.where(many[run] > 1, (sums[run] - counts) / others, np.inf)
    excess = counts - usual - _CHANCE * np.sqrt(np.maximum(usual, 0))  # rows fall on values as they happen to
    high = np.flatnonzero(excess > noise.error(_CONFIDENCE, len(counts)))
    order = high[np.argsort(-excess[high], kind="stable")][:_MOST_FOUND]
    return tuple(sorted(int(point) for point in order))
