"""What the reports of a survey say: an estimate with an interval for each question, and how close it will come."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.local.estimate import Of
from discreet.local.questionnaire.question import Question
from discreet.local.questionnaire.questionnaire import Questionnaire
from discreet.mechanisms.inputs import read_confidence

__all__ = ["Estimated", "estimates", "half_width", "people_for"]

Floats = NDArray[np.float64]
_MANY = 10**12


@dataclass(frozen=True, slots=True, eq=False)
class Estimated:
    """One question's estimate from so many reports: the share of each label, or the mean."""

    question: Question
    reports: int
    confidence: float
    labels: tuple[str, ...]
    value: Floats
    lower: Floats
    upper: Floats

    @property
    def shares(self) -> bool:
        """Whether the numbers are shares of one."""
        return True

    @property
    def floor(self) -> float:
        """Where a picture begins."""
        return 0.0

    @property
    def ceiling(self) -> float:
        """What a picture reaches at least."""
        return min(1.0, float(self.upper.max(initial=1.0)))

    def number(self, value: float) -> str:
        """A value as people read it."""
        return self.question.number(value)

    def rows(self) -> list[list[str]]:
        """Label, estimate, lower and upper end, as text."""
        every = zip(self.labels, self.value, self.lower, self.upper, strict=True)
        return [[label, *(self.number(float(part)) for part in parts)] for label, *parts in every]

    def caption(self) -> str:
        """What the numbers are."""
        return "share of those who answered"

    def words(self) -> str:
        """The estimate in a line, for those who cannot see a picture."""
        said = (f"{label}: {value}, from {low} to {high}" for label, value, low, high in self.rows())
        return "; ".join(said) + "."

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        every = zip(self.labels, self.value, self.lower, self.upper, strict=True)
        return {
            "name": self.question.name,
            "text": self.question.text,
            "kind": self.question.kind,
            "epsilon": float(self.question.epsilon),
            "mechanism": self.question.mechanism.kind,
            "estimates": [
                {"label": label, "value": float(value), "lower": float(low), "upper": float(high)}
                for label, value, low, high in every
            ],
        }


def estimates(
    survey: Questionnaire, columns: Sequence[Mapping[Any, int]], *, confidence: float = 0.95, of: Of = "respondents"
) -> tuple[Estimated, ...]:
    """An estimate for each question, from how often each report came to it.

    `of="population"` widens the intervals by the error of having asked only some of many.
    """
    read_confidence(confidence)
    both = zip(survey.questions, columns, strict=True)
    return tuple(_estimated(question, column, confidence, of) for question, column in both)


def _estimated(question: Question, column: Mapping[Any, int], confidence: float, of: Of) -> Estimated:
    count = sum(column.values())
    labels = question.options[:1] if question.kind == "binary" else question.options
    if count == 0:
        none = np.full(len(labels), np.nan)
        return Estimated(question, 0, confidence, labels, none, none, none)
    found = question.mechanism.estimate(question.tally(column))
    value, ends = found.frequencies[: len(labels)], found.interval(confidence, of)[: len(labels)]
    return Estimated(question, count, confidence, labels, value, ends[:, 0], ends[:, 1])


def half_width(question: Question, people: int, confidence: float = 0.95) -> float:
    """How far the estimate from so many people may be off, at the true share that is worst for it."""
    z = NormalDist().inv_cdf(1 - float(1 - read_confidence(confidence)) / 2)
    mechanism = question.mechanism
    # The variance is a straight line in the share, so its largest value is at one of the ends.
    variance = max(mechanism.variance(people, share) for share in (0, 1))
    step = 1 / (people * float(mechanism.hit - mechanism.miss))  # as in Estimate.interval: half a step on both sides
    return z * math.sqrt(variance) + step / 2


def people_for(question: Question, within: float, confidence: float = 0.95) -> int:
    """The least number of people for which the half-width is at most `within`."""
    few, many = 0, 1
    while half_width(question, many, confidence) > within:
        few, many = many, 2 * many
        if many > _MANY:
            raise InputError("within", within, "wider", f"More than {_MANY:,} people would have to answer.")
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (middle, many) if half_width(question, middle, confidence) > within else (few, middle)
    return many
