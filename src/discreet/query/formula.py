"""Arithmetic over published numbers: free, because it is post-processing, and with an interval of its own.

Each published number is moved to the ends of its interval, and what that does to the result is added in squares where
the numbers have noise of their own, plainly where they share some. A sum over published rows moves with each of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.data.expression import Expression
from discreet.data.expression.domain import value_of
from discreet.data.expression.node import columns_in

__all__ = ["Formula", "Over"]

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Over:
    """The sum of an output over all published rows that agree on the keys `by`."""

    name: str
    output: str
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Formula:
    """A column computed from published ones."""

    name: str
    expression: Expression
    overs: tuple[Over, ...] = ()
    shared: bool = False
    """Whether some of its numbers have noise in common."""

    def columns(self, rows: Sequence[Row], outputs: Sequence[str]) -> dict[str, list[Any]]:
        """Its value and the ends of its interval, row by row."""
        names = [name for name in columns_in(self.expression) if name in outputs]
        sums = [_Sums(over, rows) for over in self.overs]
        found: dict[str, list[Any]] = {self.name: [], f"{self.name}_lower": [], f"{self.name}_upper": []}
        for row in rows:
            value, lower, upper = self._interval(row, names, sums)
            for end, number in (("", value), ("_lower", lower), ("_upper", upper)):
                found[self.name + end].append(number)
        return found

    def _interval(self, row: Row, names: Sequence[str], sums: Sequence[_Sums]) -> tuple[Any, Any, Any]:
        def at(moved: str = "", by: float = 0.0, rest: str = "") -> Any:
            """The result where one published number, or the others in a sum, are moved."""
            values = dict(row)
            if moved:
                values[moved] = row[moved] + by
            for each in sums:
                total = each.total(row)
                if each.over.output == moved or each.over.name == rest:
                    total = None if total is None else total + by
                values[each.over.name] = total
            return value_of(self.expression, values)

        value = at()
        if value is None or isinstance(value, str | bool):
            return value, None, None
        below: list[float] = []
        above: list[float] = []
        moves = [(name, row[name], row[f"{name}_lower"], row[f"{name}_upper"], "") for name in names]
        for each in sums:
            if each.over.output not in names:
                moves.append((each.over.output, *_ends(row, each.over.output), ""))
            down, up = each.rest(row)
            moves.append(("", 0.0, -down, up, each.over.name))
        for name, middle, low, high, rest in moves:
            if None in (middle, low, high):
                return value, None, None
            ends = [at(name, low - middle, rest), at(name, high - middle, rest)]
            if None in ends or any(not math.isfinite(end) for end in ends):
                return value, None, None
            below.append(max(0.0, value - min(ends)))
            above.append(max(0.0, max(ends) - value))
        return value, value - self._joined(below), value + self._joined(above)

    def _joined(self, parts: Sequence[float]) -> float:
        return sum(parts) if self.shared else math.sqrt(sum(part * part for part in parts))


def _ends(row: Row, output: str) -> tuple[Any, Any, Any]:
    return row[output], row[f"{output}_lower"], row[f"{output}_upper"]


class _Sums:
    """Sums of a published output, and how far the other rows move each."""

    def __init__(self, over: Over, rows: Sequence[Row]) -> None:
        self.over = over
        self._totals: dict[tuple[Any, ...], list[float]] = {}
        for row in rows:
            value, low, high = _ends(row, over.output)
            found = self._totals.setdefault(self._key(row), [0.0, 0.0, 0.0])
            if None not in (value, low, high):
                found[0] += value
                found[1] += (value - low) ** 2
                found[2] += (high - value) ** 2

    def _key(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.over.by)

    def total(self, row: Row) -> float:
        """The sum that a row is part of."""
        return self._totals[self._key(row)][0]

    def rest(self, row: Row) -> tuple[float, float]:
        """How far the other rows may move it, down and up."""
        value, low, high = _ends(row, self.over.output)
        _, down, up = self._totals[self._key(row)]
        if None in (value, low, high):
            return math.sqrt(down), math.sqrt(up)
        return math.sqrt(max(0.0, down - (value - low) ** 2)), math.sqrt(max(0.0, up - (high - value) ** 2))
