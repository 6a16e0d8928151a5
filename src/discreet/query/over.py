"""Windows over released rows: sums, running sums, ranks and neighbours. Free, because it is post-processing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["FUNCTIONS", "RANKS", "Over", "Windows"]

Row = Mapping[str, Any]
RANKS = ("rank", "dense_rank", "row_number", "ntile", "percent_rank", "cume_dist")
FUNCTIONS = ("sum", "avg", "min", "max", "count", "lag", "lead", "first_value", "last_value", "nth_value", *RANKS)


@dataclass(frozen=True, slots=True)
class Over:
    """A function of an output over the published rows that agree on the keys `by`, in an `order` if there is one.

    With an order a sum runs up to the row, those that tie with it included; with `frame`, over so many rows before it
    and the row itself.
    """

    name: str
    output: str | None
    by: tuple[str, ...] = ()
    function: str = "sum"
    order: tuple[tuple[str, bool], ...] = ()
    """Published columns, and whether the largest comes first."""
    frame: int | None = None
    offset: int = 1
    """How many rows before or after, for LAG and LEAD; which row, for NTH_VALUE; into how many parts, for NTILE."""
    whole: bool = False
    """Whether the rows after a row are in its window, too."""
    ties: bool = True
    """Whether rows that tie are in each other's running sum."""
    common: bool = False
    """Whether its rows have noise in common, as shares of one total have: what moves them is added up plainly."""

    @property
    def counts_groups(self) -> bool:
        """Whether a group without rows, which a sum adds nothing for, makes a difference."""
        return self.function not in ("sum", "max")

    @property
    def uses(self) -> tuple[str, ...]:
        """The published columns it is made of."""
        return (*(() if self.output is None else (self.output,)), *(column for column, _ in self.order))


class Windows:
    """The value of a window for every row, and how far other rows and its own may move it."""

    def __init__(self, over: Over, rows: Sequence[Row]) -> None:
        self.over = over
        self._rows = rows
        self._taken: list[list[int]] = [[] for _ in rows]
        self._ranks: list[float] = [0] * len(rows)
        parts: dict[tuple[Any, ...], list[int]] = {}
        for place, row in enumerate(rows):
            parts.setdefault(tuple(row[name] for name in over.by), []).append(place)
        for places in parts.values():
            self._place(places)

    def _place(self, places: list[int]) -> None:
        over = self.over
        for column, descending in reversed(over.order):
            known = [place for place in places if self._rows[place][column] is not None]
            known.sort(key=lambda place: self._rows[place][column], reverse=descending)
            places = known + [place for place in places if self._rows[place][column] is None]
        marks = [tuple(self._rows[place][column] for column, _ in over.order) for place in places]
        first = [marks.index(mark) for mark in marks]
        last = [len(marks) - 1 - marks[::-1].index(mark) for mark in marks]
        for index, place in enumerate(places):
            match over.function:
                case "rank":
                    self._ranks[place] = first[index] + 1
                case "dense_rank":
                    self._ranks[place] = len(set(marks[: first[index]])) + 1
                case "row_number":
                    self._ranks[place] = index + 1
                case "ntile":
                    self._ranks[place] = _part(index, len(places), over.offset)
                case "percent_rank":
                    self._ranks[place] = first[index] / max(1, len(places) - 1)
                case "cume_dist":
                    self._ranks[place] = (last[index] + 1) / len(places)
                case "first_value":
                    self._taken[place] = [places[0 if over.frame is None else max(0, index - over.frame)]]
                case "last_value":
                    end = len(places) - 1 if over.whole else last[index] if over.ties else index
                    self._taken[place] = [places[end]]
                case "nth_value":
                    start = 0 if over.frame is None else max(0, index - over.frame)
                    end = len(places) - 1 if over.whole else last[index] if over.ties else index
                    other = start + over.offset - 1
                    self._taken[place] = [places[other]] if other <= end else []
                case "lag" | "lead":
                    other = index - over.offset if over.function == "lag" else index + over.offset
                    self._taken[place] = [places[other]] if 0 <= other < len(places) else []
                case _ if not over.order or over.whole:
                    self._taken[place] = places
                case _ if over.frame is not None:
                    self._taken[place] = places[max(0, index - over.frame) : index + 1]
                case _:
                    self._taken[place] = places[: (last[index] if over.ties else index) + 1]

    @property
    def ranks(self) -> bool:
        """Whether it is a place in an order, which has no interval."""
        return self.over.function in (*RANKS, "count", "min", "max")

    def total(self, place: int) -> Any:
        """What it is for a row."""
        over = self.over
        if over.function in RANKS:
            return self._ranks[place]
        if over.function == "count":
            return len(self._taken[place])
        found = [value for taken in self._taken[place] if (value := self._rows[taken][str(over.output)]) is not None]
        if not found:
            return None
        match over.function:
            case "avg":
                return sum(found) / len(found)
            case "min":
                return min(found)
            case "max":
                return max(found)
        return found[0] if over.function in ("lag", "lead", "first_value", "last_value", "nth_value") else sum(found)

    def own(self, place: int) -> float:
        """How far it moves with the row's own number."""
        if place not in self._taken[place]:
            return 0.0
        return 1 / len(self._taken[place]) if self.over.function == "avg" else 1.0

    def rest(self, place: int) -> tuple[float, float]:
        """How far the other rows may move it, down and up."""
        down = up = 0.0
        for taken in self._taken[place]:
            value, low, high = ends(self._rows[taken], str(self.over.output))
            if taken != place and None not in (value, low, high):
                power = 1 if self.over.common else 2
                down, up = down + (value - low) ** power, up + (high - value) ** power
        scale = len(self._taken[place]) if self.over.function == "avg" else 1
        root = (lambda total: total) if self.over.common else math.sqrt
        return root(down) / scale, root(up) / scale


def ends(row: Row, output: str) -> tuple[Any, Any, Any]:
    """A published number and the ends of its interval."""
    return row[output], row.get(f"{output}_lower"), row.get(f"{output}_upper")  # a key has none


def _part(index: int, rows: int, parts: int) -> int:
    """Which of nearly equal parts a row is in; the first ones are the larger."""
    small, more = divmod(rows, parts)
    large = more * (small + 1)
    return index // (small + 1) + 1 if index < large else more + (index - large) // max(small, 1) + 1
