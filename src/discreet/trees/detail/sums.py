"""A sum over groups of regions, with an interval: of what was measured, before anything was cut at zero."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InputError
from discreet.mechanisms.blend import joint_half_width
from discreet.query.noisy_sums import Noise
from discreet.trees.detail.estimate import weight_of
from discreet.trees.detail.refinement import TOTAL
from discreet.trees.sums import Figure, apart

if TYPE_CHECKING:
    from discreet.trees.detail.measurement import GroupMeasurement, Look

__all__ = ["parse_groups", "sum_groups"]

_Terms = list[tuple[Noise, float, int]]


def sum_groups(measured: GroupMeasurement, regions: Any, groups: Any, cells: Any, confidence: float) -> Figure:
    """The best linear estimate of a sum, and its interval, exact for the noises that are in it.

    Numbers of different regions and groups have noises of their own, so that theirs add up. The value is not the sum of
    the published numbers, which are cut at zero and too many where many are added up.
    """
    level, places = _places(measured, regions)
    named = _named(groups, measured.groups, "groups")
    chosen = [TOTAL] if cells is None else _listed(cells, "cells")
    look, many = measured.look(level), len(measured.groups)
    pairs = np.array([place * many + group for place in places for group in named], np.int64)
    value, terms = 0.0, _Terms()
    for detail in range(len(measured.details) + 1):
        inside = np.flatnonzero(look.choice == detail)
        rows = np.flatnonzero(np.isin(inside, pairs))
        if len(rows):
            picked = _picked(measured, level, detail, chosen, int(inside[rows[0]]))
            part, more = _summed(look, detail, rows, picked)
            value, terms = value + part, terms + more
    parts = [
        (noise, np.array([weight]), np.array([float(count)])) for noise, weight, count in terms if count and weight
    ]
    half = joint_half_width(parts, 1 - confidence) if any(noise.variance for noise, _, _ in parts) else 0.0
    whole = max(round(value), 0)
    lower, upper = max(math.ceil(value - half), 0), max(math.floor(value + half), 0)
    deviation = math.sqrt(sum(float(noise.variance) * weight**2 * count for noise, weight, count in terms))
    return Figure(whole, min(lower, whole), max(upper, whole), deviation, confidence)


def _summed(look: Look, detail: int, rows: Any, picked: Sequence[int] | None) -> tuple[float, _Terms]:
    """The sum over some groups of one level of detail, and the weights of the noises in it."""
    if detail == 0:
        return float(look.alone[rows].sum()), [(look.laws["alone"], 1.0, len(rows))]
    totals, cells = (one[rows] for one in look.detailed[detail - 1])
    noises, many = (look.laws["total"], look.laws["detail"]), cells.shape[1]
    weight = weight_of(noises, many)
    # A cell is its own number, and its part of what total and cells differ by; a total is all of its cells.
    part = (many if picked is None else len(picked)) * weight / many
    inside = cells.sum() if picked is None else cells[:, picked].sum()
    value = float(inside) + part * float(totals.sum() - cells.sum())
    own = many if picked is None else len(picked)
    terms = [(noises[0], part, len(rows)), (noises[1], 1 - part, own * len(rows))]
    return value, [*terms, (noises[1], -part, (many - own) * len(rows))]


def _picked(
    measured: GroupMeasurement, level: int, detail: int, chosen: Sequence[str], pair: int
) -> Sequence[int] | None:
    """The places of cells in a level of detail; None for the total."""
    if list(chosen) == [TOTAL]:
        return None
    labels = measured.cells(detail)[1:]
    if missing := [label for label in chosen if label not in labels]:
        region, group = divmod(pair, len(measured.groups))
        what = f"{measured.groups[group]} of {measured.codes(level)[region]}"
        raise InputError(
            "cells", missing[0], f"a cell that was published of every group: {what} has others", among=labels
        )
    return [labels.index(label) for label in chosen]


def _places(measured: GroupMeasurement, regions: Any) -> tuple[int, list[int]]:
    """The level, and the places of regions in it: the root unless regions are named."""
    if regions is None or regions == {}:
        return 0, [0]
    if not isinstance(regions, Mapping) or len(regions) != 1:
        raise InputError("regions", regions, 'codes of one level, such as {"county": ["Ash", "Elm"]}')
    ((name, given),) = regions.items()
    level = measured.tree.level(name, "regions")
    return level, _named(given, measured.codes(level), f"regions.{name}")


def _named(given: Any, known: Sequence[str], field: str) -> list[int]:
    places = {name: place for place, name in enumerate(known)}
    listed = list(known) if given is None else _listed(given, field)
    if unknown := [name for name in listed if name not in places]:
        raise InputError(field, unknown[0], among=known)
    return [places[name] for name in listed]


def _listed(given: Any, field: str) -> list[str]:
    listed = [given] if isinstance(given, str) else list(given) if isinstance(given, list | tuple | set) else []
    if not listed or not all(isinstance(name, str) for name in listed):
        raise InputError(field, given, "a name, or a list of names")
    return list(dict.fromkeys(listed))


def parse_groups(measured: GroupMeasurement, text: str, field: str = "sum") -> dict[str, Any]:
    """Regions, groups and cells from a line: `county=Ash,Elm; group=white; cell=sex=female`. Empty for all."""
    found: dict[str, Any] = {}
    for part in filter(str.strip, apart(text, ";")):
        name, given, values = (piece.strip() for piece in part.partition("="))
        kind = {"group": "groups", "cell": "cells"}.get(name, "regions")
        if not given or not values or kind in found:
            allowed = "a level with codes, group=... and cell=..., each once, with semicolons between them"
            raise InputError(field, text, allowed)
        if kind == "regions" and name not in measured.tree.names:
            raise InputError(field, name, "a level, group or cell", among=(*measured.tree.names, "group", "cell"))
        listed = [piece.strip().strip('"') for piece in apart(values, ",")]
        if kind == "cells" and ", " in values and '"' not in values:  # the name of one cell: sex=f, age=0..18
            listed = [values]
        found[kind] = {name: listed} if kind == "regions" else listed
    return found
