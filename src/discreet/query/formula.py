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
from discreet.query.over import Over, Windows, ends

__all__ = ["Formula", "Over"]

Row = Mapping[str, Any]


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
        windows = [Windows(over, rows) for over in self.overs]
        found: dict[str, list[Any]] = {self.name: [], f"{self.name}_lower": [], f"{self.name}_upper": []}
        for place, row in enumerate(rows):
            value, lower, upper = self._interval(place, row, names, windows)
            for end, number in (("", value), ("_lower", lower), ("_upper", upper)):
                found[self.name + end].append(number)
        return found

    def _interval(self, place: int, row: Row, names: Sequence[str], windows: Sequence[Windows]) -> tuple[Any, Any, Any]:
        def at(moved: str = "", by: float = 0.0, rest: str = "") -> Any:
            """The result where one published number, or the others in a window, are moved."""
            values = dict(row)
            if moved:
                values[moved] = row[moved] + by
            for each in windows:
                total = each.total(place)
                if total is not None and each.over.output == moved:
                    total += by * each.own(place)
                elif total is not None and each.over.name == rest:
                    total += by
                values[each.over.name] = total
            return value_of(self.expression, values)

        value = at()
        if value is None or isinstance(value, str | bool) or any(each.ranks for each in windows):
            return value, None, None
        below: list[float] = []
        above: list[float] = []
        moves = [(name, *ends(row, name), "") for name in names]
        for each in windows:
            if each.over.output is not None and each.over.output not in names and each.own(place):
                moves.append((each.over.output, *ends(row, each.over.output), ""))
            down, up = each.rest(place)
            moves.append(("", 0.0, -down, up, each.over.name))
        for name, middle, low, high, rest in moves:
            if None in (middle, low, high):
                return value, None, None
            reached = [at(name, low - middle, rest), at(name, high - middle, rest)]
            if None in reached or any(not math.isfinite(end) for end in reached):
                return value, None, None
            below.append(max(0.0, value - min(reached)))
            above.append(max(0.0, max(reached) - value))
        return value, value - self._joined(below), value + self._joined(above)

    def _joined(self, parts: Sequence[float]) -> float:
        return sum(parts) if self.shared else math.sqrt(sum(part * part for part in parts))
