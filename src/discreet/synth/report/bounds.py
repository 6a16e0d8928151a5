"""Intervals for the private table from the noisy counts alone: the law of the noise is public, so they are exact.

A count asked about is a sum of cells of a marginal that was measured. Its noise is a sum of independent draws of a
known law, and how far such a sum strays is known (`mechanisms.blend`). Where cells are bins that a condition cuts
through, the lower end counts cells that are certainly in and the upper end those that may be.

Which marginals were measured may have depended on earlier noise, so it would be wrong to take the narrowest interval
that happens to be there. The measurements that can answer are taken in the order they were made: the first may miss
with 4/5 of what is allowed, the j-th of the others with 1/5 of it divided by j (j + 1). Whatever was chosen on the way,
each holds given what was known before it, and so do all at once: their overlap is the interval.

Guarantee
    Each interval (not all at once) holds the true value with at least the stated confidence over the noise, for rows
    that were counted (declared values, within the limits of the unit). Proof: docs/proofs/synth-report.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet.data.column import Column
from discreet.marginals.counts import Columns
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Noisy
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.blend import half_width, one_sided
from discreet.mechanisms.inputs import read_confidence
from discreet.query.predicate import And, Predicate, columns_of
from discreet.synth.junction import Floats, spread
from discreet.synth.parts import MadeColumn
from discreet.synth.report.cells import Cells, ends, met
from discreet.synth.report.statistic import Statistic
from discreet.synth.synthetic import Synthetic

__all__ = ["Interval", "Known"]

_FIRST = 0.8  # of the chance to miss, the part of the first measurement
_USED = 12  # measurements used for one question
_LARGEST = 4_000_000  # cells of a condition's columns, before they are merged
_STEPS = 200  # values of a mean that are tried
_TOTAL = 0.1  # of the chance to miss a share, the part of the number of rows


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the true value lies, and which noisy counts say so: the columns of a marginal, or of several."""

    lower: float
    upper: float
    source: tuple[Columns, ...] = ()

    def __and__(self, other: Interval) -> Interval:
        lower, upper = max(self.lower, other.lower), min(self.upper, other.upper)
        if lower > upper:  # one of the two has missed: then nothing is promised, and the narrower one is shown
            return min(self, other, key=lambda one: one.upper - one.lower)
        return Interval(lower, upper, tuple(dict.fromkeys([*self.source, *other.source])))


