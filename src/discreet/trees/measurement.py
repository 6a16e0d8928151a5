"""What was asked of the data: noisy integers for the regions of every level, and the law of their noise.

This is all that any method of this room gets to see. What it makes of it is post-processing, and free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.tree import Hierarchy

__all__ = ["Level", "Measurement"]

Noise = Laplace | Gaussian
Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The noisy counts of one level, one row a region and one column a cell; None where nothing was asked.

    `totals` are the regions' totals over all cells, asked as a question of their own.
    """

    counts: Array | None = None
    noise: Noise | None = None
    totals: Array | None = None
    totals_noise: Noise | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """Noisy counts of all levels of a hierarchy, root first.

    If `chain`, the cells are sizes of groups and cell s counts the groups of at least s + 1 members: true counts never
    rise from one cell to the next. One member more or less changes one such count by one.
    """

    tree: Hierarchy
    levels: tuple[Level, ...]
    chain: bool = False

    def __post_init__(self) -> None:
        if len(self.levels) != self.tree.depth:
            raise InputError(
                "levels",
                Phrase(f"{len(self.levels)} levels"),
                f"one for each level of the hierarchy, {self.tree.depth}",
            )
        if self.levels[-1].counts is None:
            raise InputError("levels", Phrase(f"no counts of {self.tree.names[-1]}"), "counts of the leaves at least")
        for name, size, level in zip(self.tree.names, self.tree.sizes, self.levels, strict=True):
            for field, values, noise, shape in (
                ("counts", level.counts, level.noise, (size, self.cells)),
                ("totals", level.totals, level.totals_noise, (size,)),
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
