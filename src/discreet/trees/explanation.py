"""What there is to know about a hierarchy before it is paid: shares, noise, and the error of every level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.accounting.words import readable
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.release import number, percent, plural
from discreet.query.plan import noise_name
from discreet.trees.gls import gls
from discreet.trees.intervals.each import deviations
from discreet.trees.measurement import Measurement
from discreet.trees.queries import margin_name
from discreet.trees.simulation import Simulation, simulate
from discreet.trees.spine import distances
from discreet.trees.targets import Family, typical_half_width

if TYPE_CHECKING:
    from discreet.trees.plan import LevelMeasure, TreePlan

__all__ = ["explain_tree"]

_RELATIVE = 0.1  # the relative error that is said in sizes of regions


def explain_tree(plan: TreePlan) -> Explanation:
    """Half-widths for a typical region once the levels inform each other.

    Bounds and whole numbers, which come after, mostly narrow them where counts are small. What is asked instead where
    the root's total is small is in a note.
    """
    counted, tree = plan.counted, plan.counted.tree
    levels, errors, tried = _levels(plan), [], _tried(plan)
    spine = {} if plan.given is None else {"spine": _spine_facts(plan, plan.given)}
    several = counted.cells > 1 and counted.sizes is None
    for index, row in enumerate(levels):
        cells_noise, totals_noise = (_noise(plan.measures, index, totals=totals) for totals in (False, True))
        unasked = _unasked(plan, row["level"])
        name = f"{row['level']}, a cell" if several else str(row["level"])
        noise = cells_noise if several else "; ".join(text for text in (cells_noise, totals_noise) if text)
        errors.append(Accuracy(name, noise or unasked, row["cell"], share=row["share"]))
        if several:
            errors.append(Accuracy(f"{row['level']}, a total", totals_noise or unasked, row["total"]))
        for query, half in row.get("queries", {}).items():
            asked = [one for one in plan.measures if one.level == index and _query(plan, one) == query]
            noise = "; ".join(noise_name(one.noise) for one in asked)
            errors.append(Accuracy(f"{row['level']}, by {query}", noise or unasked, half))
    magnitude, rounded = counted.magnitude, float(plan.rounding)
    kind = "whole numbers" if magnitude is None else f"numbers, multiples of {number(rounded)},"
    steps = "" if counted.step == 1 else f" Noise is in steps of {float(counted.step):g}."
    what = [] if magnitude is None else [f"Each number is a {magnitude.words}.{steps}"]
    cells = "one number" if counted.cells == 1 else f"{counted.cells:,} cells"
    numbers = sum(tree.sizes) * counted.cells
    regions = ", ".join(f"{row['level']} ({plural(row['regions'], 'region')})" for row in levels)
    notes = [
        f"Errors are {percent(plan.confidence)} half-widths of the best linear estimate, before bounds are used.",
        *(_relative_notes(levels, "many" if magnitude is None else "much") if counted.sizes is None else ()),
        *_single_notes(plan),
        *_sparse_notes(plan),
        *_small_notes(plan, levels, tried),
        *_target_notes(plan, spine.get("spine", [])),
        *plan.rules.declared,
        *(note.text for note in counted.notes),
    ]
    return Explanation(
        title=f"Plan for a hierarchy of {plan.dataset!r}",
        unit=str(counted.schema.unit),
        shape=(
            f"Releases {numbers:,} {kind} that add up: {cells} a region. Method: {plan.method}.",
            *what,
            f"Levels: {regions}.",
        ),
        errors=tuple(errors),
        confidence=plan.confidence,
        notes=tuple(notes),
        facts={
            "method": plan.method,
            "cells": counted.cells,
            "levels": levels,
            **_measured_facts(plan),
            **spine,
            **({} if tried is None else {"simulation": tried.to_dict()}),
        },
    )


def _target_notes(plan: TreePlan, spine: list[dict[str, Any]]) -> list[str]:
    """How many regions make a target, and how far off its total is; where regions were split, how far it would be."""
    notes, before = [], {row["name"]: row for row in spine}
    for family in plan.targets:
        taken = float(distances(plan.counted.tree, family).mean())
        row = before.get(family.name)
        half = _target_width(plan, family) if row is None else row["total"]
        kind = "off the tree" if row is None or not row["level"] else "split along borders of targets"
        instead = "" if row is None else f" (+-{readable(row['given'], 3)} with the tree as given)"
        notes.append(
            f"{family.name}, {kind} ({len(family.codes):,}): made of {taken:.1f} regions on "
            f"average; a total +-{readable(half, 3)}{instead}."
        )
    kept = [row for row in spine if row["level"] and row["name"] in plan.counted.tree.names]
    if kept:
        parts = [
            f"{row['name']} +-{readable(row['total'], 3)} (+-{readable(row['given'], 3)} with the tree as given)"
            for row in kept
        ]
        notes.append(f"Levels that are not split, a total: {', '.join(parts)}.")
    return notes


def _spine_facts(plan: TreePlan, given: TreePlan) -> list[dict[str, Any]]:
    """Half-widths of totals of targets and of given levels, by the spine that is asked and by the tree as given."""
    families = {one.name: one for one in plan.targets}
    widths, asked = (_half_widths(one, one.measures)[1] for one in (given, plan))
    own = dict(zip(plan.counted.tree.names, asked, strict=True))
    rows: list[dict[str, Any]] = []
    for one in given.targets:
        total = _target_width(plan, families[one.name])
        rows.append({"name": one.name, "level": False, "total": total, "given": _target_width(given, one)})
    for name, width in zip(given.counted.tree.names, widths, strict=True):
        total = own[name] if name in own else _target_width(plan, families[name])
        rows.append({"name": name, "level": True, "total": total, "given": width})
    return rows


def _target_width(plan: TreePlan, family: Family) -> float:
    """The half-width of the total of a typical target."""
    return typical_half_width(_blank(plan, plan.measures), family, plan.confidence) * float(plan.step)


def _measured_facts(plan: TreePlan) -> dict[str, Any]:
    """What is summed and rounded, where rows are not counted."""
    if plan.counted.magnitude is None:
        return {}
    return {"measure": plan.counted.magnitude.words, "rounding": float(plan.rounding)}


def _noise(measures: Sequence[LevelMeasure], level: int, *, totals: bool) -> str:
    """The noise of a question; nothing where it is not asked."""
    asked = [one for one in measures if one.level == level and one.totals == totals and one.axes is None]
    return "; ".join(noise_name(one.noise) for one in asked)


def _query(plan: TreePlan, measure: LevelMeasure) -> str | None:
    """The name of a question for a margin."""
    if measure.axes is None:
        return None
    return margin_name(tuple(key.column for key in plan.counted.by), measure.axes)


def _relative_notes(levels: list[dict[str, Any]], much: str) -> list[str]:
    """From which size on a region's total is within a tenth: an error means little beside nothing."""
    sizes = ", ".join(f"{row['level']} {row['within_a_tenth']:,}" for row in levels)
    return [f"A total is within {_RELATIVE:.0%} where a region has at least this {much}: {sizes}."]


