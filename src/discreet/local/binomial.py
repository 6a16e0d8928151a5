"""Binomial probabilities for very many trials, with few digits lost."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["TAIL", "binomial_masses"]

Floats = NDArray[np.float64]
TAIL = 1e-30  # beyond 12 standard deviations and 60 there is less


def binomial_masses(total: int, share: float, counts: Floats) -> Floats:
    """Binomial probabilities, in Loader's form: no large logarithms cancel, so few digits are lost."""
    rest = total - counts
    inside = (counts > 0) & (rest > 0)
    k, r = np.where(inside, counts, 1.0), np.where(inside, rest, 1.0)
    off = np.where(inside, k - total * share, 0.0)
    # k ln(k / (total share)) + r ln(r / (total (1 - share))), with k = total share + off.
    apart = -k * np.log1p(-off / k) - r * np.log1p(off / r)
    root = 0.5 * np.log(total / (2 * math.pi * k * r))
    logs = root - apart + _stirling(np.array([float(total)]))[0] - _stirling(k) - _stirling(r)
    with np.errstate(divide="ignore"):
        none, every = total * np.log1p(-share), total * np.log(share)
    return np.asarray(np.exp(np.where(inside, logs, np.where(counts > 0, every, none))))


_FACTORIALS = np.array(
    [0.0] + [math.lgamma(i + 1) - (i * math.log(i) - i + 0.5 * math.log(2 * math.pi * i)) for i in range(1, 32)]
)


def _stirling(x: Floats) -> Floats:
    """ln x! - (x ln x - x + ln(2 pi x)/2) for x >= 1: a table for small x, Stirling's series for large."""
    inverse = 1 / x
    series = inverse / 12 * (1 - inverse**2 / 30 * (1 - inverse**2 * 2 / 7))
    return np.where(x < 32, _FACTORIALS[np.minimum(x, 31).astype(np.int64)], series)
