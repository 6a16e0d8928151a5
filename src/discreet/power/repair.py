"""Noisy loads made usable: the nearest loads the grid can feed at about a given cost.

Nothing here knows the private loads: every function takes noisy or public numbers only, so whatever it does is free.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.power.grid import Grid, Reals
from discreet.power.opf import Flow, Network, solve

__all__ = ["Repair", "RepairedLoads"]

Steps = NDArray[np.int64]
Way = Literal["window", "nearest", "anchor"]

_INSIDE = (
    0.02,
    0.1,
    0.5,
    0.98,
)  # of the window: aimed at the reference; wider where no loads are found, or rounding fell
_ROUNDS = 25
_GAIN = 1e-4  # a round that brings the loads less than this much nearer is the last
_TOWARD = (0.5, 0.25, 0.125, 0.0625, 0.0)


@dataclass(frozen=True, slots=True)
class RepairedLoads:
    """Loads in whole steps that the grid can feed, the cost of feeding them, and how they were found.

    `way` is "window" (feasible, cost in the window), "nearest" (feasible and near, but no loads of whole steps with
    such a cost were found) or "anchor" (feasible, moved toward loads fixed beforehand).
    """

    steps: Steps
    cost: float
    way: Way
    rounds: int


class Repair:
    """The repair of one grid: built from public numbers, used on any noisy ones.

    Guarantee: `near` returns loads from 0 to `most` steps that passed `Network.flow`, which finds a generation that
    misses no balance and no limit by more than `FEASIBLE` MW; if `way` is "window", their optimal cost is within
    `beta` of the reference. It always returns: the last resort was checked when this was built.
    """

    def __init__(self, grid: Grid, step: float, most: Steps) -> None:
        self.grid = grid
        self.step = step
        self.most = most
        self.network = Network(grid)
        # Room for what rounding to steps does to the flows.
        self._tight = Network(grid, margin=step * math.sqrt(grid.loads))
        self._cheapest = 0.0
        self.anchor, self.anchor_flow = self._anchored()

    @property
    def cheapest(self) -> float:
        """The least that feeding any allowed loads can cost."""
        return self._cheapest

    @property
    def dearest(self) -> float:
        """No loads cost more than all generators at full power."""
        ends = self.grid.generator_upper
        costs = [_cost_at(cost, float(end)) for cost, end in zip(self.grid.costs, ends, strict=True)]
        return max(self._cheapest, sum(max(cost, 0.0) for cost in costs))

    def flow(self, steps: Steps) -> Flow | None:
        """The optimal flow of loads in whole steps."""
        return self.network.flow(self.megawatts(steps))

    def megawatts(self, steps: Steps) -> Reals:
        """Steps as MW."""
        return np.asarray(steps, dtype=np.float64) * self.step

    def near(self, noisy: Steps, reference: float, beta: float) -> RepairedLoads:
        """The nearest loads found that are feasible and cost within `beta` (a share) of `reference`."""
        far = self.grid.capacity
        target = np.clip(self.megawatts(noisy), -2 * far, 3 * far)  # beyond, only the solver's precision would suffer
        rounds, best = 0, None
        for net in (self._tight, self.network):
            for inside in _INSIDE:
                low, high = reference * (1 - inside * beta), reference * (1 + inside * beta)
                found, rounds = self._window(net, target, low, high)
                if found is None:
                    continue
                steps = self._rounded(found)
                flow = self.flow(steps)
                if flow is None:
                    continue
                if abs(flow.cost - reference) <= beta * reference:
                    return RepairedLoads(steps, flow.cost, "window", rounds)
                if best is None or abs(flow.cost - reference) < abs(best.cost - reference):
                    best = RepairedLoads(steps, flow.cost, "nearest", rounds)
        return best if best is not None else self._resort(target, rounds)

    def _resort(self, target: Reals, rounds: int) -> RepairedLoads:
        found = self.closest(target)
        if found is None:
            return RepairedLoads(self.anchor, self.anchor_flow.cost, "anchor", rounds)
        steps = self._rounded(found)
        flow = self.flow(steps)
        if flow is not None:
            return RepairedLoads(steps, flow.cost, "nearest", rounds)
        for share in _TOWARD:  # feasible loads are a convex set, and the anchor is well inside
            steps = self._rounded((1 - share) * self.megawatts(self.anchor) + share * found)
            flow = self.flow(steps)
            if flow is not None:
                return RepairedLoads(steps, flow.cost, "anchor", rounds)
        return RepairedLoads(self.anchor, self.anchor_flow.cost, "anchor", rounds)

    def _window(self, net: Network, target: Reals, low: float, high: float) -> tuple[Reals | None, int]:
        """Loads near `target` whose cost is between `low` and `high`.

        Cost at most `high` is a convex constraint. Cost at least `low` is not; but the cost is convex in the loads, so
        a plane that touches it (its slopes are the prices) is below it: loads where the plane reaches `low` cost `low`.
        """
        loads = self.closest(target, high, net=net)
        if loads is None:
            return None, 0
        flow = self.network.flow(loads)
        if flow is None:
            return None, 0
        if flow.cost >= low:
            return loads, 1
        inside: Reals | None = None
        for count in range(2, _ROUNDS + 2):
            plane = (flow.prices, low - flow.cost + float(flow.prices @ loads))
            found = self.closest(target, high, plane, net=net)
            if found is None and inside is None:
                # Too far for one plane: climb as high as this one leads, and put the next one there.
                found = self.closest(target, high, plane, climb=True, net=net)
                if found is not None and flow.prices @ (found - loads) < _GAIN * abs(low - flow.cost):
                    found = None
            if found is None:
                return inside, count
            nearer = inside is None or _distance(found, target) < (1 - _GAIN) * _distance(inside, target)
            reached = self.network.flow(found)
            if reached is None:
                return inside, count
            loads, flow = found, reached
            if flow.cost >= low:
                inside = found if nearer else inside
                if not nearer:
                    break
        return inside, count

    def closest(
        self,
        target: Reals,
        high: float | None = None,
        plane: tuple[Reals, float] | None = None,
        *,
        climb: bool = False,
        net: Network | None = None,
    ) -> Reals | None:
        """The feasible loads closest to `target` in squares (or highest on the plane); None if there are none.

        `high` bounds their cost, `plane` = (slopes, least) asks for slopes @ loads >= least.
        """
        from scipy import sparse

        net = self._tight if net is None else net
        base = net.base
        width, count = net.width, self.grid.loads
        blocks = self._allowed(net)
        if high is not None:
            blocks.append(_capped(net, high, count))
        square = np.r_[np.zeros(width), np.ones(count)]
        slope = np.r_[np.zeros(width), -target / base]
        if plane is not None:
            slopes, least = plane
            size = max(float(np.abs(slopes).max()), 1e-9)
            row = np.r_[np.zeros(width), slopes / size]
            if climb:
                square, slope = np.zeros_like(square), -row
            else:
                blocks.append(("nonnegative", sparse.csr_matrix(-row), np.array([-least / (size * base)])))
        found = solve(sparse.diags_array(square), slope, blocks)
        if found is None:
            return None
        loads: Reals = found[0][width:] * base
        return loads

    def _rounded(self, loads: Reals) -> Steps:
        """Whole steps with about the same total: most parts of a step up, until the total is reached."""
        exact = np.clip(loads / self.step, 0, self.most)
        whole = np.floor(exact).astype(np.int64)
        missing = round(float((exact - whole).sum()))
        if missing > 0:
            up = np.argsort(-(exact - whole), kind="stable")[:missing]
            whole[up] += 1
        return np.minimum(whole, self.most)

    def _anchored(self) -> tuple[Steps, Flow]:
        """Loads known to be feasible, from public numbers alone; `InputError` if the grid can feed none."""
        share = np.minimum(self.grid.capacity / 2 / self.grid.loads, self.megawatts(self.most))
        tried = self.closest(share)
        if tried is not None:
            steps = self._rounded(tried)
            flow = self.flow(steps)
            least = self._least()
            if flow is not None and least is not None:
                self._cheapest = min(flow.cost, least)
                return steps, flow
        hint = "Look at the generators' least power, the limits of the branches, and at step and highest."
        raise InputError("grid", self.grid, "one that can feed some loads from 0 to the highest", hint)

    def _least(self) -> float | None:
        """The least cost of any allowed loads."""
        from scipy import sparse

        net = self.network
        scale = max(1.0, self.grid.highest_price) * net.base
        nothing = np.zeros(self.grid.loads)
        square, slope = np.r_[2 * net.square / scale, nothing], np.r_[net.slope / scale, nothing]
        found = solve(sparse.diags_array(square), slope, self._allowed(net))
        return None if found is None else net.cost(found[0][: net.width])

    def _allowed(self, net: Network) -> list[tuple[str, Any, Reals]]:
        """A flow, and the loads from 0 to `most` that it feeds."""
        from scipy import sparse

        count = self.grid.loads
        each = sparse.hstack([sparse.csr_matrix((count, net.width)), sparse.eye_array(count)])
        return [
            ("zero", sparse.hstack([net.balance, -net.load_at]), net.demand),
            ("zero", sparse.hstack([net.reference, sparse.csr_matrix((1, count))]), np.zeros(1)),
            ("nonnegative", sparse.hstack([net.rows, sparse.csr_matrix((net.rows.shape[0], count))]), net.most),
            ("nonnegative", each, self.megawatts(self.most) / net.base),
            ("nonnegative", -each, np.zeros(count)),
        ]


def _capped(net: Network, high: float, extra: int) -> tuple[str, Any, Reals]:
    """Cost at most `high`, for x followed by `extra` variables it does not depend on.

    With r = high - fixed - slope x and u = sqrt(square) x it says u'u <= r, which is |(r - 1, 2u)| <= r + 1.
    """
    from scipy import sparse

    scale = max(abs(high), 1.0)
    curved = np.flatnonzero(net.square)
    slope = np.r_[net.slope / scale, np.zeros(extra)]
    room = (high - net.fixed) / scale
    if not len(curved):
        return "nonnegative", sparse.csr_matrix(slope), np.array([room])
    roots = sparse.csr_matrix(
        (-2 * np.sqrt(net.square[curved] / scale), (np.arange(len(curved)), curved)),
        shape=(len(curved), net.width + extra),
    )
    rows = sparse.vstack([sparse.csr_matrix(slope), sparse.csr_matrix(slope), roots])
    return "ball", rows, np.r_[room + 1, room - 1, np.zeros(len(curved))]


def _distance(loads: Reals, target: Reals) -> float:
    return float(((loads - target) ** 2).sum())


def _cost_at(cost: Any, power: float) -> float:
    if hasattr(cost, "lines"):
        return float(max(slope * power + intercept for slope, intercept in cost.lines))
    return float(cost.square * power**2 + cost.slope * power + cost.fixed)
