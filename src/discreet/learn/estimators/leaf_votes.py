"""What the leaves of a tree say of the classes, from noisy counts: drawn to their parents by as much as noise explains.

Post-processing: nothing here sees a row. Counts of an inner node are sums over its leaves, so their noise is known too.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.learn.estimators.columns import Floats

__all__ = ["class_shares", "leaf_shares"]

_APART = 0.3  # the variance that a split gives to the share of a class, as a part of what a coin with that share has
_UNEVEN = 0.08  # the variance of the share of rows that goes left
_FLOOR = 0.05  # of a share: what is left of it at least
_MARGIN = 0.45  # of a node's rows: a child gets at least this much less than half, and half of them more


def class_shares(counts: Floats, variance: float) -> tuple[float, Floats]:
    """How many rows there are, and the shares of the classes among them, from counts (trees, leaves, classes)."""
    trees, leaves, classes = counts.shape
    noise = variance * leaves / trees  # of a mean over trees
    seen = counts.sum(axis=1).mean(axis=0)
    rows = max(float(seen.sum()), math.sqrt(noise * classes), float(classes))
    even = rows / classes
    signal = even**2 / 2
    drawn = np.maximum(even + (seen - seen.mean()) * signal / (signal + noise), _FLOOR * even)
    return rows, drawn / drawn.sum()


def leaf_shares(counts: Floats, variance: float) -> tuple[Floats, Floats]:
    """The shares of the classes over all, and in every leaf: (classes,) and (trees, leaves, classes).

    From the root down, each child has its parent's shares as a prior, of variance `_APART` p (1 - p) for a share p.
    What its counts say beyond that is weighted by signal / (signal + noise + sampling), the known noise being that of
    the sum of all leaves below.
    """
    trees, leaves, classes = counts.shape
    rows, overall = class_shares(counts, variance)
    held = np.full((trees, 1), rows)
    shares = np.broadcast_to(overall, (trees, 1, classes))
    for level in range(1, leaves.bit_length()):
        below = leaves >> level
        noise = variance * below
        seen = counts.reshape(trees, 2**level, below, classes).sum(axis=2)
        size = seen.sum(axis=2)
        held = _children(held, size, classes * noise)
        shares = np.repeat(shares, 2, axis=1)
        many, coin = held[..., None], shares * (1 - shares)
        apart = seen - shares * size[..., None]
        spread = noise * (1 - 2 * shares + classes * shares**2)
        signal = _APART * many**2 * coin
        moved = apart * signal / (signal + spread + many * coin + 1e-12)
        drawn = np.maximum(shares + moved / many, _FLOOR * shares)
        shares = drawn / drawn.sum(axis=2, keepdims=True)
    return overall, shares


def _children(held: Floats, size: Floats, noise: float) -> Floats:
    """How many rows each child has: half of its parent's, and what the noisy difference to its sibling says."""
    apart = (size[:, 0::2] - size[:, 1::2]) / 2
    signal = _UNEVEN * held**2
    moved = np.clip(apart * signal / (signal + noise / 2), -_MARGIN * held, _MARGIN * held)
    return np.stack([held / 2 + moved, held / 2 - moved], axis=2).reshape(len(held), -1)
