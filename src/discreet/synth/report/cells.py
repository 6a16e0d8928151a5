"""Conditions on cells instead of rows: in which cells of a marginal every row meets one, and in which some may.

A cell stands for values known only to a bin. What is said here is safe both ways: a cell that is not `sure` may hold
rows that do not meet the condition, and one that is not `may` holds none that do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.column import Boolean, Column, Date, Integer, Real, Timestamp
from discreet.data.instant import DAY, changes
from discreet.marginals.counts import Columns
from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.partition import Partition
from discreet.query.key import Bin
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Not, Or, Predicate
from discreet.synth.junction import Floats, spread

__all__ = ["Cells", "ends", "met"]

Truth = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Where a condition is true for certain, and where it may be; the same for its being false."""

    sure: Truth
    may: Truth
    sure_not: Truth
    may_not: Truth

    def merged(self, bins: list[NDArray[np.int64]]) -> Cells:
        """Of cells put together along every axis: certain where it was in all of them, possible where in any."""
        sure, may, sure_not, may_not = self.sure, self.may, self.sure_not, self.may_not
        for axis, one in enumerate(bins):
            sure, sure_not = _folded(sure, axis, one, True), _folded(sure_not, axis, one, True)
            may, may_not = _folded(may, axis, one, False), _folded(may_not, axis, one, False)
        return Cells(sure, may, sure_not, may_not)


def _folded(truth: Truth, axis: int, bins: NDArray[np.int64], every: bool) -> Truth:
    shape = list(truth.shape)
    shape[axis] = int(bins.max()) + 1
    result = np.full(shape, every)
    join = np.logical_and if every else np.logical_or
    join.at(np.moveaxis(result, axis, 0), bins, np.moveaxis(truth, axis, 0))
    return result


def met(
    condition: Predicate | None,
    columns: Columns,
    domain: Domain,
    declared: Mapping[str, Column],
    days: Mapping[str, str] | None = None,
) -> Cells:
    """A condition on the cells of some columns, which hold all those it names, or their `days` where they are times."""
    shape = tuple(domain.sizes[column] for column in columns)
    if condition is None:
        return Cells(np.full(shape, True), np.full(shape, True), np.full(shape, False), np.full(shape, False))
    return _met(condition, columns, domain, declared, days or {})


def _met(
    condition: Predicate, columns: Columns, domain: Domain, declared: Mapping[str, Column], days: Mapping[str, str]
) -> Cells:
    match condition:
        case Compare(name, _, _) | IsIn(name, _) | IsMissing(name):
            place = domain.place(days.get(name, name))
            one = _column(condition, domain.attributes[place], declared[name])
            shape = tuple(domain.sizes[column] for column in columns)
            laid = (
                np.broadcast_to(part.reshape(spread((place,), columns, domain.sizes)), shape)
                for part in (one.sure, one.may, one.sure_not, one.may_not)
            )
            return Cells(*laid)
        case Not(part):
            one = _met(part, columns, domain, declared, days)
            return Cells(one.sure_not, one.may_not, one.sure, one.may)
        case And(parts):
            return _all([_met(part, columns, domain, declared, days) for part in parts])
        case Or(parts):
            turned = [_met(Not(part), columns, domain, declared, days) for part in parts]
            one = _all(turned)
            return Cells(one.sure_not, one.may_not, one.sure, one.may)


def _all(parts: list[Cells]) -> Cells:
    return Cells(
        np.logical_and.reduce([one.sure for one in parts]),
        np.logical_and.reduce([one.may for one in parts]),
        np.logical_or.reduce([one.sure_not for one in parts]),
        np.logical_or.reduce([one.may_not for one in parts]),
    )


