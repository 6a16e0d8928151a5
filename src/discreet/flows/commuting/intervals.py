"""How many commuters there truly are behind made-up ones: intervals for every flow, and for every place.

Rows are made up of noisy counts, or drawn from urns; whichever it is, the law of what was measured is known for every
true number. The interval of a flow holds all true numbers under which what was measured is not too rare, in either
direction: it holds the true one at least as often as it says, whatever that is. What is made of noisy numbers
afterwards, by a model of distance, plays no part in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.blend import joint_half_width

__all__ = ["Ends", "cell_ends", "sum_ends", "urn_ends"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Noise = Laplace | Gaussian
Ends = tuple[Whole, Whole]

_NODES = 6  # of the quadrature over what an urn may hold, in each of its pieces
_PIECES = (0.0, *(10.0**-power for power in (12, 10, 8, 7, 6, 5, 4, 3, 2, 1)), 0.5)  # shorter where tails are rarer
_EXACT = 0.98  # what is left of an allowed chance, for what quadrature may be off
_GRID = 4000  # urns and numbers of draws that are inverted, about; those between take the wider of their neighbours'


def cell_ends(noisy: Whole, noise: Noise, published: Whole, confidence: float) -> Ends:
    """Intervals for true counts behind noisy ones; stretched to what was published of them where that lies outside.

    Guarantee
        Each holds the true count with at least the stated confidence, whatever the count is: the noise is on whole
        numbers, and `error` is exact for its law. Proof: docs/proofs/commute.md.
    """
    half = noise.error(confidence)
    return _stretched(noisy - half, noisy + half, published)


def sum_ends(sources: Sequence[tuple[Whole, Noise, int]], published: Whole, confidence: float) -> Ends:
    """The same for sums that were measured in several ways: (noisy sums, noise, draws of it in each).

    The mean of all, weighted by precision, has an interval that is exact for the noises in it.
    """
    precise = [1 / max(float(noise.variance) * many, 1e-12) for _, noise, many in sources]
    weights = [one / sum(precise) for one in precise]
    middle = np.sum([weight * values for weight, (values, _, _) in zip(weights, sources, strict=True)], axis=0)
    parts = [
        (noise, np.array([weight]), np.array([float(many)]))
        for weight, (_, noise, many) in zip(weights, sources, strict=True)
    ]
    half = joint_half_width(parts, 1 - confidence)
    low, high = np.ceil(middle - half).astype(np.int64), np.floor(middle + half).astype(np.int64)
    return _stretched(low, high, published)


def urn_ends(draws: Whole, size: int, prior: float, confidence: float, grid: int = _GRID) -> Ends:
    """Intervals for the workers of every cell of an urn, of which `draws` were drawn; nobody's cell is the first.

    The number of draws of a cell with n workers is beta-binomial: `size` draws with shape n + prior, and what is left.
    It rises with n, so that the true numbers under which so many draws are not too rare are an interval.
    """
    cells, few = len(draws), np.unique(draws)
    total = size + cells * prior
    known = few
    if len(few) > grid:  # conservative in between: lower ends of fewer draws, upper ends of more
        known = np.unique(few[np.rint(np.linspace(0, len(few) - 1, grid)).astype(int)])
    rare = (1 - confidence) / 2 * _EXACT
    low = _least(lambda n: 1 - _at_most(known - 1, size, n + prior, total - n - prior, rare) > rare, known, size)
    # The last that so few draws are not too rare for: one before the first that they are.
    high = _least(lambda n: _at_most(known, size, n + prior, total - n - prior, rare) <= rare, known, size + 1) - 1
    below = np.searchsorted(known, draws, side="right") - 1
    above = np.searchsorted(known, draws, side="left")
    return low[below], np.maximum(high[above], 0)


def _least(true: object, known: Whole, top: int) -> Whole:
    """The least number from 0 to `top` at which something that rises with it becomes true, for each of `known`."""
    low, high = np.zeros(len(known), np.int64), np.full(len(known), top, np.int64)
    while (low < high).any():
        middle = (low + high) // 2
        here = true(middle.astype(np.float64))  # type: ignore[operator]
        low, high = np.where(here | (low >= high), low, middle + 1), np.where(here & (low < high), middle, high)
    return low


def _at_most(draws: Whole, size: int, shape: Floats, rest: Floats, rare: float = 0.0) -> Floats:
    """P[Z <= draws] of beta-binomial Z: binomial tails, averaged over the law of the urn's share.

    Right where it, or what is left of one, is not much less than `rare`.
    """
    from scipy.special import bdtr, betaincinv

    nodes, weights = _quadrature(sum(0 < edge < rare / 1000 for edge in _PIECES))
    share = betaincinv(shape[:, None], np.maximum(rest, 1e-9)[:, None], nodes)
    below = np.where(draws[:, None] < 0, 0.0, bdtr(np.maximum(draws, 0)[:, None], size, share))
    return np.asarray(np.clip((below * weights).sum(axis=1), 0.0, 1.0))


@lru_cache(maxsize=len(_PIECES))
def _quadrature(without: int) -> tuple[Floats, Floats]:
    """Nodes and weights between zero and one, dense at both ends: an origin's ends are those of very rare tails.

    `without` so many of the shortest pieces, which tails that are not as rare have no need of.
    """
    pieces = (0.0, *_PIECES[1 + without :])
    edges = np.array([*pieces, *(1 - edge for edge in pieces[-2::-1])])
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    wide = np.diff(edges)[:, None]
    return (edges[:-1, None] + wide * (nodes + 1) / 2).ravel(), (wide * weights / 2).ravel()


def _stretched(low: Whole, high: Whole, published: Whole) -> Ends:
    """No count is below zero, and what was published lies inside."""
    return np.minimum(np.maximum(low, 0), published), np.maximum(np.maximum(high, 0), published)
