"""Upright bars over an ordered range: counts by value, each with its interval and a second height to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import InputError
from discreet.show.picture import Picture
from discreet.show.svg import Markup, element, shorten
from discreet.show.table import Table

__all__ = ["Column", "columns"]

_LETTER = 6.2  # the width of a letter
_LONGEST = 18


@dataclass(frozen=True, slots=True)
class Column:
    """One bar: its height, the interval of the true height, a second height to compare with, and its words.

    `tick` is written below it instead of its label.
    """

    label: str
    value: float
    lower: float | None = None
    upper: float | None = None
    other: float | None = None
    tip: str = ""
    tick: str | None = None


def columns(title: str, data: Sequence[Column], *, width: int = 320, height: int = 132) -> Picture:
    """Upright bars over their labels; of many labels, as many are written as there is room for."""
    if not data:
        raise InputError("data", 0, "at least one column")
    top = max([*(max(one.value, one.upper or 0, one.other or 0) for one in data), 1e-9])
    floor, room = height - 20, height - 28
    step = width / len(data)
    parts = [element("line", {"class": "axis", "x1": 0, "y1": floor, "x2": width, "y2": floor})]
    for index, column in enumerate(data):
        parts.append(_bar(column, index * step, step, floor, room / top, top))
    parts += _labels([column.label if column.tick is None else column.tick for column in data], step, height)
    head = ["", "value", "from", "to", "other"]
    rows = [
        [column.label, *("" if number is None else f"{number:,.0f}" for number in numbers)]
        for column in data
        for numbers in [(column.value, column.lower, column.upper, column.other)]
    ]
    many = 5 if any(column.other is not None for column in data) else 4
    table = Table.of(head[:many], [row[:many] for row in rows], title)
    return Picture(title, width, height, tuple(parts), f"{title}: counts by value", table=table)


def _bar(column: Column, left: float, step: float, floor: float, unit: float, top: float) -> Markup:
    x, width = left + step * 0.12, step * 0.76

    def level(value: float) -> float:
        return floor - unit * min(max(value, 0), top)

    body = {"x": x, "y": level(column.value), "width": width, "height": floor - level(column.value)}
    parts = [
        element("title", None, column.tip or f"{column.label}: {column.value:,.0f}"),
        element("rect", {"class": "bar pale", **body, "rx": 1}),
    ]
    if column.lower is not None and column.upper is not None:
        middle = x + width / 2
        line = {"x1": middle, "x2": middle, "y1": level(column.lower), "y2": level(column.upper)}
        parts += [element("line", {"class": kind, **line}) for kind in ("halo", "interval")]
    if column.other is not None:
        at = level(column.other)
        parts.append(element("line", {"class": "reference", "x1": x - 1, "x2": x + width + 1, "y1": at, "y2": at}))
    parts.append(element("rect", {"class": "hit", "x": left, "y": 0, "width": step, "height": floor}))
    return element("g", None, *parts)


def _labels(labels: Sequence[str], step: float, height: int) -> list[Markup]:
    """As many labels as there is room for: all, the first and the middle and the last, or the two ends."""
    longest = max(len(shorten(label, _LONGEST)) for label in labels)
    if longest * _LETTER + 6 <= step:
        chosen = list(range(len(labels)))
    elif len(labels) * step / 3 >= longest * _LETTER / 1.4:
        chosen = sorted({0, len(labels) // 2, len(labels) - 1})
    else:
        chosen = sorted({0, len(labels) - 1})
    parts = []
    for index in chosen:
        ends = len(chosen) < len(labels)
        anchor = "start" if index == 0 and ends else "end" if index == len(labels) - 1 and ends else "middle"
        x = index * step + step * {"start": 0.12, "end": 0.88, "middle": 0.5}[anchor]
        text = shorten(labels[index], _LONGEST)
        parts.append(element("text", {"class": "tick", "x": x, "y": height - 5, "text-anchor": anchor}, text))
    return parts