class Known:
    """What the noisy counts of a release say about the private table."""

    def __init__(
        self, domain: Domain, declared: Mapping[str, Column], made: Synthetic, parts: Sequence[MadeColumn] = ()
    ) -> None:
        self.domain, self.declared, self.made = domain, declared, made
        # What a question about a whole timestamp is answered by: the day that it is made of.
        self.days = {one.name: one.parts[0] for one in parts if one.base is None and not one.plain}
        width = len(domain)
        alone = [one.columns for one in made.measured[:width]]
        # All methods measure single columns first, whatever comes out: choosing among these is no choice by noise.
        self._alone = made.measured[:width] if alone == [(place,) for place in range(width)] else ()

    def ask(self, ask: Statistic, confidence: float = 0.95) -> Interval | None:
        """The interval for a question; None if no noisy counts bear on it."""
        counted = {*self.domain.names, *self.days}
        if ask.condition is not None and not counted.issuperset(columns_of(ask.condition)):
            return None  # made from another column, or compared with one
        if ask.column is not None and ask.column not in self.domain.names:
            return None
        miss = 1 - float(read_confidence(confidence))
        if ask.column is not None:
            return self._mean(ask, miss)
        count, total = self._count(ask.condition, miss * (1 - _TOTAL)), self._total(miss * _TOTAL)
        if count is None or total is None:
            return None
        lower = count.lower / total.upper if total.upper > 0 else 0.0
        upper = min(count.upper / total.lower, 1.0) if total.lower > 0 else 1.0
        return Interval(min(lower, 1.0), upper, count.source)

    def count(self, condition: Predicate | None, confidence: float = 0.95) -> Interval | None:
        """How many rows of the private table meet a condition."""
        miss = 1 - float(read_confidence(confidence))
        return self._total(miss) if condition is None else self._count(condition, miss)

    def codes(self, place: int, codes: object, confidence: float = 0.95) -> tuple[float | None, Interval | None]:
        """The noisy count of some codes of one column, and the interval for the true one; codes chosen beforehand."""
        if not self._alone:
            return None, None
        noisy, chosen = self._alone[place], np.asarray(codes, dtype=np.int64)
        value = float(noisy.values[chosen].sum())
        half = _width(noisy.noise, len(chosen), 1 - float(read_confidence(confidence)))
        return value, Interval(max(value - half, 0.0), max(value + half, 0.0), (noisy.columns,))

    # Counts.

    def _count(self, condition: Predicate | None, miss: float) -> Interval | None:
        if condition is None:
            return self._total(miss)
        places = self._places(columns_of(condition))
        if (found := self._direct(condition, places, miss)) is not None:
            return found
        return self._parts(condition, miss) if isinstance(condition, And) else None

    def _places(self, names: Iterable[str]) -> Columns:
        return tuple(sorted({self.domain.place(self.days.get(name, name)) for name in names}))

    def _direct(self, condition: Predicate, places: Columns, miss: float) -> Interval | None:
        """From marginals that hold every column of the condition."""
        if self.domain.cells(places) > _LARGEST:
            return None
        fine = met(condition, places, self.domain, self.declared, self.days)
        found: Interval | None = None
        for order, (noisy, place) in enumerate(self._holding(places)):
            cells = self._laid(fine, places, noisy, place)
            part = _part(miss, order)
            both = [_sum(noisy, weights.astype(np.float64), part) for weights in (cells.sure, cells.may)]
            lower, upper = both[0][0] - both[0][1], both[1][0] + both[1][1]
            one = Interval(max(lower, 0.0), max(upper, 0.0), (noisy.columns,))
            found = one if found is None else found & one
        return found

    def _holding(self, places: Columns) -> list[tuple[Noisy, int]]:
        """The measurements that hold these columns, in the order they were made."""
        every = ((one, place) for place, one in enumerate(self.made.measured) if set(places) <= set(one.columns))
        return list(itertools.islice(every, _USED))

    def _laid(self, fine: Cells, places: Columns, noisy: Noisy, place: int) -> Cells:
        """Truth on the columns of a condition, as truth on the cells of a measured marginal."""
        one = fine
        if self.made.bins is not None and place >= self.made.fine:
            one = fine.merged([self.made.bins[column] for column in places])
        sizes = dict(zip(noisy.columns, noisy.values.shape, strict=True))
        shape = tuple(sizes[column] if column in places else 1 for column in noisy.columns)
        laid = (
            np.broadcast_to(part.reshape(shape), noisy.values.shape)
            for part in (one.sure, one.may, one.sure_not, one.may_not)
        )
        return Cells(*laid)

    def _parts(self, condition: And, miss: float) -> Interval | None:
        """From marginals of its parts: all at once can be no more than any one, nor less than what must overlap."""
        parts = condition.parts
        sets = [*((one,) for one in parts), *itertools.combinations(parts, 2)]
        known: dict[tuple[Predicate, ...], Interval] = {}
        each = miss / (len(sets) + 1)
        for one in sets:
            joined = one[0] if len(one) == 1 else And(one)
            places = self._places(columns_of(joined))
            if (found := self._direct(joined, places, each)) is not None:
                known[one] = found
        total = self._total(each)
        if not known or total is None:
            return None
        upper = min(one.upper for one in known.values())
        alone = [known.get((part,)) for part in parts]
        lower = 0.0
        if all(one is not None for one in alone):
            lower = sum(one.lower for one in alone if one is not None) - (len(parts) - 1) * total.upper
        sources = tuple(dict.fromkeys(source for one in known.values() for source in one.source))
        return Interval(max(lower, 0.0), upper, sources)

    def _total(self, miss: float) -> Interval | None:
        """How many rows there are, from all single columns at once: each says it, and the precise ones count more."""
        if not self._alone or len({one.noise for one in self._alone}) > 1:
            first = self.made.measured[:1]
            if not first:
                return None
            value, half = _sum(first[0], np.ones(first[0].values.shape), miss)
            return Interval(max(value - half, 0.0), max(value + half, 0.0), (first[0].columns,))
        sizes = np.array([one.values.size for one in self._alone], dtype=np.float64)
        weights = (1 / sizes) / (1 / sizes).sum()
        value = float(sum(weight * one.values.sum() for weight, one in zip(weights, self._alone, strict=True)))
        half = half_width(self._alone[0].noise, weights, sizes, miss)
        return Interval(max(value - half, 0.0), max(value + half, 0.0), tuple(one.columns for one in self._alone))

    # Means.

    def _mean(self, ask: Statistic, miss: float) -> Interval | None:
        """Values of a mean that the noisy counts do not rule out.

        If the mean is at least u, the sum of (value - u) over the rows is at least 0. From the greatest value down,
        each u is ruled out for which that sum is below 0 for certain; the first that is not ends the search. So a
        mistake is made only if the first u at or below the true mean is ruled out: one chance, not many.
        """
        name = ask.column or ""
        value = self.domain.place(name)
        places = self._places((name, *ask.columns))
        if self.domain.cells(places) > _LARGEST:
            return None
        fine = met(ask.condition, places, self.domain, self.declared, self.days)
        low, high = ends(self.domain.attributes[value], self.declared[name])
        there = ~np.isnan(low).reshape(spread((value,), places, self.domain.sizes))
        fine = Cells(fine.sure & there, fine.may & there, fine.sure_not & there, fine.may_not & there)
        found: Interval | None = None
        for order, (noisy, place) in enumerate(self._holding(places)):
            least, most = low, high
            if self.made.bins is not None and place >= self.made.fine:
                least, most = _widened(low, high, self.made.bins[value])
            cells = self._laid(fine, places, noisy, place)
            axis = noisy.columns.index(value)
            shape = tuple(-1 if one == axis else 1 for one in range(len(noisy.columns)))
            part = _part(miss, order) / 2
            upper = _ruled_out(noisy, cells, np.nan_to_num(most).reshape(shape), _grid(low, high), part)
            lower = -_ruled_out(noisy, cells, -np.nan_to_num(least).reshape(shape), _grid(-high, -low), part)
            one = Interval(lower, upper, (noisy.columns,))
            found = one if found is None else found & one
        return found


