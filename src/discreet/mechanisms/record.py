"""Noise as plain values for a record, and back again.

>>> noise_from(noise_to(Laplace(20)))
Laplace(scale=Fraction(20, 1))
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace

__all__ = ["noise_from", "noise_to"]


def noise_to(noise: Laplace | Gaussian) -> dict[str, str]:
    """What it is called and how wide it is."""
    match noise:
        case Laplace(scale):
            return {"laplace": str(scale)}
        case Gaussian(sigma):
            return {"gaussian": str(sigma)}


def noise_from(entry: Mapping[str, str]) -> Laplace | Gaussian:
    """What `noise_to` was given."""
    ((kind, scale),) = entry.items()
    return Laplace(Fraction(scale)) if kind == "laplace" else Gaussian(Fraction(scale))
