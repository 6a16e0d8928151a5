"""How true counts are spread, learned from the noisy ones: a prior without a formula, fitted under the known noise.

A noisy count is a true count plus noise whose law is public. The spread of the true counts is then found by maximum
likelihood over all distributions on a grid (expectation maximisation), one distribution for each group of counts, all
groups drawn a little towards what they have in common. Nothing but noisy counts is read: this is post-processing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.bayes.product import columns_at_once, product

__all__ = ["Law", "Prior", "centred", "climb", "grid", "likelihoods"]

Reals = NDArray[np.float64]
Array = NDArray[np.int64]

_LEAST = 1e-14  # below this, a difference of two sums of probabilities is rounding
_NOTHING = 1e-300
_HALVINGS = 40
_FAR = 30.0  # counts this many times the noise are told apart whatever the prior: the grid gets coarser there


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """Integer noise as running sums of its probabilities and first two moments: any interval costs two lookups.

    >>> law = Law.of(Laplace(2))
    >>> none, first, second = law.within(np.array([0]), np.array([-500]), np.array([500]))
    >>> none.round(6).tolist(), abs(first).round(6).tolist(), second.round(3).tolist(), round(Laplace(2).variance, 3)
    ([1.0], [0.0], [7.835], 7.835)
    """

    deviation: float
    reach: int
    sums: Reals

    @classmethod
    def of(cls, noise: Laplace | Gaussian) -> Law:
        """The law of a mechanism's noise."""
        match noise:
            case Laplace(scale=scale):
                return _law("laplace", float(scale))
            case Gaussian(sigma=sigma):
                return _law("gaussian", float(sigma))

    @classmethod
    def with_variance(cls, noise: Laplace | Gaussian, variance: float) -> Law:
        """A law of the same family with another variance: what a weighted mean of noisy counts is taken to have."""
        deviation = math.sqrt(max(variance, 1e-6))
        match noise:
            case Laplace():
                # 2r/(1-r)^2 = variance, with r = e^(-1/scale): sinh(1/(2 scale)) = 1/sqrt(2 variance).
                return _law("laplace", 0.5 / math.asinh(1 / (math.sqrt(2) * deviation)))
            case Gaussian():
                return _law("gaussian", deviation)

    def within(self, noisy: Array, low: Array, high: Array) -> tuple[Reals, Reals, Reals]:
        """Of noise that leads from a true count in low .. high - 1 to `noisy`: probability and first two moments."""
        last = self.sums.shape[1] - 1
        start = np.clip(noisy - high + 1 + self.reach, 0, last)
        end = np.clip(noisy - low + 1 + self.reach, 0, last)
        none, first, second = (sums[end] - sums[start] for sums in self.sums)
        return np.maximum(none, _LEAST), first, second


@lru_cache(maxsize=64)
def _law(family: str, scale: float) -> Law:
    reach = 2 + math.ceil(scale * (34 if family == "laplace" else 8.5))
    noise = np.arange(-reach, reach + 1, dtype=np.float64)
    mass = np.exp(-np.abs(noise) / scale) if family == "laplace" else np.exp(-0.5 * (noise / scale) ** 2)
    mass /= mass.sum()
    sums = np.zeros((3, len(mass) + 1))
    np.cumsum([mass, noise * mass, noise**2 * mass], axis=1, out=sums[:, 1:])
    return Law(math.sqrt(float(sums[2, -1])), reach, sums)


