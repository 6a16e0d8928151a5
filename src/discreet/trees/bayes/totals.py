"""What noisy cells and direct questions say about totals, beyond the sum of the one and the variance of the other.

Cells of a region go with its total: a region with twice the people has about twice as many in every cell. So cells
weighted by their parent's shares tell the total better than their plain sum, in which small cells are mostly noise.
And Laplace noise has a peak: a direct answer near to what the cells say is worth more than its variance, one far from
it less. Only noisy counts are read: post-processing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["laplace_site", "projected_totals"]

Reals = NDArray[np.float64]

_BLOCK = 1 << 18  # numbers worked on at once: what stays in the cache
_LEAST = 0.01  # the least that true cells are taken to stray from their shares, squared and as a part
_AGAIN = 2.0  # every cell is weighed once more by itself: what cells say about totals counts half here
_TAIL = -20.0  # deviations below which the normal law's tail is taken from its expansion


def projected_totals(
    cells: Reals, noise: Reals, direct: Reals, doubt: Reals, share: Reals, even: Reals
) -> tuple[Reals, Reals]:
    """Totals from noisy cells and their variances, by least squares under the parents' shares.

    `cells` and `share` are (regions, cells), the rest one a region: variances of the noise in `cells` and in the
    `direct` totals, and a guess of the total, `even`. How far true cells stray from their shares is learned from
    products of noisy numbers whose noise is independent; where it is far, the plain sums are better and taken.
    """
    size, many = cells.shape
    squares, strays = 0.0, np.zeros(many)
    scales = np.zeros(many)
    blocks = [slice(start, start + max(1, _BLOCK // many)) for start in range(0, size, max(1, _BLOCK // many))]
    asked = bool((doubt < 1e17).all())
    for block in blocks:
        here, part, spread = cells[block], share[block], noise[block, None]
        sums = here.sum(axis=1)
        # The square of the total: of two noisy values with noise of their own, or less the variance of one.
        square = sums * direct[block] if asked else sums**2 - many * noise[block]
        stray = here**2 - spread - 2 * part * (here * sums[:, None] - spread) + part**2 * square[:, None]
        squares += float(square.sum())
        strays += stray.sum(axis=0)
        scales += (part**2 * square[:, None]).sum(axis=0)
    dispersion = np.maximum(strays / np.maximum(scales, 1e-9), 0.0) + _LEAST
    typical = max(squares, 1.0) / max(float((even**2).sum()), 1e-9)
    totals, variance = np.empty(size), np.empty(size)
    for block in blocks:
        part = share[block]
        weights = part / (noise[block, None] + dispersion * part**2 * (typical * even[block] ** 2)[:, None])
        precision = (weights * part).sum(axis=1)
        sums, plain = cells[block].sum(axis=1), many * noise[block]
        better = precision * plain > _AGAIN
        safe = np.where(better, precision, 1.0)
        totals[block] = np.where(better, (weights * cells[block]).sum(axis=1) / safe, sums)
        variance[block] = np.where(better, _AGAIN / safe, plain)
    return totals, variance


def laplace_site(answer: Reals, scale: float, mean: Reals, variance: Reals) -> tuple[Reals, Reals]:
    """A normal law, as mean and variance, that does to a normal belief what a Laplace answer does.

    The belief, of `mean` and `variance`, is weighed by the likelihood of the answer; the normal law that leads to the
    same mean and variance is returned. (A step of expectation propagation; Laplace's law is log-concave, so the answer
    never makes a belief less certain.)

    >>> target, doubt = laplace_site(np.array([100.0, 0.0]), 10.0, np.zeros(2), np.full(2, 25.0))
    >>> doubt.round().tolist()[1], bool(doubt[0] > 1e6)  # nearby: less than its variance of 200; far: next to nothing
    (53.0, True)
    """
    deviation = np.sqrt(variance)
    shift = variance / scale
    below_mass, below_rate, below_spread = _lower_tail((answer - mean - shift) / deviation)
    above_mass, above_rate, above_spread = _lower_tail((mean - shift - answer) / deviation)
    odds = np.clip(2 * (answer - mean) / scale + above_mass - below_mass, -700, 700)
    below = 1 / (1 + np.exp(odds))
    low = mean + shift - deviation * below_rate - answer
    high = mean - shift + deviation * above_rate - answer
    centre = below * low + (1 - below) * high
    found = below * (variance * below_spread + low**2) + (1 - below) * (variance * above_spread + high**2) - centre**2
    found = np.clip(found, 1e-6 * variance, (1 - 1e-6) * variance)
    precision = 1 / found - 1 / variance
    return mean + (answer + centre - mean) / (found * precision), 1 / precision


def _lower_tail(end: Reals) -> tuple[Reals, Reals, Reals]:
    """Of a standard normal below `end`: the logarithm of its mass, how far below zero its mean is, its variance."""
    from scipy.special import log_ndtr

    mass = log_ndtr(end)
    near = np.maximum(end, _TAIL)
    rate = np.exp(-0.5 * near**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(near))
    far = np.minimum(end, _TAIL)
    rate = np.where(end < _TAIL, -far / (1 - 1 / far**2 + 3 / far**4), rate)
    spread = np.where(end < _TAIL, 1 / far**2, 1 - near * rate - rate**2)
    return mass, rate, np.maximum(spread, 0.0)
