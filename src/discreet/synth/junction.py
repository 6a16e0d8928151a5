"""Junction trees: which columns must be held together so that some marginals can be, and in what order they meet.

The graph joins columns that share a marginal. Columns are eliminated, each time the one whose neighbourhood has the
fewest cells (greedy, min-weight), which makes the graph chordal; its maximal cliques form a tree in which every column
is found in one connected piece. Messages up and down the tree turn log-potentials into probabilities, in floats:
potentials are added in logarithms and shifted so that the largest is zero; messages are sums of probabilities and are
normalised as they pass. A product too small for a float counts as zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.marginals.counts import Columns

__all__ = ["Floats", "Junction", "Passing", "drop", "junction", "spread", "tree_cells"]

Floats = NDArray[np.float64]


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


def spread(columns: Columns, among: Columns, sizes: Sequence[int]) -> tuple[int, ...]:
    """The shape in which a table of `columns` is laid along a table of `among`, which holds them."""
    return tuple(sizes[column] if column in columns else 1 for column in among)


def drop(among: Columns, columns: Columns) -> tuple[int, ...]:
    """The axes of a table of `among` to sum over so that `columns` are left."""
    return tuple(axis for axis, column in enumerate(among) if column not in columns)


class Passing:
    """Works out, again and again, the cliques' probabilities for potentials on the same marginals.

    `base` are logarithms of weights for each column's codes, always there: where all potentials are zero the model is
    that of independent columns with these weights.
    """

    def __init__(
        self, sizes: Sequence[int], tree: Junction, marginals: Sequence[Columns], base: Sequence[Floats]
    ) -> None:
        self.sizes = tuple(sizes)
        self.tree = tree
        self.marginals = tuple(marginals)
        self.base = tuple(base)
        self._base = [np.zeros(tuple(sizes[column] for column in clique)) for clique in tree.cliques]
        for column, logs in enumerate(base):
            home = tree.home((column,))
            if home is None:
                raise ValueError("a column lies in no clique of the tree")
            self._base[home] += logs.reshape(spread((column,), tree.cliques[home], sizes))
        self._held: list[list[tuple[int, tuple[int, ...]]]] = [[] for _ in tree.cliques]
        self._found: list[tuple[int, tuple[int, ...]]] = []
        for place, columns in enumerate(marginals):
            home = tree.home(columns)
            if home is None:
                raise ValueError("a marginal lies in no clique of the tree")
            self._held[home].append((place, spread(columns, tree.cliques[home], sizes)))
            self._found.append((home, drop(tree.cliques[home], columns)))
        self._up = []
        for child, (parent, separator) in enumerate(zip(tree.parents, tree.separators, strict=True)):
            above: Columns = tree.cliques[parent] if parent >= 0 else ()
            clique = tree.cliques[child]
            self._up.append(
                (
                    parent,
                    drop(clique, separator),
                    spread(separator, above, sizes),
                    drop(above, separator),
                    spread(separator, clique, sizes),
                )
            )

    def beliefs(self, potentials: Sequence[Floats]) -> list[Floats]:
        """The probabilities of each clique's cells; not numbers where potentials contradict each other."""
        beliefs = [self._product(place, potentials) for place in range(len(self._base))]
        sent: list[Floats] = [np.ones(())] * len(beliefs)
        for child in range(len(beliefs) - 1, 0, -1):
            parent, away, above, _, _ = self._up[child]
            message = beliefs[child].sum(axis=away)
            message /= _whole(message)
            sent[child] = message
            beliefs[parent] *= message.reshape(above)
        beliefs[0] /= _whole(beliefs[0])
        for child in range(1, len(beliefs)):
            parent, away, _, beyond, below = self._up[child]
            known, held = beliefs[parent].sum(axis=beyond), sent[child]
            ratio = np.divide(known, held, out=np.zeros_like(held), where=held > 0)
            beliefs[child] *= ratio.reshape(below)
            beliefs[child] /= _whole(beliefs[child])
        return beliefs

    def _product(self, place: int, potentials: Sequence[Floats]) -> Floats:
        total = self._base[place].copy()
        for index, shape in self._held[place]:
            total += potentials[index].reshape(shape)
        total -= total.max()
        return np.exp(total, out=total)

    def marginals_of(self, beliefs: Sequence[Floats]) -> list[Floats]:
        """The probabilities of the marginals' cells."""
        return [beliefs[home].sum(axis=away) if away else beliefs[home] for home, away in self._found]

    def evaluate(self, potentials: Sequence[Floats]) -> list[Floats]:
        """The probabilities of the marginals' cells that potentials make."""
        return self.marginals_of(self.beliefs(potentials))


def _whole(table: Floats) -> float:
    total = float(table.sum())
    return total if total > 0 else math.nan
