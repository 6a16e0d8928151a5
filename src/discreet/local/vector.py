"""Means of many numbers of each person: each tells of a few, chosen at random."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import AUTO, at_least, exact, named, settle, whole, whole_or_none, within
from discreet.core.mechanism import Bits, Integers
from discreet.errors import InputError, Phrase
from discreet.local.draws import evenly
from discreet.local.estimate import Tally
from discreet.local.hybrid import Hybrid
from discreet.local.mean import MeanEstimate, on_lattice
from discreet.local.protocol import Report, Responder, read_times
from discreet.local.ratio import read_epsilon
from discreet.mechanisms.inputs import read_values
from discreet.noise.bits import SystemBits

__all__ = ["VectorMean"]

_LISTED = 1 << 16
_MOST_DIMENSIONS = 2**40
_EACH = Fraction(5, 2)  # of epsilon for one number: where telling of one more begins to pay


@frozen(field_transformer=named)
class VectorMean(Responder):
    """Report `told` of `dimensions` numbers from one range, each by `Hybrid` with an equal part of epsilon.

    A report is one whole number: place and scrambled value of each number told, in mixed digits.

    Guarantee
        ln(ratio)-differential privacy of every report, whatever any or all of a person's numbers are: places do not
        depend on them, and the parts compose. Proof: docs/proofs/local.md.

    >>> health = VectorMean(dimensions=3, epsilon=1, lower=0, upper=10)
    >>> isinstance(health.privatize([1.5, 2, 9]), int)
    True
    """

    kind: ClassVar[str] = "vector"
    dimensions: int = field(converter=whole, validator=[at_least(1), within(most=_MOST_DIMENSIONS)])
    epsilon: Fraction = field(converter=read_epsilon)
    lower: Fraction = field(default=Fraction(-1), converter=exact)
    upper: Fraction = field(default=Fraction(1), converter=exact)
    steps: int = field(default=256, converter=whole, kw_only=True)
    told: int = field(default=AUTO, converter=whole_or_none, validator=at_least(1), kw_only=True)

    def __attrs_post_init__(self) -> None:
        free = self.told is AUTO
        if free:
            settle(self, told=max(1, min(self.dimensions, int(self.epsilon / _EACH))))
        if self.told > self.dimensions:
            raise InputError("told", self.told, f"at most {self.dimensions}, the number of dimensions")
        while self.reports >= 1 << 62:
            if not free:
                raise InputError("told", self.told, "smaller, or steps are: a report has to fit in 62 bits")
            settle(self, told=self.told - 1)

    @property
    def each(self) -> Hybrid:
        """How one number is scrambled."""
        return _each(self.epsilon / self.told, self.lower, self.upper, self.steps)

    @property
    def ratio(self) -> Fraction:  # type: ignore[override]
        """How much likelier one vector can make a report than another does."""
        return self.each.ratio**self.told

    @property
    def reports(self) -> int:
        return int((self.dimensions * self.each.reports) ** self.told)

    def privatize(self, values: Any, *, bits: Bits | None = None) -> Any:
        """A report for one vector, or an array of reports for the rows of a matrix."""
        points = on_lattice(values, self.lower, self.upper, self.steps)
        if points.ndim not in (1, 2) or points.shape[-1] != self.dimensions:
            raise InputError(
                "values", Phrase(f"an array of shape {points.shape}"), f"{self.dimensions} numbers for each person"
            )
        rows, source, each = np.atleast_2d(points), bits if bits is not None else SystemBits(), self.each
        n, base = len(rows), self.dimensions * each.reports
        out, used = np.zeros(n, dtype=np.int64), np.zeros((n, self.dimensions), dtype=np.bool_)
        people = np.arange(n)
        for _ in range(self.told):
            place = evenly(self.dimensions, n, source).astype(np.int64)
            while len(again := np.flatnonzero(used[people, place])):
                place[again] = evenly(self.dimensions, len(again), source)
            used[people, place] = True
            out = out * base + place * each.reports + each.randomize(rows[people, place], source)
        return out if points.ndim == 2 else int(out[0])

    def law(self, value: Any) -> dict[Report, Fraction]:
        if self.told > 1 or self.reports > _LISTED:
            raise InputError("told", self.told, f"1, with at most {_LISTED:,} different reports, to list them")
        points = on_lattice(value, self.lower, self.upper, self.steps)
        out: dict[Report, Fraction] = {}
        for place, point in enumerate(points):
            for report, chance in self.each.point_law(int(point)).items():
                out[place * self.each.reports + int(report)] = chance / self.dimensions
        return out

    def tally(self, reports: Any, times: Integers | None = None) -> Tally:
        listed = read_values([reports] if isinstance(reports, int) else reports, "reports")
        if listed.size and (int(listed.min()) < 0 or int(listed.max()) >= self.reports):
            raise InputError("reports", Phrase("one out of range"), f"from 0 to {self.reports - 1}")
        often = np.ones(len(listed), dtype=np.int64) if times is None else read_times(times, len(listed))
        each = self.each
        parts = len(each.scales)
        first = np.zeros((self.dimensions, parts), dtype=np.int64)
        second = first.copy()
        seen: list[NDArray[np.int64]] = []
        rest = listed
        for _ in range(self.told):
            rest, code = np.divmod(rest, self.dimensions * each.reports)
            place, report = np.divmod(code, each.reports)
            if any((place == other).any() for other in seen):
                raise InputError("reports", Phrase("one with a number twice"), "reports of different numbers")
            seen.append(place)
            scores = each.scores(report)
            np.add.at(first, place, scores * often[:, None])
            np.add.at(second, place, scores**2 * often[:, None])
        return Tally(self.id, int(often.sum()), first.ravel(), second.ravel())

    def estimate(self, reports: Any) -> MeanEstimate:
        """The mean of each number, unbiased for numbers on the lattice."""
        found = self.own(reports)
        scales = np.array([float(scale) for scale in self.each.scales]) * self.dimensions / self.told
        mean = found.first.reshape(self.dimensions, -1) @ scales / found.n
        square = found.second.reshape(self.dimensions, -1) @ scales**2 / found.n
        half, middle = float((self.upper - self.lower) / 2), float((self.upper + self.lower) / 2)
        # A number x is told of once in `rare` times: then its score varies by rare (v(x) + x^2) - x^2, linear in x^2.
        rare, steps = self.dimensions / self.told, self.each.steps
        ends = [float(self.each.point_variance(place)) for place in (0, steps)]
        least = min(rare * ends[0], rare * ends[1] + rare - 1) / found.n
        spread = np.maximum(least, (square - mean**2) / max(1, found.n - 1))
        return MeanEstimate(found.n, middle + half * mean, half**2 * spread)


@lru_cache(maxsize=64)
def _each(epsilon: Fraction, lower: Fraction, upper: Fraction, steps: int) -> Hybrid:
    return Hybrid(epsilon, lower, upper, steps=steps)
