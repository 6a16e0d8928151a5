"""Pictures of a release by its shape: bars for names, lines for ordered bins, a heat map of two keys, parts of three.

They stand here once, and serve pages, notebooks, the command line and files.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from discreet.core.period import period_label
from discreet.errors import InputError
from discreet.show import Bar, Group, Picture, Scale, Series, bars, element, groups, series, stack, tiles
from discreet.show.bars import axis_of
from discreet.show.scale import finite

if TYPE_CHECKING:
    from discreet.core.release import Release

__all__ = ["caption", "chart", "charts", "drawable", "format_of", "undrawn", "vague"]

# Bins of numbers or times, and days; digits alone are a code, which is a name.
_BIN = re.compile(r"-?[\d.:T+Z -]+\.\.-?[\d.:T+Z -]+|\d{4}-\d\d-\d\d\S*")
_FEW, _COLOURS, _THIN = 12, 6, 24  # groups with a line of their own, series in colours, bars in groups of some
_TALL, _WIDE, _NARROW = 40, 24, 9  # rows and columns of a heat map; so many columns are not turned into rows
_PARTS = 12
_KEYS = 3
_PLACE = ""  # where a row says which one it is; no column has this name
_NOTHING = ("Too few rows in every group:", "there is no number to draw.")

Row = Mapping[str, Any]


def chart(release: Release, output: str) -> Picture:
    """One output over its groups as one picture; parts of three keys stand below each other."""
    found = charts(release, output)
    title = caption(release, output, found)
    return found[0] if len(found) == 1 else stack(title, found, columns=2, description=title)


def charts(release: Release, output: str, places: Sequence[int] | None = None) -> list[Picture]:
    """One output over its groups: one picture, or one for each value of a third key, all with the same axis.

    `places` are the rows to draw of a table with one key, if not all: a page of it.
    """
    _check(release, output)
    rows: list[Row] = [row | {_PLACE: place} for place, row in enumerate(_labelled(release))]
    title, keys = caption(release, output), release.keys
    if not any(finite(row[output]) for row in rows):
        lines = [element("text", {"x": 0, "y": 16 + 18 * index}, line) for index, line in enumerate(_NOTHING)]
        return [Picture(title, 640, 42, tuple(lines), " ".join(_NOTHING), fluid=True)]
    draw = _Drawing(release, output)
    if len(keys) < 2:
        chosen = rows if places is None or draw.ordered(keys) else [rows[place] for place in places]
        return [draw.one(title, chosen)]
    if len(keys) == 2:
        drawn = draw.two(title, rows, keys, places)
        return [replace(drawn, title=caption(release, output, [drawn]))]
    part = draw.part()
    rest = tuple(key for key in keys if key != part)
    axis = axis_of([draw.bar(row) for row in rows if finite(row[output])])
    values = list(dict.fromkeys(row[part] for row in rows))
    return [
        draw.two(f"{part}: {value}", [row for row in rows if row[part] == value], rest, None, axis)
        for value in values[:_PARTS]
    ]


def undrawn(release: Release, output: str) -> str:
    """What the pictures of an output leave out, if anything: small ones of a third key are only so many."""
    if len(release.keys) < _KEYS or output not in drawable(release):
        return ""
    draw = _Drawing(release, output)
    many = len(draw.values[part := draw.part()])
    return f"The first {_PARTS} of {many} values of {part} are drawn; the table has all." if many > _PARTS else ""


def drawable(release: Release) -> list[str]:
    """The outputs that have pictures: numbers, over at most three keys."""
    if len(release.keys) > _KEYS:
        return []
    return [name for name in release.outputs if not any(isinstance(value, str) for value in release[name])]


def caption(release: Release, output: str, drawn: Sequence[Picture] = ()) -> str:
    """What a picture shows: the output in words and by its name, and what intervals are, where `drawn` has some."""
    from discreet.core.release import percent

    words = str(release.facts.get("outputs", {}).get(output, ""))
    named = f"{words[:1].upper()}{words[1:]}" if words else output
    keys = " and ".join(filter(None, (", ".join(release.keys[:-1]), *release.keys[-1:])))
    by = f" by {keys}" if keys else ""
    if drawn and all(picture.kind == "tiles" for picture in drawn):
        return f"{named}{by}"
    return f"{named}{by}, with {percent(release.confidence)} confidence intervals"


def format_of(release: Release, output: str) -> Callable[[Any], str]:
    """How numbers of an output are written: with as many digits as their intervals leave a meaning."""
    from discreet.core.release import number

    values = [value for value in release[output] if finite(value)]
    lower, upper = (release.columns.get(f"{output}_{end}") for end in ("lower", "upper"))
    if not values or lower is None or upper is None or all(float(value).is_integer() for value in values):
        return number
    widths = sorted(high - low for low, high in zip(lower, upper, strict=True) if finite(low) and finite(high))
    typical = widths[len(widths) // 2] if widths else 0.0
    if not typical > 0:
        return number
    digits = min(max(2 - math.floor(math.log10(typical)), 0), 8)

    def written(value: Any) -> str:
        return f"{value:,.{digits}f}" if finite(value) else number(value)

    return written


def vague(release: Release, output: str) -> frozenset[int]:
    """The rows whose number says nothing: noise took it to the end of what it can be, and it may be nearly anything.

    So it is where the interval begins or ends at the number itself and spans more than half of all intervals together,
    or spans nearly all of them while most are far narrower. The interval still holds what is known.
    """
    lower, upper = (release.columns.get(f"{output}_{end}") for end in ("lower", "upper"))
    if lower is None or upper is None:
        return frozenset()
    spans = zip(release[output], lower, upper, strict=True)
    known = [(place, span) for place, span in enumerate(spans) if all(map(finite, span))]
    if len(known) < _KEYS:
        return frozenset()
    whole = max(high for _, (_, _, high) in known) - min(low for _, (_, low, _) in known)
    widths = sorted(high - low for _, (_, low, high) in known)
    most = max(0.9 * whole, 4 * widths[len(widths) // 2])
    return frozenset(
        place
        for place, (value, low, high) in known
        if high - low > most or (value in (low, high) and whole < 2 * (high - low))
    )


def _labelled(release: Release) -> list[dict[str, Any]]:
    """The rows with keys as text, bins of days as they are written on an axis."""
    return [row | {key: period_label(row[key]) for key in release.keys} for row in release.labelled()]


def _check(release: Release, output: str) -> None:
    if output not in release.outputs:
        raise InputError("output", output, among=release.outputs)
    if any(isinstance(value, str) for value in release[output]):
        raise InputError("output", output, "an output of numbers: dates have no height")
    if len(release.keys) > _KEYS:
        raise InputError("output", output, "an output with at most three keys", "Use to_pandas() and draw it yourself.")


def _ordered(value: Any) -> bool:
    if isinstance(value, str):
        return _BIN.fullmatch(value) is not None
    return isinstance(value, int | float | date) and not isinstance(value, bool)


def _apart(value: str) -> bool:
    """Whether a key is none of the ordered ones: missing, or all of them."""
    return value.startswith("(")


class _Drawing:
    """Rows of a release as pictures of one output."""

    def __init__(self, release: Release, output: str) -> None:
        from discreet.core.release import UNKNOWN

        self.release, self.output, self.vague = release, output, vague(release, output)
        self.how: dict[str, Any] = {"format": format_of(release, output), "unknown": UNKNOWN}
        rows = _labelled(release)
        self.values = {key: list(dict.fromkeys(row[key] for row in rows)) for key in release.keys}

    def bar(self, row: Row, label: str = "") -> Bar:
        """A row as a bar; no value where nothing is known."""
        value = row[self.output] if finite(row[self.output]) and row[_PLACE] not in self.vague else None
        return Bar(label, value, row[f"{self.output}_lower"], row[f"{self.output}_upper"])

    def ordered(self, keys: Sequence[str]) -> bool:
        """Whether there is one key, and its values are numbers, days or bins in their order."""
        return len(keys) == 1 and self.rising(keys[0])

    def rising(self, key: str) -> bool:
        """Whether the values of a key are at least three numbers, days or bins; a missing one may be among them."""
        known = {value for value in self.release[key] if value is not None}
        return len(known) > 2 and all(map(_ordered, known))

    def one(self, title: str, rows: Sequence[Row]) -> Picture:
        """Over one key, or none."""
        keys = self.release.keys
        heads = (", ".join(keys), self.output, "from", "to")
        if self.ordered(keys):
            labels = [row[keys[0]] for row in rows]
            line = Series("", tuple(self.bar(row) for row in rows))
            return series(title, labels, [line], apart=set(filter(_apart, labels)), heads=heads, **self.how)
        named = [(row[keys[0]] if keys else self.output, row) for row in rows]
        if len(rows) <= _FEW:
            return bars(title, [self.bar(row, label) for label, row in named], heads=heads, **self.how)
        return groups(title, [Group(label, (self.bar(row),)) for label, row in named], heads=heads, **self.how)

    def two(
        self,
        title: str,
        rows: Sequence[Row],
        keys: Sequence[str],
        places: Sequence[int] | None,
        axis: Scale | None = None,
    ) -> Picture:
        """Over two keys: lines where one has an order, bars in groups where they are few, else a heat map."""
        first, second = sorted(keys, key=lambda key: not self.rising(key)) if self.rising(keys[1]) else keys
        known = {(row[first], row[second]): self.bar(row) for row in rows}
        down, across = self.values[first], self.values[second]
        heads = (f"{first}, {second}", self.output, "from", "to")
        if self.rising(first) and len(across) <= _COLOURS:
            lines = [Series(value, tuple(known.get((label, value)) for label in down)) for value in across]
            tall = 230 if axis is None else 150
            apart = set(filter(_apart, down))
            return series(title, down, lines, apart=apart, scale=axis, height=tall, heads=heads, **self.how)
        if len(across) <= min(_COLOURS, 3) and len(down) * len(across) <= _THIN * 2:
            made = [Group(label, tuple(known.get((label, value)) for value in across)) for label in down]
            return groups(title, made, across, scale=axis, heads=heads, **self.how)
        if len(across) > max(len(down), _NARROW) or len(across) > _WIDE:
            known = {(b, a): bar for (a, b), bar in known.items()}
            down, across = across, down
        if len(across) > _WIDE or len(down) > _TALL * (axis is None) + _TALL:
            chosen = [rows[place] for place in places or range(min(len(rows), _TALL))]
            named = [(f"{row[keys[0]]} · {row[keys[1]]}", row) for row in chosen]
            return groups(title, [Group(label, (self.bar(row),)) for label, row in named], heads=heads, **self.how)
        cells = [[known.get((label, value)) for value in across] for label in down]
        return tiles(title, down, across, cells, scale=axis, **self.how)

    def part(self) -> str:
        """The key whose values are parts of the picture: that with the fewest, unless it has an order.

        Where another has an order, the rest has to fit into the colours of lines.
        """
        names = [key for key in self.release.keys if not self.rising(key)] or list(self.release.keys)
        names.sort(key=lambda key: len(self.values[key]))
        lines = len(names) == _KEYS - 1 and len(self.values[names[0]]) <= _COLOURS
        return names[1] if lines and len(self.values[names[1]]) <= _PARTS else names[0]
