"""Frequencies estimated from tallies of scrambled answers: unbiased, with variances and intervals.

Nothing is clipped or rescaled here: an estimate may be below zero, and then says so. `Estimate.consistent` does it on
request, by name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.mechanisms.inputs import read_confidence

__all__ = ["Consistency", "Estimate", "Of", "Tally", "consistent", "score_ends"]

Of = Literal["respondents", "population"]
Consistency = Literal["simplex", "normalize", "threshold"]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Of `n` reports: the sum over them, for each category, of its score (`first`) and of the score squared (`second`).

    The score of a category is 1 where a report supports it and 0 where not (then `second` is `first`), or a sign.
    Sums of tallies are tallies of all the reports, so that parts may be counted anywhere and added.
    """

    mechanism: str
    n: int
    first: NDArray[np.int64]
    second: NDArray[np.int64]

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if other.mechanism != self.mechanism:
            hint = "Reports of another survey, or with another epsilon, have another law."
            raise InputError("tally", other.mechanism, f"a tally of the mechanism {self.mechanism}", hint)
        first = self.first + other.first
        plain = self.first is self.second and other.first is other.second
        return Tally(self.mechanism, self.n + other.n, first, first if plain else self.second + other.second)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tally)
            and (self.mechanism, self.n) == (other.mechanism, other.n)
            and np.array_equal(self.first, other.first)
            and np.array_equal(self.second, other.second)
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """How many of `n` people are in each category, as shares of one.

    `spread` holds, for each category, the variance of one person's score as v0 + v1 f + v2 f^2 in the true frequency f
    (three columns): of the whole, sampling included. Without sampling it is f(1 - f) less.
    """

    n: float
    frequencies: Floats
    spread: Floats
    jump: float = 0.0  # of an estimate when one report more supports a category: half of it corrects for steps
    method: str = "unbiased"

    @classmethod
    def of(cls, tally: Tally, hit: Fraction, miss: Fraction, squares: tuple[Fraction, Fraction]) -> Estimate:
        """From a tally whose scores have mean `hit` and `miss`, and mean squares as `Oracle.squares` has them.

        How much scores vary is said by their law, also where no report happened to show it.
        """
        low, contrast = float(miss), float(hit - miss)
        shares = (tally.first / tally.n - low) / contrast
        count = len(shares)
        if tally.first is tally.second:  # scores are 0 and 1
            row = [low * (1 - low) / contrast**2, (1 - 2 * low) / contrast, -1.0]
            spread = np.tile(np.array(row), (count, 1))
        else:
            own, other = (float(one) for one in squares)
            mates = np.zeros(count)  # the share of the others of its block
            if own > other:
                mates = np.clip((tally.second / tally.n - other) / (own - other) - np.clip(shares, 0, 1), 0, 1)
            start = (other + (own - other) * mates) / contrast**2
            slope = np.full(count, (own - other) / contrast**2)
            spread = np.column_stack([start, slope, np.full(count, -1.0)])
        return cls(tally.n, shares, spread, 1 / (tally.n * contrast))

    def __len__(self) -> int:
        return len(self.frequencies)

    @property
    def values(self) -> Floats:
        """The frequencies, by the name that estimated means share."""
        return self.frequencies

    @property
    def counts(self) -> Floats:
        """The same as numbers of respondents."""
        return self.frequencies * self.n

    def variance(self, of: Of = "respondents") -> Floats:
        """Estimated, of each frequency."""
        shares = np.clip(self.frequencies, 0, 1)
        v0, v1, v2 = self._spread(of)
        return np.asarray(np.maximum(v0 + v1 * shares + v2 * shares**2, 0) / self.n)

    def standard_error(self, of: Of = "respondents") -> Floats:
        """The square root of the variance."""
        return np.sqrt(self.variance(of))

    def interval(self, confidence: float = 0.95, of: Of = "respondents", *, together: bool = False) -> Floats:
        """Rows (lower, upper), one for each category; `together`: all of them hold at once with this confidence.

        A score interval: every frequency that the estimate would not contradict, its own variance taken into account,
        half a step wider on both sides. Bounds are not cut off at 0 and 1.
        """
        if self.method != "unbiased":
            raise InputError.refused(
                "method", self.method, "has no intervals: consistent shares are biased", "Ask the unbiased estimate."
            )
        miss = float(1 - read_confidence(confidence)) / (len(self) if together else 1)
        z2 = NormalDist().inv_cdf(miss / 2) ** 2 / self.n
        v0, v1, v2 = self._spread(of)
        # (f - centre)^2 = z2 (v0 + v1 f + v2 f^2).
        return score_ends(self.frequencies, self.jump / 2, 1 - z2 * v2, z2 * v1 / 2, z2 * v0)

    def consistent(self, how: Consistency = "simplex") -> Estimate:
        """Non-negative shares that add up to one, by a named method. They are biased; intervals are not theirs.

        `simplex` is the nearest such vector (least squares); `normalize` cuts at zero and rescales; `threshold` keeps
        what stands out and shares the rest evenly.
        """
        if self.method != "unbiased":
            raise InputError("method", self.method, "unbiased: these shares are consistent already")
        shares = consistent(self.frequencies, how, errors=self.standard_error())
        return replace(self, frequencies=shares, method=how)

    def rows(self, labels: Sequence[Any] | None = None, confidence: float = 0.95) -> list[dict[str, Any]]:
        """One plain row for each category, with its interval."""
        names = list(range(len(self))) if labels is None else list(labels)
        if len(names) != len(self):
            raise InputError("labels", Phrase(f"{len(names)} of them"), f"one label for each of {len(self)} categories")
        errors = self.standard_error()
        ends = self.interval(confidence) if self.method == "unbiased" else np.full((len(self), 2), math.nan)
        return [
            {
                "category": name,
                "frequency": float(share),
                "error": float(error),
                "lower": float(low),
                "upper": float(high),
            }
            for name, share, error, (low, high) in zip(names, self.frequencies, errors, ends, strict=True)
        ]

    def _spread(self, of: Of) -> tuple[Floats, Floats, Floats]:
        if of not in ("respondents", "population"):
            raise InputError("of", of, among=("respondents", "population"))
        v0, v1, v2 = self.spread.T
        return (v0, v1 - 1, v2 + 1) if of == "respondents" else (v0, v1, v2)


