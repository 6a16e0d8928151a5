"""The plan of a hierarchical release, in words and numbers, and where to release it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.release import percent
from discreet.hierarchy.gls import gls
from discreet.hierarchy.intervals.region import deviations
from discreet.hierarchy.measured import Level, Measured
from discreet.hierarchy.plan import TreePlan
from discreet.hierarchy.released import TreeRelease
from discreet.query.explain import price_lines, price_text
from discreet.query.plan import noise_name

if TYPE_CHECKING:
    from discreet.query.curator import Curator

__all__ = ["LevelError", "TreeOffer"]


@dataclass(frozen=True, slots=True)
class LevelError:
    """How far the numbers of a level may be off, known beforehand from noise and tree alone.

    `cell` and `total` are half-widths for a typical region once the levels inform each other; bounds and whole numbers,
    which come after, mostly narrow them where counts are small.
    """

    level: str
    regions: int
    share: float
    noise: str
    cell: float
    total: float


@dataclass(frozen=True)
class TreeOffer:
    """A plan and where to release it. `print(offer)` before, `offer.release()` to spend."""

    curator: Curator
    plan: TreePlan

    @cached_property
    def expected(self) -> tuple[LevelError, ...]:
        """The expected error of every level, before anything is spent."""
        plan, tree, cells = self.plan, self.plan.counted.tree, self.plan.counted.cells
        levels = [Level() for _ in tree.names]
        for asked in plan.asked:
            old = levels[asked.level]
            if asked.totals:
                nothing = np.zeros(tree.sizes[asked.level], np.int64)
                levels[asked.level] = Level(old.counts, old.noise, nothing, asked.noise)
            else:
                nothing = np.zeros((tree.sizes[asked.level], cells), np.int64)
                levels[asked.level] = Level(nothing, asked.noise, old.totals, old.totals_noise)
        measured = Measured(tree, tuple(levels))
        found, z = gls(measured), deviations(measured, 1 - plan.confidence)
        rows = []
        for place, name in enumerate(tree.names):
            asked_here = [asked for asked in plan.asked if asked.level == place]
            rows.append(
                LevelError(
                    level=name,
                    regions=tree.sizes[place],
                    share=float(sum(asked.share for asked in asked_here)),
                    noise="; ".join(noise_name(a.noise) + (" for totals" if a.totals else "") for a in asked_here),
                    cell=z * math.sqrt(float(np.median(found.variance[place]))),
                    total=z * math.sqrt(float(np.median(found.total_variance[place]))),
                )
            )
        return tuple(rows)

    def explain(self) -> str:
        """Cost, noise and expected error of every level. Spends nothing."""
        plan, counted = self.plan, self.plan.counted
        left = self.curator.ledger.remaining(plan.dataset, plan.allotment.name)
        lines = [f"Plan for a hierarchy of {plan.dataset!r}; protects {counted.schema.unit}."]
        lines += price_lines(plan.allotment, plan.charge, left)
        numbers = sum(counted.tree.sizes) * counted.cells
        cells = "one number" if counted.cells == 1 else f"{counted.cells:,} cells"
        lines.append(f"Releases {numbers:,} whole numbers that add up: {cells} a region. Method: {plan.method}.")
        widest = max(len(row.level) for row in self.expected)
        for row in self.expected:
            error = f"cells +-{row.cell:,.1f}, totals +-{row.total:,.1f}"
            if counted.cells == 1 or counted.sizes is not None:
                error = f"+-{row.cell:,.1f}"
            noise = row.noise or self._unasked(row.level)
            regions = "1 region" if row.regions == 1 else f"{row.regions:,} regions"
            lines.append(f"  {row.level:<{widest}}  {regions:>17}  {row.share:>6.1%} of the price  {error}")
            lines.append(f"  {'':<{widest}}  {noise}")
        lines.append(
            f"  Errors are {percent(plan.confidence)} half-widths of the best linear estimate, before bounds are used."
        )
        lines.append(
            f"  Note: A row whose {counted.column} is not among the {counted.tree.leaves:,} regions is left out."
        )
        unit = counted.schema.unit
        if unit.column is not None:
            few = "1 cell of a region" if unit.groups == 1 else f"{unit.groups:,} cells of regions"
            most = "1 row" if unit.rows == 1 else f"{unit.rows:,} rows"
            lines.append(f"  Note: A {unit.column} counts in at most {few}, and there as at most {most}.")
        return "\n".join(lines)

    def _unasked(self, level: str) -> str:
        tree = self.plan.counted.tree
        alike = tree.distinct[tree.level(level)]
        return "not asked" if tree.names[alike] == level else f"the regions of {tree.names[alike]}, asked once"

    def release(self, *, release: str | None = None, why: str = "") -> TreeRelease:
        """Spend, open, run, record. The same `release` id again returns the stored answer at no cost."""
        answer = self.curator.through_the_door(self.plan, self.plan.counted.columns, release=release, why=why)
        left = self.curator.ledger.remaining(self.plan.dataset, self.plan.allotment.name)
        return TreeRelease.read(
            answer, price_text(self.plan.allotment, answer.charge), price_text(self.plan.allotment, left, "down")
        )

    def __str__(self) -> str:
        return self.explain()
