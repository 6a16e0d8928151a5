"""The least coarsening of whole columns that makes a table k-anonymous, found and known to be the least."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.risk.ladder import Ladder
from discreet.risk.records import CodedColumn, classes_of

__all__ = ["Node", "least_coarse"]

_NODES = 200_000  # combinations of steps that are searched through
_WORK = 5_000_000  # kinds of rows grouped in all: what bounds the search


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A step for every column, the rows left out, and the part of what the columns told that is lost."""

    steps: tuple[int, ...]
    redacted: NDArray[np.bool_]
    loss: float
    least: bool = True
    """Whether no other node loses less; not known where there were too many to look at."""


def least_coarse(columns: Sequence[CodedColumn], ladders: Sequence[Ladder], k: int, redact: int) -> Node:
    """The steps with the least loss under which at most `redact` rows must be left out for classes of k or more.

    A row left out has lost everything, one that is kept what coarsening takes from it. A first node is found by
    climbing one column at a time. Then candidates are tried by what coarsening alone loses over all rows, which leaving
    rows out never makes smaller, so the search ends where that reaches the best. Rows in classes below k never become
    more when a column gets coarser, or is left out: a candidate below one that failed, or whose steps of two columns
    fail by themselves, is not tried. With more than 200,000 combinations of steps, or after 5 million kinds of rows
    were grouped, the best so far is what there is, and `least` is False.
    """
    search = _Search(columns, ladders, k, redact)
    best = search.climb()
    if best is None:
        raise InputError("k", k, f"at most the {len(columns[0].codes):,} rows there are")
    if math.prod(len(ladder) for ladder in ladders) > _NODES:
        return replace(best, least=False)
    grid = np.indices([len(ladder) for ladder in ladders]).reshape(len(ladders), -1).T
    lost = np.sum([np.array(losses)[grid[:, place]] for place, losses in enumerate(search.losses)], axis=0) / len(
        ladders
    )
    alive = (lost < best.loss) & search.possible(grid)
    for index in np.argsort(lost, kind="stable"):
        if not alive[index] or lost[index] >= best.loss:
            continue
        if search.left <= 0:
            return replace(best, least=False)
        node = search.node(tuple(int(step) for step in grid[index]))
        if node is None:
            alive &= (grid > grid[index]).any(axis=1)
        elif node.loss < best.loss:
            best = node
    return best


class _Search:
    """Nodes of one table, each grouped at most once; rows of equal values are grouped as one kind."""

    def __init__(self, columns: Sequence[CodedColumn], ladders: Sequence[Ladder], k: int, redact: int) -> None:
        self.ladders, self.k, self.redact, self.left = ladders, k, redact, _WORK
        self.distinct = classes_of(columns)
        first = np.zeros(len(self.distinct.sizes), dtype=np.int64)
        first[self.distinct.of] = np.arange(len(columns[0].codes))
        self.kinds = [column.taken(first) for column in columns]
        self.losses = [
            [ladder.loss(column, step) for step in range(len(ladder))]
            for column, ladder in zip(columns, ladders, strict=True)
        ]

    def small(self, places: Sequence[int], steps: Sequence[int]) -> NDArray[np.bool_]:
        """The kinds in classes below k on some columns at some steps."""
        self.left -= len(self.distinct.sizes)
        pairs = zip(places, steps, strict=True)
        classes = classes_of([self.ladders[place].climb(self.kinds[place], step) for place, step in pairs])
        many = np.bincount(classes.of, weights=self.distinct.sizes)
        return np.asarray(many[classes.of] < self.k)

    def out(self, small: NDArray[np.bool_]) -> int:
        """How many rows would be left out."""
        return int(self.distinct.sizes[small].sum())

    def node(self, steps: tuple[int, ...]) -> Node | None:
        """The node of these steps; None if too many rows would be left out."""
        small = self.small(range(len(steps)), steps)
        if self.out(small) > self.redact:
            return None
        parts = zip(self.ladders, self.kinds, steps, strict=True)
        each = sum(ladder.lost(kind, step) for ladder, kind, step in parts) / len(steps)
        rows = len(self.distinct.of)
        total = float(self.distinct.sizes @ np.where(small, 1.0, each)) / rows
        return Node(steps, small[self.distinct.of], total)

    def climb(self) -> Node | None:
        """A node that will do: from the values up, each time by the step that spares most rows for what it loses."""
        steps = [0] * len(self.ladders)
        while (node := self.node(tuple(steps))) is None:
            choices = []
            for place, ladder in enumerate(self.ladders):
                if steps[place] + 1 < len(ladder):
                    higher = [*steps[:place], steps[place] + 1, *steps[place + 1 :]]
                    price = self.losses[place][higher[place]] - self.losses[place][steps[place]]
                    spared = self.out(self.small(range(len(steps)), higher))
                    choices.append((spared * (1 + price), place))
            if not choices:
                return None
            steps[min(choices)[1]] += 1
        return self._lower(node)

    def _lower(self, node: Node) -> Node:
        """The same, each column taken down again as far as it will go."""
        for place in range(len(self.ladders)):
            for step in range(node.steps[place]):
                lower = self.node((*node.steps[:place], step, *node.steps[place + 1 :]))
                if lower is not None and lower.loss < node.loss:
                    node = lower
                    break
        return node

    def possible(self, grid: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The nodes of which no two columns fail by themselves."""
        found = np.ones(len(grid), dtype=bool)
        for one, other in itertools.combinations(range(len(self.ladders)), 2):
            if self.left <= 0 or len(self.ladders) == 2:
                break
            fits = np.array(
                [
                    [self.out(self.small((one, other), (low, high))) <= self.redact for high in self._steps(other)]
                    for low in self._steps(one)
                ]
            )
            found &= fits[grid[:, one], grid[:, other]]
        return found

    def _steps(self, place: int) -> range:
        return range(len(self.ladders[place]))
