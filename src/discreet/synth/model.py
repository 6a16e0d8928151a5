"""A graphical model of a table: potentials on the marginals that were measured, and nothing else assumed.

Among all tables with the marginals found, this is the one of greatest entropy. It is made from noisy counts and public
facts only, so whatever is read from it is post-processing and free.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.marginals.counts import Columns
from discreet.noise.replay import Replay, key_of
from discreet.synth.descent import Target, average_targets, descend
from discreet.synth.junction import Floats, Junction, Passing, drop, junction, spread
from discreet.synth.sample import Codes, sample

__all__ = ["Model", "NoisyMarginal", "fit", "noisy_total", "simplex", "target_of"]

LARGEST = 2_000_000
"""How many cells a marginal may have on its way when it is worked out from several cliques."""


_FLOOR = 0.01  # of the noise: what a code that was seen empty still weighs

_LEAST = 1e-6  # a variance that could not be told from none


class NoisyMarginal(Protocol):
    """What a model is fitted to: a `Noisy` of the meter, or a `Target`."""

    @property
    def columns(self) -> Columns:
        """The columns it is about."""
        ...

    @property
    def values(self) -> object:
        """The noisy counts."""
        ...

    @property
    def variance(self) -> object:
        """Their variance, one for all or one each."""
        ...


class Model:
    """A table's distribution, `total` rows of it. See `fit`."""

    def __init__(self, passing: Passing, potentials: Sequence[Floats], total: float) -> None:
        self._passing = passing
        self._potentials = list(potentials)
        self.total = total
        self._beliefs = passing.beliefs(self._potentials)
        if not all(np.isfinite(belief).all() for belief in self._beliefs):  # potentials that contradict each other
            self._potentials = [np.zeros_like(one) for one in self._potentials]
            self._beliefs = passing.beliefs(self._potentials)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each column has."""
        return self._passing.sizes

    @property
    def tree(self) -> Junction:
        """The cliques."""
        return self._passing.tree

    @property
    def potentials(self) -> dict[Columns, Floats]:
        """The logarithms of the factors, by the columns they are of."""
        return dict(zip(self._passing.marginals, self._potentials, strict=True))

    @property
    def cells(self) -> int:
        """How many cells the cliques have together."""
        return sum(belief.size for belief in self._beliefs)

    def belief(self, clique: int) -> Floats:
        """The probabilities of one clique's cells."""
        return self._beliefs[clique]

    def marginal(self, columns: Columns) -> Floats:
        """The expected counts of any columns, one axis a column.

        Columns of one clique are read off. Others are brought together along the tree; if a table on the way would
        have more than `LARGEST` cells, that is refused.
        """
        _check(columns, self.sizes)
        home = self.tree.home(columns)
        if home is not None:
            return np.asarray(self.total * self._beliefs[home].sum(axis=drop(self.tree.cliques[home], columns)))
        return self.total * self._gathered(columns)

    def _gathered(self, columns: Columns) -> Floats:
        """The probabilities of columns of several cliques, sent up the tree until they meet."""
        wanted, tree = set(columns), self.tree
        needed = [wanted.intersection(clique) for clique in tree.cliques]
        carries = [False] * len(needed)  # whether something wanted comes up from here
        for child in range(len(needed) - 1, 0, -1):
            carries[child] |= bool(wanted.intersection(tree.cliques[child]) - set(tree.separators[child]))
            if carries[child]:
                carries[tree.parents[child]] = True
                needed[child].update(tree.separators[child])
                needed[tree.parents[child]].update(tree.separators[child])
        tables: list[tuple[Columns, Floats]] = []
        for clique, belief, keep in zip(tree.cliques, self._beliefs, needed, strict=True):
            kept = tuple(column for column in clique if column in keep)
            tables.append((kept, belief.sum(axis=drop(clique, kept))))
        for child in range(len(tables) - 1, 0, -1):
            held, table = tables[child]
            if not carries[child]:
                continue
            if wanted <= set(held):
                return np.asarray(table.sum(axis=drop(held, columns)))
            separator, parent = tree.separators[child], tree.parents[child]
            kept = tuple(column for column in held if column in wanted or column in separator)
            message = table.sum(axis=drop(held, kept))
            given = message.sum(axis=drop(kept, separator)).reshape(spread(separator, kept, self.sizes))
            message = np.divide(message, given, out=np.zeros_like(message), where=given > 0)
            tables[parent] = self._joined(*tables[parent], kept, message)
        held, table = tables[0]
        return np.asarray(table.sum(axis=drop(held, columns)))

    def _joined(self, above: Columns, table: Floats, kept: Columns, message: Floats) -> tuple[Columns, Floats]:
        both = tuple(sorted(set(above) | set(kept)))
        if math.prod(self.sizes[column] for column in both) > LARGEST:
            hint = "Count it from sampled rows instead: rows(n)."
            raise InputError("columns", both, f"columns that meet in at most {LARGEST:,} cells", hint)
        left = table.reshape(spread(above, both, self.sizes))
        return both, left * message.reshape(spread(kept, both, self.sizes))

    def rows(self, count: int, bits: Bits | None = None) -> Codes:
        """So many rows of codes, stratified: counts are as near to what is expected as whole rows can be.

        Unless `bits` are given they follow from the model: the same release makes the same rows.
        """
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise InputError("rows", count, "a whole number, 0 or more")
        return sample(self.tree, self.sizes, self._beliefs, count, bits or Replay(key_of(self._potentials, "rows")))


