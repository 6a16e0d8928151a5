"""What an attacker reached: detections against false alarms, and the region that a claim allows."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.show.lines import Line
from discreet.show.picture import Picture
from discreet.show.plot import Axis, Plot, key
from discreet.show.scale import Scale
from discreet.show.svg import element
from discreet.show.table import Table

__all__ = ["roc"]

_SIDE = 240


def roc(
    title: str,
    data: Sequence[Line],
    *,
    region: Sequence[tuple[float, float]] = (),
    point: tuple[float, float] | None = None,
    bad: bool | None = None,
    names: tuple[str, str] = ("false alarms", "detections"),
) -> Picture:
    """Curves from (0, 0) to (1, 1), the diagonal of an attack that only guesses, a shaded region, and a sure point.

    `bad` colours a single curve as a claim that is refuted, or one that is not.
    """
    unit = Scale(0, 1)
    plot = Plot(Axis(unit, names[0], ticks=2), Axis(unit, names[1], ticks=2), _SIDE, _SIDE)
    colour = "" if bad is None else "bad" if bad else "good"
    parts = plot.frame()
    if region:
        parts.append(element("path", {"class": "region", "d": plot.outline(region, closed=True)}))
    parts.append(element("path", {"class": "diagonal", "d": plot.outline([(0, 0), (1, 1)])}))
    for index, line in enumerate(data):
        kind = f"line {colour or f's{index % 6}'}"
        parts.append(element("path", {"class": kind, "d": plot.outline(line.points)}))
    if point is not None:
        cx, cy = plot.at(*point)
        parts.append(element("circle", {"class": f"point {colour or 's0'}", "cx": cx, "cy": cy, "r": 4.5}))
    wide, tall = plot.size
    keys = key([(line.label, "line") for line in data], plot.left, tall + 10) if len(data) > 1 else []
    full = tall + (16 * len(data) + 6 if keys else 0)
    said = f"{names[1]} against {names[0]}" + (", inside the region that is allowed" if bad is False else "")
    rows = [[line.label, f"{x:.4g}", f"{y:.4g}"] for line in data for x, y in line.points]
    table = Table.of(["", *names], rows, title) if rows else None
    return Picture(title, wide, full, (*parts, *keys), said, table=table)
