"""The optimum without whole numbers as a condition, in O(n log n): where the search for whole ones starts.

Let V_r(x) be the least cost of everything below and including region r if it holds x. Its derivative rises, so x is a
rising function of the derivative: for a leaf clip(y + slope * m, lower, upper), slope = 1 / 2w. Where children share
one multiplier m, their counts add up: a parent's function is the sum of its children's, then bent by its own cost,
which turns m into m + 2w(x - y), then cut at its bounds. All functions are piecewise linear, and the breakpoints of a
region are those of its leaves, sorted. One way up, one way down.

Multipliers are small beside the places of most breakpoints, more so at every level up, where a person more costs more.
So functions are kept for a likely range only; if a multiplier turns out to lie outside, all is done again with a
wider one, at last without any.

This is done in floats and is only a good guess; nothing published rests on it (see `certificate`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.trees.exact.forest import Forest, blocks, segments
from discreet.trees.rules import NO_BOUND

__all__ = ["continuous"]

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

_FAINT = 2.0**-20  # the weight of a leaf that does not count: enough to choose one of many equal optima
_SAFETY = 3.0  # how much wider than likely the first range is
_FLAT = 1e-12  # a slope of sums and differences of slopes that should be zero


@dataclass(frozen=True, slots=True, eq=False)
class _Functions:
    """x as a function of the multiplier from above, of every region of a level.

    Region r has the breakpoints edges[r] to edges[r + 1]: from `places` on, x rises from `values` by `slopes`. Below
    the first it is `base`. The multiplier handed on to its children stays between `least` and `most`.
    """

    edges: Array
    places: Floats
    values: Floats
    slopes: Floats
    base: Floats
    least: Floats
    most: Floats

    def at(self, multipliers: Floats) -> Floats:
        """Each region's x at its multiplier: a search among its breakpoints."""
        if not len(self.places):
            return self.base
        first, last = self.edges[:-1].copy(), self.edges[1:].copy()
        for _ in range(int((last - first).max()).bit_length()):
            middle = (first + last) // 2
            below = self.places[np.minimum(middle, len(self.places) - 1)] <= multipliers
            open_ = first < last
            first = np.where(open_ & below, middle + 1, first)
            last = np.where(open_ & ~below, middle, last)
        found = np.maximum(first - 1, 0)
        line = self.values[found] + self.slopes[found] * (multipliers - self.places[found])
        return np.where(first > self.edges[:-1], line, self.base)


def continuous(forest: Forest) -> list[Floats]:
    """The real optimum of every level, roots first, up to rounding errors."""
    reach = _likely(forest)
    for wider in (1.0, 8.0, 64.0):
        found = _within(forest, [wider * level for level in reach])
        if found is not None:
            return found
    found = _within(forest, [np.full(len(level), np.inf) for level in reach])
    return found if found is not None else [lower.astype(float) for lower in forest.lower]


def _likely(forest: Forest) -> list[Floats]:
    """How far from 0 the multiplier may well be that each region hands on to its children, for all levels but the last.

    A parent and n children that are D apart split D by their weights, so the multiplier is 2wD / (1 + nw/v), and what
    comes from above is divided by the same. A quarter of the children are taken to give way. What children are too
    much on average, where noise was cut off at zero, climbs up the tree.
    """
    drift = 0.0
    steps: list[Floats] = []
    stiff: list[Floats] = []
    seen = np.clip(forest.targets[-1], forest.lower[-1], forest.upper[-1])
    weight = float(forest.weights[-1].max())
    for level in range(forest.depth - 2, -1, -1):
        heads = forest.edges(level)[:-1]
        free = np.add.reduceat((seen > forest.lower[level + 1]).astype(np.int64), heads)
        together = np.add.reduceat(seen, heads)
        y, w, lower, upper = (part[level] for part in (forest.targets, forest.weights, forest.lower, forest.upper))
        seen = np.clip(np.where(w > 0, y, together), lower, upper)
        own = float(w.max()) or weight
        drift += float(np.mean(together - seen))
        stiff.append(1.0 + free * (own / max(4.0 * weight, _FAINT)))
        apart = 2.0 * own * (np.abs(seen - together) + abs(drift)) / stiff[-1]
        weight = own
        spare = 2.0 * own + float(np.abs(forest.price(level)).max()) + float(np.abs(forest.price(level + 1)).max())
        steps.append(_SAFETY * (apart + spare))
    steps.reverse()
    stiff.reverse()
    for level in range(1, len(steps)):
        steps[level] += steps[level - 1][forest.parents[level]] / stiff[level]
    return steps