def fit(
    sizes: Sequence[int],
    measured: Iterable[NoisyMarginal],
    *,
    total: float | None = None,
    start: Model | None = None,
    steps: int = 300,
    also: Iterable[Columns] = (),
) -> Model:
    """The model whose marginals are nearest to the measured ones, each deviation weighed by its variance.

    `total` is how many rows there are; it is estimated from what was measured if not given. `start` is a model fitted
    to some of it before, from which to go on. `also` names marginals to be held in one clique although not measured.
    """
    targets = [target_of(one) for one in measured]
    if not targets:
        raise InputError("measured", [], "at least one marginal")
    for target in targets:
        _check(target.columns, sizes)
        expected = tuple(sizes[column] for column in target.columns)
        if target.values.shape != expected:
            raise InputError("measured", Phrase(f"shape {target.values.shape}"), f"counts of shape {expected}")
    whole = max(noisy_total(targets) if total is None else float(total), 1.0)
    averaged = average_targets(targets)
    marginals = [target.columns for target in averaged]
    base = _base(sizes, averaged, whole)
    passing = Passing(sizes, junction(sizes, [*marginals, *also]), marginals, base)
    known = {} if start is None else start.potentials
    before = [known.get(target.columns, np.zeros(target.values.shape)) for target in averaged]
    return Model(passing, descend(passing.evaluate, averaged, before, whole, steps), whole)


def _base(sizes: Sequence[int], targets: Sequence[Target], total: float) -> list[Floats]:
    """Logarithms of each column's shares, as it was measured alone; even shares if it was not."""
    alone = {target.columns[0]: target for target in targets if len(target.columns) == 1}
    logs = []
    for column, size in enumerate(sizes):
        shares = np.full(size, 1 / size)
        if column in alone:
            values, noise = alone[column].values, np.sqrt(alone[column].variance)
            shares = np.maximum(simplex(values, total), _FLOOR * noise) / total
        logs.append(np.log(shares))
    return logs


def noisy_total(measured: Iterable[NoisyMarginal]) -> float:
    """How many rows there are, from the sums of what was measured, the precise ones counting more."""
    sums = [target_of(one).total() for one in measured]
    return sum(value / variance for value, variance in sums) / sum(1 / variance for _, variance in sums)


def target_of(measured: NoisyMarginal) -> Target:
    """Noisy counts as floats."""
    if isinstance(measured, Target) and bool(np.all(measured.variance >= _LEAST)):
        return measured
    return Target(
        measured.columns,
        np.asarray(measured.values, dtype=np.float64),
        np.maximum(np.asarray(measured.variance, dtype=np.float64), _LEAST),
    )


def _check(columns: Columns, sizes: Sequence[int]) -> None:
    rising = all(one < two for one, two in itertools.pairwise(columns))
    if not rising or any(not 0 <= column < len(sizes) for column in columns):
        raise InputError("columns", columns, f"different positions of columns, rising, from 0 to {len(sizes) - 1}")


def simplex(values: Floats, total: float) -> Floats:
    """The nearest numbers, none below zero, that add up to `total`, which is above zero.

    >>> simplex(np.array([3.0, 1.0, -2.0]), 2.0)
    array([2., 0., 0.])
    """
    falling = np.sort(values)[::-1]
    over = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    last = np.flatnonzero(falling > over)[-1]
    return np.asarray(np.maximum(values - over[last], 0.0))
