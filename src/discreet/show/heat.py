"""Heat maps: a square of numbers between every two of some names, a table of counts, small images in grey."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.errors import InputError, Phrase
from discreet.show.picture import Picture
from discreet.show.svg import Markup, element, shorten
from discreet.show.table import Table

__all__ = ["grid", "image", "matrix"]

_LONGEST = 14
_STEPS = 8


def matrix(
    title: str,
    names: Sequence[str],
    values: Sequence[Sequence[float]],
    *,
    limit: float = 1.0,
    format: str = "{:.2f}",
    unknown: str = "does not vary",
) -> Picture:
    """A square of squares from `-limit` to `limit`, nothing on the diagonal; NaN is drawn as `unknown`."""
    many = len(names)
    if many < 2 or len(values) != many or any(len(row) != many for row in values):
        raise InputError(
            "values", Phrase(f"{len(values)} rows"), f"a square with a row for each of {many} names, at least two"
        )
    cell = 34 if many <= 8 else 24 if many <= 16 else 14
    left = min(max(len(name) for name in names), _LONGEST) * 6.6 + 8
    parts: list[Markup] = []
    for row, name in enumerate(names):
        middle = left + row * cell + cell / 2
        short = shorten(name, _LONGEST)
        parts.append(element("text", {"x": left - 6, "y": middle + 4, "text-anchor": "end"}, short))
        turn = f"translate({middle + 4:g} {left - 6:g}) rotate(-90)"
        parts.append(element("text", {"transform": turn}, short))
        for column, other in enumerate(names):
            if row != column:
                value = float(values[row][column])
                words = unknown if math.isnan(value) else format.format(value)
                at = (left + column * cell, left + row * cell)
                parts += _square(value / limit, at, cell, f"{name}, {other}: {words}", value)
    rows = [
        [name, *("" if i == j else "" if math.isnan(x) else format.format(x) for j, x in enumerate(map(float, row)))]
        for i, (name, row) in enumerate(zip(names, values, strict=True))
    ]
    side = left + cell * many + 4
    return Picture(title, side, side, tuple(parts), title, table=Table.of(["", *names], rows, title))


def _square(share: float, at: tuple[float, float], cell: int, words: str, value: float) -> list[Markup]:
    step = 0 if math.isnan(share) else min(int(abs(share) * _STEPS + 0.5), _STEPS)
    kind = "none" if math.isnan(share) else f"{'n' if share < 0 else 'p'}{step}"
    body = {"class": kind, "x": at[0] + 1, "y": at[1] + 1, "width": cell - 2, "height": cell - 2, "rx": 2}
    parts = [element("rect", body, element("title", None, words))]
    if cell == 34 and not math.isnan(value):
        ink = {"class": "onpale" if step < 5 else "ondark", "x": at[0] + cell / 2, "y": at[1] + cell / 2 + 3.5}
        parts.append(element("text", {**ink, "text-anchor": "middle"}, _short(value)))
    return parts


def _short(value: float) -> str:
    text = f"{value:.2f}".replace("0.", ".", 1)
    return "0" if text in (".00", "-.00") else text


def image(title: str, pixels: Sequence[Sequence[float]], *, cell: float = 5) -> Picture:
    """A small image: each number from 0 (white) to 1 (black) is a square."""
    if not pixels or not pixels[0]:
        raise InputError("pixels", 0, "at least one number")
    parts = []
    for row, line in enumerate(pixels):
        for column, value in enumerate(line):
            shade = round(255 * (1 - min(max(float(value), 0.0), 1.0)))
            body = {"x": column * cell, "y": row * cell, "width": cell + 0.2, "height": cell + 0.2}
            parts.append(element("rect", {**body, "fill": f"#{shade:02x}{shade:02x}{shade:02x}"}))
    return Picture(title, cell * len(pixels[0]), cell * len(pixels), tuple(parts), title)


def grid(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float]],
    *,
    format: str = "{:,.0f}",
    caption: str = "",
) -> Picture:
    """Numbers from zero up in the cells of a table, the larger the darker; the `caption` stands below it.

    Shades are of square roots, so that one large number does not make all others look alike.
    """
    if not rows or not columns or len(values) != len(rows) or any(len(row) != len(columns) for row in values):
        allowed = f"a row for each of {len(rows)} names with a number for each of {len(columns)}, at least one"
        raise InputError("values", Phrase(f"{len(values)} rows"), allowed)
    most = max(max(float(value) for value in row) for row in values)
    if not math.isfinite(most) or min(min(float(value) for value in row) for row in values) < 0:
        raise InputError("values", most, "finite numbers from zero up")
    cell = 24 if max(len(rows), len(columns)) <= 16 else 14
    left, top = (min(max(map(len, names)), _LONGEST) * 6.6 + 8 for names in (rows, columns))
    parts: list[Markup] = []
    for place, name in enumerate(rows):
        at = {"x": left - 6, "y": top + place * cell + cell / 2 + 4, "text-anchor": "end"}
        parts.append(element("text", at, shorten(name, _LONGEST)))
    for place, name in enumerate(columns):
        turn = f"translate({left + place * cell + cell / 2 + 4:g} {top - 6:g}) rotate(-90)"
        parts.append(element("text", {"transform": turn}, shorten(name, _LONGEST)))
    for row, (name, line) in enumerate(zip(rows, values, strict=True)):
        for column, (other, value) in enumerate(zip(columns, line, strict=True)):
            words = f"{name}, {other}: {format.format(float(value))}"
            share = math.sqrt(float(value) / most) if most > 0 else 0.0
            parts += _square(share, (left + column * cell, top + row * cell), cell, words, math.nan)
    wide, tall = max(left + cell * len(columns) + 4, len(caption) * 6.2), top + cell * len(rows) + 4
    if caption:
        parts.append(element("text", {"class": "tick", "x": 0, "y": tall + 12}, caption))
    shown = [[name, *(format.format(float(value)) for value in line)] for name, line in zip(rows, values, strict=True)]
    table = Table.of(["", *columns], shown, title)
    return Picture(title, wide, tall + 18 * bool(caption), tuple(parts), title, table=table)
