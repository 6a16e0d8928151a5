"""Conditions that hardly a row meets, proposed from noisy marginals: for a person to confirm, then `impossible`.

A region of a marginal that is all but empty, where columns that had nothing to do with each other would fill it, may be
a rule that everybody knows: a cash ride has no tip on file, nobody arrives before leaving. It may also be chance, or
rare and real. So nothing is applied by itself. Everything is read from the release: it costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.column import Integer, Real
from discreet.data.expression.node import quoted
from discreet.errors import InputError
from discreet.marginals.domain import Attribute
from discreet.marginals.meter import Noisy
from discreet.mechanisms.inputs import read_confidence
from discreet.query.key import Bin

if TYPE_CHECKING:
    from discreet.synth.release import SyntheticRelease

__all__ = ["ProposedCondition", "proposed_conditions"]

_EMPTY = 0.05  # of the rows on either side: a region with no more is all but empty
_FULL = 5.0  # times as many rows as there may be would be in it if columns were independent
_WORTH = 0.005  # of all rows: a region that would hold less is not worth a word
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ProposedCondition:
    """A condition as text, and what speaks for it. Shares are of all rows."""

    condition: str
    """Usable as `impossible=[...]`."""
    rows: float
    """The share of the synthetic rows that meet it."""
    estimate: float
    lower: float
    upper: float
    """The share of the private rows by the noisy counts, and its confidence interval."""
    independent: float
    """The share that would meet it if the columns had nothing to do with each other."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __str__(self) -> str:
        return (
            f"{self.condition}: {self.estimate:.2%} of rows [{self.lower:.2%}, {self.upper:.2%}] by noisy counts, "
            f"{self.rows:.2%} of the synthetic ones, {self.independent:.1%} if the columns were independent"
        )


@dataclass(frozen=True, slots=True)
class _Axis:
    """A column of a marginal: its attribute and, for every bin, the codes that are in it."""

    attribute: Attribute
    bins: NDArray[np.int64]
    inside: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, attribute: Attribute, bins: NDArray[np.int64] | None) -> _Axis:
        own = np.arange(attribute.size) if bins is None else np.asarray(bins)
        return cls(attribute, own, tuple(np.flatnonzero(own == one) for one in range(int(own.max()) + 1)))

    @property
    def known(self) -> Mask:
        """The bins that are of values, and not of missing ones."""
        last = self.attribute.size - 1
        return np.array([not (self.attribute.missing and last in codes) for codes in self.inside])

    def label(self, one: int) -> Any:
        """The value that a bin stands for, if it is one; else None."""
        codes = self.inside[one]
        label = self.attribute.labels[int(codes[0])] if len(codes) == 1 else None
        return None if isinstance(label, Bin) else label

    def first(self, one: int) -> Any:
        """The least value of a bin of numbers or days."""
        label = self.attribute.labels[int(self.inside[one][0])]
        return label.start if isinstance(label, Bin) else label

    def end(self, one: int) -> Any:
        """What is above all values of a bin, or the greatest of them."""
        label = self.attribute.labels[int(self.inside[one][-1])]
        return label.end if isinstance(label, Bin) else label


def proposed_conditions(
    release: SyntheticRelease, *, most: int = 20, confidence: float = 0.95
) -> tuple[ProposedCondition, ...]:
    """Conditions that the noisy marginals of a release say are all but never met; those that say most come first.

    Guarantee
        A function of the release: post-processing, and free. Intervals are of the noise, not simultaneous; conditions
        that were picked out of many are more often wrong than one that was thought of before.
    """
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InputError("most", most, "a whole number, 1 or more")
    z = NormalDist().inv_cdf((1 + float(read_confidence(confidence))) / 2)
    found: dict[str, ProposedCondition] = {}
    for one in (*_of_differences(release, z), *_of_pairs(release, z)):
        if one.condition not in found or found[one.condition].upper > one.upper:
            found[one.condition] = one
    order = sorted(found.values(), key=lambda one: (one.upper - one.independent, one.condition))
    return tuple(order[:most])


