"""What measured margins add to the targets of cells where counts may not be negative and have to add up.

Without bounds the best linear estimate of the cells has all that margins say already. Bounds move cells, and then a
margin that is known well should move less than its cells are free to: each of its numbers pulls at its cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.trees.components import expanded, margin_of
from discreet.trees.gls import NOTHING, Gls
from discreet.trees.topdown.rounding import multiplier
from discreet.trees.tree import Hierarchy

__all__ = ["Target", "pulled", "targets_of"]

Array = NDArray[np.int64]
Reals = NDArray[np.float64]

_SWEEPS = 16
_DAMPING = 0.3
_CLOSE = 0.01  # persons: cells that move by less have settled


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """What the margin of some columns should be, one row a region, and the variance of that, one a region."""

    axes: tuple[int, ...]
    values: Reals
    doubt: Reals


def targets_of(found: Gls, level: int, shape: tuple[int, ...]) -> list[Target]:
    """The margins of a level's best estimates, each as certain as its questions make it beyond what others say.

    All precisions together are those of the components: taken from the widest margins on, what those that contain it
    say of a margin is taken off.
    """
    alone = 1 / found.alone[level]
    extra: dict[tuple[int, ...], Reals] = {}
    for axes, variance in sorted(found.up_margins(level), key=lambda one: -len(one[0])):
        more = 1 / variance - alone - sum(extra[one] for one in extra if set(axes) < set(one))
        extra[axes] = np.maximum(more, 0.0)
    mu, targets = found.up_counts(level), []
    for axes, precision in extra.items():
        summed = found.cells // margin_of(mu[:1], shape, axes).size
        doubt = summed / np.maximum(precision, summed / NOTHING)
        targets.append(Target(axes, margin_of(mu, shape, axes), doubt))
    return targets


def pulled(
    tree: Hierarchy,
    level: int,
    parents: Array,
    mean: Reals,
    variance: Reals,
    lower: Array,
    upper: Array,
    targets: list[Target],
    shape: tuple[int, ...],
) -> Reals:
    """The means, moved so that whole numbers near them that add up to the parents are near the margins too.

    Minimises sum (x - mean)^2 / variance + sum (margin - target)^2 / doubt over x within bounds whose sums are the
    parents, one margin after the other.
    """
    children, place, cells = tree.children(level - 1), tree.parents[level], mean.shape[1]
    room = (np.minimum(upper, parents[place]) - lower).astype(float)
    roof, counts = np.ascontiguousarray(room.T).ravel(), np.tile(children, cells)
    above = np.ascontiguousarray((parents - tree.add(level - 1, lower)).T, dtype=float)
    width = np.ascontiguousarray(np.broadcast_to(variance, mean.shape).T).ravel()
    bases = [margin_of(lower, shape, one.axes) for one in targets]
    pulls = [np.zeros(one.values.shape) for one in targets]
    pull, movable = np.zeros(mean.shape), np.where(room > 0, variance, 0.0)
    for _ in range(_SWEEPS):
        furthest = 0.0
        for index, (one, base) in enumerate(zip(targets, bases, strict=True)):
            free = mean - lower + variance * pull
            shift = multiplier(counts, np.ascontiguousarray(free.T).ravel(), width, roof, above.ravel())
            free = free + variance * shift.reshape(cells, -1).T[place]
            held = np.clip(free, 0.0, room)
            give = margin_of(np.where(free == held, movable, 0.0), shape, one.axes)
            # Cells at their bounds will give once they leave them: steps stay short of what that would undo.
            give = np.maximum(give, _DAMPING * margin_of(movable, shape, one.axes))
            before, doubt = pulls[index], one.doubt[:, None]
            over = margin_of(held, shape, one.axes) + base + doubt * before - one.values
            pulls[index] = np.where(give > 0, before - over / (give + doubt), 0.0)
            change = expanded(pulls[index] - before, one.axes, shape)
            pull = pull + change
            furthest = max(furthest, float(np.abs(change * variance).max()))
        if furthest < _CLOSE:
            break
    return np.asarray(mean + variance * pull)
