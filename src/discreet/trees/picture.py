"""A release as a map: one output for the totals, and one for every cell."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from discreet.show.map import Layer, Map, choropleth

if TYPE_CHECKING:
    from discreet.trees.release import TreeRelease

__all__ = ["picture"]

_MOST_NUMBERS = 300_000  # that a page should carry, each with its two ends


def picture(release: TreeRelease, *, title: str | None, geometry: Any) -> Map:
    """The map of a release: totals first, then the cells, as many as a page can carry."""
    tree, estimate = release.tree, release.estimate
    levels, cells = _fitting(tree.sizes, estimate.counts[0].shape[1])
    names = [" / ".join(str(label) for label in labels) for labels in product(*(labels for _, labels in release.by))]
    layers = []
    for level in range(levels):
        counts = estimate.counts[level]
        outputs = {}
        if not release.cumulative and counts.shape[1] > 1:
            ends = (estimate.total_lower, estimate.total_upper)
            outputs["total"] = _band(estimate.totals[level], *(None if end is None else end[level] for end in ends))
        for cell, name in enumerate(names[:cells]):
            ends = (estimate.lower, estimate.upper)
            low, high = (None if end is None else end[level][:, cell] for end in ends)
            outputs[_called(release, name)] = _band(counts[:, cell], low, high)
        codes = tree.codes[level] if level else (tree.names[0],)
        above = None
        if level:
            higher = tree.codes[level - 1] if level > 1 else (tree.names[0],)
            above = [higher[parent] for parent in tree.parents[level]]
        layers.append(Layer(tree.names[level], codes, outputs, parents=above))
    sentence = (
        f"Every number carries noise that hides any one unit of {release.dataset!r} (cost {release.cost}); "
        "what was made of the noisy numbers has not seen the data again."
    )
    left_out = [f"the level {name}" for name in tree.names[levels:]]
    left_out += [f"{len(names) - cells:,} more cells"] if cells < len(names) else []
    if left_out:
        sentence += f" This page leaves out {' and '.join(left_out)}: the files have them."
    named = title or f"{release.dataset}, by {release.method}"
    return choropleth(layers, title=named, confidence=release.confidence, privacy=sentence, geometry=geometry)


def _fitting(sizes: tuple[int, ...], cells: int) -> tuple[int, int]:
    """How many levels, from the root, and how many cells the page has room for: levels first."""
    levels = 1
    while levels < len(sizes) and 2 * sum(sizes[: levels + 1]) <= _MOST_NUMBERS:
        levels += 1
    return levels, max(1, min(cells, _MOST_NUMBERS // sum(sizes[:levels]) - 1))


def _called(release: TreeRelease, name: str) -> str:
    if release.cumulative:
        return f"groups of at least {name}"
    return name or "count"


def _band(counts: Any, lower: Any, upper: Any) -> tuple[Any, Any, Any]:
    return (counts, None, None) if lower is None or upper is None else (counts, lower, upper)
