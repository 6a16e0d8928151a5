"""What was asked of the data: noisy integers for the regions of every level, and the law of their noise.

This is all that any method of this room gets to see. What it makes of it is post-processing, and free.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.tree import Hierarchy

__all__ = ["Level", "Margin", "Measurement"]

Noise = Laplace | Gaussian
Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Margin:
    """The noisy answer to a question about some of the columns that tell cells apart, summed over the others.

    `axes` are the places of these columns; `values` have one row a region and one column a cell of the margin.
    """

    axes: tuple[int, ...]
    values: Array
    noise: Noise


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The noisy counts of one level, one row a region and one column a cell; None where nothing was asked.

    `totals` are the regions' totals over all cells, asked as a question of their own; `margins` other sums of cells.
    """

    counts: Array | None = None
    noise: Noise | None = None
    totals: Array | None = None
    totals_noise: Noise | None = None
    margins: tuple[Margin, ...] = ()

    def queries(self, axes: tuple[int, ...]) -> Iterator[Margin]:
        """Every question that was asked, as a margin: of all `axes` the counts, of none the totals."""
        if self.counts is not None and self.noise is not None:
            yield Margin(axes, self.counts, self.noise)
        yield from self.margins
        if self.totals is not None and self.totals_noise is not None:
            yield Margin((), self.totals[:, None], self.totals_noise)


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """Noisy counts of all levels of a hierarchy, root first.

    If `chain`, the cells are sizes of groups and cell s counts the groups of at least s + 1 members: true counts never
    rise from one cell to the next. One member more or less changes one such count by one. `shape` says how many values
    each of the columns has that tell cells apart, the last of which moves fastest: needed where there are margins.
    If `pooled`, regions with a single child were asked once (`shared_answers`): their rows are one answer, with less
    noise than their levels have. All methods may take them for answers apart.
    """

    tree: Hierarchy
    levels: tuple[Level, ...]
    chain: bool = False
    shape: tuple[int, ...] = ()
    pooled: bool = False

    def __post_init__(self) -> None:
        if len(self.levels) != self.tree.depth:
            raise InputError(
                "levels",
                Phrase(f"{len(self.levels)} levels"),
                f"one for each level of the hierarchy, {self.tree.depth}",
            )
        if self.levels[-1].counts is None:
            raise InputError("levels", Phrase(f"no counts of {self.tree.names[-1]}"), "counts of the leaves at least")
        if (self.margins or self.shape) and math.prod(self.shape) != self.cells:
            raise InputError("shape", self.shape, f"numbers whose product is that of the cells, {self.cells}")
        for name, size, level in zip(self.tree.names, self.tree.sizes, self.levels, strict=True):
            for field, values, noise, shape in (
                ("counts", level.counts, level.noise, (size, self.cells)),
                ("totals", level.totals, level.totals_noise, (size,)),
                *(("margins", one.values, one.noise, (size, self._entries(one.axes))) for one in level.margins),
            ):
                if (values is None) != (noise is None):
                    raise InputError(
                        f"{field} of {name}",
                        Phrase("values without noise, or noise without values"),
                        "values with the noise they have",
                    )
                if values is not None and (values.shape != shape or values.dtype != np.int64):
                    raise InputError(
                        f"{field} of {name}",
                        Phrase(f"{values.dtype} of shape {values.shape}"),
                        f"integers of shape {shape}",
                    )

    @property
    def cells(self) -> int:
        """How many cells every region has."""
        counts = self.levels[-1].counts
        return 0 if counts is None or counts.ndim != 2 else int(counts.shape[1])

    @property
    def margins(self) -> bool:
        """Whether margins were asked of any level."""
        return any(level.margins for level in self.levels)

    @property
    def axes(self) -> tuple[int, ...]:
        """The places of all columns that tell cells apart."""
        return tuple(range(len(self.shape)))

    def _entries(self, axes: tuple[int, ...]) -> int:
        if sorted(set(axes)) != list(axes) or not 0 < len(axes) < len(self.shape) or set(axes) - set(self.axes):
            raise InputError("margins", axes, f"some but not all of the columns 0 to {len(self.shape) - 1}, in order")
        return math.prod(self.shape[axis] for axis in axes)
