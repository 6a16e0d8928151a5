"""Statistical tests with a stated false-alarm rate, shared by the whole suite.

The suite as a whole may fail by bad luck once in 10^9 runs. It holds fewer than `TESTS` statistical decisions, so each
gets `LEVEL` (Bonferroni). A test that only ever passes proves nothing: every goodness-of-fit test has a twin that must
reject a wrong law.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

ALARM = 1e-9
TESTS = 2000
LEVEL = ALARM / TESTS


def fit(samples, pmf, *, least=50.0, most=200) -> float:
    """The chi-square p-value of integer `samples` under `pmf(array of ints) -> probabilities`.

    Neighbouring integers share a cell so that at most `most` cells span the samples; cells that expect fewer than
    `least` samples, and everything outside, are pooled.
    """
    samples = np.asarray(samples, dtype=np.int64)
    count = len(samples)
    low, high = int(samples.min()), int(samples.max())
    width = -(-(high - low + 1) // most)
    cells = -(-(high - low + 1) // width)
    masses = np.asarray(pmf(np.arange(low, low + cells * width)), dtype=float)
    expected = count * masses.reshape(cells, width).sum(axis=1)
    observed = np.bincount((samples - low) // width, minlength=cells).astype(float)
    if (observed[expected == 0] > 0).any():
        return 0.0  # the impossible happened
    dense = expected >= least
    rest = max(count - expected[dense].sum(), 0.0)
    seen, wanted = observed[dense], expected[dense]
    if len(wanted) == 0:
        raise ValueError("no cell has enough expected samples; draw more")
    pooled = count - seen.sum()
    if rest >= least:
        seen, wanted = np.append(seen, pooled), np.append(wanted, rest)
    elif stats.poisson.sf(pooled - 1, rest + 1e-9 * count) < LEVEL:
        return 0.0  # far too many where hardly any belong
    statistic = float(((seen - wanted) ** 2 / wanted).sum())
    return float(stats.chi2.sf(statistic, max(len(wanted) - 1, 1)))


def fits(samples, pmf) -> bool:
    """Whether the samples look like the law (false alarms: `LEVEL`)."""
    return fit(samples, pmf) > LEVEL


def frequency_fits(successes: int, trials: int, probability: float) -> bool:
    """Whether a count of successes agrees with a probability (exact binomial test, two-sided)."""
    return float(stats.binomtest(int(successes), int(trials), probability).pvalue) > LEVEL


def at_most(successes: int, trials: int, probability: float) -> bool:
    """Whether a count of successes agrees with a probability of at most `probability`."""
    return float(stats.binomtest(int(successes), int(trials), probability, alternative="greater").pvalue) > LEVEL


def mean_fits(samples, mean: float, variance: float) -> bool:
    """Whether the sample mean agrees with a mean, given the variance (normal approximation)."""
    samples = np.asarray(samples, dtype=float)
    z = (samples.mean() - mean) / math.sqrt(variance / len(samples))
    return bool(2 * stats.norm.sf(abs(z)) > LEVEL)


def laplace_pmf(scale):
    """The discrete Laplace law in floats, for comparison."""
    r = math.exp(-1 / float(scale))
    return lambda x: -np.expm1(-1 / float(scale)) / (1 + r) * np.exp(-np.abs(x) / float(scale))


def gaussian_pmf(sigma):
    """The discrete Gaussian law in floats, for comparison."""
    sigma = float(sigma)
    reach = np.arange(-int(40 * sigma) - 2, int(40 * sigma) + 3) if sigma < 2000 else None
    total = np.exp(-(reach**2) / (2 * sigma**2)).sum() if reach is not None else math.sqrt(2 * math.pi) * sigma
    return lambda x: np.exp(-(np.asarray(x, dtype=float) ** 2) / (2 * sigma**2)) / total
