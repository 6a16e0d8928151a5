"""Two distributions to be compared by eye: histograms over one axis, one above the other, and bars in pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import InputError
from discreet.show.picture import Picture
from discreet.show.scale import Scale, compact, share
from discreet.show.svg import Markup, element, shorten
from discreet.show.table import Table

__all__ = ["Twin", "twin_bars", "twins"]

_WIDTH = 320
_HEAD, _TALL, _AXIS = 28, 60, 20  # the name of a panel, its bars, the ticks below both
_ROW = 34
_LETTERS = 34
_SIDES = ("s1", "s0")
_LEAST = 0.75  # the width of a bar at least
_DOTS = 6  # lines that end in a dot; of more, only the tallest does
_FAINT = 0.55  # how opaque bars are, so that lines are seen before them


@dataclass(frozen=True, slots=True)
class Twin:
    """The values from `start` to `end`, what it is called, and what share of the first table and of the second it has.

    A single value, which starts where it ends, is drawn as a line.
    """

    start: float
    end: float
    label: str
    first: float
    second: float

    @property
    def words(self) -> str:
        """The two shares."""
        return f"{self.label}: {share(self.first)}, {share(self.second)}"


def twins(
    title: str,
    data: Sequence[Twin],
    *,
    spikes: Sequence[Twin] = (),
    names: tuple[str, str] = ("real", "synthetic"),
    ticks: Sequence[tuple[float, str]] = (),
    root: bool = False,
) -> Picture:
    """Two histograms over one axis, the first above the second; `spikes` are single values and drawn as lines.

    All heights have one scale, that of square roots if `root`; how much lies on lines is written beside each name. Of
    plain numbers `ticks` are found; others are given.
    """
    if not data:
        raise InputError("data", 0, "at least one bin")
    axis = Scale(min(one.start for one in [*data, *spikes]), max(one.end for one in [*data, *spikes]))
    tallest = max([1e-9, *(max(one.first, one.second) for one in [*data, *spikes])])

    def tall(one: Twin, side: int) -> float:
        part = _height(one, side) / tallest
        return _TALL * (math.sqrt(part) if root else part)

    parts: list[Markup] = []
    ranked = sorted(spikes, key=lambda one: -max(one.first, one.second))
    dotted = ranked if len(ranked) <= _DOTS else ranked[:1]
    for side, name in enumerate(names):
        floor = (side + 1) * (_HEAD + _TALL)
        parts.append(element("text", {"class": "name", "x": 0, "y": floor - _TALL - 11}, shorten(name, 20)))
        if spikes:
            lies = sum(_height(one, side) for one in spikes)
            words = {"class": "tick", "x": _WIDTH, "y": floor - _TALL - 11, "text-anchor": "end"}
            parts.append(element("text", words, f"{lies:.1%} on lines"))
        parts += [_bar(one, axis, floor, tall(one, side), side) for one in data]
        parts += [_line(one, axis, floor, tall(one, side), side, one in dotted) for one in spikes]
        parts.append(element("line", {"class": "axis", "x1": 0, "x2": _WIDTH, "y1": floor, "y2": floor}))
    bottom = 2 * (_HEAD + _TALL)
    parts += [_hit(one, axis, bottom) for one in [*data, *spikes]]
    parts += _ticks(ticks or [(tick, compact(tick)) for tick in axis.ticks(5)], axis, bottom + 15)
    table = _table(title, [*spikes, *data], names)
    return Picture(title, _WIDTH, bottom + _AXIS, tuple(parts), _said(title, names), table=table)


def twin_bars(title: str, data: Sequence[Twin], *, names: tuple[str, str] = ("real", "synthetic")) -> Picture:
    """Bars in pairs below their labels, the first table above the second, with both shares beside the label."""
    if not data:
        raise InputError("data", 0, "at least one bar")
    top = max([1e-9, *(max(one.first, one.second) for one in data)])
    parts = []
    for row, one in enumerate(data):
        y = row * _ROW
        numbers = {"x": _WIDTH, "y": y + 12, "text-anchor": "end"}
        inside = [
            element("title", None, one.words),
            element("text", {"class": "name", "x": 0, "y": y + 12}, shorten(one.label, _LETTERS)),
            element("text", numbers, f"{one.first:.1%} \u00b7 {one.second:.1%}"),
        ]
        for side, colour in enumerate(_SIDES):
            wide = _WIDTH * _height(one, side) / top
            body = {"x": 0, "y": y + 17 + 7 * side, "width": wide, "height": 6, "rx": 1}
            inside.append(element("rect", {"class": f"bar {colour}", **body}))
        inside.append(element("rect", {"class": "hit", "x": 0, "y": y, "width": _WIDTH, "height": _ROW}))
        parts.append(element("g", None, *inside))
    return Picture(title, _WIDTH, _ROW * len(data), tuple(parts), _said(title, names), table=_table(title, data, names))


def _height(one: Twin, side: int) -> float:
    return max(one.second if side else one.first, 0.0)


def _bar(one: Twin, axis: Scale, floor: float, height: float, side: int) -> Markup:
    left, right = _WIDTH * axis.at(one.start), _WIDTH * axis.at(one.end)
    body = {"x": left, "y": floor - height, "width": max(right - left - 0.6, _LEAST), "height": height}
    return element("rect", {"class": f"bar {_SIDES[side]}", "fill-opacity": _FAINT, **body})


def _line(one: Twin, axis: Scale, floor: float, height: float, side: int, dotted: bool) -> Markup:
    x = min(max(_WIDTH * axis.at(one.start), 2.5), _WIDTH - 2.5)
    stem = element("line", {"class": f"line {_SIDES[side]}", "x1": x, "x2": x, "y1": floor, "y2": floor - height})
    head = element("circle", {"class": f"point {_SIDES[side]}", "cx": x, "cy": floor - height, "r": 3})
    return element("g", None, *([stem, head][: 1 + dotted] if height > 0 else []))


def _hit(one: Twin, axis: Scale, bottom: float) -> Markup:
    """Where a pointer finds the shares of both."""
    left, right = _WIDTH * axis.at(one.start), _WIDTH * axis.at(one.end)
    if right - left < 3:
        left, right = left - 2, right + 2
    body = {"class": "hit", "x": left, "y": 0, "width": right - left, "height": bottom}
    return element("rect", body, element("title", None, one.words))


def _ticks(ticks: Sequence[tuple[float, str]], axis: Scale, y: float) -> list[Markup]:
    found = []
    for at, words in ticks:
        here = axis.at(at)
        anchor = "start" if here < 0.06 else "end" if here > 0.94 else "middle"
        found.append(element("text", {"class": "tick", "x": _WIDTH * here, "y": y, "text-anchor": anchor}, words))
    return found


def _said(title: str, names: tuple[str, str]) -> str:
    return f"{title}: shares of rows, {names[0]} and {names[1]}"


def _table(title: str, data: Sequence[Twin], names: tuple[str, str]) -> Table:
    rows = [[one.label, share(one.first), share(one.second)] for one in data if one.first or one.second]
    return Table.of(["", *names], rows, title)
