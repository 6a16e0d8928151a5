"""Many groups on one screen: a name and thin bars with intervals on each line, a bar for each series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import InputError
from discreet.show.bars import (
    Bar,
    axis_of,
    bar_body,
    bar_cells,
    bar_words,
    grid_lines,
    known_ends,
    tick_labels,
    whisker,
)
from discreet.show.picture import Picture
from discreet.show.plot import SERIES, legend
from discreet.show.scale import Format, Scale, brief, compact
from discreet.show.svg import Markup, element, shorten
from discreet.show.table import Table

__all__ = ["Group", "groups"]

_WIDTH, _AXIS = 640, 26
_LEFT, _RIGHT = 27, 15  # percent of the width: names, and numbers where there is one series
_LETTERS = 18
_THICK = {1: 12, 2: 9, 3: 8}  # of a bar, by how many there are in a group


@dataclass(frozen=True, slots=True)
class Group:
    """A name, and a bar for each series: None where a series has none."""

    label: str
    bars: tuple[Bar | None, ...]


def groups(
    title: str,
    data: Sequence[Group],
    names: Sequence[str] = ("",),
    *,
    format: Format = brief,
    scale: Scale | None = None,
    heads: tuple[str, str, str, str] = ("", "value", "from", "to"),
    unknown: str = "not known",
) -> Picture:
    """Bars from zero beside the name of their group; of several series, in colours under `names`.

    >>> groups("People", [Group("Kent", (Bar("", 120, 110, 130),)), Group("Essex", (Bar("", None),))]).height
    70
    """
    if not data or any(len(group.bars) != len(names) for group in data):
        raise InputError("data", len(data), f"at least one group, each with {len(names)} bars")
    known = [bar for group in data for bar in group.bars if bar is not None]
    axis = scale if scale is not None else axis_of(known)
    many = len(names)
    thick = _THICK.get(many, 6)
    row = thick * many + 10 if many > 1 else 22
    top, keys = legend(names) if many > 1 else (0, [])
    right = 0 if many > 1 else _RIGHT
    across = {"x": f"{_LEFT}%", "width": f"{100 - _LEFT - right}%", "overflow": "visible"}
    height, marks = row * len(data), axis.ticks(4)
    inside = [*grid_lines(axis, marks, height), *tick_labels(axis, marks, compact, height)]
    outside: list[Markup] = []
    for index, group in enumerate(data):
        y = index * row
        inside += _bars(group, axis, y, (row, thick), names, format, unknown)
        label = {"class": "name", "x": f"{_LEFT - 2}%", "y": top + y + row / 2 + 4.5, "text-anchor": "end"}
        outside.append(element("text", label, shorten(group.label, _LETTERS)))
        if many == 1 and (bar := group.bars[0]) is not None:
            number = {"class": "unknown" if bar.value is None else "value", "x": "100%", "text-anchor": "end"}
            words = unknown if bar.value is None else format(bar.value)
            outside.append(element("text", {**number, "y": top + y + row / 2 + 4.5}, words))
    area = element("svg", {**across, "y": top}, *inside)
    rows = [
        [" · ".join(filter(None, (group.label, name))), *bar_cells(bar, format, unknown)]
        for group in data
        for name, bar in zip(names, group.bars, strict=True)
        if bar is not None
    ]
    said = "; ".join(f"{label}: {value}" for label, value, *_ in rows[:20])
    table = Table.of(heads, rows, title)
    return Picture(
        title, _WIDTH, top + height + _AXIS, (*keys, area, *outside), said, fluid=True, kind="bars", table=table
    )


def _bars(
    group: Group, axis: Scale, y: float, size: tuple[int, int], names: Sequence[str], format: Format, unknown: str
) -> list[Markup]:
    """The bars of a group, one below the other."""
    (row, thick), parts = size, []
    first = y + (row - thick * len(names)) / 2 + thick / 2
    for index, (name, bar) in enumerate(zip(names, group.bars, strict=True)):
        if bar is None:
            continue
        middle = first + index * thick
        label = " · ".join(filter(None, (group.label, name)))
        inside = [element("title", None, f"{label}: {bar_words(bar, format, unknown)}")]
        if bar.value is None:
            line = {"class": "missing", "x1": 0, "x2": "100%", "y1": middle, "y2": middle}
            inside.append(element("line", line))
        else:
            inside.append(bar_body(axis, bar.value, middle, thick - 1.5, f"s{index % SERIES}"))
        if bar.value is not None and bar.lower is not None and bar.upper is not None and all(known_ends(bar)):
            inside += whisker(axis, float(bar.lower), float(bar.upper), middle, min(4, thick / 2 - 1))
        hit = {"class": "hit", "x": 0, "y": middle - thick / 2, "width": "100%", "height": thick}
        parts.append(element("g", None, *inside, element("rect", hit)))
    return parts
