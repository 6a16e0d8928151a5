"""What a way of scrambling answers must be able to do. This file is the architecture of `discreet.local`.

A respondent's side: `privatize`. A collector's side: `tally`, then `estimate`. Both sides hold the same frozen value,
and its `id` travels with every report.

Scores
    A report says something about every category: its *score*, with mean `hit` if the category is the respondent's own
    and `miss` if it is another. So (mean score - miss)/(hit - miss) is an unbiased estimate of a category's frequency,
    whatever the other answers are; everything about estimates follows from that and is written once, here and in
    `discreet.local.estimate`.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from attrs import field, fields, frozen
from numpy.typing import NDArray

from discreet.core.check import AUTO, exact_or_none, named, settle
from discreet.core.exact import Number, as_written
from discreet.core.loss import Pure
from discreet.core.mechanism import Bits, Integers
from discreet.core.wire import Json, canonical
from discreet.errors import InputError, Phrase, kind_of
from discreet.local.estimate import Estimate, Of, Tally
from discreet.local.ratio import epsilon_of, read_ratio
from discreet.mechanisms.inputs import read_count, read_values

__all__ = [
    "MOST",
    "Layout",
    "Oracle",
    "Report",
    "Reports",
    "Responder",
    "count_reports",
    "identity",
    "read_answers",
    "read_categories",
    "read_times",
]

MOST = 1 << 20  # categories; larger domains are for heavy hitters
Report = int | bytes
Reports = NDArray[np.int64] | NDArray[np.uint8]
Layout = Literal["integer", "packed"]


def identity(entry: Mapping[str, Json]) -> str:
    """Sixteen letters that stand for a mechanism or a survey with all its parameters."""
    return hashlib.sha256(canonical(dict(entry)).encode()).hexdigest()[:16]


def read_answers(values: int | Integers, categories: int) -> tuple[NDArray[np.int64], bool]:
    """True categories as an array, and whether there was only one. A message never shows an answer."""
    one = isinstance(values, (int, np.integer)) and not isinstance(values, (bool, np.bool_))
    if not one and (isinstance(values, (str, bytes, bool, float)) or not hasattr(values, "__len__")):
        raise InputError("values", kind_of(values), "a category number, or a list of them")
    array = read_values([values] if one else values)  # type: ignore[arg-type,list-item]
    if array.size and (int(array.min()) < 0 or int(array.max()) >= categories):
        raise InputError("values", Phrase("an unknown one"), f"categories from 0 to {categories - 1}")
    return array, one


class Responder(ABC):
    """One way to scramble an answer, and to estimate something from many scrambled ones.

    Guarantee
        Whatever two answers a respondent may have, the probabilities of any report differ by a factor of at most
        `ratio`: ln(ratio)-differential privacy of every single report, whoever collects them. `ratio` is an exact
        rational, at most e^epsilon. Proof: docs/proofs/local.md.
    """

    __slots__ = ()
    kind: ClassVar[str]
    layout: ClassVar[Layout] = "integer"
    epsilon: Fraction
    ratio: Fraction

    @abstractmethod
    def privatize(self, values: Any, *, bits: Bits | None = None) -> Any:
        """A report for one true answer (an int, or bytes), or an array of reports for many."""

    @abstractmethod
    def law(self, value: Any) -> dict[Report, Fraction]:
        """The exact probability of every report of someone whose answer is `value`, if they can be listed."""

    @property
    @abstractmethod
    def reports(self) -> int:
        """How many different reports there are: they are the whole numbers below, or packed bits."""

    @abstractmethod
    def tally(self, reports: Any, times: Integers | None = None) -> Tally:
        """Reports added up, each `times` as often; one that this mechanism cannot have made is refused."""

    @abstractmethod
    def estimate(self, reports: Any) -> Any:
        """What is estimated from reports, or from a `Tally` of them: unbiased, with its error."""

    def to_dict(self) -> dict[str, Json]:
        """Everything that decides the law of a report, as plain values."""
        made: Any = type(self)  # of attrs
        values = {one.name: getattr(self, one.name) for one in fields(made)}
        plain = {name: str(value) if isinstance(value, Fraction) else value for name, value in values.items()}
        return {"kind": self.kind, **plain}

    @property
    def id(self) -> str:
        """Sixteen letters that stand for all its parameters; another epsilon has another id."""
        return identity(self.to_dict())

    @property
    def spent(self) -> Fraction:
        """ln(ratio), rounded up, and at most epsilon: what one report costs."""
        return min(self.epsilon, epsilon_of(self.ratio))

    def loss(self) -> Pure:
        """What one report costs."""
        return Pure(self.spent)

    @property
    def report_bits(self) -> int:
        """How many bits a report takes."""
        return (self.reports - 1).bit_length()

    def own(self, reports: Any) -> Tally:
        """Reports, or a tally of them, as a tally of this mechanism with at least one report."""
        found = reports if isinstance(reports, Tally) else self.tally(reports)
        if found.mechanism != self.id:
            hint = "Reports of another survey, or with another epsilon, have another law."
            raise InputError("tally", found.mechanism, f"a tally of the mechanism {self.id}", hint)
        if found.n == 0:
            raise InputError("reports", Phrase("none"), "at least one report")
        return found


def read_categories(value: int) -> int:
    """How many categories there are."""
    count = read_count(value, "categories", least=2)
    if count > MOST:
        hint = "For strings and other large domains see discreet.local.HeavyHitters."
        raise InputError("categories", value, f"at most {MOST:,}", hint)
    return count


@frozen(field_transformer=named)
class Oracle(Responder):
    """A way to scramble a category, and to estimate how many people have each."""

    categories: int = field(converter=read_categories)
    epsilon: Fraction = field(default=AUTO, converter=exact_or_none)
    ratio: Fraction = field(default=AUTO, converter=exact_or_none, kw_only=True)

    def __attrs_post_init__(self) -> None:
        epsilon, ratio = read_ratio(self.epsilon, self.ratio)
        settle(self, epsilon=epsilon, ratio=ratio)

    @property
    @abstractmethod
    def hit(self) -> Fraction:
        """The mean score of one's own category."""

    @property
    @abstractmethod
    def miss(self) -> Fraction:
        """The mean score of any other category."""

    @abstractmethod
    def scores(self, reports: Any) -> NDArray[np.int64]:
        """The score of every category (columns) for each report (rows): their sums over reports are a tally's."""

    @abstractmethod
    def _randomize(self, values: NDArray[np.int64], bits: Bits | None) -> Reports:
        """One report for each true category."""

    def privatize(self, values: int | Integers, *, bits: Bits | None = None) -> Any:
        """A report for one true category (an int, or bytes), or an array of reports for many."""
        array, one = read_answers(values, self.categories)
        reports = self._randomize(array, bits)
        if not one:
            return reports
        return reports[0].tobytes() if self.layout == "packed" else int(reports[0])

    def estimate(self, reports: Any) -> Estimate:
        """The frequency of every category among those who reported (or a `Tally` of them): unbiased, with its error."""
        return Estimate.of(self.own(reports), self.hit, self.miss, self.squares)

    def variance(self, n: int, frequency: Number = 0, *, of: Of = "respondents") -> float:
        """Of the estimate of a category's frequency from `n` reports.

        `of="respondents"` is the error in saying how many of those asked have it; `of="population"` adds the error of
        having asked only `n` of many.
        """
        count, share = read_count(n, "n"), as_written(frequency, "frequency")
        if not 0 <= share <= 1:
            raise InputError("frequency", frequency, "between 0 and 1")
        if of not in ("respondents", "population"):
            raise InputError("of", of, among=("respondents", "population"))
        hit, miss = self.hit, self.miss
        mean = miss + share * (hit - miss)
        total = (self._second(share) - mean**2) / (hit - miss) ** 2
        return float((total - (share * (1 - share) if of == "respondents" else 0)) / count)

    @property
    def squares(self) -> tuple[Fraction, Fraction]:
        """The mean squared score of one's own category, and of any other: scores are 0 and 1 unless overridden.

        Where categories share blocks: of every category of one's own block, and of those of others.
        """
        return self.hit, self.miss

    def _second(self, share: Fraction) -> Fraction:
        """The mean squared score of a category that a share of people have; scores are 0 and 1 unless overridden."""
        return self.miss + share * (self.hit - self.miss)


def count_reports(reports: Any, bound: int, times: Integers | None = None) -> NDArray[np.int64]:
    """How often each of 0..bound-1 is among `reports`, each counted `times` as often; others are refused."""
    one = isinstance(reports, (int, np.integer)) and not isinstance(reports, bool)
    listed: Any = [reports] if one else reports
    array = read_values(listed, "reports")
    if array.size and (int(array.min()) < 0 or int(array.max()) >= bound):
        raise InputError("reports", Phrase("one out of range"), f"from 0 to {bound - 1}")
    if times is None:
        return np.bincount(array, minlength=bound)
    often = read_times(times, len(array))
    return np.rint(np.bincount(array, weights=often, minlength=bound)).astype(np.int64)


def read_times(times: Integers, count: int) -> NDArray[np.int64]:
    """How often each report was made: one whole number for each, none negative, fewer than 2^53 in all."""
    often = read_values(times, "times")
    if len(often) != count or (often.size and (int(often.min()) < 0 or float(often.sum(dtype=float)) >= 2**53)):
        raise InputError("times", Phrase(f"{len(often)} numbers"), f"{count} whole numbers, none negative")
    return often
