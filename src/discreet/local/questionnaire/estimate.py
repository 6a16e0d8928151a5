"""What the reports of a survey say: an estimate with an interval for each question, and how close it will come."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, as_written
from discreet.core.signature import typed
from discreet.errors import InputError
from discreet.local import planner
from discreet.local.estimate import Of
from discreet.local.mean import Mean
from discreet.local.questionnaire.question import Question
from discreet.local.questionnaire.questionnaire import Questionnaire
from discreet.mechanisms.inputs import read_confidence

__all__ = ["QuestionEstimate", "estimates", "half_width", "people_for"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class QuestionEstimate:
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
        return self.question.grid is None

    @property
    def floor(self) -> float:
        """Where a picture begins."""
        return 0.0 if self.question.grid is None else float(self.question.grid.low)

    @property
    def ceiling(self) -> float:
        """What a picture reaches at least."""
        if self.question.grid is not None:
            return float(self.question.grid.high)
        return 1.0 if self.question.kind == "binary" else min(1.0, float(self.upper.max()))

    def number(self, value: float) -> str:
        """A value as people read it."""
        return "-" if math.isnan(value) else self.question.number(value)

    def rows(self) -> list[list[str]]:
        """Label, estimate, lower and upper end, as text."""
        every = zip(self.labels, self.value, self.lower, self.upper, strict=True)
        return [[label, *(self.number(float(part)) for part in parts)] for label, *parts in every]

    def caption(self) -> str:
        """What the numbers are."""
        if self.question.grid is None:
            return "share of those who answered"
        return f"mean, in {self.question.unit}" if self.question.unit else "mean"

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
                {"label": label, "value": _plain(value), "lower": _plain(low), "upper": _plain(high)}
                for label, value, low, high in every
            ],
        }


def _plain(value: float) -> float | None:
    """A number for JSON, which has none for what is not known yet."""
    return None if math.isnan(value) else float(value)


@typed
def estimates(
    survey: Questionnaire, columns: Sequence[Mapping[Any, int]], *, confidence: float = 0.95, of: Of = "respondents"
) -> tuple[QuestionEstimate, ...]:
    """An estimate for each question, from how often each report came to it.

    `of="population"` widens the intervals by the error of having asked only some of many.
    """
    read_confidence(confidence)
    both = zip(survey.questions, columns, strict=True)
    return tuple(_estimate(question, column, confidence, of) for question, column in both)


def _estimate(question: Question, column: Mapping[Any, int], confidence: float, of: Of) -> QuestionEstimate:
    count = sum(column.values())
    labels = ("mean",) if question.grid is not None else question.options
    labels = labels[:1] if question.kind == "binary" else labels
    if count == 0:
        none = np.full(len(labels), np.nan)
        return QuestionEstimate(question, 0, confidence, labels, none, none, none)
    mechanism, tally = question.mechanism, question.tally(column)
    if isinstance(mechanism, Mean):
        mean = mechanism.estimate(tally)
        value, ends = mean.values, mean.interval(confidence)
    else:
        found = mechanism.estimate(tally)
        value, ends = found.frequencies, found.interval(confidence, of)
    value, ends = value[: len(labels)], ends[: len(labels)]
    return QuestionEstimate(question, count, confidence, labels, value, ends[:, 0], ends[:, 1])


@typed
def half_width(question: Question, people: int, confidence: float = 0.95) -> float:
    """How far the estimate from so many people may be off, at the true answers that are worst for it."""
    if isinstance(question.mechanism, Mean):
        return question.mechanism.half_width(people, confidence)
    return planner.half_width(question.mechanism, people, confidence, of="respondents")


@typed
def people_for(question: Question, within: Number, confidence: float = 0.95) -> int:
    """The least number of people for which the half-width is at most `within`, a share of one or of the range."""
    share = as_written(within, "within")
    if not 0 < share <= 1:
        raise InputError("within", within, "more than 0 and at most 1: a share of the people, or of a number's range")
    if isinstance(question.mechanism, Mean):
        width = float(share * (question.mechanism.upper - question.mechanism.lower))
        return max(1, math.ceil((question.mechanism.half_width(1, confidence) / width) ** 2 * (1 - 1e-12)))
    return planner.sample_size(question.mechanism, share, confidence, of="respondents")
