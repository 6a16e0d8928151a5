"""Points of (true, published) numbers on a diagonal, as large as what they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import InputError
from discreet.show.picture import Picture
from discreet.show.plot import Axis, Plot
from discreet.show.scale import Scale, brief
from discreet.show.svg import element
from discreet.show.table import Table

__all__ = ["Point", "scatter"]

_LEAST, _MOST = 2.5, 11


@dataclass(frozen=True, slots=True)
class Point:
    """A named point; its area is in proportion to its weight."""

    label: str
    x: float
    y: float
    weight: float = 1


def scatter(
    title: str, data: Sequence[Point], *, names: tuple[str, str] = ("true", "released"), side: float = 300
) -> Picture:
    """Points on two axes with the same scale from zero; on the diagonal both numbers agree."""
    if not data:
        raise InputError("data", 0, "at least one point")
    top = 1.03 * max([1e-9, *(max(point.x, point.y) for point in data)])
    scale = Scale(0, top)
    plot = Plot(Axis(scale, names[0]), Axis(scale, names[1]), side, side)
    heaviest = max(point.weight for point in data) or 1
    parts = plot.frame()
    parts.append(element("path", {"class": "diagonal", "d": plot.outline([(0, 0), (top, top)])}))
    for point in sorted(data, key=lambda point: -point.weight):
        cx, cy = plot.at(point.x, point.y)
        radius = max(_LEAST, _MOST * (max(point.weight, 0) / heaviest) ** 0.5)
        words = f"{point.label}: {names[0]} {brief(point.x)}, {names[1]} {brief(point.y)}, {point.weight:,.0f} rows"
        here = {"class": "dot", "cx": cx, "cy": cy, "r": radius}
        parts.append(element("circle", here, element("title", None, words)))
    rows = [[point.label, brief(point.x), brief(point.y), f"{point.weight:,.0f}"] for point in data]
    said = f"{names[1]} against {names[0]}; on the diagonal both agree"
    return Picture(title, *plot.size, tuple(parts), said, table=Table.of(["", *names, "rows"], rows, title))
