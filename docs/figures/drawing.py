"""Plain SVG with axes, lines, bars and words, readable on light and on dark pages, the same to the letter every time.

A figure brings its own ground, so that it reads on any page. Colours follow what the reader prefers; lines
also differ in their dashes, so that nothing is told by colour alone.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Protocol

CONCEPTS = Path(__file__).resolve().parent.parent / "concepts"

LIGHT = {
    "ground": "#ffffff", "ink": "#1f2328", "quiet": "#59636e", "grid": "#e4e8ec", "fill": "#dbe9f8",
    "a": "#0b5cad", "b": "#b3470a", "c": "#1a7340", "d": "#7d3c98",
}  # fmt: skip
DARK = {
    "ground": "#1b1f27", "ink": "#eceff3", "quiet": "#a9b3bf", "grid": "#343b46", "fill": "#23384f",
    "a": "#74b6ff", "b": "#ffae70", "c": "#72d69a", "d": "#dfa3ec",
}  # fmt: skip
DASHES = {"a": "", "b": "7 4", "c": "2 3", "d": "9 3 2 3", "quiet": "3 4"}

Point = tuple[float, float]


def _style() -> str:
    def rules(colours: Mapping[str, str]) -> str:
        words = f".ink{{fill:{colours['ink']}}}.quiet{{fill:{colours['quiet']}}}"
        plain = f".ground{{fill:{colours['ground']}}}.band{{fill:{colours['fill']}}}.grid{{stroke:{colours['grid']}}}"
        marks = "".join(
            f".{name}{{fill:{colours[name]}}}.line-{name}{{stroke:{colours[name]}}}" for name in ("a", "b", "c", "d")
        )
        return f"{plain}{words}.line-quiet{{stroke:{colours['quiet']}}}{marks}"

    dashes = "".join(f".line-{name}{{stroke-dasharray:{dash}}}" for name, dash in DASHES.items() if dash)
    return (
        "text{font:13px system-ui,sans-serif}.head{font-weight:600;font-size:15px}path,line{fill:none}"
        f"{dashes}{rules(LIGHT)}@media(prefers-color-scheme:dark){{{rules(DARK)}}}"
    )


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high`; `ticks` are the values that are written out, as text or as they are."""

    low: float
    high: float
    title: str = ""
    ticks: Mapping[float, str] | Sequence[float] = ()
    log: bool = False

    def place(self, value: float) -> float:
        """Where a value lies, from 0 at the low end to 1 at the high end."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def marks(self) -> list[tuple[float, str]]:
        """The ticks and their words."""
        if isinstance(self.ticks, Mapping):
            return list(self.ticks.items())
        return [(tick, f"{tick:,.6g}" if tick < 1e5 else f"{tick:,.0f}") for tick in self.ticks]


@dataclass(slots=True)
class Panel:
    """A pair of axes and what is drawn on them, in the order it is drawn."""

    x: Axis
    y: Axis
    left: float = 64
    top: float = 64
    width: float = 550
    height: float = 250
    parts: list[str] = field(default_factory=list)

    def at(self, point: Point) -> tuple[float, float]:
        """The place of a point on the sheet."""
        x, y = point
        return self.left + self.width * self.x.place(x), self.top + self.height * (1 - self.y.place(y))

    def line(self, points: Iterable[Point], kind: str, weight: float = 2.2) -> None:
        """A line through the points."""
        path = "M" + "L".join(_pair(self.at(point)) for point in points)
        self.parts.append(f'<path class="line-{kind}" stroke-width="{weight}" stroke-linejoin="round" d="{path}"/>')

    def band(self, lower: Sequence[Point], upper: Sequence[Point]) -> None:
        """What lies between two lines."""
        places = [_pair(self.at(point)) for point in [*lower, *reversed(upper)]]
        self.parts.append(f'<polygon class="band" points="{" ".join(places)}"/>')

    def dots(self, points: Iterable[Point], kind: str, radius: float = 4) -> None:
        """A dot at every point."""
        for x, y in map(self.at, points):
            self.parts.append(f'<circle class="{kind}" cx="{_short(x)}" cy="{_short(y)}" r="{_short(radius)}"/>')

    def bar(self, low: Point, high: Point, kind: str) -> None:
        """A box between two corners."""
        (x0, y0), (x1, y1) = self.at(low), self.at(high)
        size = f'width="{_short(abs(x1 - x0))}" height="{_short(abs(y1 - y0))}"'
        self.parts.append(f'<rect class="{kind}" x="{_short(min(x0, x1))}" y="{_short(min(y0, y1))}" {size}/>')

    def say(self, text: str, point: Point, kind: str = "ink", anchor: str = "start", move: Point = (0, 0)) -> None:
        """Words at a point, moved by so many pixels."""
        x, y = self.at(point)
        self.parts.append(_text(text, (x + move[0], y + move[1]), kind, anchor))

    def key(
        self, names: Mapping[str, str], left: float | None = None, top: float | None = None, *, boxes: bool = False
    ) -> None:
        """What the lines (or `boxes`) are, each kind with its words: beside the panel, or at a place on the sheet."""
        x = self.left + self.width + 12 if left is None else left
        y = self.top + 20 if top is None else top
        for place, (kind, words) in enumerate(names.items()):
            at = y + 24 * place
            if boxes:
                corner = f'x="{_short(x + 6)}" y="{_short(at - 6)}"'
                self.parts.append(f'<rect class="{kind}" {corner} width="12" height="12"/>')
            else:
                self.parts.append(_rule((x, at), (x + 24, at), f"line-{kind}", weight=2.2))
            self.parts.append(_text(words, (x + 30, at + 4), "ink", "start"))

    def drawn(self) -> list[str]:
        """Grid, axes, words of the axes, and the parts."""
        out = []
        foot, right = self.top + self.height, self.left + self.width
        for tick, words in self.x.marks():
            x = self.at((tick, self.y.low))[0]
            out += [_rule((x, self.top), (x, foot), "grid"), _text(words, (x, foot + 18), "quiet", "middle")]
        for tick, words in self.y.marks():
            y = self.at((self.x.low, tick))[1]
            out += [_rule((self.left, y), (right, y), "grid"), _text(words, (self.left - 8, y + 4), "quiet", "end")]
        out += [_rule((self.left, foot), (right, foot), "line-quiet", solid=True)]
        if self.x.title:
            out.append(_text(self.x.title, (self.left + self.width / 2, foot + 40), "ink", "middle"))
        if self.y.title:
            out.append(_text(self.y.title, (self.left, self.top - 8), "ink", "start"))
        return [*out, *self.parts]


class Drawn(Protocol):
    """Whatever stands on a sheet."""

    def drawn(self) -> list[str]:
        """Its parts, in the order they are drawn."""
        ...


def picture(heading: str, told: str, panels: Sequence[Drawn], *, width: int = 640, height: int = 372) -> str:
    """The figure: `heading` is written on it, `told` says in words what is to be seen."""
    body = [part for panel in panels for part in panel.drawn()]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-labelledby="t d">',
        f'<title id="t">{escape(heading)}</title>',
        f'<desc id="d">{escape(told)}</desc>',
        f"<style>{_style()}</style>",
        f'<rect class="ground" width="{width}" height="{height}" rx="8"/>',
        f'<text class="ink head" x="16" y="24">{escape(heading)}</text>',
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def write(figures: Callable[[], Mapping[str, str]]) -> None:
    """Write a page's figures beside it; a script's last line."""
    for name, text in figures().items():
        (CONCEPTS / f"{name}.svg").write_text(text, encoding="utf-8")
        sys.stdout.write(f"{name}.svg\n")


def label(words: str, place: Point, kind: str, anchor: str = "start") -> str:
    """Words at a place on the sheet."""
    return _text(words, place, kind, anchor)


def box(corners: tuple[float, float, float, float], line: str, fill: str, *, solid: bool = False) -> str:
    """A frame from left and top to right and bottom on the sheet, filled."""
    x0, y0, x1, y1 = corners
    size = f'x="{_short(x0)}" y="{_short(y0)}" width="{_short(x1 - x0)}" height="{_short(y1 - y0)}"'
    plain = ' style="stroke-dasharray:none"' if solid else ""
    return f'<rect class="{fill} {line}"{plain} stroke-width="1.4" rx="5" {size}/>'


def polyline(places: Sequence[Point], kind: str, *, arrow: bool = False, solid: bool = False) -> str:
    """A line through places on the sheet, with a head at its end if it is an arrow."""
    path = "M" + "L".join(_pair(place) for place in places)
    plain = ' style="stroke-dasharray:none"' if solid else ""
    line = f'<path class="{kind}"{plain} stroke-width="1.8" d="{path}"/>'
    if not arrow:
        return line
    (x0, y0), (x1, y1) = places[-2:]
    length = math.hypot(x1 - x0, y1 - y0)
    across, down = (x1 - x0) / length, (y1 - y0) / length
    sides = [(x1 - 7 * across + side * 4 * down, y1 - 7 * down - side * 4 * across) for side in (1, -1)]
    head = "M" + "L".join(_pair(place) for place in (sides[0], (x1, y1), sides[1]))
    return f'{line}<path class="{kind}" style="stroke-dasharray:none" stroke-width="1.8" d="{head}"/>'


def _rule(start: Point, end: Point, kind: str, *, weight: float = 1, solid: bool = False) -> str:
    (x0, y0), (x1, y1) = start, end
    plain = ' style="stroke-dasharray:none"' if solid else ""
    ends = f'x1="{_short(x0)}" y1="{_short(y0)}" x2="{_short(x1)}" y2="{_short(y1)}"'
    return f'<line class="{kind}"{plain} stroke-width="{_short(weight)}" {ends}/>'


def _text(words: str, place: Point, kind: str, anchor: str) -> str:
    x, y = place
    return f'<text class="{kind}" x="{_short(x)}" y="{_short(y)}" text-anchor="{anchor}">{escape(words)}</text>'


def _pair(place: Point) -> str:
    return f"{_short(place[0])} {_short(place[1])}"


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
