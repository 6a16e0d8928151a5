"""Replicate tables: what the release would have been with other noise, so that everybody can compute their own errors.

A plausible table is drawn from the noisy counts, measured again with fresh noise of the same law and put through the
same method, many times over; by how much the outcome is off is taken off the published counts. A statistic computed
from every replicate varies as the statistic computed from the published table errs: bias of the method included. This
is what replicate weights are in surveys. Replicates add up; they may be negative. They are public: no private value is
read, and their randomness follows from what was measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.progress import notify
from discreet.errors import InputError
from discreet.noise.replay import Replay
from discreet.trees.grain import coarse_measurement, coarse_rules, coarse_values
from discreet.trees.intervals.posterior import Laws, draw_table
from discreet.trees.intervals.typical import key_of, remeasure
from discreet.trees.methods import method_named
from discreet.trees.rules import Rules
from discreet.trees.sums import Figure, weights_of

if TYPE_CHECKING:
    from discreet.trees.release import TreeRelease

__all__ = ["MOST", "REPLICATES", "Replicates", "check_many", "replicate"]

Array = NDArray[np.int64]

MOST = 1000
REPLICATES = 80  # as offices publish
_TABLES = 2  # plausible ones, taken in turn: what one draw has by chance is not in all replicates


@dataclass(frozen=True, eq=False)
class Replicates:
    """Replicates of a release: `leaves` has one row a leaf, one column a cell, for each of them.

    They are multiples of the release's `step`, as its `estimate` is; all else has the numbers themselves.
    """

    release: TreeRelease
    leaves: tuple[Array, ...]

    def __len__(self) -> int:
        return len(self.leaves)

    def levels(self, level: str) -> Iterator[Array]:
        """The counts of a level in every replicate."""
        place = self.release.tree.level(level)
        return (self.release.valued(self.release.tree.sums(one)[place]) for one in self.leaves)

    def estimate(self, statistic: Callable[[Array], float]) -> Figure:
        """A statistic of the leaves' counts (one row a leaf, one column a cell), with its interval."""
        return self._estimate(lambda leaves: statistic(self.release.valued(leaves)))

    def _estimate(self, statistic: Callable[[Array], float]) -> Figure:
        value = float(statistic(self.release.estimate.counts[-1]))
        found = np.array([float(statistic(one)) for one in self.leaves])
        return self._figure(value, found)

    def sum(self, regions: Any = None, cells: Any = None) -> Figure:
        """The sum over regions and cells, as `TreeRelease.sum` has it, with an interval from the replicates."""
        weights, whole = weights_of(self.release, regions, cells)
        found = self._estimate(lambda leaves: weights.of(leaves))
        if not whole or found.value is None or found.lower is None or found.upper is None:
            return found
        if self.release.step.denominator != 1:
            low, high = min(max(found.lower, 0.0), found.value), max(found.upper, found.value)
            return Figure(found.value, low, high, found.deviation, found.confidence)
        value = round(found.value)
        ends = (min(max(math.floor(found.lower), 0), value), max(math.ceil(found.upper), value))
        return Figure(value, *ends, found.deviation, found.confidence)

    def columns(self, level: str) -> dict[str, list[Any]]:
        """The counts of a level as columns for its table: `count_replicate_1` and so on, in the order of its rows."""
        output = self.release.output
        found = enumerate(self.levels(level), start=1)
        return {f"{output}_replicate_{number}": one.ravel().tolist() for number, one in found}

    def save(self, folder: str | Path, kind: str = "parquet") -> list[Path]:
        """One file for each level: its regions, cells, counts and replicates; the paths written."""
        from discreet.trees.export import save_replicates

        return save_replicates(self, folder, kind)

    def _figure(self, value: float, found: NDArray[np.float64]) -> Figure:
        from scipy.special import stdtrit

        confidence, many = self.release.confidence, len(found)
        centre, deviation = float(found.mean()), float(found.std(ddof=1))
        half = float(stdtrit(many - 1, 0.5 + confidence / 2)) * deviation * math.sqrt(1 + 1 / many)
        lower, upper = min(centre - half, value), max(centre + half, value)
        return Figure(value, lower, upper, deviation, confidence)


def check_many(many: int, field: str = "replicates") -> None:
    """Refuse a number of replicates that is too small to tell anything, or too large to be worth it."""
    if isinstance(many, bool) or not isinstance(many, int) or not 10 <= many <= MOST:
        raise InputError(field, many, f"a whole number from 10 to {MOST:,}", "Offices publish 80.")


def replicate(release: TreeRelease, many: int, rules: Rules | None) -> Replicates:
    """So many replicates of a release, made under the rules that it was published under."""
    check_many(many)
    known = release.rules if rules is None else release.rules_of(rules)
    grain, tree = release.grain, release.tree
    measured, near = (
        coarse_measurement(release.measured, grain),
        coarse_rules(known, tree, release.measured.cells, grain),
    )
    method = method_named(release.method, chain=measured.chain)
    bits = Replay(key_of(measured, "replicates"))
    published = release.estimate.counts[-1]
    guess = coarse_values(published, grain)
    learned: dict[tuple[int, bool], Laws] = {}
    tables, found = [draw_table(measured, guess, near, bits, learned) for _ in range(_TABLES)], []
    for number in range(many):
        notify(f"replicate {number + 1} of {many}")
        truth = tables[number % _TABLES]
        tried = method(remeasure(measured, truth, bits), near).counts[-1]
        found.append(published - grain * (tried - truth))
    return Replicates(release, tuple(found))
