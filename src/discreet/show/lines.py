"""Lines over two axes: curves with points, a budget that goes down in steps, detections against false alarms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import InputError
from discreet.show.picture import Picture
from discreet.show.plot import Axis, Plot, key
from discreet.show.scale import Scale, compact, share
from discreet.show.svg import Markup, element
from discreet.show.table import Table

__all__ = ["Band", "Line", "Step", "lines", "roc", "steps"]

_SIDE, _WIDE_SIDE = 240, 320


@dataclass(frozen=True, slots=True)
class Line:
    """Points of one series, joined by a line unless it is `loose`."""

    label: str
    points: tuple[tuple[float, float], ...]
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Band:
    """What lies between two curves, such as a confidence interval: shaded."""

    label: str
    low: tuple[tuple[float, float], ...]
    high: tuple[tuple[float, float], ...]


def lines(
    title: str,
    data: Sequence[Line],
    *,
    bands: Sequence[Band] = (),
    x: Axis | None = None,
    y: Axis | None = None,
    levels: Sequence[tuple[str, float]] = (),
    dots: bool = True,
    width: float = 360,
    height: float = 220,
) -> Picture:
    """Several series over the same axes; `levels` are values of y to compare with, drawn as broken lines.

    `bands` are shaded behind them.
    """
    points = [point for line in data for point in line.points]
    points += [point for band in bands for point in (*band.low, *band.high)]
    if not points:
        raise InputError("data", 0, "at least one point")
    across = x or Axis(Scale.around(point[0] for point in points))
    up = y or Axis(Scale.around([*(point[1] for point in points), *(value for _, value in levels)], zero=True))
    plot = Plot(across, up, width, height)
    parts = plot.frame()
    for band in bands:
        around = plot.outline([*band.high, *reversed(band.low)], closed=True)
        parts.append(element("path", {"class": "area", "d": around}))
    for index, (_, value) in enumerate(levels):
        (start, here), (end, _) = plot.at(across.scale.low, value), plot.at(across.scale.high, value)
        kind = f"line dashed s{(len(data) + index) % 6}"
        parts.append(element("line", {"class": kind, "x1": start, "x2": end, "y1": here, "y2": here}))
    for index, line in enumerate(data):
        if not line.loose:
            parts.append(element("path", {"class": f"line s{index % 6}", "d": plot.outline(line.points)}))
        if dots or line.loose:
            parts += [_dot(plot, line, point, index) for point in line.points]
    names = [(line.label, "point" if line.loose else "line") for line in data]
    names += [(name, "line dashed") for name, _ in levels]
    names += [(band.label, "area") for band in bands]
    wide, tall = plot.size
    keys = key(names, plot.left, tall + 10) if len(names) > 1 else []
    head = ["series", across.label or "x", up.label or "y"]
    rows = [[line.label, across.format(a), up.format(b)] for line in data for a, b in line.points]
    rows += [[name, "any", up.format(value)] for name, value in levels]
    for band in bands:
        for side, curve in (("from", band.low), ("to", band.high)):
            rows += [[f"{band.label}, {side}", across.format(a), up.format(b)] for a, b in curve]
    said = f"{up.label or 'y'} by {across.label or 'x'}: " + ", ".join(name for name, _ in names)
    full = tall + (16 * len(names) + 6 if keys else 0)
    return Picture(title, wide, full, (*parts, *keys), said, table=Table.of(head, rows, title))


def _dot(plot: Plot, line: Line, point: tuple[float, float], index: int) -> Markup:
    cx, cy = plot.at(*point)
    words = f"{line.label}: {plot.x.format(point[0])}, {plot.y.format(point[1])}"
    here = {"class": f"point s{index % 6}", "cx": cx, "cy": cy, "r": 5 if line.loose else 3.5}
    return element("circle", here, element("title", None, words))


@dataclass(frozen=True, slots=True)
class Step:
    """What was left after something happened, and words for it."""

    left: float
    words: str


def steps(title: str, whole: float, data: Sequence[Step], *, first: str = "", last: str = "") -> Picture:
    """What is left of a whole, a step down for each event; `first` and `last` are written at the ends of the line."""
    if not whole > 0:
        raise InputError("whole", whole, "more than zero")
    plot = Plot(Axis(Scale(0, len(data) + 1), "", lambda _: "", 1), Axis(Scale(0, whole), "", compact, 4), 400, 180)
    parts = [part for part in plot.frame() if not part.endswith("></text>")]
    before = whole
    for index, step in enumerate([Step(whole, ""), *data]):
        (left, top), (right, bottom) = plot.at(index, step.left), plot.at(index + 1, 0)
        body = {"x": left, "y": top, "width": right - left, "height": bottom - top}
        line = plot.outline([(index, before), (index, step.left), (index + 1, step.left)])
        area = element("rect", {"class": "area", **body})
        stair = element("path", {"class": "line s0", "d": line})
        parts += [element("g", None, element("title", None, step.words), area, stair)] if index else [area, stair]
        before = step.left
    base = plot.top + plot.height + 17
    count = f"{len(data)} charge" + ("" if len(data) == 1 else "s")
    middle = plot.left + plot.width / 2
    written = ((plot.left, "start", first), (middle, "middle", count), (plot.left + plot.width, "end", last))
    for x, anchor, text in written:
        parts.append(element("text", {"class": "tick", "x": x, "y": base, "text-anchor": anchor}, text))
    about = "A staircase down from the whole, a step for each charge." if data else "Nothing is spent: a straight line."
    rows = [[step.words, compact(step.left)] for step in data]
    table = Table.of(["", "left"], rows, title) if rows else None
    return Picture(title, *plot.size, tuple(parts), about, kind="steps", table=table)


def roc(
    title: str,
    data: Sequence[Line],
    *,
    region: Sequence[tuple[float, float]] = (),
    point: tuple[float, float] | None = None,
    bad: bool | None = None,
    least: float | None = None,
    edge: Line | None = None,
    names: tuple[str, str] = ("false alarms", "detections"),
) -> Picture:
    """Curves from (0, 0) to (1, 1), the diagonal of an attack that only guesses, a shaded region, and a sure point.

    `bad` colours a single curve as a claim that is refuted, or one that is not. With `least` both axes are logarithmic
    and begin there: few false alarms are what matters where an attack accuses single people. `edge` is a curve to
    compare with, drawn as a broken line.
    """
    unit = Scale(0, 1) if least is None else Scale(least, 1, log=True)
    ticks, written, side = (2, compact, _SIDE) if least is None else (4, share, _WIDE_SIDE)
    plot = Plot(Axis(unit, names[0], written, ticks), Axis(unit, names[1], written, ticks), side, side)
    colour = "" if bad is None else "bad" if bad else "good"
    parts = plot.frame()
    if region:
        parts.append(element("path", {"class": "region", "d": plot.outline(region, closed=True)}))
    parts.append(element("path", {"class": "diagonal", "d": plot.outline([(unit.low, unit.low), (1, 1)])}))
    for index, line in enumerate(data):
        kind = f"line {colour or f's{index % 6}'}"
        parts.append(element("path", {"class": kind, "d": plot.outline(line.points)}))
    if edge is not None:
        kind = f"line dashed s{len(data) % 6}"
        parts.append(element("path", {"class": kind, "d": plot.outline(edge.points)}))
    if point is not None:
        cx, cy = plot.at(*point)
        parts.append(element("circle", {"class": f"point {colour or 's0'}", "cx": cx, "cy": cy, "r": 4.5}))
    wide, tall = plot.size
    marks = [(line.label, "line") for line in data] + ([] if edge is None else [(edge.label, "line dashed")])
    keys = key(marks, plot.left, tall + 10) if len(marks) > 1 else []
    full = tall + (16 * len(marks) + 6 if keys else 0)
    said = f"{names[1]} against {names[0]}" + (", inside the region that is allowed" if bad is False else "")
    curves = [*data, *([] if edge is None else [edge])]
    rows = [[line.label, f"{x:.4g}", f"{y:.4g}"] for line in curves for x, y in line.points]
    table = Table.of(["", *names], rows, title) if rows else None
    return Picture(title, wide, full, (*parts, *keys), said, table=table)
