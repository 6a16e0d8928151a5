"""Junction trees: which columns must be held together so that some marginals can be, and in what order they meet.

The graph joins columns that share a marginal. Columns are eliminated, each time the one whose neighbourhood has the
fewest cells (greedy, min-weight), which makes the graph chordal; its maximal cliques form a tree in which every column
is found in one connected piece.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from discreet.marginals.counts import Columns

__all__ = ["Junction", "junction", "tree_cells"]


@dataclass(frozen=True, slots=True)
class Junction:
    """Cliques in an order in which each comes after its parent (-1: a root); separators are what both share."""

    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]
    separators: tuple[Columns, ...]

    def home(self, columns: Columns) -> int | None:
        """The first clique that holds all of these columns."""
        wanted = set(columns)
        for place, clique in enumerate(self.cliques):
            if wanted.issubset(clique):
                return place
        return None


def junction(sizes: Sequence[int], marginals: Iterable[Columns]) -> Junction:
    """A tree over all columns in which every marginal lies in one clique.

    >>> junction((2, 3, 4), [(0, 1), (1, 2)]).cliques
    ((0, 1), (1, 2))
    """
    cliques = _eliminate(sizes, marginals)
    found: list[frozenset[int]] = []
    for clique in cliques:  # one that is eliminated later never holds one eliminated earlier
        if not any(clique <= other for other in found):
            found.append(clique)
    return _spanned(found)


def tree_cells(sizes: Sequence[int], marginals: Iterable[Columns]) -> int:
    """How many cells the cliques of such a tree have together."""
    total, seen = 0, list[frozenset[int]]()
    for clique in _eliminate(sizes, marginals):
        if not any(clique <= other for other in seen):
            seen.append(clique)
            total += math.prod(sizes[column] for column in clique)
    return total


def _eliminate(sizes: Sequence[int], marginals: Iterable[Columns]) -> list[frozenset[int]]:
    """A clique for every column: itself and the neighbours it has left when its turn comes."""
    near: list[set[int]] = [set() for _ in sizes]
    for columns in marginals:
        for column in columns:
            near[column].update(columns)
    for column, others in enumerate(near):
        others.discard(column)
    logs = [math.log(size) for size in sizes]
    weights = {column: logs[column] + sum(logs[other] for other in near[column]) for column in range(len(sizes))}
    cliques = []
    while weights:
        column = min(weights, key=lambda one: (weights[one], one))
        del weights[column]
        around = near[column]
        cliques.append(frozenset(around | {column}))
        for other in around:
            near[other] |= around
            near[other] -= {column, other}
            weights[other] = logs[other] + sum(logs[one] for one in near[other])
    return cliques


def _spanned(cliques: list[frozenset[int]]) -> Junction:
    """The tree of largest separators (Prim); of a chordal graph's maximal cliques that is a junction tree."""
    order, parents = [0], [-1]
    best = {place: (len(cliques[place] & cliques[0]), 0) for place in range(1, len(cliques))}
    while best:
        place = max(best, key=lambda one: (best[one][0], -one))
        parent = best.pop(place)[1]
        order.append(place)
        parents.append(parent)
        for other in best:
            shared = len(cliques[other] & cliques[place])
            if shared > best[other][0]:
                best[other] = (shared, place)
    turn = {place: rank for rank, place in enumerate(order)}
    return Junction(
        tuple(tuple(sorted(cliques[place])) for place in order),
        tuple(-1 if parent < 0 else turn[parent] for parent in parents),
        tuple(
            () if parent < 0 else tuple(sorted(cliques[place] & cliques[parent]))
            for place, parent in zip(order, parents, strict=True)
        ),
    )
