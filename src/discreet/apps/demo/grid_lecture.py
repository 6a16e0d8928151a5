"""A power grid: loads hidden up to a megawatt, which the grid can feed at about the true cost."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from discreet.apps.demo.lecture import Beside, Lecture
from discreet.curator import hide_loads
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.noise.replay import Replay, uniforms
from discreet.power import Grid, Loads, optimal_flow
from discreet.power.grid import Quadratic
from discreet.show import Bar, bars

__all__ = ["show"]

_BUSES, _LIMIT = 12, 70.0
_ALPHA, _EPSILON, _BETA = 2, 1, 0.01


def show() -> Lecture:
    """Hide the loads of an invented ring of twelve buses, and see what they would cost to feed."""
    lines = [(bus, (bus + 1) % _BUSES, 1000 + 100 * bus, _LIMIT) for bus in range(_BUSES)]
    lines += [(0, _BUSES // 2, 900, _LIMIT), (2, _BUSES - 2, 700, _LIMIT)]
    units = [(0, 0, 160, Quadratic(0.02, 20)), (4, 0, 160, Quadratic(0.05, 15)), (6, 0, 160, Quadratic(0, 45))]
    grid = Grid.of(_BUSES, lines, units, list(range(_BUSES)))
    true = np.round(5 + 20 * uniforms(Replay(b"lecture of loads"), _BUSES), 2)
    cost = round(_cost(grid, true) or 0)
    with TemporaryDirectory() as folder:
        ask = hide_loads(
            grid,
            Loads(true.tolist()),
            Ledger.temporary(folder),
            alpha=_ALPHA,
            dataset="ring",
            budget=Budget(epsilon=_EPSILON),
        )
        release = ask.plan(epsilon=_EPSILON, beta=_BETA, cost=cost).release(why="lecture")
    repaired, noisy = (_gap(grid, loads, cost) for loads in (release.loads, np.maximum(release.noisy, 0)))
    numbers = (
        Beside("cost of released loads, from the true one", "within 1%", repaired),
        Beside("cost of noisy loads as they are", "far off, or not to be fed", noisy),
        Beside("noise on a load, on average", "alpha/epsilon = 2 MW", f"{np.abs(release.noisy - true).mean():.1f} MW"),
    )
    table = release.table
    data = [
        Bar(f"bus {bus}, true load {load:.1f} MW", value, low, high)
        for bus, load, value, low, high in zip(
            range(1, _BUSES + 1), true, table["mw"], table["mw_lower"], table["mw_upper"], strict=True
        )
    ]
    said = "Bars are released loads, lines on them 95% confidence intervals of the true ones."
    drawn = bars("Released loads of an invented grid, MW", data, format=lambda value: f"{value:.1f}").captioned(said)
    words = f"Loads are hidden up to {_ALPHA} MW with epsilon = {_EPSILON}; the repair costs nothing more."
    return Lecture("A power grid", numbers, words, drawn, "course/mobility.md")


def _cost(grid: Grid, loads: Any) -> float | None:
    flow = optimal_flow(grid, loads)
    return None if flow is None else flow.cost


def _gap(grid: Grid, loads: Any, cost: float) -> str:
    """How far the cost of loads is from another, in words."""
    found = _cost(grid, loads)
    return "cannot be fed" if found is None else f"{abs(found / cost - 1):.2%}"
