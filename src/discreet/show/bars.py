"""Bars or points with intervals, one to a line: the label above, the number beside it, so that it fits a phone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import InputError, Phrase
from discreet.show.picture import Picture
from discreet.show.scale import Format, Scale, brief, compact, finite
from discreet.show.svg import Markup, element, shorten
from discreet.show.table import Table

__all__ = ["Bar", "bars", "whisker"]

_WIDTH = 640
_ROW, _HEAD, _AXIS = 42, 30, 26
_LETTERS = 60
_SERIES = 6


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with its interval (ends that are not known are None), a label, and the number of its series.

    A `heading` is written above it, where a new part of the picture begins.
    """

    label: str
    value: float
    lower: float | None = None
    upper: float | None = None
    series: int = 0
    heading: str = ""


def bars(
    title: str,
    data: Sequence[Bar],
    *,
    format: Format = brief,
    ticks: Format | None = None,
    scale: Scale | None = None,
    points: bool = False,
    description: str = "",
    heads: tuple[str, str, str, str] = ("", "value", "from", "to"),
) -> Picture:
    """Bars from zero, or `points` where zero means nothing; each with its interval.

    >>> bars("People", [Bar("Kent", 120, 110, 130), Bar("Essex", 90)]).height
    110
    """
    if not data:
        raise InputError("data", 0, "at least one bar")
    if not all(finite(bar.value) for bar in data):
        raise InputError("data", Phrase("a value that is no finite number"), "values that can be drawn")
    ends = [float(end) for bar in data for end in (bar.value, bar.lower, bar.upper) if end is not None and finite(end)]
    axis = scale if scale is not None else Scale.around(ends, zero=not points)
    marks = axis.ticks()
    top = sum(_ROW + (_HEAD if bar.heading else 0) for bar in data)
    parts = [*_grid(axis, marks, top), *_ticks(axis, marks, ticks or compact, top)]
    y = 0
    for bar in data:
        if bar.heading:
            parts.append(element("text", {"class": "title", "x": 0, "y": y + 20}, shorten(bar.heading, _LETTERS)))
            y += _HEAD
        parts.append(_row(bar, axis, y, format, points))
        y += _ROW
    rows = [[_named(bar), format(bar.value), _end(bar.lower, format), _end(bar.upper, format)] for bar in data]
    said = description or "; ".join(_in_words(bar, format) for bar in data[:20])
    return Picture(
        title, _WIDTH, top + _AXIS, tuple(parts), said, fluid=True, kind="bars", table=Table.of(heads, rows, title)
    )


def whisker(axis: Scale, low: float, high: float, y: float, half: float = 5) -> list[Markup]:
    """An interval with ends, over a halo that lets it be seen on any ground."""
    start, end = axis.percent(low), axis.percent(high)
    lines = [
        {"x1": start, "x2": end, "y1": y, "y2": y},
        {"x1": start, "x2": start, "y1": y - half, "y2": y + half},
        {"x1": end, "x2": end, "y1": y - half, "y2": y + half},
    ]
    return [element("line", {"class": kind, **line}) for kind in ("halo", "interval") for line in lines]


def _row(bar: Bar, axis: Scale, y: int, format: Format, points: bool) -> Markup:
    known = _known_ends(bar)
    interval = f"{_end(bar.lower, format)} to {_end(bar.upper, format)}" if any(known) else ""
    words = f"{bar.label}: {format(bar.value)}" + (f", {interval}" if interval else "")
    middle = y + 30
    value = [element("tspan", {"class": "value"}, format(bar.value))]
    if interval:
        value.append(element("tspan", None, f"\u2002{interval}"))
    parts = [
        element("title", None, words),
        element("text", {"class": "name", "x": 0, "y": y + 15}, shorten(bar.label, _LETTERS)),
        element("text", {"x": "100%", "y": y + 15, "text-anchor": "end"}, *value),
    ]
    colour = f"s{bar.series % _SERIES}"
    if points:
        mark = element("circle", {"class": f"point {colour}", "cx": axis.percent(bar.value), "cy": middle, "r": 5})
    else:
        first, last = sorted((axis.at(0.0), axis.at(bar.value)))
        body = {"x": f"{round(100 * first, 3):g}%", "width": f"{round(100 * (last - first), 3):g}%"}
        mark = element("rect", {"class": f"bar {colour}", **body, "y": middle - 7, "height": 14, "rx": 1.5})
    ends = []
    if bar.lower is not None and bar.upper is not None and all(known):
        ends = whisker(axis, float(bar.lower), float(bar.upper), middle)
    parts += [*ends, mark] if points else [mark, *ends]
    parts.append(element("rect", {"class": "hit", "x": 0, "y": y, "width": "100%", "height": _ROW}))
    return element("g", None, *parts)


def _grid(axis: Scale, marks: Sequence[float], height: int) -> list[Markup]:
    return [
        element(
            "line",
            {
                "class": "zero" if mark == 0 else "gridline",
                "x1": axis.percent(mark),
                "x2": axis.percent(mark),
                "y1": 0,
                "y2": height + 4,
            },
        )
        for mark in marks
    ]


def _ticks(axis: Scale, marks: Sequence[float], format: Format, height: int) -> list[Markup]:
    return [
        element(
            "text",
            {
                "class": "tick",
                "x": axis.percent(mark),
                "y": height + 19,
                "text-anchor": "start" if axis.at(mark) < 0.04 else "end" if axis.at(mark) > 0.94 else "middle",
            },
            format(mark),
        )
        for mark in marks
    ]


def _named(bar: Bar) -> str:
    return f"{bar.heading}: {bar.label}" if bar.heading else bar.label


def _known_ends(bar: Bar) -> list[bool]:
    return [end is not None and finite(end) for end in (bar.lower, bar.upper)]


def _in_words(bar: Bar, format: Format) -> str:
    interval = f", from {_end(bar.lower, format)} to {_end(bar.upper, format)}" if any(_known_ends(bar)) else ""
    return f"{_named(bar)} {format(bar.value)}{interval}"


def _end(value: float | None, format: Format) -> str:
    return "not known" if value is None or value != value else format(value)
