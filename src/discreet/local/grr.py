"""k-ary randomized response: one's own category, or any other one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import AUTO, exact_or_none, named
from discreet.core.exact import Number, as_written
from discreet.core.mechanism import Bits, Integers
from discreet.errors import InputError
from discreet.local.draws import evenly, flips
from discreet.local.estimate import Tally
from discreet.local.protocol import Oracle, Report, count_reports, read_categories
from discreet.mechanisms.inputs import read_count, read_probability_inside, read_values
from discreet.noise.bits import SystemBits

__all__ = ["GRR"]


@frozen(field_transformer=named)
class GRR(Oracle):
    """Report one's category with odds ratio : 1 against each other one. The shortest report; best for few categories.

    Guarantee
        ln(ratio)-differential privacy of every report. Proof: docs/proofs/local.md.

    Two fair coins, the oldest survey: heads on the first, tell the truth; tails, let the second answer for you.

    >>> survey = GRR.coin()
    >>> survey.hit, survey.miss, round(float(survey.epsilon), 6)     # ln 3
    (Fraction(3, 4), Fraction(1, 4), 1.098612)
    """

    kind: ClassVar[str] = "grr"
    categories: int = field(default=2, converter=read_categories)
    epsilon: Fraction = field(default=AUTO, converter=exact_or_none)  # again, to keep the order of the fields
    ratio: Fraction = field(default=AUTO, converter=exact_or_none, kw_only=True)

    @classmethod
    def coin(cls, q: Number = Fraction(1, 2), categories: int = 2) -> GRR:
        """With probability `q` the truth, else any category at random, the true one among them.

        With two categories epsilon = ln((1+q)/(1-q)).

        >>> GRR.coin(q=0.8).ratio
        Fraction(9, 1)
        """
        share, count = read_probability_inside(q, "q"), read_count(categories, "categories", least=2)
        return cls(count, ratio=1 + share * count / (1 - share))

    @classmethod
    def truthful(cls, truth: Number, categories: int = 2) -> GRR:
        """A report is the truth with probability `truth`.

        >>> GRR.truthful(0.75) == GRR.coin()
        True
        """
        exact, count = as_written(truth, "truth"), read_count(categories, "categories", least=2)
        if not Fraction(1, count) < exact < 1:
            raise InputError("truth", truth, f"more than 1/{count} and less than 1")
        return cls(count, ratio=exact * (count - 1) / (1 - exact))

    @property
    def hit(self) -> Fraction:
        return self.ratio / (self.ratio + self.categories - 1)

    @property
    def miss(self) -> Fraction:
        return 1 / (self.ratio + self.categories - 1)

    @property
    def reports(self) -> int:
        return self.categories

    def _randomize(self, values: NDArray[np.int64], bits: Bits | None) -> NDArray[np.int64]:
        source = bits if bits is not None else SystemBits()
        moved = evenly(self.categories - 1, len(values), source).astype(np.int64)
        moved += 1
        moved *= ~flips(self.hit, len(values), source)
        moved += values
        np.subtract(moved, self.categories, out=moved, where=moved >= self.categories)
        return moved

    def law(self, value: int) -> dict[Report, Fraction]:
        return {report: self.hit if report == value else self.miss for report in range(self.categories)}

    def scores(self, reports: Any) -> NDArray[np.int64]:
        listed = read_values(reports, "reports")
        return np.asarray(listed[:, None] == np.arange(self.categories), dtype=np.int64)

    def tally(self, reports: Any, times: Integers | None = None) -> Tally:
        counts = count_reports(reports, self.reports, times)
        return Tally(self.id, int(counts.sum()), counts, counts)
