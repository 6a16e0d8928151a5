"""Pictures of flows: how many trips there are in each window, with intervals, and between which places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.core.release import Release
from discreet.errors import InputError
from discreet.flows.mobility.layout import CELLS, DESTINATIONS, ORIGINS, WINDOWS

if TYPE_CHECKING:
    from discreet.show.picture import Picture

__all__ = ["busiest", "draw_flows", "pairs_of"]

MOST_PLACES = 30
"""Places that a picture has room for: the busiest."""


def draw_flows(tables: Mapping[str, Release]) -> Picture:
    """Trips by window with their intervals, where there are windows, above trips between places over all windows."""
    from discreet.show import Column, columns, grid, stack

    names, counts = pairs_of(tables)
    rows, across = (_largest(counts.sum(axis=axis)) for axis in (1, 0))
    title = "Trips between places" + ("" if counts.size <= MOST_PLACES**2 else ", the busiest")
    origin, destination = tables[CELLS].keys[:2]
    parts = [
        grid(
            title,
            [names[0][place] for place in rows],
            [names[1][place] for place in across],
            counts[np.ix_(rows, across)].tolist(),
            caption=f"A row for each {origin}, a column for each {destination}",
        )
    ]
    if WINDOWS in tables:
        table = tables[WINDOWS]
        key = table.keys[0]
        ends = ([float(value) for value in table[f"count{end}"]] for end in ("", "_lower", "_upper"))
        bars = [
            Column(str(label), value, low, high, tip=f"{label}: {value:,.0f}, from {low:,.0f} to {high:,.0f}")
            for label, value, low, high in zip(table[key], *ends, strict=True)
        ]
        parts.insert(0, columns(f"Trips by {key}", bars, width=640))
    about = f"Released trips with {100 * tables[CELLS].confidence:g}% confidence intervals."
    return stack("Flows", parts, description=about)


def pairs_of(tables: Mapping[str, Release]) -> tuple[tuple[list[str], list[str]], NDArray[np.int64]]:
    """The names of origins and destinations, and the trips between them over all windows."""
    if not {CELLS, ORIGINS, DESTINATIONS} <= set(tables):
        raise InputError("release", ", ".join(tables), "a release of flows")
    cells = tables[CELLS]
    names = [
        list(dict.fromkeys("(missing)" if label is None else str(label) for label in cells[key]))
        for key in cells.keys[:2]
    ]
    counts = np.array(cells["count"], dtype=np.int64).reshape(len(names[0]), len(names[1]), -1).sum(axis=2)
    return (names[0], names[1]), counts


def busiest(tables: Mapping[str, Release], rows: int = 10) -> list[list[str]]:
    """The cells with the largest counts, as text: window, origin, destination, count with its interval."""
    cells = tables[CELLS]
    order = np.argsort(-np.array(cells["count"]), kind="stable")[:rows]
    keys = [*cells.keys[2:], *cells.keys[:2]]
    shown = []
    for place in order.tolist():
        ends = [cells[f"count{end}"][place] for end in ("", "_lower", "_upper")]
        labels = ["(missing)" if cells[key][place] is None else str(cells[key][place]) for key in keys]
        shown.append([*labels, f"{ends[0]:,} [{ends[1]:,}, {ends[2]:,}]"])
    return shown


def _largest(sums: NDArray[np.int64]) -> list[int]:
    """The places with the largest sums, in their own order."""
    order = np.argsort(-sums, kind="stable")[:MOST_PLACES]
    found: list[int] = np.sort(order).tolist()
    return found
