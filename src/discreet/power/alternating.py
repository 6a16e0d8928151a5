"""Released loads that also have an AC optimal power flow: from public numbers alone, where AC converges at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.exact import Number, as_written
from discreet.errors import InputError, Phrase, kind_of
from discreet.power.grid import Grid, Reals
from discreet.power.pandapower import ac_cost, public_net
from discreet.power.repair import Repair

__all__ = ["AlternatingLoads", "repair_ac"]

_TOWARD = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)  # of the way to loads that are all alike


@dataclass(frozen=True, slots=True)
class AlternatingLoads:
    """Loads in MW that the grid can feed, with their DC and AC optimal costs.

    `moved` is how far they were moved from the released ones toward loads that are all alike, from 0 to 1. `ac_cost` is
    None where AC converged nowhere on the way: the loads are then the released ones.
    """

    loads: tuple[float, ...]
    moved: float
    cost: float
    ac_cost: float | None


def repair_ac(
    net: Any,
    loads: Sequence[float],
    *,
    cost: Number,
    power_factor: Number | Sequence[float] = 0.95,
    beta: Number = 0.01,
    step: Number = 0.001,
) -> AlternatingLoads:
    """Released loads moved until the AC optimal power flow of a pandapower net converges for them.

    Noise makes some loads huge, which a DC flow may still feed and voltages do not allow. So loads are drawn toward
    their mean, each time brought back to a DC cost within `beta` of `cost`, until AC converges. Of the net its loads'
    powers are not read, nor what generators give for them: reactive power follows from `power_factor`, one for all
    loads or one for each, which is public.

    Guarantee: it sees released and public numbers only, so it costs nothing (docs/proofs/power.md, "AC").
    """
    grid, drawn = Grid.from_pandapower(net), _released(loads)
    if len(drawn) != grid.loads:
        raise InputError("loads", Phrase(f"{len(drawn)} numbers"), f"one for each of the {grid.loads} loads of the net")
    tangent = _tangents(power_factor, grid.loads)
    fine, near, aim = (
        float(as_written(value, name)) for value, name in ((step, "step"), (beta, "beta"), (cost, "cost"))
    )
    for value, name in ((fine, "step"), (near, "beta"), (aim, "cost")):
        if value <= 0:
            raise InputError(name, value, "more than zero")
    repair = Repair(grid, fine, np.full(grid.loads, max(1, int(grid.capacity / fine)), dtype=np.int64))
    alike, net = np.full(grid.loads, float(drawn.mean())), public_net(net, float(drawn.sum()))
    first: tuple[Reals, float] | None = None
    for moved in _TOWARD:
        target = (1 - moved) * drawn + moved * alike
        found = repair.near(np.rint(target / fine).astype(np.int64), aim, near)
        tried = repair.megawatts(found.steps)
        first = first or (tried, found.cost)
        reached = ac_cost(net, tried.tolist(), (tried * tangent).tolist())
        if reached is not None:
            return AlternatingLoads(tuple(tried.tolist()), moved, found.cost, reached)
    tried, spent = first or (drawn, aim)
    return AlternatingLoads(tuple(tried.tolist()), 0.0, spent, None)


def _released(loads: Sequence[float]) -> Reals:
    try:
        found = np.asarray(loads, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("loads", kind_of(loads), "a list of MW, as they were released") from None
    if found.ndim != 1 or not np.isfinite(found).all():
        raise InputError("loads", kind_of(loads), "a list of finite MW, as they were released")
    return found


def _tangents(factor: Number | Sequence[float], loads: int) -> Reals:
    """Mvar for each MW."""
    allowed = f"more than 0 and at most 1, one number or {loads}"
    try:
        cosine = np.asarray(float(factor) if isinstance(factor, (int, float, str)) else factor, dtype=np.float64)
        cosine = np.broadcast_to(cosine, (loads,))
    except (TypeError, ValueError):
        raise InputError("power_factor", kind_of(factor), allowed) from None
    if not ((cosine > 0) & (cosine <= 1)).all():
        raise InputError("power_factor", kind_of(factor), allowed)
    return np.asarray(np.sqrt(1 - cosine**2) / cosine, dtype=np.float64)
