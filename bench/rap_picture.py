"""The figure of bench/rap.py: eight panels of largest errors, and a grid of rounds by picks."""

from __future__ import annotations

from collections import defaultdict
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

COLOURS = {
    "rap, one round": "#2166ac",
    "rap, five rounds of ten": "#b2182b",
    "mosaic": "#5aae61",
    "FEM, published": "#999999",
}
FEM = {0.1: 0.172, 0.5: 0.078, 1.0: 0.076}  # largest errors on 64 triples of ADULT, read off a published plot
LOW, USUAL = 0.1, 64
TITLES = {"adult": "ADULT", "loans": "LOANS"}


def name_of(run: dict[str, Any]) -> str:
    if run["method"] != "rap":
        return run["method"]
    return "rap, one round" if run["options"]["rounds"] == 1 else "rap, five rounds of ten"


def mean_of(runs: list[dict[str, Any]], *keys: str) -> list[dict[str, Any]]:
    """The mean of the largest error, and of TV, over runs that have the same keys."""
    found = defaultdict(list)
    for run in runs:
        found[tuple(run[key] for key in keys)].append(run)
    return [
        {
            **dict(zip(keys, values, strict=True)),
            "max": float(np.mean([one["max"] for one in group])),
            "TV": float(np.mean([one["TV"] for one in group])),
            "runs": len(group),
        }
        for values, group in sorted(found.items())
    ]


def panel(altair: Any, values: list[dict[str, Any]], axis: str, title: str, ticks: list[float]) -> Any:
    """Largest errors along one axis: a line for each method."""
    base = altair.Chart(altair.InlineData(values=values), title=title).encode(
        x=altair.X(
            f"{axis}:Q",
            title=f"epsilon, {USUAL} marginals" if axis == "epsilon" else f"marginals, epsilon {LOW:g}",
            scale=altair.Scale(type="log", base=2, nice=False),
            axis=altair.Axis(values=ticks, format="~g", grid=False),
        ),
        y=altair.Y(
            "max:Q",
            title="largest error of a cell, of all rows",
            scale=altair.Scale(type="log", domain=[0.002, 0.2]),
            axis=altair.Axis(values=[0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2], format="~g", titlePadding=26),
        ),
        color=altair.Color(
            "way:N",
            title=None,
            sort=list(COLOURS),
            legend=altair.Legend(labelLimit=0),
            scale=altair.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
        ),
    )
    return base.mark_line(point=True).properties(width=190, height=170)


def heat(altair: Any, values: list[dict[str, Any]], figure: str) -> Any:
    """Rounds by picks: the figure of each pair, written into its square."""
    key = itemgetter(figure)
    title = {"max": "largest error", "TV": "mean distance (TV)"}[figure]
    base = altair.Chart(altair.InlineData(values=values), title=f"ADULT, 64 triples, epsilon {LOW:g}: {title}").encode(
        x=altair.X("rounds:O", title="rounds (T)", axis=altair.Axis(labelAngle=0)),
        y=altair.Y("picks:O", title="marginals chosen in a round (K)", axis=altair.Axis(titlePadding=14)),
    )
    shades = altair.Scale(scheme="blues", reverse=False)
    boxes = base.mark_rect().encode(color=altair.Color(f"{figure}:Q", legend=None, scale=shades))
    middle = float(np.mean([one[figure] for one in (min(values, key=key), max(values, key=key))]))
    words = base.mark_text(fontSize=11).encode(
        text=altair.Text(f"{figure}:Q", format=".3f"),
        color=altair.condition(f"datum.{figure} > {middle}", altair.value("white"), altair.value("black")),
    )
    return (boxes + words).properties(width=300, height=190)


def draw(runs: list[dict[str, Any]], path: Path) -> None:
    """Eight panels (two tables, three and five columns, epsilon and marginals) and the grid, in one file."""
    import altair

    altair.theme.enable("default")
    shown = [{**run, "way": name_of(run)} for run in runs if run["part"] in ("panels", "mosaic")]
    rows = []
    for axis in ("epsilon", "marginals"):
        row = []
        for table, columns in ((table, columns) for table in ("adult", "loans") for columns in (3, 5)):
            here = [one for one in shown if (one["table"], one["columns"]) == (table, columns)]
            here = [one for one in here if (one["marginals"] == USUAL if axis == "epsilon" else one["epsilon"] == LOW)]
            values = mean_of(here, "way", axis)
            if axis == "epsilon" and (table, columns) == ("adult", 3):
                values += [{"way": "FEM, published", "epsilon": one, "max": most} for one, most in FEM.items()]
            ticks = sorted({one[axis] for one in values})
            row.append(panel(altair, values, axis, f"{TITLES[table]}, {columns}-way", ticks))
        rows.append(altair.hconcat(*row))
    options = [
        {**run, "rounds": run["options"]["rounds"], "picks": run["options"]["per_round"]}
        for run in runs
        if run["part"] == "grid"
    ]
    grid = mean_of(options, "picks", "rounds")
    if grid:
        rows.append(
            altair.hconcat(heat(altair, grid, "max"), heat(altair, grid, "TV")).resolve_scale(color="independent")
        )
    whole = altair.vconcat(*rows).resolve_scale(color="independent")
    whole.properties(padding={"left": 5, "top": 5, "bottom": 5, "right": 40}).save(str(path))  # fonts differ in width