def _column(condition: Compare | IsIn | IsMissing, attribute: Attribute, column: Column) -> Cells:
    """A condition on one column, code by code. Of a missing value only its being missing is true or false."""
    gone = np.array([label is None for label in attribute.labels])
    if isinstance(condition, IsMissing):
        return Cells(gone, gone, ~gone, ~gone)
    wanted = condition.values if isinstance(condition, IsIn) else (condition.value,)
    operator = "==" if isinstance(condition, IsIn) else condition.operator
    sure, may = np.zeros(attribute.size, dtype=bool), np.zeros(attribute.size, dtype=bool)
    for code, label in enumerate(attribute.labels):
        if label is not None:
            told = [_compared(_range(attribute, column, label), operator, value) for value in wanted]
            sure[code], may[code] = any(one for one, _ in told), any(two for _, two in told)
    return Cells(sure, may, ~may & ~gone, ~sure & ~gone)


def _range(attribute: Attribute, column: Column, label: Any) -> tuple[Any, Any, bool]:
    """The least and the greatest value a code stands for, and whether the greatest is one of them."""
    if isinstance(attribute.partition, Partition):
        return _run(attribute.partition, column, label)
    if not isinstance(label, Bin):
        return label, label, True
    last = label == [one for one in attribute.labels if one is not None][-1]
    low, high = label.start, label.end
    if isinstance(column, (Integer, Date, Timestamp)):
        step: Any = timedelta(days=1) if isinstance(column, Date) else 1
        return low, min(high, column.upper) if last else high - step, True
    return low, high, last


def _run(partition: Partition, column: Column, label: Any) -> tuple[Any, Any, bool]:
    """The values of a run of points; of numbers without a declared step also those between its points and the next."""
    low, high = (label.start, label.end) if isinstance(label, Bin) else (label, label)
    if isinstance(column, Date):
        return low, high - timedelta(days=1) if isinstance(label, Bin) else high, True
    if isinstance(column, Timestamp):
        return _instants(low, high if isinstance(label, Bin) else high + timedelta(days=1), column)
    last = high - partition.unit if isinstance(label, Bin) else high
    if isinstance(column, Real) and column.step is None:
        return max(low - partition.unit / 2, column.lower), min(last + partition.unit / 2, column.upper), True
    return low, last, True


def _instants(first: date, end: date, column: Timestamp) -> tuple[int, int, bool]:
    """The first instant of some days on a zone's calendar, and the last: also where clocks change on one of them."""
    low, high = ((one - date(1970, 1, 1)).days * DAY for one in (first, end))
    moves = changes(column.timezone, low - 2 * DAY, high + 2 * DAY)
    edges = (low - 2 * DAY, *moves.instants, high + 2 * DAY)
    inside = [
        (max(low - offset, start), min(high - offset, stop) - 1)
        for offset, start, stop in zip(moves.offsets, edges[:-1], edges[1:], strict=True)
        if max(low - offset, start) < min(high - offset, stop)
    ]
    return min(start for start, _ in inside), max(stop for _, stop in inside), True


def _compared(values: tuple[Any, Any, bool], operator: str, wanted: Any) -> tuple[bool, bool]:
    """Whether a comparison is true of all values of a range, and of any."""
    low, high, reached = values
    match operator:
        case "==":
            return bool(low == high == wanted), bool(low <= wanted and (wanted < high or (reached and wanted == high)))
        case "<":
            return bool(high < wanted or (high == wanted and not reached)), bool(low < wanted)
        case "<=":
            return bool(high <= wanted), bool(low <= wanted)
        case "!=" | ">=" | ">":
            sure, may = _compared(values, {"!=": "==", ">=": "<", ">": "<="}[operator], wanted)
            return not may, not sure
        case _:
            raise ValueError(operator)


def ends(attribute: Attribute, column: Column) -> tuple[Floats, Floats]:
    """The least and greatest number each code of a column stands for; NaN where it is missing, or no number."""
    low, high = np.full(attribute.size, np.nan), np.full(attribute.size, np.nan)
    for code, label in enumerate(attribute.labels):
        if label is None or isinstance(label, (str, date)):
            continue
        if isinstance(column, Boolean):
            low[code] = high[code] = float(label)
            continue
        first, last, _ = _range(attribute, column, label)
        if not isinstance(first, date):
            low[code], high[code] = float(first), float(last)
    return low, high
