"""Pictures of a release: bars with error bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.core.release import Release

__all__ = ["chart"]


def chart(release: Release, output: str) -> Any:
    """One output over its groups; the second key colours, the third makes rows of charts."""
    import altair

    from discreet.core.release import percent

    if output not in release.outputs:
        raise InputError("output", output, "one of " + ", ".join(release.outputs))
    if any(isinstance(value, str) for value in release[output]):
        raise InputError("output", output, "an output of numbers: days have no height")
    if len(release.keys) > 3:
        raise InputError("output", output, "at most three keys in a chart", "Use to_pandas() and draw it yourself.")
    rows = [
        {**{key: "(missing)" if row[key] is None else str(row[key]) for key in release.keys}, **_numbers(row, output)}
        for row in release.rows()
    ]
    base = altair.Chart(altair.InlineData(values=rows))
    first = release.keys[0] if release.keys else None
    order = list(dict.fromkeys(row[first] for row in rows)) if first else None
    x: Any = altair.X(first, type="nominal", sort=order) if first else altair.value(60)
    place: dict[str, Any] = {"x": x}
    if len(release.keys) > 1:
        second = release.keys[1]
        place["xOffset"] = altair.XOffset(second, type="nominal")
        place["color"] = altair.Color(second, type="nominal")
    y = altair.Y("value", type="quantitative", title=output)
    tips = [altair.Tooltip(key, type="nominal") for key in release.keys]
    tips += [altair.Tooltip(name, type="quantitative") for name in ("value", "lower", "upper")]
    bars = base.mark_bar(opacity=0.8).encode(y=y, tooltip=tips, **place)
    where = {name: channel for name, channel in place.items() if name != "color"}
    errors = base.mark_rule(size=1.5, color="black").encode(
        y=altair.Y("lower", type="quantitative", title=output), y2="upper", **where
    )
    title = f"{output}, {percent(release.confidence)} intervals; cost {release.cost}"
    drawn = (bars + errors).properties(title=title, width=max(200, min(900, 40 * len(order or [1]))))
    return drawn.facet(row=altair.Row(release.keys[2], type="nominal")) if len(release.keys) > 2 else drawn


def _numbers(row: dict[str, Any], output: str) -> dict[str, Any]:
    return {"value": row[output], "lower": row[f"{output}_lower"], "upper": row[f"{output}_upper"]}
