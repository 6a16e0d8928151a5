"""How values are rounded, and which of them many rows share, found under the budget: hundreds; a toll of 0; midnight.

Two things are counted of every column whose codes hold several values. First, of how many rows the number is a multiple
of 5, 10, 50, 100 and so on: if nearly all are multiples of a step, the column has that step. Second, all points of its
lattice, however many there are: those that stand out from their neighbours by more than noise would make any of them
stand out get a code of their own. The rest of the price is spent on the codes that come out of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.core.progress import notify
from discreet.core.sensitivity import Sensitivity
from discreet.marginals.counts import Columns, Counts
from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.meter import Currency, Meter, Noisy
from discreet.marginals.multiples import Multiples
from discreet.marginals.partition import Labels, Partition
from discreet.mechanisms import Gaussian, Laplace

__all__ = ["MOST_FOUND", "SHARE", "Spikes", "find_spikes", "least_rows", "most_found", "searched"]

SHARE = Fraction(1, 20)
"""The part of the price that looks for them, where there is a column to look in."""
_MOST_POINTS = 2**23
MOST_FOUND = 96
"""How many values of one column are found."""
_STEPS = Fraction(1, 5)  # of what a column gets, the part that looks for its step
_FEW, _SURE = 0.005, 0.01  # of all rows: how many may lie off a step, and how small noise on that must be
_CHANCE = 4  # standard deviations by which as many rows as neighbours have happen to be more
_CONFIDENCE = 0.9  # that no point of a column is lifted or lowered so far by noise alone


@dataclass(frozen=True, slots=True)
class Spikes:
    """What was found: steps of columns, as so many of their units, and points of their lattices that stand out."""

    points: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    steps: Mapping[str, int] = field(default_factory=dict)

    def applied(self, domain: Domain) -> Domain:
        """The domain with these steps, in which these values have codes of their own."""
        return Domain(tuple(self._applied(one) for one in domain.attributes))

    def _applied(self, attribute: Attribute) -> Attribute:
        points, step = self.points.get(attribute.name, ()), self.steps.get(attribute.name, 1)
        cut = attribute.partition
        if not isinstance(cut, Partition):
            return attribute
        if step > 1:
            coarse, first = _coarser(cut, step)
            own = cut.starts[cut.starts == cut.ends].tolist()
            kept = [(point - first) // step for point in (*own, *points) if (point - first) % step == 0]
            return attribute.cut_by(coarse.apart(kept))
        return attribute.apart(points) if points else attribute

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"points": {name: list(found) for name, found in self.points.items()}, "steps": dict(self.steps)}

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Spikes:
        """What `to_json` made; nothing where it is empty."""
        points = {name: tuple(found) for name, found in entry.get("points", {}).items()}
        return cls(points, {name: int(step) for name, step in entry.get("steps", {}).items()})


def _coarser(cut: Partition, step: int) -> tuple[Partition, int]:
    """The partition of the multiples of a step, and the point that is the first of them."""
    offset = int(cut.origin / cut.unit)
    first = -offset % step
    last = (cut.last - first) // step
    return Partition.scaled(cut.origin + first * cut.unit, cut.unit * step, last), first


def searched(domain: Domain) -> Domain:
    """The columns to look in, cut into single points: numbers and days of which a code stands for several."""
    found = []
    for one in domain.attributes:
        cut = one.partition
        if not isinstance(cut, Partition) or not isinstance(one.labels, Labels):
            continue
        if cut.size <= cut.last < _MOST_POINTS:
            kind = one.labels.kind
            points = Partition.points(cut.origin, cut.unit, cut.last)  # numbers between two go to the nearer
            found.append(replace(one, partition=points, labels=Labels(points, one.missing, kind)))
    return Domain(tuple(found))


def _rounded(fine: Domain) -> dict[str, Attribute]:
    """The columns of which a step may be found, cut into classes of multiples."""
    found = {}
    for one in fine.attributes:
        if not isinstance(one.labels, Labels) or not isinstance(one.partition, Partition):
            continue
        classes = Multiples.of(one.partition, one.labels.kind)
        if classes is not None:
            labels = (*range(classes.size), *([None] if one.missing else []))
            found[one.name] = replace(one, name=_step_of(one.name), partition=classes, labels=labels)
    return found


def _step_of(name: str) -> str:
    """A name that no column has: theirs are written in one line."""
    return f"step of\n{name}"


def find_spikes(
    domain: Domain,
    counts: Callable[[Domain], Counts],
    moved: Sensitivity,
    currency: Currency,
    price: Fraction,
    bits: Bits,
    most: int = MOST_FOUND,
) -> Spikes:
    """The steps of columns, and the points that stand out in any of them, `most` of each.

    Guarantee
        Costs `price` in its currency: an equal part for each column, spent on the counts of its points and of its
        multiples, each of which one unit moves by at most `moved`; what is done with noisy counts is post-processing.
        Proof: docs/proofs/synth.md.
    """
    fine = searched(domain)
    rounded = _rounded(fine)
    both = Domain((*fine.attributes, *rounded.values()))
    notify("looking for values that many rows share")
    meter = Meter(counts(both), moved, currency, price, bits)
    meter.prepare([(column,) for column in range(len(both))])
    each, points, steps = price / len(fine), dict[str, tuple[int, ...]](), dict[str, int]()
    for column, attribute in enumerate(fine.attributes):
        name, step = attribute.name, 1
        classes = rounded[name].partition if name in rounded else None
        if isinstance(classes, Multiples):
            noisy = meter.measure((both.place(_step_of(name)),), _STEPS * each)
            step = _step(noisy, classes)
        pay = (1 - _STEPS) * each if name in rounded else each
        noisy = meter.measure((column,), pay)
        cut = domain.attributes[domain.place(name)].partition
        if isinstance(cut, Partition):
            points[name] = _standing_out(noisy.values[: cut.last + 1], cut, noisy.noise, step, most)
        if step > 1:
            steps[name] = step
    return Spikes(points, steps)


def _step(noisy: Noisy, classes: Multiples) -> int:
    """The largest step that nearly all rows are on, where noise lets one say so; else 1."""
    counts = noisy.values[: classes.size - 1].astype(np.float64)  # without zero, which is on every step
    total = float(counts.sum())
    doubt = math.sqrt(noisy.variance) * 3
    found = 1
    for place, factor in enumerate(classes.factors[1:], start=2):
        off = float(counts[:place].sum())
        if doubt * math.sqrt(place) <= _SURE * total and off <= _FEW * total + doubt * math.sqrt(place):
            found = factor
    return found


def most_found(domain: Domain, marginals: Iterable[Columns], limit: int) -> int:
    """How many values of each column may get a code without a marginal of more than `limit` cells."""
    found = {domain.place(one.name) for one in searched(domain).attributes}

    def cells(columns: Columns, many: int) -> int:
        return math.prod(domain.sizes[place] + (2 * many if place in found else 0) for place in columns)

    wanted = [columns for columns in marginals if found.intersection(columns)]
    return next((many for many in range(MOST_FOUND, 0, -1) if all(cells(one, many) <= limit for one in wanted)), 0)


def least_rows(attribute: Attribute, noise: Laplace | Gaussian) -> int:
    """About how many rows must share a value for it to be found."""
    cut = attribute.partition
    return noise.error(_CONFIDENCE, cut.last + 1) if isinstance(cut, Partition) else 0


def _standing_out(
    counts: NDArray[np.int64], cut: Partition, noise: Laplace | Gaussian, step: int, most: int
) -> tuple[int, ...]:
    """Points above their neighbours in a run by more than noise would lift the highest of them all, and chance too."""
    if step > 1:  # the others are rounded to these
        cut, first = _coarser(cut, step)
        return tuple(first + step * point for point in _standing_out(counts[first::step], cut, noise, 1, most))
    sums = np.add.reduceat(counts, cut.starts)
    many = cut.ends - cut.starts + 1
    run = np.repeat(np.arange(len(many)), many)
    others = np.maximum(many - 1, 1)[run]
    usual = np.where(many[run] > 1, (sums[run] - counts) / others, np.inf)
    excess = counts - usual - _CHANCE * np.sqrt(np.maximum(usual, 0))  # rows fall on values as they happen to
    high = np.flatnonzero(excess > noise.error(_CONFIDENCE, len(counts)))
    order = high[np.argsort(-excess[high], kind="stable")][:most]
    return tuple(sorted(int(point) for point in order))
