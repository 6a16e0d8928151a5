"""DC optimal power flow: the cheapest generation that feeds given loads within the limits, and the price at every load.

Active power only, small angles, no losses. A convex problem, solved by Clarabel (extra `power`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.signature import typed
from discreet.errors import InputError, MissingExtraError, Phrase
from discreet.power.grid import Grid, Piecewise, Quadratic, Reals

__all__ = ["FEASIBLE", "Flow", "Network", "optimal_flow", "solve"]

FEASIBLE = 1e-4
"""MW: a flow is feasible if no balance and no limit is missed by more than this."""

_BASE = 100.0  # MW in the solver's unit: numbers near one are solved best
_ROUNDS = 200


@dataclass(frozen=True, slots=True)
class Flow:
    """The cheapest way to feed some loads: what it costs an hour, and what one more MW would cost at each load."""

    cost: float
    generation: Reals
    angles: Reals
    prices: Reals


class Network:
    """The constraints of a grid as sparse rows over generation, angles and the cost of piecewise linear generators.

    `balance` x = demand + loads at every bus, `rows` x <= `most`; cost = x' `square` x + `slope` x + `fixed`.
    """

    def __init__(self, grid: Grid, margin: float = 0.0) -> None:
        """`margin` MW are kept free below every limit, as far as the limit leaves room for it."""
        from scipy import sparse

        self.grid = grid
        units, buses, lines = len(grid.costs), grid.buses, len(grid.limit)
        curved = [(unit, cost) for unit, cost in enumerate(grid.costs) if isinstance(cost, Piecewise)]
        self.width = units + buses + len(curved)
        at = np.arange(lines)
        ends = sparse.csr_matrix(
            (
                np.r_[np.ones(lines), -np.ones(lines)],
                (np.r_[at, at], np.r_[grid.branch_from, grid.branch_to]),
            ),
            shape=(lines, buses),
        )
        carried = sparse.diags_array(grid.susceptance / _BASE) @ ends
        offset = grid.susceptance * grid.shift / _BASE
        fed = sparse.csr_matrix((np.ones(units), (grid.generator_bus, np.arange(units))), shape=(buses, units))
        nothing = sparse.csr_matrix((buses, len(curved)))
        self.balance = sparse.hstack([fed, -(ends.T @ carried), nothing], format="csr")
        self.demand = grid.demand / _BASE - ends.T @ offset
        self.load_at = sparse.csr_matrix(
            (np.ones(grid.loads), (grid.load_bus, np.arange(grid.loads))), shape=(buses, grid.loads)
        )
        power = sparse.hstack([sparse.eye_array(units), sparse.csr_matrix((units, buses + len(curved)))])
        flow = sparse.hstack([sparse.csr_matrix((lines, units)), carried, sparse.csr_matrix((lines, len(curved)))])
        angle = sparse.hstack([sparse.csr_matrix((lines, units)), ends, sparse.csr_matrix((lines, len(curved)))])
        room = np.minimum(margin, (grid.generator_upper - grid.generator_lower) / 4) / _BASE
        slack = np.minimum(margin, grid.limit / 4) / _BASE
        limit = grid.limit / _BASE
        parts = [
            (power, grid.generator_upper / _BASE - room),
            (-power, -grid.generator_lower / _BASE - room),
            (flow, limit + offset - slack),
            (-flow, limit - offset - slack),
            (angle, grid.angle_upper),
            (-angle, -grid.angle_lower),
            *_pieces(curved, units + buses, self.width),
        ]
        rows, most = sparse.vstack([part for part, _ in parts], format="csr"), np.concatenate([end for _, end in parts])
        bounded = np.isfinite(most)
        self.rows, self.most = rows[bounded], most[bounded]
        # The angle of the first bus is the reference.
        self.reference = sparse.csr_matrix(([1.0], ([0], [units])), shape=(1, self.width))
        self.square, self.slope, self.fixed = np.zeros(self.width), np.zeros(self.width), 0.0
        for unit, cost in enumerate(grid.costs):
            if isinstance(cost, Quadratic):
                self.square[unit], self.slope[unit] = cost.square * _BASE**2, cost.slope * _BASE
                self.fixed += cost.fixed
        self.slope[units + buses :] = _BASE

    @property
    def base(self) -> float:
        """MW in one unit of the variables."""
        return _BASE

    def cost(self, x: Reals) -> float:
        """What generation costs an hour."""
        return float(self.square @ (x * x) + self.slope @ x) + self.fixed

    def missed(self, x: Reals, loads: Reals) -> float:
        """By how many MW (or radians) the worst constraint is missed."""
        unbalanced = np.abs(self.balance @ x - self.demand - self.load_at @ (loads / _BASE)).max()
        over = (self.rows @ x - self.most).max(initial=0.0)
        return float(max(unbalanced, over)) * _BASE

    def flow(self, loads: Sequence[float] | Reals, lost: float | None = None) -> Flow | None:
        """The optimal flow for loads in MW; None if there is no feasible one.

        With `lost`, any load may be fed less or more than it draws, at that price for each MW: then there is always a
        flow if the grid can feed anything, its cost is at most that of the strict one, and no price is beyond `lost`.
        """
        from scipy import sparse

        drawn = _read(self.grid, loads)
        scale = max(1.0, self.grid.highest_price) * _BASE
        extra = 0 if lost is None else 2 * self.grid.loads
        missing = sparse.hstack([self.load_at, -self.load_at]) if extra else sparse.csr_matrix((self.grid.buses, 0))
        equal = sparse.bmat([[self.balance, missing], [self.reference, None]])
        rows = sparse.bmat([[self.rows, None], [None, -sparse.eye_array(extra)]]) if extra else self.rows
        found = solve(
            sparse.diags_array(np.r_[2 * self.square / scale, np.zeros(extra)]),
            np.r_[self.slope / scale, np.full(extra, (lost or 0.0) * _BASE / scale)],
            [
                ("zero", equal, np.append(self.demand + self.load_at @ (drawn / _BASE), 0.0)),
                ("nonnegative", rows, np.r_[self.most, np.zeros(extra)]),
            ],
        )
        if found is None:
            return None
        x, given, dual = found[0][: self.width], found[0][self.width :] * _BASE, found[1]
        units, buses, count = len(self.grid.costs), self.grid.buses, self.grid.loads
        fed = drawn - given[:count] + given[count:] if extra else drawn
        if not self.missed(x, fed) <= FEASIBLE:  # NaN is not feasible either
            return None
        prices = -dual[:buses] * scale / _BASE
        cost = self.cost(x) + (lost or 0.0) * float(given.sum())
        return Flow(cost, x[:units] * _BASE, x[units : units + buses], prices[self.grid.load_bus])


@typed
def optimal_flow(grid: Grid, loads: Sequence[float] | Reals) -> Flow | None:
    """The DC optimal power flow of a grid for loads in MW; None if no generation can feed them within the limits.

    >>> from discreet.power.grid import Grid, Quadratic
    >>> units = [(0, 0, 200, Quadratic(slope=20)), (1, 0, 200, Quadratic(slope=50))]
    >>> grid = Grid.of(buses=2, branches=[(0, 1, 1000, 80)], generators=units, loads=[1])
    >>> flow = optimal_flow(grid, [100])
    >>> round(flow.cost, 3), flow.prices.round(3).tolist()      # 80 MW at 20 come over the line, 20 MW at 50 do not
    (2600.0, [50.0])
    >>> optimal_flow(grid, [300]) is None
    True
    """
    return Network(grid).flow(loads)


def solve(square: Any, slope: Reals, blocks: Sequence[tuple[str, Any, Reals]]) -> tuple[Reals, Reals] | None:
    """Least x' square x / 2 + slope x with end - rows x in each block's cone; x and the duals, or None.

    Cones are "zero", "nonnegative" and "ball" (a second-order cone, its length first).
    """
    from scipy import sparse

    clarabel = _clarabel()
    cones = {
        "zero": clarabel.ZeroConeT,
        "nonnegative": clarabel.NonnegativeConeT,
        "ball": clarabel.SecondOrderConeT,
    }
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = _ROUNDS
    settings.max_threads = 1
    end = np.concatenate([end for _, _, end in blocks])
    rows = sparse.csc_matrix(sparse.vstack([rows for _, rows, _ in blocks]))
    kinds = [cones[kind](len(end)) for kind, _, end in blocks]
    curve = sparse.triu(sparse.csc_matrix(square), format="csc")
    try:
        found = clarabel.DefaultSolver(curve, np.asarray(slope, dtype=float), rows, end, kinds, settings).solve()
    except Exception:  # a solver that breaks down has found nothing, and nothing may fail after the charge
        return None
    if str(found.status) not in ("Solved", "AlmostSolved"):
        return None
    return np.asarray(found.x), np.asarray(found.z)


def _pieces(curved: list[tuple[int, Piecewise]], first: int, width: int) -> list[tuple[Any, Reals]]:
    """Rows that keep the cost variable of each piecewise linear generator above its lines, in units of the base."""
    from scipy import sparse

    found = []
    for index, (unit, cost) in enumerate(curved):
        lines = cost.lines
        at = np.arange(len(lines))
        rows = sparse.csr_matrix(
            (
                np.r_[[slope for slope, _ in lines], -np.ones(len(lines))],
                (np.r_[at, at], np.r_[np.full(len(lines), unit), np.full(len(lines), first + index)]),
            ),
            shape=(len(lines), width),
        )
        found.append((rows, np.array([-intercept / _BASE for _, intercept in lines])))
    return found


def _read(grid: Grid, loads: Sequence[float] | Reals) -> Reals:
    drawn = np.asarray(loads, dtype=float)
    if drawn.shape != (grid.loads,):
        raise InputError(
            "loads", Phrase(f"an array of shape {drawn.shape}"), f"one number for each of the {grid.loads} loads"
        )
    if not np.isfinite(drawn).all():
        raise InputError("loads", Phrase("infinite or NaN"), "finite numbers of MW")
    return drawn


def _clarabel() -> Any:
    try:
        import clarabel
    except ImportError:
        raise MissingExtraError("power", "clarabel") from None
    return clarabel
