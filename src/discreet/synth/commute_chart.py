"""How far people come to each destination, released against true, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["distances_chart"]


def distances_chart(rows: Sequence[dict[str, Any]], panel: str | None = None) -> Any:
    """Points of (true, released) means on a diagonal, as large as their destinations; without true ones, dots in order.

    Each row has destination, released, rows and, if known, true; `panel` names a key that makes charts side by side.
    """
    import altair

    size = altair.Size("rows:Q", title="rows", scale=altair.Scale(type="sqrt", range=[10, 400]))
    tips = [altair.Tooltip(name) for name in ("destination:N", "rows:Q", "released:Q")]
    data = altair.InlineData(values=list(rows))
    if any(row.get("true") is None for row in rows):
        order = [row["destination"] for row in sorted(rows, key=lambda row: -row["released"])]
        return (
            altair.Chart(data)
            .mark_circle(color="#2166ac")
            .encode(
                x=altair.X("released:Q", title="mean distance, released"),
                y=altair.Y("destination:N", sort=order, title=None),
                size=size,
                tooltip=tips,
            )
        )
    far = max(max(row["released"], row["true"]) for row in rows) * 1.02
    limits = altair.Scale(domain=[0, far], nice=False)
    points = (
        altair.Chart()
        .mark_circle(color="#2166ac", opacity=0.6)
        .encode(
            x=altair.X("true:Q", title="mean distance, true", scale=limits),
            y=altair.Y("released:Q", title="released", scale=limits),
            size=size,
            tooltip=[*tips, altair.Tooltip("true:Q")],
        )
    )
    ends = altair.InlineData(values=[{"at": 0}, {"at": far}])
    line = altair.Chart(ends).mark_line(color="#999", strokeDash=[4, 3]).encode(x="at:Q", y="at:Q")
    side = 190 if panel else 380
    if panel is None:
        return altair.layer(line, points, data=data).properties(width=side, height=side)
    order = list(dict.fromkeys(row[panel] for row in rows))
    parts = [
        altair.layer(
            line, points, data=altair.InlineData(values=[row for row in rows if row[panel] == name])
        ).properties(width=side, height=side, title=name)
        for name in order
    ]
    return altair.concat(*parts, columns=4)