def _single_notes(plan: TreePlan) -> list[str]:
    """Which regions are asked once, as they have a single child."""
    if not plan.pooled:
        return []
    tree, many = plan.counted.tree, plan.single
    parts = ", ".join(f"{number:,} of {tree.sizes[level]:,} in {tree.names[level]}" for level, number in many.items())
    return [
        f"Regions with a single child equal it and are measured once, with the shares of both levels ({parts}): their "
        "errors are smaller than stated."
    ]


def _sparse_notes(plan: TreePlan) -> list[str]:
    if not plan.sparse:
        return []
    leaves, notes = plan.counted.tree.names[-1], []
    for way in plan.sparse:
        cell, total = (widths[-1] for widths in _half_widths(plan, way.measures))
        below = (
            f"{way.below:,}" if plan.counted.magnitude is None else readable(way.below * float(plan.counted.step), 3)
        )
        notes.append(f"below {below}: +-{readable(cell, 3)} for a cell and +-{readable(total, 3)} for a total")
    return [
        f"The overall total is measured first, with noise. If it is small, totals of {leaves} get more of the price "
        f"and cells less ({'; '.join(notes)}). A declared `expected` decides it beforehand."
    ]


def _tried(plan: TreePlan) -> Simulation | None:
    """The plan tried out on a made-up table, where about how many there are is public."""
    if plan.expected is None or plan.counted.sizes is not None:
        return None
    return simulate(plan, plan.expected / float(plan.rounding))