def score_ends(centre: Floats, step: float | Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """Rows (lower, upper): every f that is not too far from the centre, less or more a step.

    The roots of a f^2 - 2 (near + b) f + near^2 - c, near being the centre less or more a step: the outer one on each
    side. Where no f meets it, or only on the other side of it (the variance there would be below zero), the end is
    `near` itself: what is nearer to the centre than a step is contradicted by nothing.
    """
    ends = []
    for near, sign in ((centre - step, -1), (centre + step, 1)):
        inside = (near + b) ** 2 - a * (near**2 - c)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = (near + b + sign * np.sqrt(np.maximum(inside, 0))) / a
        outer = np.minimum(root, near) if sign < 0 else np.maximum(root, near)
        ends.append(np.where(inside >= 0, outer, near))
    return np.stack(ends, axis=-1)


def consistent(
    shares: NDArray[np.float64], how: Consistency = "simplex", *, errors: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Non-negative shares that add up to one, made from unbiased ones.

    >>> consistent(np.array([0.7, 0.5, -0.1])).round(2).tolist()
    [0.6, 0.4, 0.0]
    """
    match how:
        case "simplex":
            return _nearest(shares)
        case "normalize":
            kept = np.maximum(shares, 0)
            return kept / kept.sum() if kept.sum() > 0 else _even(len(shares))
        case "threshold":
            return _threshold(shares, errors)
        case _:
            raise InputError("how", how, among=get_args(Consistency))


def _nearest(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest point of the simplex: one number is taken off every share, and what falls below zero is zero."""
    ordered = np.sort(shares)[::-1]
    off = (np.cumsum(ordered) - 1) / np.arange(1, len(shares) + 1)
    kept = np.flatnonzero(ordered > off)[-1]
    return np.asarray(np.maximum(shares - off[kept], 0))


def _threshold(shares: NDArray[np.float64], errors: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Shares two standard errors above zero stay; the rest of one is spread evenly over the others."""
    if errors is None:
        raise InputError("errors", None, "the standard error of each share, for 'threshold'")
    kept = shares > 2 * errors
    total = float(shares[kept].sum())
    if total >= 1 or kept.all():
        return consistent(np.where(kept, shares, 0), "normalize")
    return np.where(kept, shares, (1 - total) / (~kept).sum())


def _even(count: int) -> NDArray[np.float64]:
    return np.full(count, 1 / count)
