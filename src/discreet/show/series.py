"""Lines over ordered groups, such as bins of age: a point with its interval for each, joined within a series."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from discreet.errors import InputError
from discreet.show.bars import Bar, axis_of, bar_cells, bar_words, known_ends
from discreet.show.picture import Picture
from discreet.show.plot import SERIES, legend
from discreet.show.scale import Format, Scale, brief, compact
from discreet.show.svg import Markup, element, shorten
from discreet.show.table import Table

__all__ = ["Series", "series"]

_WIDTH, _HEIGHT, _AXIS = 640, 230, 26
_ROOM = 52  # letters below the axis, over its whole width on a phone
_MARGIN = 6  # percent of the width, for numbers of the axis
_FEW = 40  # points with dots and ends of intervals; of more, lines alone


@dataclass(frozen=True, slots=True)
class Series:
    """What a line is called, and its points: None, or a value of None, is a gap."""

    label: str
    points: tuple[Bar | None, ...]


def series(
    title: str,
    labels: Sequence[str],
    data: Sequence[Series],
    *,
    apart: Collection[str] = (),
    format: Format = brief,
    scale: Scale | None = None,
    height: int = _HEIGHT,
    heads: tuple[str, str, str, str] = ("", "value", "from", "to"),
    unknown: str = "not known",
) -> Picture:
    """Lines with intervals over `labels` in their order; the axis holds what is informative, and zero.

    No line leads to the labels that are `apart`, such as a missing value.

    >>> series("People", ["0..10", "10..20"], [Series("", (Bar("", 12, 10, 14), Bar("", 20, 18, 22)))]).height
    256
    """
    if not labels or not data or any(len(line.points) != len(labels) for line in data):
        raise InputError("data", len(data), f"at least one series, each with {len(labels)} points")
    known = [point for line in data for point in line.points if point is not None]
    axis = scale if scale is not None else axis_of(known)
    names = [line.label for line in data]
    top, keys = legend(names) if len(names) > 1 else (0, [])
    drawn, written = _levels(axis, height)
    parts = [*drawn]
    for index, line in enumerate(data):
        parts += _line(line, index, len(data), labels, apart, axis, (height, format, unknown))
    below = [*written, *_labels(labels, apart, height)]
    area = element("svg", {"x": 0, "y": top, "width": "100%", "overflow": "visible"}, *parts, *below)
    rows = [
        [" · ".join(filter(None, (label, line.label))), *bar_cells(point, format, unknown)]
        for line in data
        for label, point in zip(labels, line.points, strict=True)
        if point is not None
    ]
    said = "; ".join(f"{label}: {value}" for label, value, *_ in rows[:20])
    table = Table.of(heads, rows, title)
    return Picture(title, _WIDTH, top + height + _AXIS, (*keys, area), said, fluid=True, kind="series", table=table)


def _at(index: int, many: int, shift: float = 0.0) -> str:
    """Where a point lies: in the middle of its share of the width that the numbers of the axis leave."""
    return f"{round(_MARGIN + (100 - _MARGIN) * (index + 0.5 + shift) / many, 3):g}%"


def _line(
    line: Series,
    index: int,
    several: int,
    labels: Sequence[str],
    apart: Collection[str],
    axis: Scale,
    how: tuple[int, Format, str],
) -> list[Markup]:
    height, format, unknown = how
    many, colour = len(labels), f"s{index % SERIES}"
    shift = (
        0.0 if several == 1 else min(0.12 * (several - 1), 0.4) * (index / (several - 1) - 0.5)
    )  # so that intervals do not cover each other

    def level(value: float) -> float:
        return height * (1 - axis.at(value))

    places = [
        None if point is None or point.value is None else (_at(place, many, shift), level(point.value))
        for place, point in enumerate(line.points)
    ]
    parts = [
        element("line", {"class": f"line {colour}", "x1": a[0], "y1": a[1], "x2": b[0], "y2": b[1]})
        for (a, b), pair in zip(pairwise(places), pairwise(labels), strict=True)
        if a is not None and b is not None and not any(label in apart for label in pair)
    ]
    for place, point in enumerate(line.points):
        if point is None:
            continue
        label = " · ".join(filter(None, (labels[place], line.label)))
        inside = [element("title", None, f"{label}: {bar_words(point, format, unknown)}")]
        x = _at(place, many, shift)
        if point.value is None:
            inside.append(element("circle", {"class": "missing", "cx": x, "cy": height - 4, "r": 3}))
        else:
            inside += _interval(point, x, level)
            if many <= _FEW:
                inside.append(
                    element("circle", {"class": f"point {colour}", "cx": x, "cy": level(point.value), "r": 4})
                )
        left = f"{round(_MARGIN + (100 - _MARGIN) * (place + index / several) / many, 3):g}%"
        width = f"{round((100 - _MARGIN) / many / several, 3):g}%"
        hit = {"class": "hit", "x": left, "y": 0, "width": width, "height": height}
        parts.append(element("g", None, *inside, element("rect", hit)))
    return parts


def _interval(point: Bar, x: str, level: Format | object) -> list[Markup]:
    if point.lower is None or point.upper is None or not all(known_ends(point)):
        return []
    ends = {"y1": level(float(point.upper)), "y2": level(float(point.lower))}  # type: ignore[operator]
    return [element("line", {"class": kind, "x1": x, "x2": x, **ends}) for kind in ("halo", "interval")]


def _levels(axis: Scale, height: int) -> tuple[list[Markup], list[Markup]]:
    """Lines at round numbers, and the number above each, which is drawn last: nothing crosses it out."""
    parts, numbers = [], []
    for mark in axis.ticks(4):
        y = height * (1 - axis.at(mark))
        kind = "zero" if mark == 0 else "gridline"
        parts.append(element("line", {"class": kind, "x1": 0, "x2": "100%", "y1": y, "y2": y}))
        numbers.append(element("text", {"class": "tick over", "x": 0, "y": y - 4}, compact(mark)))
    return parts, numbers


def _labels(labels: Sequence[str], apart: Collection[str], height: int) -> list[Markup]:
    """As many labels as there is room for on a phone, among them those that are apart."""
    longest = max(min(len(label), 12) for label in labels)
    fit = max(2, _ROOM // (longest + 2))
    step = -(-len(labels) // fit)
    last = len(labels) - 1
    alone = [place for place, label in enumerate(labels) if label in apart]
    even = [place for place in range(0, len(labels), step) if all(abs(place - other) >= step for other in alone)]
    return [
        element(
            "text",
            {
                "class": "tick",
                "x": _at(place, len(labels)),
                "y": height + 18,
                "text-anchor": _anchor(place, alone, last),
            },
            shorten(labels[place], 12),
        )
        for place in (*even, *alone)
    ]


def _anchor(place: int, alone: Sequence[int], last: int) -> str:
    """Where a label stands: one at the very end does not stick out of the picture."""
    return "end" if place == last and place in alone else "middle"
