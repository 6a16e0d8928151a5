"""How the exact method finds its optimum, region by region: the table of what every count would cost.

The least cost of a region and all below it, for every count that it might have, is convex. A parent's is found from its
children's by taking their cheapest steps in order (docs/proofs/hierarchy-exact.md). `exact` solves this without such
tables, which would be long; here they are made for a region and what lies below it, to be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.release import number
from discreet.errors import InputError, Phrase
from discreet.trees.exact.solve import exact, whole_weights
from discreet.trees.rules import NO_BOUND
from discreet.trees.sums import cell_weights

if TYPE_CHECKING:
    from discreet.trees.release import TreeRelease

__all__ = ["CostTable", "explain_cost"]

Array = NDArray[np.int64]
_MOST = 10_000  # regions below, and counts of a table
_SHOWN = 5  # counts on either side of the best one


@dataclass(frozen=True, eq=False)
class CostTable:
    """What every count of a region would cost: its own miss, the least cost of all below it, and both together.

    `best` is the count with the least cost of this region and what lies below it; `chosen` the one in the optimum of
    the whole tree. Costs are weight * (count - noisy)^2, summed over regions.
    """

    region: str
    level: str
    noisy: int | None
    weight: int
    counts: tuple[int, ...]
    own: tuple[int, ...]
    below: tuple[int, ...]
    chosen: int

    @property
    def costs(self) -> tuple[int, ...]:
        """Both together, for each count."""
        return tuple(own + below for own, below in zip(self.own, self.below, strict=True))

    @property
    def best(self) -> int:
        """The count that costs least, the smallest of them."""
        return self.counts[int(np.argmin(self.costs))]

    @property
    def cost(self) -> int:
        """What the best count costs."""
        return min(self.costs)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        head = {"region": self.region, "level": self.level, "noisy": self.noisy, "weight": self.weight}
        table = {"count": list(self.counts), "own": list(self.own), "below": list(self.below), "cost": list(self.costs)}
        return {**head, "best": self.best, "cost": self.cost, "chosen": self.chosen, "table": table}

    def __repr__(self) -> str:
        seen = "not measured" if self.noisy is None else f"noisy count {number(self.noisy)}, weight {self.weight}"
        place = self.counts.index(self.best)
        shown = range(max(place - _SHOWN, 0), min(place + _SHOWN + 1, len(self.counts)))
        rows: list[tuple[str, ...]] = [("count", "own", "below", "cost")]
        columns = (self.counts, self.own, self.below, self.costs)
        rows += [tuple(number(column[index]) for column in columns) for index in shown]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        lines[1 + place - shown.start] += "  least"
        head = f"{self.region} ({self.level}): {seen}."
        least = f"Least cost {number(self.cost)} at {number(self.best)}"
        tail = f"{least}; {number(self.chosen)} in the optimum of all regions."
        return "\n".join([head, *lines, tail])


def explain_cost(release: TreeRelease, region: str, level: str | None, cells: Any) -> CostTable:
    """See `TreeRelease.explain_cost`."""
    if release.cumulative:
        raise InputError("release", release.output, "one of plain counts")
    tree, measured = release.tree, release.measured
    cell = _cell(release, cells)
    place, index = _find(release, region, level)
    regions = _below(release, place, index)
    if sum(map(len, regions)) > _MOST:
        given = Phrase(f"{region}, with {sum(map(len, regions)):,} regions")
        raise InputError("region", given, f"a region with at most {_MOST:,} regions in it", "Name a smaller one.")
    bounds = release.rules.bounds(tree, measured.cells)
    weights = release.rules.level_weights(tree, measured.cells, whole_weights(measured))
    noisy = [None if level.counts is None else level.counts[:, cell] for level in measured.levels]
    seen = [one[part] for one, part in zip(noisy[place:], regions, strict=True) if one is not None]
    most = max(int(np.maximum(counts, 0).sum()) for counts in seen)
    if most > _MOST:
        raise InputError("region", Phrase(f"{region}, about {most:,}"), f"a region of at most {_MOST:,}")
    reach = most + _SHOWN

    def own(at: int, one: int, counts: Array) -> Array:
        seen = noisy[at]
        if seen is None:
            return np.zeros_like(counts)
        return np.asarray(weights[at][one, cell] * (counts - seen[one]) ** 2)

    def table(at: int, one: int) -> tuple[Array, Array, Array]:
        """Counts, their own cost, and the least cost below."""
        low, high = (int(ends[at][one, cell]) for ends in (bounds.lower, bounds.upper))
        low, high = max(low, 0), min(high, max(reach, low)) if high != NO_BOUND else max(reach, low)
        counts = np.arange(low, high + 1)
        below = np.zeros(len(counts), dtype=np.int64)
        if at + 1 < tree.depth:
            first, cost, steps = 0, 0, list[Array]()
            for child in np.flatnonzero(tree.parents[at + 1] == one).tolist():
                under, mine, rest = table(at + 1, child)
                first, cost = first + int(under[0]), cost + int((mine + rest)[0])
                steps.append(np.diff(mine + rest))
            rising = np.concatenate([[0], np.cumsum(np.sort(np.concatenate(steps)))]) + cost
            counts = counts[(counts >= first) & (counts < first + len(rising))]
            below = rising[counts - first]
        return counts, own(at, one, counts), below

    counts, mine, rest = table(place, index)
    chosen = exact(measured, release.rules).counts[place][index, cell]
    known = noisy[place]
    return CostTable(
        region,
        tree.names[place],
        None if known is None else int(known[index]),
        int(weights[place][index, cell]),
        tuple(counts.tolist()),
        tuple(mine.tolist()),
        tuple(rest.tolist()),
        int(chosen),
    )


def _cell(release: TreeRelease, cells: Any) -> int:
    """The one cell that is meant."""
    chosen = np.flatnonzero(cell_weights(release, cells))
    if len(chosen) != 1:
        allowed = f"a label for each of {', '.join(name for name, _ in release.by)}: every cell has a tree of its own"
        hint = "Such as " + ", ".join(f"{name}={labels[0]!r}" for name, labels in release.by) + "."
        raise InputError("cells", cells, allowed, hint)
    return int(chosen[0])


def _find(release: TreeRelease, region: str, level: str | None) -> tuple[int, int]:
    """The level of a region, and its place there."""
    tree = release.tree
    places = range(tree.depth) if level is None else [tree.level(level)]
    for place in places:
        codes = list(tree.codes[place]) if place else [tree.names[0]]
        if region in codes:
            return place, codes.index(region)
    known = [code for place in places for code in (tree.codes[place] if place else (tree.names[0],))]
    raise InputError("region", region, "a region of this tree", among=known)


def _below(release: TreeRelease, place: int, index: int) -> list[Array]:
    """The regions of each level from `place` on that lie in a region."""
    tree, found = release.tree, [np.array([index])]
    for level in range(place + 1, tree.depth):
        found.append(np.flatnonzero(np.isin(tree.parents[level], found[-1])))
    return found
