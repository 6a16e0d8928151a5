"""Fast sums over hashed reports: one Fourier transform instead of a look at each report for each category."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.local.primes import digits_of

__all__ = ["supports", "walsh"]


def supports(
    keys: NDArray[np.int64],
    buckets: NDArray[np.int64],
    times: NDArray[np.int64],
    *,
    prime: int,
    digits: int,
) -> NDArray[np.int64]:
    """For each vector x of digits, how many reports (key, bucket) have <key, x> = bucket, modulo the prime.

    With w a primitive root of unity, the indicator is the mean over u of w^(u (<key, x> - bucket)). The term u = 0 is
    1; the others are a Fourier transform, at x, of weights w^(-u bucket) put at u key. Terms u and -u are conjugates.
    The sums are whole numbers, and rounding makes them exact: the error of a transform is far below a half for fewer
    than 2^40 reports.
    """
    size = prime**digits
    weights = np.zeros(size, dtype=np.complex128)
    weight = times.astype(np.float64)
    places = digits_of(np.arange(size), prime, digits)
    powers = prime ** np.arange(digits)
    for u in range(1, max(2, (prime + 1) // 2)):
        moved = ((places * u % prime) @ powers)[keys]
        angle = 2 * np.pi * (u * np.arange(prime) % prime) / prime
        real = np.bincount(moved, weights=weight * np.cos(angle)[buckets], minlength=size)
        if prime > 2:
            real = real - 1j * np.bincount(moved, weights=weight * np.sin(angle)[buckets], minlength=size)
        weights += real
    # Axes run from the highest digit to the lowest, as C order has it.
    summed = np.fft.ifftn(weights.reshape((prime,) * digits)).real.ravel() * size
    both = 2 if prime > 2 else 1
    sums: NDArray[np.int64] = np.rint((times.sum() + both * summed) / prime).astype(np.int64)
    return sums


def walsh(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The Walsh-Hadamard transform of each row, whose length is a power of two: exact."""
    out = rows.copy()
    length, step = rows.shape[1], 1
    while step < length:
        halves = out.reshape(len(out), -1, 2, step)
        low, high = halves[:, :, 0].copy(), halves[:, :, 1]
        halves[:, :, 0] += high
        halves[:, :, 1] = low - high
        step *= 2
    return out