def _measured(release: SyntheticRelease, many: int) -> Iterator[tuple[Noisy, list[_Axis]]]:
    """The most precise of the noisy marginals of each so many columns."""
    made, best = release.made, dict[tuple[int, ...], tuple[Noisy, list[_Axis]]]()
    for place, noisy in enumerate(made.measured):
        if len(noisy.columns) != many:
            continue
        bins = made.bins if made.bins is not None and place >= made.fine else None
        axes = [
            _Axis.of(release.domain.attributes[column], None if bins is None else bins[column])
            for column in noisy.columns
        ]
        if noisy.columns not in best or noisy.variance < best[noisy.columns][0].variance:
            best[noisy.columns] = (noisy, axes)
    return iter(best.values())


class _Table:
    """A noisy marginal of two columns, and what regions of it hold."""

    def __init__(self, release: SyntheticRelease, noisy: Noisy, axes: Sequence[_Axis], z: float) -> None:
        self.release, self.axes, self.z = release, axes, z
        self.values = noisy.values.astype(np.float64)
        self.variance = float(noisy.variance)
        self.total = max(release.total, 1.0)
        left, right = np.maximum(self.values.sum(axis=1), 0), np.maximum(self.values.sum(axis=0), 0)
        self.sides = (left, right)
        self.independent = np.outer(left, right) / max(float(left.sum()), 1.0)
        codes = release.codes
        places = [release.domain.place(axis.attribute.name) for axis in axes]
        rows = [axis.bins[codes[:, place]] for axis, place in zip(axes, places, strict=True)]
        shape = self.values.shape
        self.rows: Floats = (
            np.bincount(rows[0] * shape[1] + rows[1], minlength=shape[0] * shape[1]).reshape(shape) / 1.0
        )

    def proposed(self, region: Mask, text: str, rows: float | None = None) -> ProposedCondition | None:
        """The condition, if its region is all but empty and would not be if columns were independent."""
        many = int(region.sum())
        if many == 0:
            return None
        estimate, spread = float(self.values[region].sum()), self.z * math.sqrt(self.variance * many)
        upper, would = max(estimate, 0.0) + spread, float(self.independent[region].sum())
        least = min(float(self.sides[0][region.any(axis=1)].sum()), float(self.sides[1][region.any(axis=0)].sum()))
        if upper > _EMPTY * least or would < max(_FULL * upper, _WORTH * self.total):
            return None
        seen = float(self.rows[region].sum()) / max(len(self.release), 1) if rows is None else rows
        parts = [number / self.total for number in (estimate, max(estimate - spread, 0.0), upper, would)]
        return ProposedCondition(text, seen, max(parts[0], 0.0), parts[1], parts[2], parts[3])


def _of_pairs(release: SyntheticRelease, z: float) -> Iterator[ProposedCondition]:
    for noisy, axes in _measured(release, 2):
        table = _Table(release, noisy, axes, z)
        for given in (0, 1):
            if not axes[given].attribute.ordered:
                yield from _given(table, given)
        yield from _compared(table)


def _given(table: _Table, given: int) -> Iterator[ProposedCondition]:
    """A value of a column without an order, and values of the other that do not go with it: as many as may be."""
    axis, other = table.axes[given], table.axes[1 - given]
    for value in np.flatnonzero(axis.known):
        label = axis.label(int(value))
        if label is None:
            continue
        head = f"{quoted(axis.attribute.name)} = {_constant(label)}"
        best: ProposedCondition | None = None
        for chosen, tail in _sets(other):
            region = np.zeros(table.values.shape, dtype=bool)
            region[(value, chosen) if given == 0 else (chosen, value)] = True
            found = table.proposed(region, f"{head} and {tail}")
            if found is not None and (best is None or found.independent > best.independent):
                best = found
        if best is not None:
            yield best