def _small_notes(plan: TreePlan, levels: list[dict[str, Any]], tried: Simulation | None) -> list[str]:
    """What noise does to small regions, where about how many there are is public: by level, and simulated."""
    if plan.expected is None or tried is None:
        return []
    relative = {row["level"]: row["total"] * row["regions"] / max(plan.expected, 1) for row in levels}
    parts = ", ".join(f"{level} {readable(100 * part, 2)}%" for level, part in relative.items())
    notes = [f"Errors of totals, relative to the mean region: {parts}."]
    for row in levels[1:]:
        mean = plan.expected / row["regions"]
        if row["total"] > mean:
            notes.append(
                f"A {row['level']} has {readable(mean, 2)} on average, less than the error of its total "
                f"(+-{readable(row['total'], 3)}): leave the level out, or read its numbers together only."
            )
    made_up = f"Simulated on a made-up table of {plan.expected:,.0f}: {tried}"
    return [*notes, made_up if tried.classes else f"Simulated: {tried}"]


def _levels(plan: TreePlan) -> list[dict[str, Any]]:
    """Of every level its name, regions, share of the price and noise, and the half-widths of a cell and of a total."""
    tree = plan.counted.tree
    widths = _half_widths(plan, plan.measures)
    margins = _margin_widths(plan)
    rows: list[dict[str, Any]] = []
    for index, name in enumerate(tree.names):
        here = [measure for measure in plan.measures if measure.level == index]
        rows.append(
            {
                "level": name,
                "regions": tree.sizes[index],
                "share": float(sum(measure.share for measure in here)),
                "noise": "; ".join(noise_name(a.noise) + _for(plan, a) for a in here),
                "cell": widths[0][index],
                "total": widths[1][index],
                "within_a_tenth": math.ceil(widths[1][index] / _RELATIVE),
            }
        )
        if margins:
            rows[-1]["queries"] = {name: halves[index] for name, halves in margins.items()}
    return rows


def _for(plan: TreePlan, measure: LevelMeasure) -> str:
    return " for totals" if measure.totals else f" by {query}" if (query := _query(plan, measure)) else ""


def _margin_widths(plan: TreePlan) -> dict[str, list[float]]:
    """Of a number of every margin that is asked anywhere, of the median region of every level."""
    asked = {query: one.axes for one in plan.measures if (query := _query(plan, one)) and one.axes is not None}
    if not asked:
        return {}
    measured = _blank(plan, plan.measures)
    best, z, shape = gls(measured), deviations(measured, 1 - plan.confidence), plan.counted.shape
    return {
        query: [
            float(plan.step) * z * math.sqrt(float(np.median(best.margin(level, axes, shape)[1])))
            for level in range(plan.counted.tree.depth)
        ]
        for query, axes in asked.items()
    }


def _blank(plan: TreePlan, measures: Sequence[LevelMeasure]) -> Measurement:
    """What would be measured where nothing is counted."""
    from discreet.trees.plan import measured_as

    tree, cells, shape = plan.counted.tree, plan.counted.cells, plan.counted.shape
    zeros = [one.of(np.zeros((tree.sizes[one.level], cells), np.int64), shape) for one in measures]
    return measured_as(plan.counted, measures, zeros, plan.fine)


def _half_widths(plan: TreePlan, measures: Sequence[LevelMeasure]) -> list[list[float]]:
    """Of a cell, and of a total, of the median region of every level."""
    measured = _blank(plan, measures)
    best, z = gls(measured), deviations(measured, 1 - plan.confidence)
    of, unit = (best.variance, best.total_variance), float(plan.step)
    return [[unit * z * math.sqrt(float(np.median(level))) for level in variances] for variances in of]


def _unasked(plan: TreePlan, level: str) -> str:
    tree = plan.counted.tree
    alike = tree.distinct[tree.level(level)]
    return "not asked" if tree.names[alike] == level else f"the regions of {tree.names[alike]}, asked once"
