"""Pictures of the terms of an additive model: curves of numbers and points of categories, with intervals."""

from __future__ import annotations

from statistics import NormalDist

from discreet.learn.estimators.columns import Floats
from discreet.show import Axis, Band, Bar, Line, Picture, Scale, bars, lines

__all__ = ["draw_term"]


def draw_term(name: str, values: Floats, errors: Floats, edges: Floats | None, level: float, adds: str) -> Picture:
    """What each bin adds to a score, and its confidence interval; `edges` of a number's bins, None for categories.

    The last value is for what is missing or unknown: it is drawn for categories, and named for numbers.
    """
    wide = NormalDist().inv_cdf((1 + level) / 2) * errors
    share = f"{level:.0%} confidence interval"
    if edges is None:
        names = [*(f"code {code}" for code in range(len(values) - 1)), "missing or unknown"]
        data = [
            Bar(label, float(value), float(value - half), float(value + half))
            for label, value, half in zip(names, values, wide, strict=True)
        ]
        title = f"{name} (missing or unknown: the last)"
        return bars(title, data, points=True, heads=("", adds, "from", "to"))
    around = Band(share, _stairs(edges, values - wide), _stairs(edges, values + wide))
    heights = [point[1] for point in (*around.low, *around.high)]
    title = f"{name} (missing: {values[-1]:.2g} ± {wide[-1]:.2g})"
    up = Axis(Scale.around(heights, zero=True), adds)
    along = Axis(Scale.around(edges.tolist(), room=0), name)
    return lines(title, [Line("term", _stairs(edges, values))], bands=[around], x=along, y=up, dots=False)


def _stairs(edges: Floats, heights: Floats) -> tuple[tuple[float, float], ...]:
    """Two points a bin, at its ends."""
    ends = zip(edges[:-1].tolist(), edges[1:].tolist(), heights[: len(edges) - 1].tolist(), strict=True)
    return tuple(point for low, high, height in ends for point in ((low, height), (high, height)))
