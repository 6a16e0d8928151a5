"""Whole numbers for children whose parents are fixed: as near to real targets as the parents and the bounds allow.

For every parent and cell: minimise sum (x - mu)^2 / v over its children, subject to sum x = parent and
lower <= x <= upper. The real optimum is x = clip(mu + t v, lower, upper) for the one t that makes the sum right; it is
found by Newton steps on all parents of a level at once, kept inside a bracket. Then every number is rounded down, and
the units that are missing go where they cost least, which is the largest remainder where all v are equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.trees.tree import Hierarchy

__all__ = ["multiplier", "project", "spread", "units", "whole"]

Array = NDArray[np.int64]
Reals = NDArray[np.float64]

_BLOCK = 1 << 18  # numbers worked on at once: what stays in the cache
_STEPS = 200  # bisection alone needs about 60 + the logarithm of the range
_NEWTON = 12  # from here on every other step halves the bracket, where Newton's steps might go in circles
_QUICK = 1  # steps before brackets are worked out, which many segments need none of
_LEAST = 1e-12  # the least variance told apart from none


def spread(
    tree: Hierarchy, level: int, parents_values: Array, mu: Any, v: Any, lower: Array, upper: Array
) -> NDArray[np.int64]:
    """Whole numbers for the regions of level + 1 that add up to `parents_values`, the regions of `level`.

    `mu` are the targets and `v` their variances (any shape that broadcasts to regions and cells; only ratios of
    variances within one parent and cell count). `lower` and `upper` bound each number. They can always be met if they
    come from `Rules.bounds` and the parents keep theirs, as every parent's bounds are then the sums of its children's.

    >>> tree = Hierarchy.from_prefixes(["a", "b", "c"], {"leaf": 1})
    >>> none = np.zeros((3, 1), int)
    >>> spread(tree, 0, np.array([[10]]), [[5.5], [2.3], [-4.0]], 1.0, none, none + 8).ravel().tolist()
    [7, 3, 0]
    """
    size, cells = lower.shape
    counts = tree.children(level)
    target = np.broadcast_to(np.asarray(mu, float), lower.shape)
    width = np.broadcast_to(np.asarray(v, float), lower.shape)
    out = np.empty((size, cells), np.int64)
    step = max(1, _BLOCK // size)
    for first in range(0, cells, step):
        part = slice(first, min(first + step, cells))
        many = part.stop - first
        flat = [np.ascontiguousarray(a[:, part].T).ravel() for a in (target, width, lower, upper, parents_values)]
        found = whole(np.tile(counts, many), *flat)
        if found is None:
            _complain(tree, level, parents_values, lower, upper)
        else:
            out[:, part] = found.reshape(many, size).T
    return out


def whole(counts: Array, mu: Reals, v: Reals, lower: Array, upper: Array, parents: Array) -> Array | None:
    """`spread` on segments: `counts[k]` numbers in a row add up to `parents[k]`. None where that cannot be."""
    starts = np.cumsum(counts) - counts
    rest = parents - np.add.reduceat(lower, starts)
    if (rest < 0).any():
        return None
    # No child can hold more than all that is left; where nothing is left there is nothing to do.
    room = np.minimum(upper - lower, np.repeat(rest, counts))
    if (np.add.reduceat(room.astype(float), starts) < rest).any():
        return None
    busy = rest > 0
    if not busy.all():
        keep = np.repeat(busy, counts)
        out = lower.copy()
        if busy.any():
            out[keep] += _units_above(counts[busy], (mu - lower)[keep], v[keep], room[keep], rest[busy])
        return out
    return lower + _units_above(counts, mu - lower, v, room, rest)


def _units_above(counts: Array, mu: Reals, v: Reals, room: Array, rest: Array) -> Array:
    width = np.maximum(v, _LEAST)
    real = project(counts, mu, width, room.astype(float), rest.astype(float))
    low = np.minimum(np.floor(real + 1e-9).astype(np.int64), room)
    # What it costs to hold one more.
    cost = (2 * (low - mu) + 1) / width
    return units(counts, low, room, rest, cost, real > low + 1e-9)


def project(counts: Array, mu: Reals, v: Reals, upper: Reals, total: Reals) -> Reals:
    """The weighted projection: min sum (x - mu)^2 / v, 0 <= x <= upper, each segment adding up to its `total`.

    `counts` are the lengths of the segments. Totals must be between zero and the sum of `upper`; v is above zero.
    """
    return np.clip(mu + np.repeat(multiplier(counts, mu, v, upper, total), counts) * v, 0.0, upper)


def multiplier(counts: Array, mu: Reals, v: Reals, upper: Reals, total: Reals, start: Reals | None = None) -> Reals:
    """The t of each segment for which clip(mu + t v, 0, upper) adds up to its total; `start` is a first guess."""
    out = np.empty(len(counts))
    going = np.arange(len(counts))
    starts = np.cumsum(counts) - counts
    at = (total - np.add.reduceat(mu, starts)) / np.add.reduceat(v, starts) if start is None else start
    left, right = np.full(len(at), -np.inf), np.full(len(at), np.inf)
    bracketed = False
    for step in range(_STEPS):
        free = mu + np.repeat(at, counts) * v
        held = np.clip(free, 0.0, upper)
        over = np.add.reduceat(held, starts) - total
        slope = np.add.reduceat(np.where(free == held, v, 0.0), starts)
        done = np.abs(over) <= 1e-7 + 1e-13 * total
        if bracketed:
            done |= right - left <= 1e-15 * (np.abs(left) + np.abs(right))
        out[going[done]] = at[done]
        if done.all():
            return out
        left, right = np.where(over < 0, at, left), np.where(over > 0, at, right)
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.where(done, at, at - over / slope)
        if 4 * np.count_nonzero(done) > len(done):
            more = np.repeat(~done, counts)
            mu, v, upper = mu[more], v[more], upper[more]
            counts, going = counts[~done], going[~done]
            total, left, right, at = (a[~done] for a in (total, left, right, at))
            starts = np.cumsum(counts) - counts
            done = np.zeros(len(at), bool)
        lost = ~((at > left) & (at < right)) & ~done
        if step >= _NEWTON and step % 2:
            lost = ~done
        if not bracketed and (step >= _QUICK or lost.any()):
            # Where everything is at one end. Most have been found by now.
            left = np.maximum(left, np.minimum.reduceat(-mu / v, starts))
            right = np.minimum(right, np.maximum.reduceat((upper - mu) / v, starts))
            bracketed = True
            lost |= ~((at > left) & (at < right)) & ~done
        if bracketed:
            at = np.where(lost, left / 2 + right / 2, at)
    out[going] = at
    return out


def units(counts: Array, low: Array, upper: Array, total: Array, cost: Reals, likely: NDArray[np.bool_]) -> Array:
    """`low`, raised by whole units to the segments' totals: at most one each, the cheapest first, while that suffices.

    The `likely` ones are asked before the others. What is then still missing, or too much (targets beyond what a float
    resolves), is added or taken from the front.
    """
    starts = np.cumsum(counts) - counts
    out = low.copy()
    for asked in (likely, ~likely):
        missing = total - np.add.reduceat(out, starts)
        if not (missing > 0).any():
            break
        places = np.flatnonzero(asked & (out < upper) & np.repeat(missing > 0, counts))
        if len(places):
            segment = np.repeat(np.arange(len(counts)), counts)[places]
            first = np.searchsorted(segment, np.arange(len(counts)))
            order = np.argsort(segment + _ranks(cost[places], segment, first), kind="stable")
            out[places[order[np.arange(len(segment)) - first[segment] < missing[segment]]]] += 1
    missing = total - np.add.reduceat(out, starts)
    for sign in (1, -1):
        need = np.maximum(sign * missing, 0)
        if need.any():
            space = np.minimum(upper - out if sign == 1 else out, np.repeat(need, counts))
            before = np.cumsum(space) - space
            before -= np.repeat(before[starts], counts)
            out += sign * np.clip(np.repeat(need, counts) - before, 0, space)
    return out


def _ranks(cost: Reals, segment: Array, first: Array) -> Reals:
    """Costs, squeezed into 0..1 within each segment, so that one sort of (segment + rank) sorts them all.

    Equal costs are told apart by multiples of the golden ratio, whose fractional parts are as even as can be: of many
    equal children it is not always the first that get a unit.
    """
    ends = np.append(first[1:], len(cost))
    begins, lengths = first[ends > first], (ends - first)[ends > first]
    least = np.minimum.reduceat(cost, begins)
    reach = np.maximum(np.maximum.reduceat(cost, begins) - least, 1e-300)
    even = (np.arange(len(cost)) * 0.6180339887498949) % 1.0
    ranks: Reals = 0.999 * (cost - np.repeat(least, lengths)) / np.repeat(reach, lengths) + 1e-8 * even
    return ranks


def _complain(tree: Hierarchy, level: int, parents: Array, lower: Array, upper: Array) -> None:
    least, most = tree.add(level, lower), tree.add(level, upper.astype(float))
    region, cell = (int(place) for place in np.argwhere((parents < least) | (parents > most))[0])
    raise InputError(
        f"count of {tree.name(level, region)}",
        int(parents[region, cell]),
        f"from {int(least[region, cell]):,} to {most[region, cell]:,.0f} in cell {cell}, as the regions in it say",
    )
