"""A heat map of two keys: a coloured cell with its number for every two values, as wide as the page lets it be."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.errors import InputError
from discreet.show.bars import Bar, bar_words
from discreet.show.picture import Picture
from discreet.show.scale import Format, Scale, brief, compact, informative
from discreet.show.svg import Markup, element, shorten
from discreet.show.table import Table

__all__ = ["tiles"]

_WIDTH, _LEFT = 640, 24  # and percent of it, for the names of rows
_ROW, _LETTERS = 26, 15
_STEPS, _DARK = 8, 5
_WRITTEN = 44  # letters of a row of cells that there is room for on a phone
_ACROSS = 46  # letters of the names of columns that there is room for, before they are turned


def tiles(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[Bar | None]],
    *,
    format: Format = brief,
    scale: Scale | None = None,
    unknown: str = "not known",
) -> Picture:
    """Numbers in the cells of a table, the larger the darker; a value of None is `unknown`, and drawn as an outline.

    >>> tiles("People", ["Kent"], ["f", "m"], [[Bar("", 12, 10, 14), Bar("", None)]]).height
    76.0
    """
    if not rows or not columns or len(cells) != len(rows) or any(len(line) != len(columns) for line in cells):
        raise InputError("cells", len(cells), f"a row for each of {len(rows)} names with a cell for each column")
    known = [bar for line in cells for bar in line if bar is not None]
    axis = scale if scale is not None else _shades(known)
    wide = max(min(len(name), _LETTERS) for name in columns)
    turned = len(columns) > 4 and wide * len(columns) > _ACROSS
    top = 22.0 + 4 * wide * turned
    step = 100 / len(columns)
    longest = max((len(compact(bar.value)) for bar in known if bar.value is not None), default=0)
    written = longest * len(columns) <= _WRITTEN
    inside: list[Markup] = [_head(name, step * (place + 0.5), turned) for place, name in enumerate(columns)]
    outside = []
    for row, (name, line) in enumerate(zip(rows, cells, strict=True)):
        y = row * _ROW
        label = {"class": "name", "x": f"{_LEFT - 2}%", "y": top + y + _ROW / 2 + 4.5, "text-anchor": "end"}
        outside.append(element("text", label, shorten(name, _LETTERS)))
        for column, bar in enumerate(line):
            if bar is not None:
                words = f"{name} · {columns[column]}: {bar_words(bar, format, unknown)}"
                inside.append(_cell(bar, axis, step * column, (step, y), words, written))
    area = {"x": f"{_LEFT}%", "y": top, "width": f"{100 - _LEFT}%", "overflow": "visible"}
    shown = [
        [name, *("" if bar is None else unknown if bar.value is None else format(bar.value) for bar in line)]
        for name, line in zip(rows, cells, strict=True)
    ]
    table = Table.of(["", *columns], shown, title)
    said = f"A heat map of {len(rows)} by {len(columns)} groups"
    height = top + _ROW * len(rows) + 6
    if any(bar.value is None for bar in known):
        swatch = element("rect", {"class": "none", "x": 0.5, "y": -9, "width": 20, "height": 12, "rx": 2})
        words = element("text", {"class": "tick", "x": 28, "y": 1}, unknown)
        outside.append(element("svg", {"x": f"{_LEFT}%", "y": height + 14, "overflow": "visible"}, swatch, words))
        height += 22
    parts = (element("svg", area, *inside), *outside)
    return Picture(title, _WIDTH, height, parts, said, fluid=True, kind="tiles", table=table)


def _shades(data: Sequence[Bar]) -> Scale:
    """From zero where that is near, else from the smallest that is informative."""
    ends = informative((bar.value, bar.lower, bar.upper) for bar in data)
    kept = [float(bar.value) for bar in data if bar.value is not None and ends and min(ends) <= bar.value <= max(ends)]
    low, high = min(kept, default=0.0), max(kept, default=1.0)
    near = abs(low) <= high / 3  # noise may take a count a little below zero
    return Scale.around([max(low, 0.0) if near else low, high], zero=near, room=0)


def _head(name: str, middle: float, turned: bool) -> Markup:
    turn = {"transform": "rotate(-38)"} if turned else {"text-anchor": "middle"}
    text = element("text", {"class": "tick", "y": -6, **turn}, shorten(name, _LETTERS))
    return element("svg", {"x": f"{round(middle, 3):g}%", "overflow": "visible"}, text)


def _cell(bar: Bar, axis: Scale, left: float, size: tuple[float, float], words: str, written: bool) -> Markup:
    width, y = size
    # Shades are of square roots where they begin at zero, so that one large number does not make all others alike.
    share = 0.0 if bar.value is None else axis.at(bar.value)
    step = round(_STEPS * (math.sqrt(share) if axis.low == 0 else share))
    kind = "none" if bar.value is None else f"p{step}"
    body = {"x": f"{round(left + 0.15, 3):g}%", "y": y + 1, "width": f"{round(width - 0.3, 3):g}%", "height": _ROW - 2}
    parts = [element("title", None, words), element("rect", {"class": kind, **body, "rx": 2})]
    if written and bar.value is not None:
        at = {"x": f"{round(left + width / 2, 3):g}%", "y": y + _ROW / 2 + 4, "text-anchor": "middle"}
        parts.append(element("text", {"class": "ondark" if step >= _DARK else "onpale", **at}, compact(bar.value)))
    return element("g", None, *parts)
