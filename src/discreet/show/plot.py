"""The frame of a picture with two axes: grid, ticks, names, and where a point of it lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.show.scale import Format, Scale, compact
from discreet.show.svg import Markup, element, path, shorten

__all__ = ["SERIES", "Axis", "Plot", "key", "legend"]

SERIES = 6
"""How many colours series have; further ones begin again."""
_LEGEND_LETTERS, _LETTER, _PHONE = 22, 6.6, 310  # of a name in a legend, the width of a letter, and of a line


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale, what it counts, and how its ticks are written."""

    scale: Scale
    label: str = ""
    format: Format = compact
    ticks: int = 5


@dataclass(frozen=True, slots=True)
class Plot:
    """An area of `width` by `height` between two axes, with room for their ticks around it."""

    x: Axis
    y: Axis
    width: float = 360
    height: float = 220

    left, top, right = 52, 10, 14

    @property
    def bottom(self) -> float:
        """The room below the area."""
        return 40 if self.x.label else 24

    @property
    def size(self) -> tuple[float, float]:
        """Width and height with the room around."""
        return self.left + self.width + self.right, self.top + self.height + self.bottom

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point lies; what is outside lies on the edge."""
        return self.left + self.width * self.x.scale.at(x), self.top + self.height * (1 - self.y.scale.at(y))

    def outline(self, points: Sequence[tuple[float, float]], *, closed: bool = False) -> str:
        """The line through points, for the attribute `d`."""
        return path((self.at(x, y) for x, y in points), closed=closed)

    def frame(self, *, across: bool = True) -> list[Markup]:
        """Grid, ticks and names of the axes; without ticks `across` where they are drawn otherwise."""
        right, bottom = self.left + self.width, self.top + self.height
        parts = []
        for tick in self.y.scale.ticks(self.y.ticks):
            y = self.at(self.x.scale.low, tick)[1]
            parts.append(element("line", {"class": "gridline", "x1": self.left, "x2": right, "y1": y, "y2": y}))
            words = {"class": "tick", "x": self.left - 6, "y": y + 4, "text-anchor": "end"}
            parts.append(element("text", words, self.y.format(tick)))
        for tick in self.x.scale.ticks(self.x.ticks) if across else ():
            x = self.at(tick, self.y.scale.low)[0]
            parts.append(element("line", {"class": "axis", "x1": x, "x2": x, "y1": bottom, "y2": bottom + 4}))
            words = {"class": "tick", "x": x, "y": bottom + 17, "text-anchor": "middle"}
            parts.append(element("text", words, self.x.format(tick)))
        parts.append(element("line", {"class": "axis", "x1": self.left, "x2": right, "y1": bottom, "y2": bottom}))
        middle = (self.left + self.width / 2, self.top + self.height / 2)
        if self.x.label:
            below = {"class": "tick", "x": middle[0], "y": bottom + 34, "text-anchor": "middle"}
            parts.append(element("text", below, self.x.label))
        if self.y.label:
            turn = f"translate(11 {middle[1]:g}) rotate(-90)"
            parts.append(element("text", {"class": "tick", "transform": turn, "text-anchor": "middle"}, self.y.label))
        return parts


def legend(names: Sequence[str]) -> tuple[int, list[Markup]]:
    """What the colours of series mean, above a fluid picture: their height, and their parts.

    They stand side by side as far as a phone has room, or in two columns where that takes fewer lines.
    """
    spots, lines = _side_by_side([min(len(name), _LEGEND_LETTERS) for name in names])
    if lines > -(-len(names) // 2):
        spots = [(("0%", "50%")[index % 2], index // 2) for index in range(len(names))]
        lines = spots[-1][1] + 1
    parts = []
    for index, (name, (x, line)) in enumerate(zip(names, spots, strict=True)):
        y = 18 * line + 8
        swatch = element("rect", {"class": f"bar s{index % SERIES}", "y": y - 5, "width": 14, "height": 10, "rx": 2})
        text = element("text", {"class": "tick", "x": 21, "y": y + 4}, shorten(name, _LEGEND_LETTERS))
        parts.append(element("svg", {"x": x, "overflow": "visible"}, swatch, text))
    return 18 * lines + 12, parts


def _side_by_side(lengths: Sequence[int]) -> tuple[list[tuple[str, int]], int]:
    """Where names of so many letters stand one after the other, and how many lines they take."""
    spots: list[tuple[str, int]] = []
    x, line = 0.0, 0
    for length in lengths:
        wide = 21 + _LETTER * length + 22
        if x and x + wide > _PHONE:
            x, line = 0.0, line + 1
        spots.append((f"{x:g}", line))
        x += wide
    return spots, line + 1


def key(names: Sequence[tuple[str, str]], x: float, y: float) -> list[Markup]:
    """What the colours of series mean, one below the other, each with its mark (`line`, `point`, `area`)."""
    parts = []
    for index, (name, mark) in enumerate(names):
        here = y + 16 * index
        colour = {"class": f"{mark} s{index % 6}"}
        if mark == "point":
            parts.append(element("circle", {**colour, "cx": x + 8, "cy": here, "r": 4.5}))
        elif mark == "area":
            parts.append(element("rect", {"class": mark, "x": x, "y": here - 5, "width": 16, "height": 10}))
        else:
            parts.append(element("line", {**colour, "x1": x, "x2": x + 16, "y1": here, "y2": here}))
        parts.append(element("text", {"class": "tick", "x": x + 22, "y": here + 4}, shorten(name, 48)))
    return parts
