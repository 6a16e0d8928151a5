"""Children of fixed parents when something is known about the regions' totals as well: rows beside columns.

Columns: every cell of a parent is the sum over its children, exactly. Rows: the total of a child over its cells is
public, or bounded, or measured by a question of its own, which then counts by its precision. Real targets are found by
turns, rows and columns, as multipliers of the least-squares problem; whole numbers by rounding every row to its total
and then moving units from one cell to another within rows until the columns are right too. A way of moving them
always exists where the problem has a solution, as rows and columns make a network.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.trees.topdown.rounding import multiplier, spread, units, whole
from discreet.trees.tree import Hierarchy

__all__ = ["Rows", "one_row", "transport"]

Array = NDArray[np.int64]
Reals = NDArray[np.float64]

_SOFT = 6  # turns of rows and columns where totals only pull
_HARD = 60  # turns at most where they must hold; the rounding mends what is left


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What is known of the totals of the regions of one level, from `least` to `most` (equal: public).

    `target` is what was measured and `precision` how much it counts, 0 for not at all.
    """

    least: Array
    most: Array
    target: Reals | None = None
    precision: Reals | None = None

    @property
    def soft(self) -> bool:
        """Whether any total was measured."""
        return self.precision is not None and bool(self.precision.any())

    @property
    def hard(self) -> bool:
        """Whether any total is bounded at all."""
        return bool((self.least > 0).any() or (self.most < np.iinfo(np.int64).max).any())


def transport(
    tree: Hierarchy, level: int, parents: Array, mu: Reals, v: Reals, lower: Array, upper: Array, rows: Rows
) -> Array | None:
    """`spread`, with rows: minimise sum (x - mu)^2 / v + sum precision (total - target)^2. None where nothing fits.

    `v` has one number a region: all cells of a region have the same variance.
    """
    if not rows.hard and not rows.soft:
        return spread(tree, level, parents, mu, v[:, None], lower, upper)
    room = np.minimum(upper, parents[tree.parents[level + 1]]) - lower
    pull, shift = _multipliers(tree, level, parents, mu - lower, v, lower, room.astype(float), rows)
    aim = mu + (v * pull)[:, None]
    if not rows.hard:
        return spread(tree, level, parents, aim, v[:, None], lower, upper)
    aim = aim + v[:, None] * shift[tree.parents[level + 1]]
    return _Table(tree, level, parents, aim, v, lower, lower + room, rows).settle()


def one_row(mu: Reals, v: Reals, lower: Array, upper: Array, rows: Rows) -> Array | None:
    """The same for a region without a parent, the root: only its row is known. Shapes (1, cells), `v` (1,)."""
    room = (upper - lower).astype(float)
    pull = np.zeros(1)
    if rows.target is not None and rows.precision is not None:
        pull = _soft(mu - lower, v, room, rows.target - lower.sum(), rows.precision, pull)
    aim = mu + (v * pull)[:, None]
    held = np.clip(aim, lower, upper).sum(axis=1)
    total = np.clip(np.rint(held), rows.least, np.minimum(rows.most, upper.sum(axis=1))).astype(np.int64)
    cells = np.array([mu.shape[1]])
    found = whole(cells, aim[0], np.repeat(v, mu.shape[1]), lower[0], upper[0], total)
    return None if found is None else found[None, :]


