"""One part of an answer, chosen by chance, scrambled with all of epsilon; the other parts are not told at all.

An answer of several parts (which of these apply, in which order, at which level of a scale) could be scrambled part by
part, each with a share of epsilon. To report one part with all of it errs less for small epsilon: an error falls with
epsilon, and only with the square root of how many people report.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.check import settle
from discreet.core.loss import Pure
from discreet.core.mechanism import Bits
from discreet.core.wire import Json
from discreet.errors import InputError, Phrase, kind_of
from discreet.local.draws import evenly
from discreet.local.grr import GRR
from discreet.local.pairs import unbiased_scores
from discreet.local.protocol import identity, read_answers
from discreet.local.unary import OUE
from discreet.mechanisms.inputs import read_confidence, read_count
from discreet.noise.bits import SystemBits

__all__ = ["LinearEstimate", "Sampled", "few_or_many"]

Floats = NDArray[np.float64]
_MOST = 500


def few_or_many(categories: int, epsilon: Fraction) -> GRR | OUE:
    """The better of both for so many categories."""
    few = GRR(categories, epsilon)
    many = OUE(categories, epsilon)
    return few if few.variance(1, Fraction(1, categories)) <= many.variance(1, Fraction(1, categories)) else many


@dataclass(frozen=True, slots=True, eq=False)
class LinearEstimate:
    """Sums of shares of parts, with the variance of each, estimated: of sampling and scrambling together."""

    n: int
    values: Floats
    variances: Floats
    unseen: Floats
    """What sampling may add, at most, for each person that the interval leaves room for: (half a range / people)^2."""

    def variance(self, of: str = "population") -> Floats:
        """Estimated. Each part is told by some of the people only, so it is that of a population."""
        return self.variances

    def interval(self, confidence: float = 0.95, of: str = "population") -> Floats:
        """Rows (lower, upper), by the normal approximation.

        As if z^2 more people had answered at the ends of the range (Agresti and Coull): what few have may have been
        told by none.
        """
        z2 = NormalDist().inv_cdf(float(1 - read_confidence(confidence)) / 2) ** 2
        half = np.sqrt(z2 * self.variances + z2**2 * self.unseen)
        return np.column_stack([self.values - half, self.values + half])


@dataclass(frozen=True, slots=True)
class Sampled:
    """Report one of the `parts` of an answer, each equally likely, scrambled by the mechanism of that part.

    Guarantee
        ln(ratio)-differential privacy of every report in the whole answer, `ratio` the largest of the parts': which
        part is told does not depend on the answer. Proof: docs/proofs/local.md, "One part of an answer".

    >>> apply = Sampled([GRR(2, epsilon=1)] * 4)            # which of four things apply
    >>> part, report = apply.privatize([1, 0, 0, 1])
    >>> round(float(apply.epsilon), 3)
    1.0
    """

    kind: ClassVar[str] = "sampled"
    parts: tuple[GRR | OUE, ...]

    def __init__(self, parts: Sequence[GRR | OUE]) -> None:
        listed = tuple(parts) if isinstance(parts, Sequence) else ()
        if not 1 <= len(listed) <= _MOST or not all(isinstance(one, (GRR, OUE)) for one in listed):
            raise InputError("parts", kind_of(parts), f"1 to {_MOST} mechanisms, each GRR or OUE")
        settle(self, parts=listed)

    @property
    def epsilon(self) -> Fraction:
        """What was asked of the part that costs most."""
        return max(part.epsilon for part in self.parts)

    @property
    def ratio(self) -> Fraction:
        """The largest quotient of two people's probabilities of one report."""
        return max(part.ratio for part in self.parts)

    @property
    def spent(self) -> Fraction:
        """What one report costs."""
        return max(part.spent for part in self.parts)

    def loss(self) -> Pure:
        """What one report costs."""
        return Pure(self.spent)

    def to_dict(self) -> dict[str, Json]:
        """All parts as plain values."""
        return {"kind": self.kind, "parts": [part.to_dict() for part in self.parts]}

    @property
    def id(self) -> str:
        """Sixteen letters that stand for all its parameters."""
        return identity(self.to_dict())

    def _codes(self, values: Sequence[int]) -> list[int]:
        codes = list(values)
        if len(codes) != len(self.parts):
            raise InputError("values", Phrase(f"{len(codes)} parts"), f"{len(self.parts)} category numbers")
        for code, part in zip(codes, self.parts, strict=True):  # of all parts, whichever is told
            read_answers([code], part.categories)
        return codes

    def privatize(self, values: Sequence[int], *, bits: Bits | None = None) -> tuple[int, Any]:
        """The part that is told, and its report."""
        source = bits if bits is not None else SystemBits()
        codes = self._codes(values)
        part = int(evenly(len(self.parts), 1, source)[0])
        return part, self.parts[part].privatize(codes[part], bits=source)

    def law(self, values: Sequence[int]) -> dict[tuple[int, Any], Fraction]:
        """The exact probability of every report of someone whose answer is `values`."""
        codes, many = self._codes(values), len(self.parts)
        return {
            (place, report): chance / many
            for place, part in enumerate(self.parts)
            for report, chance in part.law(codes[place]).items()
        }

    def estimate(
        self, reports: Sequence[Any], times: Sequence[Any], sums: Sequence[Sequence[Floats]]
    ) -> LinearEstimate:
        """For each of `sums`: of each part a weight for each category, added up over the shares of all of them.

        `reports` are those of each part, `times` how often each came. Unbiased: each part's shares are estimated from
        those who told it, who are a random part of all. A part that nobody told leaves what needs it unknown.
        """
        (values, variances, unseen), n = np.zeros((3, len(sums))), 0
        for place, (part, told, often) in enumerate(zip(self.parts, reports, times, strict=True)):
            weights = np.array([one[place] for one in sums], dtype=np.float64)
            count = int(np.sum(often))
            n += count
            if not count:
                needed = weights.any(axis=1)
                values[needed], variances[needed] = np.nan, np.nan
                continue
            scores = unbiased_scores(part, told) @ weights.T
            w = np.asarray(often, dtype=np.float64)
            mean = w @ scores / count
            spread = np.maximum(w @ scores**2 / count - mean**2, 0)
            least = self._least(part, weights)
            values += mean
            variances += np.maximum(spread * count / max(1, count - 1), least) / count
            unseen += ((weights.max(axis=1) - weights.min(axis=1)) / 2 / count) ** 2
        return LinearEstimate(n, values, variances, unseen)

    @staticmethod
    def _least(part: GRR | OUE, weights: Floats) -> Floats:
        """How much scrambling alone makes a sum vary, whatever the answer: at least this."""
        return np.asarray(np.min([_scrambling(part, weights, value) for value in range(part.categories)], axis=0))

    def half_width(self, sums: Sequence[Sequence[Floats]], n: int, confidence: float = 0.95) -> float:
        """The +- of the worst of the `sums` with `n` people, for the answers that are worst for it."""
        people = read_count(n, "n") / len(self.parts)
        worst = np.zeros(len(sums))
        for place, part in enumerate(self.parts):
            weights = np.array([one[place] for one in sums], dtype=np.float64)
            most = np.max([_scrambling(part, weights, value) for value in range(part.categories)], axis=0)
            worst += (most + ((weights.max(axis=1) - weights.min(axis=1)) / 2) ** 2) / people
        return -NormalDist().inv_cdf(float(1 - read_confidence(confidence)) / 2) * math.sqrt(float(worst.max()))


def _scrambling(part: GRR | OUE, weights: Floats, value: int) -> Floats:
    """The variance of each weighted sum of unbiased scores of someone in category `value`."""
    hit, miss = float(part.hit), float(part.miss)
    chances = np.full(part.categories, miss)
    chances[value] = hit
    squares = weights**2
    if isinstance(part, OUE):  # bits of their own
        return np.asarray(squares @ (chances * (1 - chances)) / (hit - miss) ** 2)
    return np.asarray((squares @ chances - (weights @ chances) ** 2) / (hit - miss) ** 2)