def _sets(axis: _Axis) -> Iterator[tuple[Mask, str]]:
    """Sets of a column's values that can be said in a few words."""
    known, name = axis.known, quoted(axis.attribute.name)
    bins = [int(one) for one in np.flatnonzero(known)]
    single = {one: axis.label(one) for one in bins}
    for one, label in single.items():
        if label is not None:
            only = np.arange(len(known)) == one
            yield only, f"{name} = {_constant(label)}"
            ends = axis.attribute.ordered and one in (bins[0], bins[-1])
            if len(bins) > 1 and not ends:
                yield known & ~only, f"{name} <> {_constant(label)}"
    if not axis.attribute.ordered:
        return
    for before, one in pairwise(bins):
        above = known & (np.arange(len(known)) >= one)
        text = f"> {_constant(single[before])}" if single[before] is not None else f">= {_constant(axis.first(one))}"
        yield above, f"{name} {text}"
        yield known & ~above, f"{name} < {_constant(axis.first(one))}"


def _compared(table: _Table) -> Iterator[ProposedCondition]:
    """One column of numbers below another: the cells in which it surely is."""
    left, right = table.axes
    columns = [table.release.declared[axis.attribute.name] for axis in table.axes]
    known = [axis.attribute.name in [one.name for one in table.release.parts if one.plain] for axis in table.axes]
    if not all(known) or not all(isinstance(one, Integer | Real) for one in columns):
        return
    drawn = [table.release.drawn[axis.attribute.name] for axis in table.axes]
    both = ~drawn[0].missing & ~drawn[1].missing
    for low, high, turned in ((left, right, False), (right, left, True)):
        region = np.array(
            [
                [
                    bool(low.known[a] and high.known[b]) and _below(low.end(a), low.label(a), high.first(b))
                    for b in range(len(high.inside))
                ]
                for a in range(len(low.inside))
            ]
        )
        less, more = (drawn[1], drawn[0]) if turned else (drawn[0], drawn[1])
        rows = float((both & (less.values < more.values)).mean()) if len(table.release) else 0.0
        text = f"{quoted(low.attribute.name)} < {quoted(high.attribute.name)}"
        found = table.proposed(region.T if turned else region, text, rows)
        if found is not None:
            yield found


def _below(end: Any, single: Any, first: Any) -> bool:
    return bool(end < first if single is not None else end <= first)


def _of_differences(release: SyntheticRelease, z: float) -> Iterator[ProposedCondition]:
    """A column that is made from another, below it: from the noisy counts of the difference."""
    made = {one.parts[0]: one for one in release.parts if one.base is not None}
    for noisy, (axis,) in _measured(release, 1):
        one = made.get(axis.attribute.name)
        if one is None or one.base is None:
            continue
        below = np.array([bool(known) and axis.first(place) < 0 for place, known in enumerate(axis.known)])
        values, total = noisy.values.astype(np.float64), max(release.total, 1.0)
        estimate, spread = float(values[below].sum()), z * math.sqrt(float(noisy.variance) * int(below.sum()))
        upper = max(estimate, 0.0) + spread
        drawn = [release.drawn[name] for name in (one.name, one.base)]
        both = ~drawn[0].missing & ~drawn[1].missing
        rows = float((both & (drawn[0].values < drawn[1].values)).mean()) if len(release) else 0.0
        would = _crossed(drawn[0].values[both], drawn[1].values[both]) * float(both.mean())
        if below.any() and upper <= _EMPTY * total and would * total >= _FULL * upper:
            text = f"{quoted(one.name)} < {quoted(one.base)}"
            parts = [max(number, 0.0) / total for number in (estimate, estimate - spread, upper)]
            yield ProposedCondition(text, rows, parts[0], parts[1], parts[2], would)


def _crossed(left: NDArray[Any], right: NDArray[Any]) -> float:
    """How often a value of one list is below one of the other, of all pairs of them."""
    if len(left) == 0:
        return 0.0
    return float(np.searchsorted(np.sort(left), right, side="left").mean()) / len(left)


def _constant(value: Any) -> str:
    """A value as it is written in a condition."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case date():
            return f"'{value.isoformat()}'"
        case Fraction():
            return str(value.numerator) if value.denominator == 1 else f"{float(value):.12g}"
        case _:
            return str(value)