def _multipliers(
    tree: Hierarchy, level: int, parents: Array, mu: Reals, v: Reals, lower: Array, room: Reals, rows: Rows
) -> tuple[Reals, Reals]:
    """What rows and columns add to the targets, in units of the variance: (regions,) and (parents, cells)."""
    size, cells = mu.shape
    place, counts = tree.parents[level + 1], np.tile(tree.children(level), cells)
    width = np.tile(v, cells)
    base = lower.sum(axis=1)
    least, most = (rows.least - base).astype(float), (rows.most - base).astype(float)
    above = (parents - tree.add(level, lower)).astype(float)
    roof = np.ascontiguousarray(room.T).ravel()
    pull = np.zeros(size)
    level_out = _leveller(tree, level, rows, base, above)
    for _ in range(_HARD if rows.hard else _SOFT):
        aim = mu + (v * pull)[:, None]
        shift = multiplier(counts, np.ascontiguousarray(aim.T).ravel(), width, roof, above.T.ravel())
        columns = shift.reshape(cells, -1).T
        aim = mu + v[:, None] * columns[place]
        before = pull
        if rows.precision is not None and rows.target is not None:
            pull = level_out(_soft(aim, v, room, rows.target - base, rows.precision, pull))
        else:
            pull = np.zeros(size)
        held = np.clip(aim + (v * pull)[:, None], 0.0, room).sum(axis=1)
        off = np.flatnonzero((held < least - 1e-6) | (held > most + 1e-6))
        if len(off):
            goal = np.clip(held[off], least[off], most[off])
            goal = np.clip(goal, 0.0, room[off].sum(axis=1))
            many = np.full(len(off), cells)
            pull[off] = multiplier(many, aim[off].ravel(), np.repeat(v[off], cells), room[off].ravel(), goal)
        if np.abs((pull - before) * v).max() < 0.01:
            break
    return pull, columns


def _leveller(tree: Hierarchy, level: int, rows: Rows, base: Array, above: Reals) -> Callable[[Reals], Reals]:
    """Adds to the pull of all children of a parent what its columns will take back: what turns alone reach too slowly.

    Only where all children's totals were measured and none is bounded, so that nothing else can take it.
    """
    if rows.precision is None or rows.target is None or rows.hard:
        return lambda pull: pull
    measured = rows.precision > 0
    give = 1 / np.where(measured, rows.precision, 1.0)
    place = tree.parents[level + 1]
    all_of = tree.add(level, (~measured).astype(np.int64)) == 0
    gap = tree.add(level, rows.target - base) - above.sum(axis=1)
    slope = tree.add(level, give)

    def level_out(pull: Reals) -> Reals:
        shift = np.where(all_of, (gap - tree.add(level, pull * give)) / slope, 0.0)
        return pull + shift[place]

    return level_out


def _soft(aim: Reals, v: Reals, room: Reals, target: Reals, precision: Reals, pull: Reals) -> Reals:
    """The pull of measured totals, by Newton steps: clip(aim + v pull) adds up to target - pull / precision."""
    asked = precision > 0
    give = 1 / np.where(asked, precision, 1.0)
    for _ in range(3):
        free = aim + (v * pull)[:, None]
        held = np.clip(free, 0.0, room)
        over = held.sum(axis=1) + pull * give - target
        pull = np.where(asked, pull - over / (give + v * (free == held).sum(axis=1)), 0.0)
    return pull


