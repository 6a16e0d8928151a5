"""Bars or points with intervals, one to a line: the label above, the number beside it, so that it fits a phone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import InputError, Phrase
from discreet.show.picture import Picture
from discreet.show.plot import SERIES
from discreet.show.scale import Format, Scale, brief, compact, finite, informative
from discreet.show.svg import Markup, element, shorten
from discreet.show.table import Table

__all__ = [
    "Bar",
    "axis_of",
    "bar_body",
    "bar_cells",
    "bar_words",
    "bars",
    "grid_lines",
    "known_ends",
    "tick_labels",
    "whisker",
]

_WIDTH = 640
_ROW, _HEAD, _AXIS, _NAME = 42, 30, 26, 20  # of a row, the names take the upper part
_LETTERS = 60


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with its interval (ends that are not known are None), a label, and the number of its series.

    A value that is None is drawn as words: nothing is known of it. A `heading` is written above it, where a new part
    of the picture begins.
    """

    label: str
    value: float | None
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
    unknown: str = "not known",
) -> Picture:
    """Bars from zero, or `points` where zero means nothing; each with its interval, or `unknown`.

    The axis holds what is informative: an interval many times wider than others ends in an arrow.

    >>> bars("People", [Bar("Kent", 120, 110, 130), Bar("Essex", 90)]).height
    110
    """
    if not data:
        raise InputError("data", 0, "at least one bar")
    if not all(bar.value is None or finite(bar.value) for bar in data):
        raise InputError("data", Phrase("a value that is no finite number"), "values that can be drawn")
    axis = scale if scale is not None else axis_of(data, zero=not points)
    marks = axis.ticks()
    top = sum(_ROW + (_HEAD if bar.heading else 0) for bar in data)
    parts = [*tick_labels(axis, marks, ticks or compact, top)]
    y = 0
    for place, bar in enumerate(data):
        if bar.heading:
            parts.append(element("text", {"class": "title", "x": 0, "y": y + 20}, shorten(bar.heading, _LETTERS)))
            y += _HEAD
        if bar.heading or not place:
            below = next((index for index, other in enumerate(data) if index > place and other.heading), len(data))
            parts += grid_lines(axis, marks, _ROW * (below - place), start=y, gap=_NAME, every=_ROW)
        parts.append(_unknown(bar, y, unknown) if bar.value is None else _row(bar, bar.value, axis, y, format, points))
        y += _ROW
    rows = [[_named(bar), *bar_cells(bar, format, unknown)] for bar in data]
    said = description or "; ".join(f"{_named(bar)} {bar_words(bar, format, unknown)}" for bar in data[:20])
    return Picture(
        title, _WIDTH, top + _AXIS, tuple(parts), said, fluid=True, kind="bars", table=Table.of(heads, rows, title)
    )


def axis_of(data: Sequence[Bar], *, zero: bool = True) -> Scale:
    """An axis for bars, which holds what is informative."""
    return Scale.around(informative((bar.value, bar.lower, bar.upper) for bar in data), zero=zero)


def bar_cells(bar: Bar, format: Format, unknown: str) -> list[str]:
    """A bar in a table: its value, and the ends of its interval."""
    if bar.value is None:
        return [unknown, "", ""]
    return [format(bar.value), _end(bar.lower, format), _end(bar.upper, format)]


def bar_words(bar: Bar, format: Format, unknown: str) -> str:
    """A bar in words."""
    if bar.value is None:
        return unknown
    interval = f", from {_end(bar.lower, format)} to {_end(bar.upper, format)}" if any(known_ends(bar)) else ""
    return f"{format(bar.value)}{interval}"


