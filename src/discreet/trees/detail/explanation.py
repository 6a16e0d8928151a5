"""What a release in adaptive detail says of itself before it is paid: which group gets which detail, and how exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.core.explanation import Accuracy, Explanation
from discreet.core.release import percent, plural
from discreet.query.plan import noise_name
from discreet.trees.detail.estimate import reaches
from discreet.trees.detail.refinement import TOTAL

if TYPE_CHECKING:
    from discreet.trees.detail.plan import DetailPlan
    from discreet.trees.detail.stages import LevelStages

__all__ = ["explain_detail"]

_SIZES = (0, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
_RARE = 0.001


def explain_detail(plan: DetailPlan) -> Explanation:
    """The chance of each level of detail by size of group, and the half-width of every number."""
    counted, tree, details = plan.counted, plan.counted.finest.tree, plan.counted.details
    share = sum(stage.first.share for stage in plan.stages)
    moved = counted.moved()
    steps = [
        f"First {percent(float(share))} of the price counts every group of every region. The result decides in how "
        "much detail the rest of the price measures each group.",
        f"A row counts in up to {plural(counted.overlap, 'group')}. One protected unit changes "
        f"{plural(moved.outputs, 'group')} of a level by up to {moved.each:,}, or more groups by less.",
    ]
    errors: list[Accuracy] = []
    chances: dict[str, Any] = {}
    said: dict[tuple[Any, ...], list[str]] = {}
    for stage in plan.stages:
        name = tree.names[stage.level]
        said.setdefault((stage.thresholds, tuple(one.noise for one in stage.measures)), []).append(name)
        chances[name] = {
            str(size): dict(zip((TOTAL, *details.names), stage.chances(size), strict=True)) for size in _SIZES
        }
    for (thresholds, _), names in said.items():
        stage = next(one for one in plan.stages if tree.names[one.level] == names[0])
        limits = ", ".join(f"{one} from {limit:,}" for one, limit in zip(details.names, thresholds, strict=True))
        steps.append(f"{', '.join(names)}: total alone below, {limits}.")
        errors += _errors(plan, stage, ", ".join(names))
        steps += [f"  of {size:,}: {_odds((TOTAL, *details.names), stage.chances(size))}" for size in _SIZES]
    pairs = sum(tree.sizes[stage.level] for stage in plan.stages) * len(counted.groups)
    return Explanation(
        title=f"Plan for groups in {plan.dataset!r}",
        unit=str(plan.unit),
        shape=(
            f"Releases {plural(len(counted.groups), 'group')} in each region of {', '.join(tree.names)}: totals, and "
            "cells where they are large enough, whole numbers that add up within a group.",
        ),
        errors=tuple(errors),
        confidence=plan.confidence,
        steps=tuple(steps),
        notes=tuple(dict.fromkeys(note.text for note in plan.notes)),
        facts={
            "groups": len(counted.groups),
            "pairs": pairs,
            "cells": dict(zip(details.names, details.sizes, strict=True)),
            "thresholds": {tree.names[stage.level]: list(stage.thresholds) for stage in plan.stages},
            "chances": chances,
        },
    )


def _odds(names: tuple[str, ...], chances: list[float]) -> str:
    """The chances that are worth saying."""
    likely = [(name, chance) for name, chance in zip(names, chances, strict=True) if chance >= _RARE]
    return ", ".join(f"{name} {100 * chance:.3g}%" for name, chance in likely)


def _errors(plan: DetailPlan, stage: LevelStages, name: str) -> list[Accuracy]:
    details, sure = plan.counted.details, plan.confidence
    rest = float(stage.alone.share)
    found = [
        Accuracy(f"{name}, {TOTAL} alone", noise_name(stage.alone.noise), stage.alone.noise.error(sure), share=rest)
    ]
    noises = stage.total.noise, stage.detail.noise
    for detail, cells in zip(details.names, details.sizes, strict=True):
        total, cell = reaches(noises, cells, sure)
        found.append(Accuracy(f"{name}, total with {detail}", noise_name(noises[0]), total))
        found.append(Accuracy(f"{name}, a cell of {detail}", noise_name(noises[1]), cell))
    return found