def _part(miss: float, order: int) -> float:
    """The chance to miss that a measurement gets: 4/5 for the first, 1/(j (j + 1)) of the rest for the j-th other."""
    return miss * _FIRST if order == 0 else miss * (1 - _FIRST) / (order * (order + 1))


def _sum(noisy: Noisy, weights: Floats, miss: float) -> tuple[float, float]:
    """A weighted sum of noisy counts, and how far it is off at most, one way or the other."""
    used, many = np.unique(weights[weights != 0], return_counts=True)
    if len(used) == 0:
        return 0.0, 0.0
    value = float((weights * noisy.values).sum())
    if len(used) == 1 and used[0] == 1:
        return value, _width(noisy.noise, int(many[0]), miss)
    return value, half_width(noisy.noise, used, many.astype(np.float64), miss)


@lru_cache(maxsize=1024)
def _width(noise: Laplace | Gaussian, many: int, miss: float) -> float:
    """How far a sum of so many noisy counts is off."""
    return half_width(noise, np.ones(1), np.full(1, float(many)), miss)


def _grid(low: Floats, high: Floats) -> Floats:
    """Means to be tried, the greatest possible one first."""
    return np.linspace(float(np.nanmax(high)), float(np.nanmin(low)), _STEPS + 1)


def _ruled_out(noisy: Noisy, cells: Cells, values: Floats, grid: Floats, miss: float) -> float:
    """The last of falling means that is ruled out; the greatest possible one if none is."""
    bound = float(grid[0])
    for mean in grid:
        above = np.broadcast_to(values - mean, noisy.values.shape)
        weights = np.where(cells.sure, above, np.where(cells.may, np.maximum(above, 0.0), 0.0))
        energy = np.array([float((weights**2).sum())])
        if energy[0] == 0:  # every row asked about has this very value
            break
        strays = one_sided(noisy.noise, energy, float(np.abs(weights).max()), miss)
        if float((weights * noisy.values).sum()) + float(strays[0]) >= 0:
            break
        bound = float(mean)
    return bound


def _widened(low: Floats, high: Floats, bins: object) -> tuple[Floats, Floats]:
    """The ends of codes put together in bins."""
    places = np.asarray(bins, dtype=np.int64)
    size = int(places.max()) + 1
    least, most = np.full(size, np.inf), np.full(size, -np.inf)
    np.fmin.at(least, places, low)
    np.fmax.at(most, places, high)
    least[np.isinf(least)], most[np.isinf(most)] = np.nan, np.nan
    return least, most
