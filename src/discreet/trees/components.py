"""Cells taken apart into what different questions say about them: the total, what one column changes, what two do.

A table of cells by columns is the sum of components, one for each set of columns, at right angles to each other: its
mean; what differs by sex whatever the age; what differs by age and sex together (analysis of variance). The margin of
some columns has the components of their subsets, each as many times over as it sums cells, and noise that is the same
in every direction. So every component is a problem of its own, and what all questions say about it has one precision a
level: the sum over the margins that have it of (cells summed) / (variance of the noise). Components that the same
questions inform are taken together. Proof: docs/proofs/hierarchy-topdown.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.trees.measurement import Margin, Measurement

__all__ = ["Component", "components", "expanded", "margin_of"]

Reals = NDArray[np.float64]
Array = NDArray[np.int64]
Columns = frozenset[int]


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """Components of the same questions: of which sets of columns, and the variance of what each level says.

    `spreads` are those of a cell if it had been asked with no other noise; infinite where a level does not say.
    """

    shape: tuple[int, ...]
    columns: tuple[Columns, ...]
    spreads: tuple[float, ...]

    def within(self, axes: Iterable[int]) -> int:
        """In how many directions it varies, of those that the margin of these columns has."""
        held = frozenset(axes)
        return sum(math.prod(self.shape[axis] - 1 for axis in one) for one in self.columns if one <= held)

    @property
    def dimension(self) -> int:
        """In how many directions it varies."""
        return self.within(range(len(self.shape)))

    def project(self, table: Reals) -> Reals:
        """The component of tables, one row a region and one column a cell."""
        whole = np.asarray(table, float).reshape(len(table), *self.shape)
        found = np.zeros_like(whole)
        for columns in self.columns:
            part = whole
            for axis in range(len(self.shape)):
                mean = part.mean(axis=axis + 1, keepdims=True)
                part = part - mean if axis in columns else mean
            found += part
        return found.reshape(len(table), -1)

    def own(self, measured: Measurement, level: int) -> Reals | None:
        """What a level says about it, one row a region and one column a cell; None where it says nothing."""
        found: Any = None
        for one in measured.levels[level].queries(measured.axes):
            if self.columns[0] <= set(one.axes):
                weight = self.spreads[level] / max(one.noise.variance, 1e-12)  # cells summed cancel
                spread = weight * expanded(one.values, one.axes, self.shape)
                found = spread if found is None else found + spread
        return None if found is None else self.project(found)


def components(measured: Measurement) -> list[Component]:
    """What margins inform beyond the cells' own counts, without the total; nothing where no margins were asked.

    Questions for the total inform nothing else, and the last component, that of all columns, none but the counts do.
    """
    if not measured.margins:
        return []
    gathered: dict[tuple[tuple[bool, ...], ...], list[Columns]] = {}
    queries = [[*level.queries(measured.axes)] for level in measured.levels]
    axes = measured.axes
    for columns in (frozenset(one) for size in range(1, len(axes)) for one in combinations(axes, size)):
        informs = tuple(tuple(columns <= set(one.axes) for one in level) for level in queries)
        gathered.setdefault(informs, []).append(columns)
    found = []
    for informs, many in gathered.items():
        if not any(
            yes and one.axes != axes
            for level, says in zip(queries, informs, strict=True)
            for one, yes in zip(level, says, strict=True)
        ):
            continue  # the counts alone say it: it stays with them
        spreads = [_spread(measured, level, says) for level, says in zip(queries, informs, strict=True)]
        found.append(Component(measured.shape, tuple(many), tuple(spreads)))
    return found


def _spread(measured: Measurement, queries: list[Margin], says: tuple[bool, ...]) -> float:
    precision = sum(
        _summed(measured.shape, one.axes) / max(one.noise.variance, 1e-12)
        for one, yes in zip(queries, says, strict=True)
        if yes
    )
    return 1 / precision if precision else math.inf


def _summed(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    """How many cells one number of a margin adds up."""
    return math.prod(size for axis, size in enumerate(shape) if axis not in axes)


def margin_of(table: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """The margin of some columns of a table with one row a region and one column a cell."""
    others = tuple(axis + 1 for axis in range(len(shape)) if axis not in axes)
    return table.reshape(len(table), *shape).sum(axis=others).reshape(len(table), -1)


def expanded(margin: Any, axes: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Every cell's number in a margin, one row a region and one column a cell."""
    kept = [size if axis in axes else 1 for axis, size in enumerate(shape)]
    whole = np.broadcast_to(margin.reshape(len(margin), *kept), (len(margin), *shape))
    return whole.reshape(len(margin), -1)
