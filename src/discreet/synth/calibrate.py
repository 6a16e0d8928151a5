"""From log-potentials to probabilities: messages up and down a junction tree, in floats.

Potentials are added in logarithms and shifted so that the largest is zero; messages are sums of probabilities and are
normalised as they pass. A product too small for a float counts as zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.marginals.counts import Columns
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

    def beliefs(self, potentials: Sequence[Floats]) -> tuple[float, list[Floats]]:
        """The logarithm of the sum over all cells, and the probabilities of each clique's."""
        height, beliefs = 0.0, list[Floats]()
        for place in range(len(self._base)):
            product, shift = self._product(place, potentials)
            height += shift
            beliefs.append(product)
        sent: list[Floats] = [np.ones(())] * len(beliefs)
        for child in range(len(beliefs) - 1, 0, -1):
            parent, away, above, _, _ = self._up[child]
            message = beliefs[child].sum(axis=away)
            whole = float(message.sum())
            height += math.log(whole) if whole > 0 else math.nan
            message /= whole if whole > 0 else math.nan
            sent[child] = message
            beliefs[parent] *= message.reshape(above)
        whole = float(beliefs[0].sum())
        height += math.log(whole) if whole > 0 else math.nan
        beliefs[0] /= whole if whole > 0 else math.nan
        for child in range(1, len(beliefs)):
            parent, away, _, beyond, below = self._up[child]
            known, held = beliefs[parent].sum(axis=beyond), sent[child]
            ratio = np.divide(known, held, out=np.zeros_like(held), where=held > 0)
            beliefs[child] *= ratio.reshape(below)
            whole = float(beliefs[child].sum())
            beliefs[child] /= whole if whole > 0 else math.nan
        return height, beliefs

    def _product(self, place: int, potentials: Sequence[Floats]) -> tuple[Floats, float]:
        total = self._base[place].copy()
        for index, shape in self._held[place]:
            total += potentials[index].reshape(shape)
        shift = float(total.max())
        total -= shift
        return np.exp(total, out=total), shift

    def marginals_of(self, beliefs: Sequence[Floats]) -> list[Floats]:
        """The probabilities of the marginals' cells."""
        return [beliefs[home].sum(axis=away) if away else beliefs[home] for home, away in self._found]

    def evaluate(self, potentials: Sequence[Floats]) -> tuple[float, list[Floats]]:
        """The logarithm of the sum over all cells, and the marginals that potentials make."""
        height, beliefs = self.beliefs(potentials)
        return height, self.marginals_of(beliefs)