class _Table:
    """Whole numbers of all children of a level, rows right from the start, columns made right by moving units.

    A last column takes what a row's total may still vary by, so that every row adds up to the most it may hold.
    """

    def __init__(
        self,
        tree: Hierarchy,
        level: int,
        parents: Array,
        aim: Reals,
        v: Reals,
        lower: Array,
        upper: Array,
        rows: Rows,
    ) -> None:
        size, cells = lower.shape
        self.tree, self.level, self.parents = tree, level, parents
        self.place, self.cells = tree.parents[level + 1], cells
        most = np.minimum(rows.most, upper.sum(axis=1))
        least = np.maximum(rows.least, lower.sum(axis=1))
        self.possible = bool((least <= most).all())
        total = np.clip(np.rint(np.clip(aim, lower, upper).sum(axis=1)), least, most).astype(np.int64)
        ones = np.full(size, cells)
        flat = whole(ones, aim.ravel(), np.repeat(v, cells), lower.ravel(), upper.ravel(), total)
        self.possible = self.possible and flat is not None
        counts = lower if flat is None else flat.reshape(size, cells)
        slack = most - total
        self.held = np.column_stack([counts, slack])
        self.lower = np.column_stack([lower, np.zeros(size, np.int64)])
        self.upper = np.column_stack([upper, most - least])
        self.aim = np.column_stack([aim, slack])
        self.width = np.column_stack([np.repeat(v[:, None], cells, axis=1), 1e6 * v + 1e6])

    def settle(self) -> Array | None:
        """Move units until every column is right; None where no way of moving them is left."""
        if not self.possible:
            return None
        missing = self.parents - self.tree.add(self.level, self.held[:, :-1])
        missing = np.column_stack([missing, -missing.sum(axis=1)])
        self._together(missing)
        for parent in np.flatnonzero(missing.any(axis=1)):
            if not self._one_by_one(int(parent), missing[parent]):
                return None
        return np.ascontiguousarray(self.held[:, :-1])

    def _together(self, missing: Array) -> None:
        """For all parents at once: from the cell with most too many to the one with most too few, cheapest first."""
        starts, counts = self.tree.starts(self.level), self.tree.children(self.level)
        stuck = np.zeros(len(missing), bool)
        while True:
            going = np.flatnonzero(missing.any(axis=1) & ~stuck)
            if not len(going):
                return
            give, take = missing[going].argmin(axis=1), missing[going].argmax(axis=1)
            number = np.minimum(-missing[going, give], missing[going, take])
            many = counts[going]
            row = np.repeat(starts[going] - (np.cumsum(many) - many), many) + np.arange(many.sum())
            source, goal = np.repeat(give, many), np.repeat(take, many)
            free = self._free(row, source, goal)
            begins = np.cumsum(many) - many
            able = np.minimum(np.add.reduceat(free.astype(np.int64), begins), number)
            nothing = np.zeros(len(row), np.int64)
            cost = self._cost(row, source, goal)
            moved = units(many, nothing, free.astype(np.int64), able, cost, free)
            chosen = np.flatnonzero(moved)
            self.held[row[chosen], source[chosen]] -= 1
            self.held[row[chosen], goal[chosen]] += 1
            missing[going, give] += able
            missing[going, take] -= able
            stuck[going[able == 0]] = True

    def _free(self, row: Array, source: Array, goal: Array) -> NDArray[np.bool_]:
        down: NDArray[np.bool_] = self.held[row, source] > self.lower[row, source]
        return down & (self.held[row, goal] < self.upper[row, goal])

    def _cost(self, row: Array, source: Array, goal: Array) -> Reals:
        up = (2 * (self.held[row, goal] - self.aim[row, goal]) + 1) / self.width[row, goal]
        down = (2 * (self.aim[row, source] - self.held[row, source]) + 1) / self.width[row, source]
        cost: Reals = up + down
        return cost

    def _one_by_one(self, parent: int, missing: Array) -> bool:
        """Along the shortest chain of cells, unit by unit: finds a way wherever there is one."""
        start, many = int(self.tree.starts(self.level)[parent]), int(self.tree.children(self.level)[parent])
        rows = np.arange(start, start + many)
        while missing.any():
            down = (self.held[rows] > self.lower[rows]).astype(np.int64)
            up = (self.held[rows] < self.upper[rows]).astype(np.int64)
            chain = _shortest(down.T @ up > 0, missing)
            if chain is None:
                return False
            for source, goal in pairwise(chain):
                one, two = np.full(many, source), np.full(many, goal)
                cost = np.where(self._free(rows, one, two), self._cost(rows, one, two), np.inf)
                row = rows[int(cost.argmin())]
                self.held[row, source] -= 1
                self.held[row, goal] += 1
            missing[chain[0]] += 1
            missing[chain[-1]] -= 1
        return True


def _shortest(way: NDArray[np.bool_], missing: Array) -> list[int] | None:
    """From any cell that has too many to any that has too few, over cells between which a unit can move."""
    before = {int(cell): -1 for cell in np.flatnonzero(missing < 0)}
    queue = deque(before)
    while queue:
        cell = queue.popleft()
        if missing[cell] > 0:
            chain = [cell]
            while before[chain[0]] >= 0:
                chain.insert(0, before[chain[0]])
            return chain
        for other in np.flatnonzero(way[cell]):
            if int(other) not in before:
                before[int(other)] = cell
                queue.append(int(other))
    return None
