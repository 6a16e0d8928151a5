"""Where people come from: shades around their homes, and lines from there to where they go."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import InputError, Phrase
from discreet.show.picture import Picture
from discreet.show.svg import Markup, element, shorten
from discreet.show.table import Table

__all__ = ["Home", "flow_map"]

_WIDTH, _TALLEST, _LOWEST = 620.0, 560.0, 180.0
_CELL = 11.0  # of the shades
_REACH = 28.0  # how far people are spread around their home
_MARGIN = 3 * _REACH + _CELL  # as far as shades go
_SHADES = 8
_LINES = 60  # flows that are drawn: the largest
_NAMES = 12  # homes that are named: the largest
_WIDEST, _LARGEST = 9.0, 10.0


@dataclass(frozen=True, slots=True)
class Home:
    """A place on a plane, x to the east and y to the north, with how many come from there and the interval of it."""

    name: str
    x: float
    y: float
    value: float
    lower: float
    upper: float


def flow_map(
    title: str,
    homes: Sequence[Home],
    works: Sequence[tuple[str, float, float]],
    flows: Sequence[Sequence[float]],
) -> Picture:
    """Shades for how many live around each point, lines as wide as the flows from every home to every work place.

    `works` are names and places, `flows` has a row for each home with a number for each of them.
    """
    if not homes or not works or len(flows) != len(homes) or any(len(row) != len(works) for row in flows):
        raise InputError("flows", Phrase(f"{len(flows)} rows"), "a row for each home with a number for each work place")
    points = [(one.x, one.y) for one in homes] + [(x, y) for _, x, y in works]
    if not all(math.isfinite(part) for point in points for part in point):
        raise InputError("homes", Phrase("a place without a number"), "places with finite coordinates")
    left, right = (edge([x for x, _ in points]) for edge in (min, max))
    low, high = (edge([y for _, y in points]) for edge in (min, max))
    unit = (_WIDTH - 2 * _MARGIN) / max(right - left, (high - low) * (_WIDTH / _TALLEST), 1e-9)
    height = max((high - low) * unit + 2 * _MARGIN, _LOWEST)
    aside = (_WIDTH - (right - left) * unit) / 2

    def at(x: float, y: float) -> tuple[float, float]:
        return aside + (x - left) * unit, height - (height - (high - low) * unit) / 2 - (y - low) * unit

    places = [at(one.x, one.y) for one in homes]
    ends = [at(x, y) for _, x, y in works]
    parts = _shades(homes, places, height)
    parts += _lines(homes, works, flows, places, ends)
    parts += _dots(homes, places)
    for (name, _, _), (x, y) in zip(works, ends, strict=True):
        mark = element("path", {"class": "diamond", "d": f"M{x:.1f} {y - 8:.1f}l8 8l-8 8l-8 -8Z"})
        parts.append(element("g", None, element("title", None, f"{name}: work area"), mark))
    order = sorted(range(len(homes)), key=lambda place: -homes[place].value)
    parts += _names([(homes[place].name, places[place]) for place in order[:_NAMES]], [*ends], works)
    rows = [[one.name, *(f"{number:,.0f}" for number in (one.value, one.lower, one.upper))] for one in homes]
    table = Table.of(["home area", "people", "from", "to"], [rows[place] for place in order], title)
    said = f"{title}: the most from {homes[order[0]].name}, {homes[order[0]].value:,.0f}."
    drawn = Picture(title, _WIDTH, height, tuple(parts), said, table=table)
    return drawn.captioned(
        "Darker where more people live; a dot for each home area, a diamond for each work area, "
        "and lines between them, the wider the more people."
    )


def _shades(homes: Sequence[Home], places: Sequence[tuple[float, float]], height: float) -> list[Markup]:
    """People are spread around their homes by a bell curve; squares are as dark as the root of what comes together."""
    many, rows = int(_WIDTH // _CELL) + 1, int(height // _CELL) + 1
    heat = [[0.0] * many for _ in range(rows)]
    for one, (x, y) in zip(homes, places, strict=True):
        if one.value <= 0:
            continue
        for row in range(max(0, int((y - 3 * _REACH) / _CELL)), min(rows, int((y + 3 * _REACH) / _CELL) + 1)):
            for column in range(max(0, int((x - 3 * _REACH) / _CELL)), min(many, int((x + 3 * _REACH) / _CELL) + 1)):
                far = math.hypot((column + 0.5) * _CELL - x, (row + 0.5) * _CELL - y) / _REACH
                heat[row][column] += one.value * math.exp(-far * far / 2)
    most = max(map(max, heat))
    parts = []
    for row, line in enumerate(heat):
        for column, value in enumerate(line):
            step = round(_SHADES * math.sqrt(value / most)) if most > 0 else 0
            if step:
                body = {"x": column * _CELL, "y": row * _CELL, "width": _CELL, "height": _CELL}
                parts.append(element("rect", {"class": f"n{step}", **body, "fill-opacity": 0.55}))
    return parts


def _lines(
    homes: Sequence[Home],
    works: Sequence[tuple[str, float, float]],
    flows: Sequence[Sequence[float]],
    places: Sequence[tuple[float, float]],
    ends: Sequence[tuple[float, float]],
) -> list[Markup]:
    """The largest flows, each a curve that bends a little, so that both ways can be told apart."""
    found = [
        (float(many), home, work)
        for home, row in enumerate(flows)
        for work, many in enumerate(row)
        if many > 0 and math.dist(places[home], ends[work]) >= 1
    ]
    most = max((many for many, _, _ in found), default=1.0)
    parts = []
    for many, home, work in sorted(found, key=lambda one: (-one[0], one[1:]))[:_LINES]:
        (x, y), (u, v) = places[home], ends[work]
        words = f"{homes[home].name} to {works[work][0]}: {many:,.0f}"
        body = {"class": "bar s0", "d": _ribbon((x, y), (u, v), max(0.6, _WIDEST * math.sqrt(many / most)))}
        parts.append(element("path", {**body, "fill-opacity": 0.5}, element("title", None, words)))
    return parts


def _ribbon(start: tuple[float, float], end: tuple[float, float], width: float) -> str:
    """The outline of a curve of a width, which style sheets say nothing about."""
    (x, y), (u, v) = start, end
    length = math.dist(start, end)
    across, down = -(v - y) / length * width / 2, (u - x) / length * width / 2
    bend = (x + u) / 2 - (v - y) / 8, (y + v) / 2 + (u - x) / 8
    there = (
        f"M{x + across:.1f} {y + down:.1f}Q{bend[0] + across:.1f} {bend[1] + down:.1f} {u + across:.1f} {v + down:.1f}"
    )
    back = (
        f"L{u - across:.1f} {v - down:.1f}Q{bend[0] - across:.1f} {bend[1] - down:.1f} {x - across:.1f} {y - down:.1f}Z"
    )
    return there + back


def _dots(homes: Sequence[Home], places: Sequence[tuple[float, float]]) -> list[Markup]:
    most = max(max(one.value for one in homes), 1e-9)
    parts = []
    for one, (x, y) in sorted(zip(homes, places, strict=True), key=lambda pair: -pair[0].value):
        radius = max(2.0, _LARGEST * math.sqrt(max(one.value, 0) / most))
        words = f"{one.name}: {one.value:,.0f}, from {one.lower:,.0f} to {one.upper:,.0f}"
        parts.append(element("circle", {"class": "dot", "cx": x, "cy": y, "r": radius}, element("title", None, words)))
    return parts


def _names(
    homes: Sequence[tuple[str, tuple[float, float]]],
    ends: Sequence[tuple[float, float]],
    works: Sequence[tuple[str, float, float]],
) -> list[Markup]:
    """Names beside their places, from the largest, where no other name is in the way."""
    taken: list[tuple[float, float, float]] = []
    parts = []
    for name, (x, y) in [*((work[0], end) for work, end in zip(works, ends, strict=True)), *homes]:
        text = shorten(name, 22)
        wide = len(text) * 7.2
        before = x + 14 + wide > _WIDTH
        start = x - 14 - wide if before else x + 14
        if any(abs(y - other) < 14 and start < until and begin < start + wide for begin, until, other in taken):
            continue
        taken.append((start, start + wide, y))
        at = {"class": "name", "x": x - 14 if before else x + 14, "y": y + 4, "text-anchor": "end" if before else None}
        parts.append(element("text", at, text))
    return parts