def grid(most: int, deviation: float, *, fine: float = 0.36, wide: float = 0.1) -> Array:
    """Whole numbers from 0 to beyond `most`: every one near 0, then as far apart as noise and size can tell.

    Neighbours are `fine` deviations of the noise apart, or `wide` times their size if that is more.

    >>> grid(30, 10.0).tolist()
    [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 19, 23, 27, 31]
    """
    edges = [0]
    while edges[-1] <= most:
        at = edges[-1]
        far = wide * at * min(1 + at / (_FAR * deviation), 4)
        edges.append(at + max(1, round(max(min(fine * deviation, 0.25 * at), far))))
    return np.array(edges, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """Distributions of true counts, one a column of `weights`: uniform between neighbouring `edges`.

    >>> edges = np.array([0, 1, 2, 3])
    >>> noise, seen = Law.of(Laplace(1)), np.array([[600.0], [200.0], [600.0]])
    >>> prior = Prior.fit(edges, likelihoods(noise, np.array([0, 1, 2]), edges), seen, np.zeros(1, int), pseudo=0)
    >>> prior.weights.round(2).ravel().tolist()  # as many zeros as twos: the ones are noise
    [0.5, 0.0, 0.5]
    """

    edges: Array
    weights: Reals

    @classmethod
    def fit(
        cls,
        edges: Array,
        likely: Reals,
        seen: Reals,
        pools: NDArray[np.intp],
        *,
        pseudo: float = 30.0,
        steps: int = 60,
        means: Reals | None = None,
    ) -> Prior:
        """The most likely distributions, given how often each noisy count was seen in each group (a column each).

        `likely` has a row for each row of `seen` and a column for each interval of the grid (`likelihoods`). All groups
        together are fitted first; that counts as `pseudo` observations when those of one pool are fitted together, and
        this in turn when each group is. One observation is spread over the whole grid, so that nothing is impossible.
        Where noise hides small counts, the likelihood says little about their mean: `means`, one a group, settle it.
        """
        uniform = np.full((likely.shape[1], 1), 1.0 / likely.shape[1])
        whole = climb(likely, seen.sum(axis=1, keepdims=True), uniform, 1.0, steps)
        parts = [np.flatnonzero(pools == pool) for pool in range(int(pools.max()) + 1)]
        sums = np.stack([seen[:, here].sum(axis=1) for here in parts], axis=1)
        together = climb(likely, sums, whole, pseudo, steps)
        weights = np.empty((likely.shape[1], seen.shape[1]))
        if means is not None:
            counts = seen.sum(axis=0)
            joint = [float(means[here] @ counts[here]) / max(float(counts[here].sum()), 1e-9) for here in parts]
            together = centred(together, edges, np.array(joint))
        for here, start in zip(parts, together.T[:, :, None], strict=True):
            weights[:, here] = climb(likely, seen[:, here], start, pseudo, steps) if len(here) > 1 else start
        return cls(edges, weights if means is None else centred(weights, edges, means))

    def posterior(self, law: Law, noisy: Array) -> tuple[Reals, Reals]:
        """Expected noise in each noisy count (a row each, a column for each group), and its variance."""
        mass = self.weights / np.diff(self.edges)[:, None]
        none, first, second = law.within(noisy[:, None], self.edges[None, :-1], self.edges[None, 1:])
        total = product(none, mass)
        noise = product(first, mass) / total
        return noise, np.maximum(product(second, mass) / total - noise**2, 0.0)


def likelihoods(law: Law, noisy: Array, edges: Array) -> Reals:
    """P[noisy | true count uniform between neighbouring edges], a row for each noisy count."""
    none, _, _ = law.within(noisy[:, None], edges[None, :-1], edges[None, 1:])
    return none / np.diff(edges)


def centred(weights: Reals, edges: Array, means: Reals) -> Reals:
    """Distributions with these means, one a column, that are nearest in likelihood to the given ones.

    Counts w become w / (1 + l (t - mean)), t the middle of an interval: what maximises sum w log p under the mean.

    >>> centred(np.array([[0.5], [0.25], [0.25]]), np.array([0, 1, 2, 3]), np.array([0.5])).round(3).ravel().tolist()
    [0.648, 0.203, 0.148]
    """
    middle = (edges[:-1] + edges[1:] - 1) / 2
    off = middle[:, None] - np.clip(means, 1e-6, 0.999 * middle[-1])
    found = weights / weights.sum(axis=0)
    low, high = -(1 - 1e-9) / off[-1], -(1 - 1e-9) / off[0]
    for _ in range(_HALVINGS):
        between = (low + high) / 2
        more = (found * off / (1 + between * off)).sum(axis=0) > 0
        low, high = np.where(more, between, low), np.where(more, high, between)
    found /= 1 + (low + high) / 2 * off
    return np.asarray(found / found.sum(axis=0))


def climb(likely: Reals, seen: Reals, start: Reals, pseudo: float, steps: int) -> Reals:
    """Expectation maximisation from `start`, which also counts as `pseudo` observations. A column is a distribution."""
    columns = seen.shape[1]
    starts = np.broadcast_to(start, (start.shape[0], columns))
    weights = starts.copy()
    used = np.flatnonzero(seen.any(axis=1))
    if not len(used):
        return weights
    # Only counts that were seen, and only true counts that may be behind them, take part: most groups are narrow.
    likely, seen = likely[used], seen[used]
    near = np.flatnonzero((likely * start.max(axis=1)).max(axis=0) > 1e-12)
    total = np.maximum(seen.sum(axis=0) + pseudo, 1e-9)
    weights *= pseudo / total
    likely = np.ascontiguousarray(likely[:, near])
    across = np.ascontiguousarray(likely.T)
    step = columns_at_once(*likely.shape)
    for first in range(0, columns, step):
        part = slice(first, min(first + step, columns))
        lonely = part.stop - first == 1  # twice, then: a matrix times a vector is another case
        found = np.repeat(starts[near, part], 2, axis=1) if lonely else starts[near, part]
        counted, drawn = seen[:, part] / total[part], found * (pseudo / total[part])
        expected, gain = np.empty((len(likely), found.shape[1])), np.empty(found.shape)
        for _ in range(steps):  # small matrices: what counts is how often something is called or made room for
            np.matmul(likely, found, out=expected)
            # What no true count is left for says nothing: hardly any noise, and a prior that rules it out.
            np.maximum(expected, _NOTHING, out=expected)
            np.divide(counted, expected, out=expected)
            np.matmul(across, expected, out=gain)
            found *= gain
            found += drawn
        weights[near, part] = found[:, :1] if lonely else found
    return weights
