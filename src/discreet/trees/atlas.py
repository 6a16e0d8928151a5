"""A hierarchical release as a map: every cell of every level, both kinds of intervals, other releases beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InputError, kind_of
from discreet.show.map import Layer, Map, choropleth
from discreet.show.map.drawing import MOST_NUMBERS
from discreet.show.map.layer import LARGEST
from discreet.trees.estimate import Ends
from discreet.trees.intervals.each import linear_bands

if TYPE_CHECKING:
    from discreet.trees.release import TreeRelease

__all__ = ["draw_map", "map_title", "map_unit"]

_DIGITS = 5  # of the largest number on a map of small sums


def draw_map(
    release: TreeRelease,
    *,
    title: str | None = None,
    label: str = "",
    compare: Mapping[str, TreeRelease] | None = None,
    **how: Any,
) -> Map:
    """The map of a release: totals first, then every cell; a page too large for a browser leaves out lowest levels."""
    others = _others(release, compare)
    editions = [release, *others.values()]
    levels, unit = _fitting(editions), max(map(map_unit, editions))
    left_out = release.levels[levels:]
    sentence = (
        f"Every number has noise added to it, which hides any one protected unit of {release.dataset!r} (cost "
        f"{release.cost}); what was computed from the noisy numbers did not read the data again."
    )
    if left_out:
        sentence += f" This page leaves out the level {' and the level '.join(left_out)}: the files have it."
    sources = [f"{one.dataset}/{one.id}" for one in editions]  # other methods share the noise of their release
    apart = len(set(sources)) > 1
    return choropleth(
        _layers(release, levels, unit, apart),
        title=title or map_title(release) + ("" if unit == 1 else f", in units of {float(unit):g}"),
        confidence=release.confidence,
        privacy=sentence,
        label=label or (release.id if others else ""),
        compare={name: _layers(other, levels, unit, apart) for name, other in others.items()},
        sources=sources,
        **how,
    )


def map_title(release: TreeRelease) -> str:
    """What a release shows, in a line: the dataset, what is counted in it, by which regions and columns.

    Other tables of the same dataset differ in just that; by which method the numbers were made stands elsewhere.
    """
    levels, columns = release.levels[1:], [name for name, _ in release.by]
    regions = " and ".join([", ".join(levels[:-1]), levels[-1]]) if len(levels) > 1 else levels[0] if levels else ""
    plain = release.counted if release.counted in ("persons", "households") else "counts"
    counted = f"{release.counted} by size" if release.cumulative else plain
    counted = counted if release.magnitude is None else release.magnitude.heading
    title = f"{release.dataset}: {counted}{f' by {regions}' if regions else ''}"
    if columns and not release.cumulative:
        title += f", by {' and '.join(columns)}"
    return f"{title}, where {release.where}" if release.where else title


def map_unit(release: TreeRelease) -> Fraction:
    """What one on a map stands for: maps have whole numbers that a browser holds, and sums may be small or huge."""
    ends = release.estimate.each
    root = release.estimate.totals[0] if ends is None else ends.total_upper[0]
    most = release.valued(int(root.max(initial=0)))
    if most > LARGEST / 8:  # ends of other intervals may be further out
        return Fraction(10) ** math.ceil(math.log10(8 * most / LARGEST))
    if release.step.denominator == 1 or most == 0:
        return Fraction(1)
    return Fraction(10) ** min(0, math.floor(math.log10(most)) - _DIGITS)


def _drawn(release: TreeRelease, numbers: Any, unit: Fraction, round_: Any = np.rint) -> Any:
    """Numbers of a release as a map has them: whole numbers of its unit."""
    if unit == 1 and release.step.denominator == 1:
        return release.valued(numbers)
    return round_(np.asarray(numbers) * float(release.step / unit)).astype(np.int64)


def _others(release: TreeRelease, compare: Mapping[str, TreeRelease] | None) -> Mapping[str, TreeRelease]:
    if compare is None:
        return {}
    if not isinstance(compare, Mapping) or not all(isinstance(other, type(release)) for other in compare.values()):
        raise InputError("compare", kind_of(compare), "a dictionary of hierarchies by name, such as {'2020': release}")
    for name, other in compare.items():
        if other.levels != release.levels:
            raise InputError("compare", name, f"a hierarchy with the levels {', '.join(release.levels)}")
        if other.confidence != release.confidence:
            hint = f"Make it again for free: again(method, confidence={release.confidence})."
            raise InputError("compare", name, f"a hierarchy with intervals of confidence {release.confidence}", hint)
    return compare


def _fitting(editions: list[TreeRelease]) -> int:
    """How many levels, from the root, the page has room for with all their cells."""
    numbers = 0
    for level in range(editions[0].tree.depth):
        for one in editions:
            kinds = sum(ends is not None for ends in (one.estimate.each, one.estimate.typical))
            each = (3 if kinds < 2 else 5) + 2 * (len(editions) > 1)
            numbers += one.tree.sizes[level] * (one.measured.cells + 1) * each
        if level and numbers > MOST_NUMBERS:
            return level
    return editions[0].tree.depth


def _layers(release: TreeRelease, levels: int, unit: Fraction, apart: bool) -> list[Layer]:
    """The levels with their numbers; with unbiased estimates as well where independent releases may be subtracted."""
    tree, estimate = release.tree, release.estimate
    names = [" / ".join(str(label) for label in labels) for labels in product(*(labels for _, labels in release.by))]
    bands = linear_bands(release.measured, release.confidence) if apart and estimate.each is not None else None
    layers = []
    for level in range(levels):
        counts = estimate.counts[level]
        values: dict[str, tuple[Any, int | None]] = {}
        if not release.cumulative and counts.shape[1] > 1:
            values["total"] = (estimate.totals[level], None)
        for cell, name in enumerate(names):
            values[_called(release, name)] = (counts[:, cell], cell)
        outputs = {
            name: (_drawn(release, value, unit), *_ends(release, estimate.each, level, cell, unit))
            for name, (value, cell) in values.items()
        }
        typical = {name: _ends(release, estimate.typical, level, cell, unit) for name, (_, cell) in values.items()}
        above = None
        if level:
            higher = _codes(release, level - 1)
            above = [higher[parent] for parent in tree.parents[level]]
        stated = None if estimate.typical is None else typical
        linear = None
        if bands is not None:
            cells, halves, totals, spans = bands[level]
            pairs = {
                name: (totals, spans) if cell is None else (cells[:, cell], halves)
                for name, (_, cell) in values.items()
            }
            linear = {
                name: (_drawn(release, one, unit), _drawn(release, half, unit, np.ceil) + 1)  # one for rounding
                for name, (one, half) in pairs.items()
            }
        codes = _codes(release, level)
        layers.append(Layer(tree.names[level], codes, outputs, parents=above, typical=stated, linear=linear))
    return layers


def _ends(release: TreeRelease, ends: Ends | None, level: int, cell: int | None, unit: Fraction) -> tuple[Any, Any]:
    if ends is None:
        return None, None
    low, high = ends.total_lower[level], ends.total_upper[level]
    if cell is not None:
        low, high = ends.lower[level][:, cell], ends.upper[level][:, cell]
    return _drawn(release, low, unit, np.floor), _drawn(release, high, unit, np.ceil)


def _codes(release: TreeRelease, level: int) -> tuple[str, ...]:
    return release.tree.codes[level] if level else (release.tree.names[0],)


def _called(release: TreeRelease, name: str) -> str:
    if release.cumulative:
        return f"groups of at least {name}"
    return name or release.output
