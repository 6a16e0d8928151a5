"""How far people come to each destination, released against true, as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["distances_chart", "distances_panels"]

Rows = Sequence[dict[str, Any]]
_BLUE, _GREY = "#2166ac", "#999999"


def distances_chart(rows: Rows, side: int = 380, title: str | None = None) -> Any:
    """Points of (true, released) means on a diagonal, as large as their destinations; without true ones, dots in order.

    Each row has destination, released, rows and true, which is None if it is not known.
    """
    import altair

    legend: Any = altair.Undefined if title is None else None
    size = altair.Size("rows:Q", title="rows", scale=altair.Scale(type="sqrt", range=[10, 400]), legend=legend)
    tips = [altair.Tooltip(name) for name in ("destination:N", "rows:Q", "released:Q")]
    base = altair.Chart(altair.InlineData(values=list(rows))).mark_circle(color=_BLUE, opacity=0.6)
    if any(row["true"] is None for row in rows):
        order = [row["destination"] for row in sorted(rows, key=lambda row: -row["released"])]
        far = altair.X("released:Q", title="mean distance, released")
        return base.encode(x=far, y=altair.Y("destination:N", sort=order, title=None), size=size, tooltip=tips)
    most = 1.03 * max([1e-9, *(max(row["released"], row["true"]) for row in rows)])
    limits = altair.Scale(domain=[0, most], nice=False)
    points = base.encode(
        x=altair.X("true:Q", title="mean distance, true", scale=limits),
        y=altair.Y("released:Q", title="released", scale=limits),
        size=size,
        tooltip=[*tips, altair.Tooltip("true:Q")],
    )
    ends = altair.InlineData(values=[{"at": 0}, {"at": most}])
    line = altair.Chart(ends).mark_line(color=_GREY, strokeDash=[4, 3]).encode(x="at:Q", y="at:Q")
    drawn = altair.layer(line, points).properties(width=side, height=side)
    return drawn if title is None else drawn.properties(title=title)


def distances_panels(panels: Mapping[str, Rows], columns: int = 3) -> Any:
    """Several such pictures side by side, by title, each with axes of its own."""
    import altair

    parts = [distances_chart(rows, 200, title) for title, rows in panels.items()]
    return altair.concat(*parts, columns=columns).resolve_scale(x="independent", y="independent", size="independent")
