"""From log-potentials to probabilities: messages up and down a junction tree, in floats.

Potentials are added in logarithms and shifted so that the largest is zero; messages are sums of probabilities and are
normalised as they pass. A product too small for a float counts as zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.synth.counts import Columns
from discreet.synth.junction import Junction

__all__ = ["Floats", "Passing", "drop", "spread"]

Floats = NDArray[np.float64]


def spread(columns: Columns, among: Columns, sizes: Sequence[int]) -> tuple[int, ...]:
    """The shape in which a table of `columns` is laid along a table of `among`, which holds them."""
    return tuple(sizes[column] if column in columns else 1 for column in among)


def drop(among: Columns, columns: Columns) -> tuple[int, ...]:
    """The axes of a table of `among` to sum over so that `columns` are left."""
    return tuple(axis for axis, column in enumerate(among) if column not in columns)


class Passing:
    """Works out, again and again, the cliques' probabilities for potentials on the same marginals."""

    def __init__(self, sizes: Sequence[int], tree: Junction, marginals: Sequence[Columns]) -> None:
        self.sizes = tuple(sizes)
        self.tree = tree
        self.marginals = tuple(marginals)
        self._shapes = [tuple(sizes[column] for column in clique) for clique in tree.cliques]
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
        """The probabilities of each clique's cells."""
        beliefs = [self._product(place, potentials) for place in range(len(self._shapes))]
        sent: list[Floats] = [np.ones(())] * len(beliefs)
        for child in range(len(beliefs) - 1, 0, -1):
            parent, away, above, _, _ = self._up[child]
            message = beliefs[child].sum(axis=away)
            message /= message.sum()
            sent[child] = message
            beliefs[parent] *= message.reshape(above)
        beliefs[0] /= beliefs[0].sum()
        for child in range(1, len(beliefs)):
            parent, away, _, beyond, below = self._up[child]
            known, held = beliefs[parent].sum(axis=beyond), sent[child]
            ratio = np.divide(known, held, out=np.zeros_like(held), where=held > 0)
            beliefs[child] *= ratio.reshape(below)
            whole = beliefs[child].sum()
            beliefs[child] /= whole if whole > 0 else math.nan
        return beliefs

    def _product(self, place: int, potentials: Sequence[Floats]) -> Floats:
        total = np.zeros(self._shapes[place])
        for index, shape in self._held[place]:
            total += potentials[index].reshape(shape)
        total -= total.max()
        return np.asarray(np.exp(total, out=total))

    def marginals_of(self, beliefs: Sequence[Floats]) -> list[Floats]:
        """The probabilities of the marginals' cells."""
        return [beliefs[home].sum(axis=away) if away else beliefs[home] for home, away in self._found]

    def probabilities(self, potentials: Sequence[Floats]) -> list[Floats]:
        """The marginals that potentials make."""
        return self.marginals_of(self.beliefs(potentials))
