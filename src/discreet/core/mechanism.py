"""The protocols a mechanism answers to. This file is the architecture of `discreet.mechanisms`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from discreet.core.loss import Loss
from discreet.core.sensitivity import Sensitivity

__all__ = ["Additive", "Bits", "Integers", "Selection"]

Integers = Sequence[int] | NDArray[np.integer[Any]]


class Bits(Protocol):
    """Where randomness comes from. The house has one source, `discreet.noise.bits`; tests bring their own."""

    def read(self, count: int) -> NDArray[np.uint8]:
        """`count` fresh, independent, uniform bytes (1-D, contiguous, owned by the caller)."""
        ...


@runtime_checkable
class Additive(Protocol):
    """Integers in, the same number of integers out, each with noise of its own."""

    def loss(self, sensitivity: Sensitivity | int = 1) -> Loss:
        """What one release costs when a unit moves the values by `sensitivity`. Exact, or rounded up."""
        ...

    def release(self, values: Integers, *, bits: Bits | None = None) -> NDArray[np.int64]:
        """The noisy values. Reads nothing but `values`."""
        ...

    @property
    def variance(self) -> float:
        """Of the noise on one output."""
        ...

    def error(self, confidence: float = 0.95, k: int = 1) -> int:
        """The half-width that `k` outputs stay within, all at once, with probability at least `confidence`."""
        ...


@runtime_checkable
class Selection(Protocol):
    """Integer scores in, the index of a good one out."""

    def loss(self) -> Loss:
        """What one selection costs. Exact, or rounded up."""
        ...

    def release(self, scores: Integers, *, bits: Bits | None = None) -> int:
        """The index selected."""
        ...

    def error(self, confidence: float = 0.95, k: int = 2) -> Fraction:
        """How far below the best of `k` scores the one selected may be, with probability at least `confidence`."""
        ...
