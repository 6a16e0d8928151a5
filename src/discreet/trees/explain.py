"""What the plan of a hierarchy says of itself: the error of every level, from noise and tree alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.explanation import Accuracy, Explanation
from discreet.core.release import percent, plural
from discreet.query.plan import noise_name
from discreet.trees.gls import gls
from discreet.trees.intervals.region import deviations
from discreet.trees.measured import Level, Measured

if TYPE_CHECKING:
    from discreet.trees.plan import TreePlan

__all__ = ["explained"]


def explained(plan: TreePlan) -> Explanation:
    """Half-widths for a typical region once the levels inform each other.

    Bounds and whole numbers, which come after, mostly narrow them where counts are small.
    """
    counted, tree = plan.counted, plan.counted.tree
    levels, errors = _levels(plan), []
    several = counted.cells > 1 and counted.sizes is None
    for index, row in enumerate(levels):
        cells_noise, totals_noise = (
            [noise_name(one.noise) for one in plan.asked if one.level == index and one.totals == totals]
            for totals in (False, True)
        )
        unasked = _unasked(plan, row["level"])
        name = f"{row['level']}, a cell" if several else str(row["level"])
        noise = "; ".join(cells_noise if several else cells_noise + totals_noise) or unasked
        errors.append(Accuracy(name, noise, row["cell"], share=row["share"]))
        if several:
            errors.append(Accuracy(f"{row['level']}, a total", "; ".join(totals_noise) or unasked, row["total"]))
    cells = "one number" if counted.cells == 1 else f"{counted.cells:,} cells"
    numbers = sum(tree.sizes) * counted.cells
    regions = ", ".join(f"{row['level']} ({plural(row['regions'], 'region')})" for row in levels)
    notes = [
        f"Errors are {percent(plan.confidence)} half-widths of the best linear estimate, before bounds are used.",
        *(note.text for note in counted.notes),
    ]
    return Explanation(
        title=f"Plan for a hierarchy of {plan.dataset!r}",
        unit=str(counted.schema.unit),
        shape=(
            f"Releases {numbers:,} whole numbers that add up: {cells} a region. Method: {plan.method}.",
            f"Levels: {regions}.",
        ),
        errors=tuple(errors),
        confidence=plan.confidence,
        notes=tuple(notes),
        facts={"method": plan.method, "cells": counted.cells, "levels": levels},
    )


def _levels(plan: TreePlan) -> list[dict[str, Any]]:
    """Of every level its name, regions, share of the price and noise, and the half-widths of a cell and of a total."""
    tree, cells = plan.counted.tree, plan.counted.cells
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
    best, z = gls(measured), deviations(measured, 1 - plan.confidence)
    rows = []
    for index, name in enumerate(tree.names):
        asked_here = [asked for asked in plan.asked if asked.level == index]
        rows.append(
            {
                "level": name,
                "regions": tree.sizes[index],
                "share": float(sum(asked.share for asked in asked_here)),
                "noise": "; ".join(noise_name(a.noise) + (" for totals" if a.totals else "") for a in asked_here),
                "cell": z * math.sqrt(float(np.median(best.variance[index]))),
                "total": z * math.sqrt(float(np.median(best.total_variance[index]))),
            }
        )
    return rows


def _unasked(plan: TreePlan, level: str) -> str:
    tree = plan.counted.tree
    alike = tree.distinct[tree.level(level)]
    return "not asked" if tree.names[alike] == level else f"the regions of {tree.names[alike]}, asked once"