def _within(forest: Forest, reach: list[Floats]) -> list[Floats] | None:
    """The optimum if every multiplier handed on by a region is no farther from 0 than its `reach`; else None."""
    below: _Functions | None = None
    functions: list[_Functions] = []
    for level in range(forest.depth - 2, -1, -1):
        needed = reach[level - 1][forest.parents[level]] if level else np.ones(forest.size(0))
        below = _merge(forest, level, below, reach[level], needed)
        functions.append(below)
    functions.reverse()
    found: list[Floats] = []
    multipliers = np.zeros(forest.size(0))
    for level in range(forest.depth):
        y, w, lower, upper = (part[level] for part in (forest.targets, forest.weights, forest.lower, forest.upper))
        if level == forest.depth - 1:
            x = (multipliers - forest.price(level)) / (2.0 * np.maximum(w, _FAINT))
            x += y
            found.append(np.clip(x, lower, upper, out=x))
            break
        here = functions[level]
        x = np.clip(here.at(multipliers), lower, upper)
        found.append(x)
        handed = np.clip(multipliers - 2.0 * w * (x - y) - forest.price(level), here.least, here.most)
        outside = np.abs(handed) >= reach[level]
        if (
            outside.any()
            and (forest.lower[level + 1] < forest.upper[level + 1])[outside[forest.parents[level + 1]]].any()
        ):
            return None  # for a region that is not fixed
        multipliers = handed[forest.parents[level + 1]]
    return found


def _merge(forest: Forest, level: int, below: _Functions | None, reach: Floats, needed: Floats) -> _Functions:
    """The functions of a level from those of its children; None stands for leaves.

    `reach` is the range in which the children's functions are used, `needed` the one in which the result is.
    """
    edges = forest.edges(level)
    count = forest.size(level)
    least, most = np.full(count, -np.inf), np.full(count, np.inf)
    base = np.add.reduceat(forest.lower[-1] if below is None else below.base, edges[:-1]).astype(float)
    parts: list[_Runs] = []
    for first, last in blocks(edges if below is None else below.edges[edges]):
        begin, end = int(edges[first]), int(edges[last])
        places, changes, children = _leaves(forest, begin, end) if below is None else _children(below, begin, end)
        owners = forest.parents[level + 1][begin:end][children] - first
        places, changes, owners = _fold(places, changes, owners, base[first:last], reach[first:last])
        order = _order(places, owners, last - first)
        runs = _sum(places[order], changes[order], owners[order], base[first:last])
        y, w, lower, upper = (
            part[level][first:last] for part in (forest.targets, forest.weights, forest.lower, forest.upper)
        )
        if ((upper < NO_BOUND) | (lower > base[first:last])).any():
            runs = _cut(runs, lower, upper, least[first:last], most[first:last])
            base[first:last] = np.clip(base[first:last], lower, upper)
        runs = _bend(runs, y, w, np.broadcast_to(forest.price(level, slice(first, last)), y.shape))
        parts.append(_trim(runs, base[first:last], needed[first:last]))
    lengths = np.concatenate([np.diff(part.heads) for part in parts])
    places, values, slopes = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("places", "values", "slopes")
    )
    return _Functions(np.append(0, np.cumsum(lengths)), places, values, slopes, base, least, most)


def _fold(places: Floats, changes: Floats, owners: Array, base: Floats, reach: Floats) -> tuple[Floats, Floats, Array]:
    """Breakpoints within reach; those below it become one at its lower end, with what they add written to `base`."""
    if np.isinf(reach[0]):
        return places, changes, owners
    ends = reach[owners]
    low = places <= -ends
    inside = ~low & (places < ends)
    owned, change = owners[low], changes[low]
    slope = np.bincount(owned, weights=change, minlength=len(base))
    base += np.bincount(owned, weights=change * (-ends[low] - places[low]), minlength=len(base))
    started = np.flatnonzero(slope > _FLAT)
    return (
        np.concatenate([-reach[started], places[inside]]),
        np.concatenate([slope[started], changes[inside]]),
        np.concatenate([started, owners[inside]]),
    )


def _trim(runs: _Runs, base: Floats, needed: Floats) -> _Runs:
    """Functions in the range needed, from the last breakpoint before it on; writes to `base` where they begin."""
    if not len(runs.places) or np.isinf(needed[0]):
        return runs
    ends = needed[runs.owners]
    kept = runs.places < ends
    kept[:-1] &= (runs.places[1:] > -ends[1:]) | (runs.owners[1:] != runs.owners[:-1])
    owners = runs.owners[kept]
    heads = segments(owners, len(base))
    filled = heads[:-1] < heads[1:]
    values = runs.values[kept]
    base[filled] = values[heads[:-1][filled]]
    return _Runs(heads, owners, runs.places[kept], values, runs.slopes[kept])


def _leaves(forest: Forest, begin: int, end: int) -> tuple[Floats, Floats, Array]:
    """Breakpoints of leaves: where x leaves the lower bound and where it meets the upper, with the change of slope."""
    y, w, lower, upper = (part[-1][begin:end] for part in (forest.targets, forest.weights, forest.lower, forest.upper))
    doubled = 2.0 * np.maximum(w, _FAINT)
    free = lower < upper
    owners = np.flatnonzero(free)
    price = np.broadcast_to(forest.price(forest.depth - 1, slice(begin, end)), y.shape)
    places, changes = (doubled * (lower - y) + price)[owners], 1.0 / doubled[owners]
    capped = np.flatnonzero(free & (upper < NO_BOUND))
    if len(capped):
        places = np.concatenate([places, (doubled * (upper - y) + price)[capped]])
        changes = np.concatenate([changes, -1.0 / doubled[capped]])
        owners = np.concatenate([owners, capped])
    return places, changes, owners