def whisker(axis: Scale, low: float, high: float, y: float, half: float = 5) -> list[Markup]:
    """An interval with ends, over a halo that lets it be seen on any ground; an arrow where it goes on."""
    start, end = axis.percent(low), axis.percent(high)
    lines = [{"x1": start, "x2": end, "y1": y, "y2": y}]
    lines += [{"x1": start, "x2": start, "y1": y - half, "y2": y + half}] if low >= axis.low else []
    lines += [{"x1": end, "x2": end, "y1": y - half, "y2": y + half}] if high <= axis.high else []
    drawn = [element("line", {"class": kind, **line}) for kind in ("halo", "interval") for line in lines]
    for goes_on, x, turn in ((low < axis.low, "0%", "l5 -4v8z"), (high > axis.high, "100%", "l-5 -4v8z")):
        if goes_on:
            tip = element("path", {"class": "goes-on", "d": f"M0 {y:g}{turn}"})
            drawn.append(element("svg", {"x": x, "overflow": "visible"}, tip))
    return drawn


def _unknown(bar: Bar, y: int, words: str) -> Markup:
    return element(
        "g",
        None,
        element("title", None, f"{bar.label}: {words}"),
        element("text", {"class": "name", "x": 0, "y": y + 15}, shorten(bar.label, _LETTERS)),
        element("text", {"class": "unknown", "x": "100%", "y": y + 15, "text-anchor": "end"}, words),
        element("line", {"class": "missing", "x1": 0, "x2": "100%", "y1": y + 30, "y2": y + 30}),
    )


def _row(bar: Bar, number: float, axis: Scale, y: int, format: Format, points: bool) -> Markup:
    known = known_ends(bar)
    interval = f"{_end(bar.lower, format)} to {_end(bar.upper, format)}" if any(known) else ""
    words = f"{bar.label}: {format(number)}" + (f", {interval}" if interval else "")
    middle = y + 30
    value = [element("tspan", {"class": "value"}, format(number))]
    if interval:
        value.append(element("tspan", None, f"\u2002{interval}"))
    parts = [
        element("title", None, words),
        element("text", {"class": "name", "x": 0, "y": y + 15}, shorten(bar.label, _LETTERS)),
        element("text", {"x": "100%", "y": y + 15, "text-anchor": "end"}, *value),
    ]
    colour = f"s{bar.series % SERIES}"
    if points:
        mark = element("circle", {"class": f"point {colour}", "cx": axis.percent(number), "cy": middle, "r": 5})
    else:
        mark = bar_body(axis, number, middle, 14, colour)
    ends = []
    if bar.lower is not None and bar.upper is not None and all(known):
        ends = whisker(axis, float(bar.lower), float(bar.upper), middle)
    parts += [*ends, mark] if points else [mark, *ends]
    parts.append(element("rect", {"class": "hit", "x": 0, "y": y, "width": "100%", "height": _ROW}))
    return element("g", None, *parts)


def bar_body(axis: Scale, value: float, middle: float, thick: float, colour: str) -> Markup:
    """A bar from zero to its value."""
    first, last = sorted((axis.at(0.0), axis.at(value)))
    body = {"x": f"{round(100 * first, 3):g}%", "width": f"{round(100 * (last - first), 3):g}%"}
    across = {"y": middle - thick / 2, "height": thick, "rx": 1.5}
    return element("rect", {"class": f"bar {colour}", **body, **across})


def grid_lines(
    axis: Scale, marks: Sequence[float], height: float, *, start: float = 0, gap: float = 0, every: float = 0
) -> list[Markup]:
    """Lines at round numbers, which leave out the first `gap` of `every` so many: the letters of names."""
    ends = {"y1": start, "y2": start + height + (0 if gap else 4)}
    broken = {"stroke-dasharray": f"{every - gap:g} {gap:g}", "stroke-dashoffset": f"{every - gap:g}"} if gap else {}
    return [
        element(
            "line",
            {
                "class": "zero" if mark == 0 else "gridline",
                "x1": axis.percent(mark),
                "x2": axis.percent(mark),
                **ends,
                **broken,
            },
        )
        for mark in marks
    ]


def tick_labels(axis: Scale, marks: Sequence[float], format: Format, height: float) -> list[Markup]:
    """Round numbers below an axis."""
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


def known_ends(bar: Bar) -> list[bool]:
    """Whether the lower end of a bar's interval is known, and the upper."""
    return [end is not None and finite(end) for end in (bar.lower, bar.upper)]


def _end(value: float | None, format: Format) -> str:
    return "not known" if value is None or value != value else format(value)
