"""A picture of a release: one output over its groups, as bars with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.errors import InputError
from discreet.show import Bar, Picture, bars, element
from discreet.show.scale import finite

if TYPE_CHECKING:
    from discreet.core.release import Release

__all__ = ["chart"]


def chart(release: Release, output: str) -> Picture:
    """One output over its groups; the second key colours, the third makes parts of the picture."""
    from discreet.core.release import number, percent

    if output not in release.outputs:
        raise InputError("output", output, among=release.outputs)
    if any(isinstance(value, str) for value in release[output]):
        raise InputError("output", output, "an output of numbers: dates have no height")
    if len(release.keys) > 3:
        raise InputError("output", output, "an output with at most three keys", "Use to_pandas() and draw it yourself.")
    title = f"{output}, {percent(release.confidence)} intervals; cost {release.cost}"
    data = _bars(release, output)
    if not data:
        return Picture(title, 640, 24, (element("text", {"x": 0, "y": 16}, "No numbers to draw."),))
    return bars(title, data, format=number, heads=(", ".join(release.keys), output, "from", "to"))


def _bars(release: Release, output: str) -> list[Bar]:
    """A bar for each group with a number, those of one part together."""
    rows = [row for row in release.labelled() if finite(row[output])]
    colours = _order(rows, release.keys[1:2])
    parts = _order(rows, release.keys[2:3])
    data, part = [], ""
    for row in sorted(rows, key=lambda row: parts[_text(row, release.keys[2:3])]):
        here = _text(row, release.keys[2:3])
        ends = (row[f"{output}_lower"], row[f"{output}_upper"])
        series = colours[_text(row, release.keys[1:2])]
        label = _text(row, release.keys[:2]) or output
        data.append(Bar(label, row[output], *ends, series=series, heading=here if here != part else ""))
        part = here
    return data


def _order(rows: list[dict[str, Any]], keys: tuple[str, ...]) -> dict[str, int]:
    """The values of a key, numbered as they appear."""
    return {text: index for index, text in enumerate(dict.fromkeys(_text(row, keys) for row in rows))}


def _text(row: dict[str, Any], keys: tuple[str, ...]) -> str:
    return " · ".join(row[key] for key in keys)
