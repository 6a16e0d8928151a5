"""How far people come to each destination, released against true, as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.show import Bar, Picture, Point, bars, scatter, stack

__all__ = ["distances_chart", "distances_panels"]

Rows = Sequence[dict[str, Any]]
_TITLE = "Mean distance by destination"
_NAMES = ("mean distance, true", "released")


def distances_chart(rows: Rows, side: int = 380, title: str = _TITLE) -> Picture:
    """Points of (true, released) means on a diagonal, as large as their destinations; without true ones, bars in order.

    Each row has destination, released, rows and true, which is None if it is not known.
    """
    if any(row["true"] is None for row in rows):
        order = sorted(rows, key=lambda row: -row["released"])
        return bars(f"{title}, released", [Bar(row["destination"], row["released"]) for row in order])
    data = [Point(row["destination"], row["true"], row["released"], row["rows"]) for row in rows]
    return scatter(title, data, names=_NAMES, side=side)


def distances_panels(panels: Mapping[str, Rows], columns: int = 3) -> Picture:
    """Several such pictures side by side, by title, each with axes of its own."""
    return stack(_TITLE, [distances_chart(rows, 200, title) for title, rows in panels.items()], columns=columns)
