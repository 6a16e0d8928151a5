"""Arithmetic over published numbers: free, because it is post-processing, and with an interval of its own.

Each published number is moved through its interval, and what that does to the result is added in squares where the
numbers have noise of their own, plainly where they share some. A sum over published rows moves with each of them. Where
a divisor can be zero on the way there is no interval: the result can be anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.note import Note
from discreet.data.expression import Call, Constant, Expression, Name
from discreet.data.expression.domain import value_of
from discreet.data.expression.node import columns_in
from discreet.query.over import RANKS, Over, Windows, ends

__all__ = ["Formula", "Over", "alike", "check_kinds"]

Row = Mapping[str, Any]

_DIVISIONS = ("divide", "quotient", "remainder")
_TURNING = ("abs", "power", "case", "remainder", "nullif")
"""Functions that are not monotone in what they are given."""
_UNKNOWN = (
    "Missing, or without an interval, where a published number that it is computed from is missing, or where a "
    "divisor may be zero."
)
_STEPS, _HALVINGS = 16, 25
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "in", "coalesce", "nullif", "least", "greatest")
"""Functions whose arguments stand for each other, or are compared: besides the branches of CASE."""


def alike(values: Iterable[Any]) -> bool:
    """Whether values can stand in one column: all numbers, all truths, all days or all texts. Missing is any.

    >>> alike([1, 2.5, None]), alike([1, "many"]), alike([True, 1])
    (True, False, False)
    """
    kinds = {_kind(value) for value in values if value is not None}
    return len(kinds) < 2


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth"
    return "number" if isinstance(value, int | float) else type(value).__name__


def check_kinds(expression: Expression, row: Row) -> None:
    """`TypeError` where parts that may stand for each other are of different types, whichever the row chooses."""
    for node in _nodes(expression):
        if isinstance(node, Call) and (node.function == "case" or node.function in _COMPARISONS):
            parts = (*node.arguments[1:-1:2], node.arguments[-1]) if node.function == "case" else node.arguments
            if not alike(value_of(part, row) for part in parts):
                raise TypeError("values of several types")


@dataclass(frozen=True, slots=True)
class Formula:
    """A column computed from published ones."""

    name: str
    expression: Expression
    overs: tuple[Over, ...] = ()
    shared: bool = False
    """Whether some of its numbers have noise in common."""
    of_keys: bool = False
    """Whether it is made of keys alone: then it is one, and no number with an interval."""

    @property
    def is_number(self) -> bool:
        """Whether it is computed of published numbers."""
        return not self.of_keys and not isinstance(self.expression, Constant)

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

    def note(self, columns: Mapping[str, Sequence[Any]]) -> list[Note]:
        """What is to be said where a number is missing, or has no interval."""
        if self.of_keys or any(
            over.function in (*RANKS, "min", "max") for over in self.overs
        ):  # which have no interval
            return []
        pairs = zip(columns[self.name], columns[f"{self.name}_lower"], strict=True)
        if any(low is None and not isinstance(value, str | bool) for value, low in pairs):
            return [Note("unknown", _UNKNOWN, (self.name,))]
        return []

    def _interval(self, place: int, row: Row, names: Sequence[str], windows: Sequence[Windows]) -> tuple[Any, Any, Any]:
        def numbers(moved: str = "", by: float = 0.0, rest: str = "") -> dict[str, Any]:
            """What is known where one published number, or the others in a window, are moved."""
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
            return values

        value = value_of(self.expression, numbers())
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
            if any(end is None or isinstance(end, str | bool) for end in (middle, low, high)):
                return value, None, None  # of days, labels and truths there is no way from one end to the other
            bys = self._way(low - middle, high - middle)
            way = [numbers(name, by, rest) for by in bys]
            reached = [value_of(self.expression, values) for values in way]
            if None in reached or any(not math.isfinite(end) for end in reached) or self._divides_by_zero(way):
                return value, None, None

            def result(by: float, moved: str = name, rest: str = rest) -> Any:
                found = value_of(self.expression, numbers(moved, by, rest))
                return value if found is None else found

            below.append(max(0.0, value - _lowest(result, bys, reached)))
            above.append(max(0.0, -_lowest(lambda by: -result(by), bys, [-end for end in reached]) - value))
        return value, value - self._joined(below), value + self._joined(above)

    def _way(self, low: float, high: float) -> list[float]:
        """How far a number is moved: to both ends, and where the result may turn in between, past more of them."""
        nodes = _nodes(self.expression)
        names = [node.name for node in nodes if isinstance(node, Name)]
        turns = len(set(names)) < len(names) or any(
            isinstance(node, Call) and node.function in _TURNING for node in nodes
        )
        steps = _STEPS if turns else 1
        return [low + (high - low) * step / steps for step in range(steps + 1)]

    def _divides_by_zero(self, way: Sequence[Row]) -> bool:
        """Whether a divisor is zero on the way, or changes its sign."""
        for node in _nodes(self.expression):
            if isinstance(node, Call) and node.function in _DIVISIONS:
                found = [value_of(node.arguments[1], values) for values in way]
                if None in found or min(found) <= 0 <= max(found):
                    return True
        return False

    def _joined(self, parts: Sequence[float]) -> float:
        plainly = self.shared or any(over.common for over in self.overs)
        return sum(parts) if plainly else math.sqrt(sum(part * part for part in parts))


def _nodes(expression: Expression) -> list[Expression]:
    """An expression and all its parts."""
    parts = expression.arguments if isinstance(expression, Call) else ()
    return [expression, *(node for part in parts for node in _nodes(part))]


def _lowest(function: Callable[[float], Any], places: Sequence[float], values: Sequence[float]) -> float:
    """The lowest of these values, or what lies below it between the places beside."""
    at = min(range(len(values)), key=values.__getitem__)
    if at in (0, len(values) - 1):
        return values[at]
    low, high = places[at - 1], places[at + 1]
    for _ in range(_HALVINGS):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        if function(first) < function(second):
            high = second
        else:
            low = first
    return float(min(values[at], function((low + high) / 2)))
