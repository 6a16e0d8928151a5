"""Public totals of regions that cross the cells: two ways of adding up at once, and still an integer optimum.

Regions nest within each cell, and totals over all cells nest too. Two nested families make a flow network, so a linear
program over unit steps has whole vertices. A guess by dual ascent, the program in a window around it, and a
certificate: with the program's dual values as prices per person of a region, the counts are optimal for every cell by
itself. Widened where a window was in the way. See docs/proofs/hierarchy-exact.md.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.trees.exact.breakpoints import continuous
from discreet.trees.exact.certificate import faults
from discreet.trees.exact.forest import Forest

__all__ = ["solve_crossing"]

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

_SWEEPS = 300  # of dual ascent; a guess need not be perfect
_SLACK = 0.02  # how far the guess is trusted


def solve_crossing(forest: Forest, totals: tuple[Array | None, ...]) -> list[Array]:
    """Optimal whole counts of a forest without a total on top, where regions have public totals over all cells (or -1).

    `InputError` if totals and bounds cannot hold together.
    """
    network = _Network(forest, totals)
    real = network.ascend()
    forest.check(real)
    first = [np.floor(x - _SLACK).astype(np.int64) for x in real]
    last = [np.ceil(x + _SLACK).astype(np.int64) for x in real]
    found = network.optimum_within(first, last)
    if found is None:
        near = network.nearest([np.rint(x).astype(np.int64) for x in real])
        first, last = [x - 1 for x in near], [x + 1 for x in near]
    reach = 1
    while found is None or network.faults(*found):
        if found is not None:
            network.widen(first, last, found[1], reach)
            reach = min(2 * reach, 64)
        found = network.optimum_within(first, last)
        if found is None:
            raise RuntimeError("windows around counts that add up do not fit together")
    return found[0]


class _Network:
    """A forest and the totals that cross it, as rows of a linear program: one for each sum that must hold."""

    def __init__(self, forest: Forest, totals: tuple[Array | None, ...]) -> None:
        self.forest = forest
        self.cells = forest.size(0)
        self.public = [
            np.zeros(0, np.int64) if known is None else np.flatnonzero(known >= 0).astype(np.int64) for known in totals
        ]
        self.totals = [
            np.zeros(0, np.int64) if known is None else known[places].astype(np.int64)
            for known, places in zip(totals, self.public, strict=True)
        ]
        sizes = [forest.size(level) for level in range(forest.depth - 1)] + [len(places) for places in self.public]
        self.rows = np.concatenate([[0], np.cumsum(sizes)])

    def over_cells(self, level: int, x: NDArray[Any]) -> NDArray[Any]:
        """Sums over all cells of the regions with a public total."""
        sums: NDArray[Any] = x.reshape(self.cells, -1)[:, self.public[level]].sum(axis=0)
        return sums

    def priced(self, duals: list[NDArray[Any]]) -> Forest:
        """The forest with a price on each person in a region with a public total; the totals themselves are dropped."""
        prices = []
        for level, (places, dual) in enumerate(zip(self.public, duals, strict=True)):
            of_regions = np.zeros(self.forest.size(level) // self.cells, dual.dtype)
            of_regions[places] = dual
            prices.append(np.tile(of_regions, self.cells))
        return replace(self.forest, prices=tuple(prices))

    def faults(self, counts: list[Array], duals: Array) -> int:
        """Zero shows that counts are optimal: totals hold, and at these prices nothing else is cheaper."""
        wrong = sum(
            int((self.over_cells(level, x) != totals).sum())
            for level, (x, totals) in enumerate(zip(counts, self.totals, strict=True))
        )
        values = [duals[self.rows[self.forest.depth - 1 + level] :] for level in range(self.forest.depth)]
        priced = self.priced([-part[: len(places)] for part, places in zip(values, self.public, strict=True)])
        priced.check(counts)
        return wrong + faults(priced, counts)

    def widen(self, first: list[Array], last: list[Array], duals: Array, reach: int) -> None:
        """Lengthen windows in place where a step beyond them would pay at these dual values; all if none would."""
        forest, some = self.forest, False
        moves = []
        for level in range(forest.depth):
            y, w, low, high = (part[level] for part in (forest.targets, forest.weights, forest.lower, forest.upper))
            worth = np.zeros(len(y), np.int64)
            if level < forest.depth - 1:
                worth -= duals[self.rows[level] : self.rows[level + 1]]
            if level:
                worth += duals[self.rows[level - 1] + forest.parents[level]]
            regions = np.zeros(len(y) // self.cells, np.int64)
            regions[self.public[level]] = duals[self.rows[forest.depth - 1 + level] :][: len(self.public[level])]
            worth += np.tile(regions, self.cells)
            start, stop = np.clip(first[level], low, high), np.clip(last[level], low, high)
            down = (start > low) & (w * (2 * (start - y) - 1) > worth)
            up = (stop < high) & (w * (2 * (stop - y) + 1) < worth)
            moves.append((down, up))
            some = some or bool(down.any() or up.any())
        for level, (down, up) in enumerate(moves):
            first[level] = first[level] - (reach * down if some else 1)
            last[level] = last[level] + (reach * up if some else 1)

    def ascend(self) -> list[Floats]:
        """A guess: the prices at which the best real counts have the public totals, by a quasi-Newton method."""
        from scipy.optimize import minimize

        forest = self.forest
        cuts = np.cumsum([len(places) for places in self.public])[:-1]
        totals = np.concatenate(self.totals)
        scale = np.concatenate([np.full(len(p), self._stiffness(level)) for level, p in enumerate(self.public)])

        def cost(scaled: Floats) -> tuple[float, Floats]:
            prices = scaled * scale
            x = continuous(self.priced(np.split(prices, cuts)))
            off = np.concatenate([self.over_cells(level, part) for level, part in enumerate(x)]) - totals
            value = sum(
                float((w * (part - y) ** 2).sum()) for part, y, w in zip(x, forest.targets, forest.weights, strict=True)
            )
            return -(value + float(prices @ off)), -off * scale

        options = {"maxiter": _SWEEPS, "maxfun": _SWEEPS, "gtol": 1e-3, "ftol": 1e-15, "maxcor": 20}
        best = minimize(cost, np.zeros(len(totals)), jac=True, method="L-BFGS-B", options=options).x
        return continuous(self.priced(np.split(best * scale, cuts)))

    def _stiffness(self, level: int) -> float:
        """About how much a price must change to change a region's total by one."""
        forest = self.forest
        leaves = forest.size(forest.depth - 1) / forest.size(level)
        softest = leaves / (2.0 * max(float(np.mean(forest.weights[-1])), 0.5))
        own = float(np.mean(forest.weights[level])) if level < forest.depth - 1 else 0.0
        return math.sqrt((1.0 / softest + 2.0 * own) / self.cells)

    def optimum_within(self, first: list[Array], last: list[Array]) -> tuple[list[Array], Array] | None:
        """The best whole counts with each x from `first` to `last`, and a dual value a row. None if there are none."""
        forest = self.forest
        starts, stops, costs, rooms = [], [], [], []
        for level in range(forest.depth):
            y, w, low, high = (part[level] for part in (forest.targets, forest.weights, forest.lower, forest.upper))
            start, stop = np.clip(first[level], low, high), np.clip(last[level], low, high)
            x = start[:, None] + np.arange(int((stop - start).max()))
            rooms.append((x < stop[:, None]).astype(float))
            costs.append((w[:, None] * (2 * (x - y[:, None]) + 1)).astype(float))
            starts.append(start)
            stops.append(stop)
        forest.check(starts)
        forest.check(stops)
        return self._program(starts, costs, rooms)

    def nearest(self, guess: list[Array]) -> list[Array]:
        """Counts that meet every rule, as near to the guess as can be. `InputError` if there are none."""
        forest = self.forest
        costs, rooms = [], []
        for x, low, high in zip(guess, forest.lower, forest.upper, strict=True):
            middle = np.clip(x, low, high)
            rooms.append(np.stack([middle - low, high - middle], axis=1).astype(float))
            costs.append(np.broadcast_to([-1.0, 1.0], (len(x), 2)))
        found = self._program(list(forest.lower), costs, rooms)
        if found is None:
            hint = "Each total fits the bounds; several of them together do not. Change one of them."
            raise InputError(
                "rules.totals", Phrase("totals that contradict the bounds"), "totals that can all hold at once", hint
            )
        return found[0]

    def _program(
        self, starts: list[Array], costs: list[Floats], rooms: list[Floats]
    ) -> tuple[list[Array], Array] | None:
        """Least cost over x = start + steps, each step from 0 to its room. A vertex, hence whole."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        forest = self.forest
        rows, columns, signs, cost, room = [], [], [], [], []
        rhs = np.zeros(self.rows[-1])
        widths, count = [], 0
        for level, (start, price, most) in enumerate(zip(starts, costs, rooms, strict=True)):
            node, step = np.nonzero(most > 0)
            column = count + np.arange(len(node))
            count += len(node)
            widths.append(node)
            cost.append(price[node, step])
            room.append(most[node, step])
            entries = []
            if level < forest.depth - 1:  # a parent's own steps against those of its children
                entries.append((self.rows[level] + node, -1.0, np.ones(len(node), bool)))
                rhs[self.rows[level] : self.rows[level + 1]] += start
            if level:
                above = self.rows[level - 1] + forest.parents[level]
                entries.append((above[node], 1.0, np.ones(len(node), bool)))
                np.subtract.at(rhs, above, start)
            places = self.public[level]
            if len(places):
                regions = len(start) // self.cells
                row = np.full(regions, -1, np.int64)
                row[places] = self.rows[forest.depth - 1 + level] + np.arange(len(places))
                entries.append((row[node % regions], 1.0, row[node % regions] >= 0))
                rhs[row[places]] = self.totals[level] - self.over_cells(level, start)
            for where, sign, kept in entries:
                rows.append(where[kept])
                columns.append(column[kept])
                signs.append(np.full(int(kept.sum()), sign))
        if not count:  # nothing is left to choose
            return None if rhs.any() else (starts, np.zeros(len(rhs), np.int64))
        matrix = csr_array(
            (np.concatenate(signs), (np.concatenate(rows), np.concatenate(columns))), shape=(int(self.rows[-1]), count)
        )
        found = linprog(
            np.concatenate(cost),
            A_eq=matrix,
            b_eq=rhs,
            bounds=np.stack([np.zeros(count), np.concatenate(room)], axis=1),
            method="highs-ds",
        )
        if found.x is None:
            return None
        steps = np.split(np.rint(found.x).astype(np.int64), np.cumsum([len(node) for node in widths])[:-1])
        counts = [
            start + np.bincount(node, weights=step, minlength=len(start)).astype(np.int64)
            for start, node, step in zip(starts, widths, steps, strict=True)
        ]
        # Whole costs on a network have whole dual values; rounding them all down keeps every difference.
        return counts, np.floor(found.eqlin.marginals + 1e-6).astype(np.int64)
