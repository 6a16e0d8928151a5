"""Means of numbers nobody tells: what the ways of scrambling a number share, and their estimates.

A number is first moved to the nearest point of a declared lattice: `steps` points on either side of the middle of
[lower, upper], both ends included. Everything after that is whole numbers and fractions, so privacy is proved for what
is computed, not for real numbers nobody can draw.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import AUTO, at_least, exact, exact_or_none, named, plain, settle, whole, within
from discreet.core.exact import Number
from discreet.core.mechanism import Bits, Integers
from discreet.errors import InputError, Phrase, kind_of
from discreet.local.estimate import Of, Tally
from discreet.local.protocol import Report, Responder, count_reports
from discreet.local.ratio import read_ratio
from discreet.mechanisms.inputs import read_confidence, read_count
from discreet.noise.bits import SystemBits

__all__ = ["Mean", "MeanEstimate", "on_lattice"]

STEPS = 4096
_MOST = 1 << 20
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class MeanEstimate:
    """The mean of each of one or more numbers, with its variance (of sampling and scrambling together).

    Variances are estimated, and never below what scrambling alone makes of the numbers that vary least under it.
    """

    n: int
    values: Floats
    variances: Floats

    @property
    def mean(self) -> float:
        """The first mean: the only one, unless vectors were asked for."""
        return float(self.values[0])

    def variance(self, of: Of = "population") -> Floats:
        """Estimated. For the respondents alone it is smaller by the variance of their answers, which nobody knows."""
        if of not in ("respondents", "population"):
            raise InputError("of", of, among=("respondents", "population"))
        return self.variances

    def standard_error(self) -> Floats:
        """The square root of the variance."""
        return np.sqrt(self.variances)

    def interval(self, confidence: float = 0.95, *, together: bool = False) -> Floats:
        """Rows (lower, upper), by the normal approximation; `together`: all hold at once."""
        miss = float(1 - read_confidence(confidence)) / (len(self.values) if together else 1)
        half = -NormalDist().inv_cdf(miss / 2) * self.standard_error()
        return np.column_stack([self.values - half, self.values + half])


def on_lattice(values: Any, lower: Fraction, upper: Fraction, steps: int) -> NDArray[np.int64]:
    """Numbers as lattice points -steps..steps; what is outside the range moves to its end."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("values", kind_of(values), "a number, or a list of them") from None
    if np.isnan(array).any():
        raise InputError("values", Phrase("a missing one"), "numbers")
    middle, half = float((lower + upper) / 2), float((upper - lower) / 2)
    clipped = np.clip(array, float(lower), float(upper))
    return np.clip(np.rint((clipped - middle) / half * steps), -steps, steps).astype(np.int64)


@frozen(field_transformer=named)
class Mean(Responder):
    """A way to scramble a number from a range, and to estimate the mean of many."""

    epsilon: Fraction = field(default=AUTO, converter=exact_or_none)
    lower: Fraction = field(default=Fraction(-1), converter=exact)
    upper: Fraction = field(default=Fraction(1), converter=exact)
    steps: int = field(default=STEPS, converter=whole, validator=[at_least(1), within(most=_MOST)], kw_only=True)
    ratio: Fraction = field(default=AUTO, converter=exact_or_none, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.lower >= self.upper:
            raise InputError("upper", plain(self.upper), "more than lower")
        epsilon, ratio = read_ratio(self.epsilon, self.ratio)
        if ratio.numerator.bit_length() + self.steps.bit_length() > 58:
            raise InputError("ratio", plain(self.ratio), "a shorter fraction")
        settle(self, epsilon=epsilon, ratio=ratio)

    @property
    @abstractmethod
    def scales(self) -> tuple[Fraction, ...]:
        """What each part of a score counts: the sum of parts times scales has the lattice point / steps as its mean."""

    @abstractmethod
    def scores(self, reports: NDArray[np.int64]) -> NDArray[np.int64]:
        """The parts of each report's score: one row a report, at most one part of which is not zero."""

    @abstractmethod
    def randomize(self, points: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        """One report for each lattice point."""

    @abstractmethod
    def point_law(self, point: int) -> dict[Report, Fraction]:
        """The exact probability of every report of someone at a lattice point."""

    def privatize(self, values: Any, *, bits: Bits | None = None) -> Any:
        """A report for one number, or an array of reports for many."""
        points = on_lattice(values, self.lower, self.upper, self.steps)
        if points.ndim > 1:
            raise InputError("values", Phrase(f"an array of {points.ndim} dimensions"), "a number, or a list of them")
        reports = self.randomize(points.reshape(-1), bits if bits is not None else SystemBits())
        return reports if points.ndim else int(reports[0])

    def law(self, value: Any) -> dict[Report, Fraction]:
        return self.point_law(int(on_lattice(value, self.lower, self.upper, self.steps)))

    def tally(self, reports: Any, times: Integers | None = None) -> Tally:
        counts = count_reports(reports, self.reports, times)
        seen = np.flatnonzero(counts)
        scores = self.scores(seen)
        return Tally(self.id, int(counts.sum()), counts[seen] @ scores, counts[seen] @ scores**2)

    def estimate(self, reports: Any) -> MeanEstimate:
        """The mean, unbiased for numbers on the lattice (others are off by half a step at most)."""
        found = self.own(reports)
        scales = np.array([float(scale) for scale in self.scales])
        mean, square = float(scales @ found.first) / found.n, float(scales**2 @ found.second) / found.n
        half, middle = float((self.upper - self.lower) / 2), float((self.upper + self.lower) / 2)
        # A few reports may all be alike; scrambling alone varies, whatever the numbers are: by this at least.
        least = float(min(self.point_variance(0), self.point_variance(self.steps))) / found.n
        spread = max(least, (square - mean**2) / max(1, found.n - 1))
        return MeanEstimate(found.n, np.array([middle + half * mean]), np.array([half**2 * spread]))

    def variance(self, n: int, value: Number | None = None) -> float:
        """Of the mean of `n` numbers that all are `value` (or of the worst one): scrambling alone."""
        count, half = read_count(n, "n"), float((self.upper - self.lower) / 2)
        if value is None:
            worst = max(self.point_variance(0), self.point_variance(self.steps))
        else:
            worst = self.point_variance(int(on_lattice(float(value), self.lower, self.upper, self.steps)))
        return half**2 * float(worst) / count

    @abstractmethod
    def point_variance(self, point: int) -> Fraction:
        """Of the scaled score of someone at a lattice point; a quadratic in the point, extreme at its ends."""

    def half_width(self, n: int, confidence: float = 0.95) -> float:
        """The +- of the mean of `n` numbers, at worst."""
        miss = float(1 - read_confidence(confidence))
        half = float((self.upper - self.lower) / 2)
        worst = max(float(self.point_variance(point)) + (1 - (point / self.steps) ** 2) for point in (0, self.steps))
        return -NormalDist().inv_cdf(miss / 2) * half * math.sqrt(worst / read_count(n, "n"))
