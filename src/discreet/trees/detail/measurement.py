"""What was measured of groups: both looks at every level, with the laws of their noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.packing import unpack
from discreet.mechanisms.record import noise_from, noise_to
from discreet.query.noisy_sums import Noise
from discreet.trees.detail.estimate import Estimates, alone, with_detail
from discreet.trees.detail.refinement import TOTAL
from discreet.trees.record import tree_from, tree_to
from discreet.trees.tree import Hierarchy

__all__ = ["COUNT", "KEYS", "LAWS", "GroupMeasurement", "Look", "asked_to"]

Whole = NDArray[np.int64]
COUNT = "count"
KEYS = ("level", "region", "group", "detail", "cell")
LAWS = ("first", "alone", "total", "detail")
"""What is measured: every total at first; then a total alone, or a total and its cells."""


@dataclass(frozen=True, eq=False)
class Look:
    """The noisy numbers of the groups of one level: a row for each region and group, in their declared order."""

    level: int
    thresholds: tuple[int, ...]
    laws: Mapping[str, Noise]
    first: Whole
    alone: Whole
    detailed: tuple[tuple[Whole, Whole], ...]
    """For each level of detail the totals and cells of the groups that got it."""

    @cached_property
    def choice(self) -> Whole:
        """For every region and group how far its detail goes: 0 for the total alone."""
        return np.searchsorted(np.array(self.thresholds), self.first, side="right").astype(np.int64)

    def estimates(self, confidence: float) -> list[Estimates]:
        """The published numbers of groups with a total alone, and of those of each level of detail."""
        noises = self.laws["total"], self.laws["detail"]
        rest = [with_detail(total, cells, noises, confidence) for total, cells in self.detailed]
        return [alone(self.alone, self.laws["alone"], confidence), *rest]


@dataclass(frozen=True, eq=False)
class GroupMeasurement:
    """Both looks at all levels, and what they were about."""

    tree: Hierarchy
    groups: tuple[str, ...]
    details: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    """The cells of every level of detail, in words."""
    looks: tuple[Look, ...]

    @classmethod
    def read(cls, asked: Mapping[str, Any], query: Mapping[str, Any], measured: Mapping[str, Any]) -> GroupMeasurement:
        """From a record: laws and regions, the question, and the noisy numbers."""
        looks = []
        for entry, drawn in zip(asked["levels"], measured["levels"], strict=True):
            laws = {name: noise_from(entry[name]) for name in LAWS}
            detailed = tuple((unpack(total), unpack(cells)) for total, cells in drawn["detailed"])
            first, single = unpack(drawn["first"]), unpack(drawn["alone"])
            looks.append(Look(entry["level"], tuple(entry["thresholds"]), laws, first, single, detailed))
        details = query["details"]
        return cls(
            tree_from(asked["tree"]),
            tuple(name for name, _ in query["groups"]),
            tuple(name for name, _, _ in details),
            tuple(tuple(labels) for _, labels, _ in details),
            tuple(looks),
        )

    def look(self, level: int) -> Look:
        """What was measured of a level, or of the one that has the same regions."""
        return next(one for one in self.looks if one.level == self.tree.distinct[level])

    def codes(self, level: int) -> tuple[str, ...]:
        """The codes of the regions of a level; the root is called as its level is."""
        return self.tree.codes[level] if level else (self.tree.names[0],)

    def cells(self, chosen: int) -> tuple[str, ...]:
        """What is published of a group: its total, and the cells of its level of detail."""
        return (TOTAL, *(() if chosen == 0 else self.labels[chosen - 1]))

    def columns(self, confidence: float) -> dict[str, list[Any]]:
        """The published table: regions, groups and cells in their declared order."""
        columns: dict[str, list[Any]] = {name: [] for name in (*KEYS, COUNT, f"{COUNT}_lower", f"{COUNT}_upper")}
        made = {look.level: _rows(look, confidence) for look in self.looks}
        for level, name in enumerate(self.tree.names):
            codes, look = self.codes(level), self.look(level)
            for pair, (chosen, ends) in enumerate(zip(look.choice.tolist(), made[look.level], strict=True)):
                cells = self.cells(chosen)
                region, group = divmod(pair, len(self.groups))
                detail = TOTAL if chosen == 0 else self.details[chosen - 1]
                for key, value in zip(KEYS, (name, codes[region], self.groups[group], detail), strict=False):
                    columns[key] += [value] * len(cells)
                columns[KEYS[-1]] += cells
                for end, values in zip(("", "_lower", "_upper"), ends, strict=True):
                    columns[COUNT + end] += values
        return columns


def _rows(look: Look, confidence: float) -> list[Any]:
    """For every region and group its numbers with the ends of their intervals."""
    numbers: list[Any] = [None] * len(look.choice)
    for chosen, estimates in enumerate(look.estimates(confidence)):
        rows = zip(estimates.values.tolist(), estimates.lower.tolist(), estimates.upper.tolist(), strict=True)
        for pair, ends in zip(np.flatnonzero(look.choice == chosen).tolist(), rows, strict=True):
            numbers[pair] = ends
    return numbers


def asked_to(tree: Hierarchy, stages: Sequence[Any]) -> dict[str, Any]:
    """The regions and the laws of the noise, for a record: what noisy numbers alone do not say."""
    levels = [
        {
            "level": stage.level,
            "thresholds": list(stage.thresholds),
            **{name: noise_to(getattr(stage, name).noise) for name in LAWS},
        }
        for stage in stages
    ]
    return {"tree": tree_to(tree), "levels": levels}