def _children(below: _Functions, begin: int, end: int) -> tuple[Floats, Floats, Array]:
    """Breakpoints of regions that are not leaves, with the change of slope."""
    start, stop = int(below.edges[begin]), int(below.edges[end])
    lengths = np.diff(below.edges[begin : end + 1])
    slopes = below.slopes[start:stop]
    changes = np.diff(slopes, prepend=0.0)
    heads = below.edges[begin:end][lengths > 0] - start
    changes[heads] = slopes[heads]
    return below.places[start:stop], changes, np.repeat(np.arange(end - begin), lengths)


def _order(places: Floats, owners: Array, count: int) -> Array:
    """By owner, then by place. Both and a number are packed into one integer, which sorts several times faster."""
    if not len(places):
        return np.zeros(0, np.int64)
    low, high = float(places.min()), float(places.max())
    tail = len(places).bit_length()
    bits = 62 - count.bit_length() - tail
    if bits < 1 or high - low > 2.0 ** (bits - 17):  # packed, places would be told apart by 1e-5 at best
        return np.lexsort((places, owners))
    keys = ((places - low) * (2.0**bits / max(high - low, 1.0) * 0.999)).astype(np.int64)
    keys += owners << bits
    keys <<= tail
    keys += np.arange(len(keys))
    keys.sort()
    keys &= (1 << tail) - 1
    return keys


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """Functions of some regions side by side: region r has the breakpoints heads[r] to heads[r + 1]."""

    heads: Array
    owners: Array
    places: Floats
    values: Floats
    slopes: Floats


def _sum(places: Floats, changes: Floats, owners: Array, base: Array) -> _Runs:
    """Sorted breakpoints become functions that start at `base`."""
    heads = segments(owners, len(base))
    filled = heads[:-1][heads[:-1] < heads[1:]]
    slopes = np.cumsum(changes)
    slopes -= np.concatenate([[0.0], slopes])[heads[:-1]][owners]
    slopes[slopes < _FLAT] = 0.0
    rises = np.zeros(len(places))
    rises[1:] = slopes[:-1] * np.maximum(np.diff(places), 0.0)
    rises[filled] = 0.0
    values = np.cumsum(rises)
    values += (base - np.append(values, 0.0)[heads[:-1]])[owners]
    return _Runs(heads, owners, places, values, slopes)


def _bend(runs: _Runs, y: Array, w: Array, price: NDArray[Any]) -> _Runs:
    """What the region's own cost does to its function: the multiplier from above is larger by 2w(x - y) + price."""
    doubled = (2.0 * w)[runs.owners]
    places = runs.places + doubled * (runs.values - y[runs.owners]) + price[runs.owners]
    return _Runs(runs.heads, runs.owners, places, runs.values, runs.slopes / (1.0 + doubled * runs.slopes))


def _cut(runs: _Runs, lower: Array, upper: Array, least: Floats, most: Floats) -> _Runs:
    """Functions cut at the regions' own bounds; writes to `least` and `most` the multipliers at which they are met."""
    heads, owners, places, values, slopes = runs.heads, runs.owners, runs.places.copy(), runs.values.copy(), runs.slopes
    count = len(lower)
    if not len(places):
        return runs
    # The part at or below the lower bound becomes one breakpoint, where the bound is left.
    under = np.bincount(owners[values <= lower[owners]], minlength=count)
    entry = heads[:-1] + np.maximum(under - 1, 0)
    there = np.minimum(entry, len(places) - 1)
    rising = slopes[there] > 0
    left = places[there] + np.where(rising, (lower - values[there]) / np.where(rising, slopes[there], 1.0), 0.0)
    some = heads[:-1] < heads[1:]
    moved = some & (values[there] < lower) & (under > 0)
    places[entry[moved]], values[entry[moved]] = left[moved], lower[moved]
    least[moved] = left[moved]
    # The part at or above the upper bound goes; a flat end takes its place.
    over = np.bincount(owners[values < upper[owners]], minlength=count)
    final = np.maximum(heads[:-1] + np.maximum(over, 1) - 1, entry)
    final = np.minimum(final, len(places) - 1)
    ends = some & (upper < NO_BOUND) & (slopes[final] > 0)
    safe = np.where(ends, slopes[final], 1.0)
    met = places[final] + np.maximum(upper - values[final], 0.0) / safe
    most[ends] = met[ends]
    fixed = lower >= upper
    ends &= ~fixed
    least[fixed & some] = most[fixed & some] = left[fixed & some]
    index = np.arange(len(places))
    keep = (index >= entry[owners]) & (index <= final[owners]) & ~fixed[owners]
    after = np.cumsum(keep)[final[ends]]
    new_owners = np.insert(owners[keep], after, np.flatnonzero(ends))
    return _Runs(
        segments(new_owners, count),
        new_owners,
        np.insert(places[keep], after, met[ends]),
        np.insert(values[keep], after, upper[ends].astype(float)),
        np.insert(slopes[keep], after, 0.0),
    )
