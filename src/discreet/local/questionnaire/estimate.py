"""What the reports of a survey say: an estimate with an interval for each question, and how close it will come."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, as_written
from discreet.core.signature import typed
from discreet.errors import InputError
from discreet.local import planner
from discreet.local.estimate import Estimate, Of
from discreet.local.groups import pooled
from discreet.local.heavy_hitters import HeavyHitters
from discreet.local.mean import Mean
from discreet.local.questionnaire.question import Question
from discreet.local.questionnaire.questionnaire import Questionnaire
from discreet.local.questionnaire.words import find_words
from discreet.local.sampled import Sampled
from discreet.mechanisms.inputs import read_confidence

__all__ = ["QuestionEstimate", "estimate_question", "estimates", "half_width", "people_for", "pool_question"]

Floats = NDArray[np.float64]
SHOWN = 40


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
    group: str = ""
    """Whose answers: everyone's, or those of one group, such as "region = north"."""
    beside: Mapping[str, Floats] = field(default_factory=dict)
    """Other numbers for each label, by the name of how they were made."""
    omitted: int = 0
    """How many labels are left out, all with smaller shares."""
    whose: str = "those who answered"
    """Of whom the shares are."""

    @property
    def shares(self) -> bool:
        """Whether the numbers are shares of one."""
        return self.question.estimand == "share"

    @property
    def title(self) -> str:
        """The question, and whose answers these are."""
        return f"{self.question.text} ({self.group})" if self.group else self.question.text

    @property
    def floor(self) -> float:
        """Where a picture begins."""
        if self.question.estimand == "place":
            return 1.0
        return 0.0 if self.shares or self.question.grid is None else float(self.question.grid.low)

    @property
    def ceiling(self) -> float:
        """What a picture reaches at least."""
        if self.question.estimand == "place":
            return float(len(self.labels))
        if self.question.grid is not None and not self.shares:
            return float(self.question.grid.high)
        return 1.0 if self.question.kind == "binary" else min(1.0, float(self.upper.max(initial=0)))

    def number(self, value: float) -> str:
        """A value as people read it."""
        return "-" if math.isnan(value) else self.question.number(value)

    def head(self) -> list[str]:
        """The columns of `rows`, after the label."""
        return ["estimate", "from", "to", *self.beside]

    def rows(self) -> list[list[str]]:
        """Label, estimate, lower and upper end, and what stands beside them, as text."""
        every = zip(self.labels, self.value, self.lower, self.upper, *self.beside.values(), strict=True)
        return [[label, *(self.number(float(part)) for part in parts)] for label, *parts in every]

    def largest(self, count: int = SHOWN) -> QuestionEstimate:
        """The same with the largest shares only, in order, where there are more labels than people read."""
        if len(self.labels) <= count or not self.shares or self.question.kind == "distribution":
            return self
        order = np.argsort(-self.value, kind="stable")[:count]
        beside = {name: values[order] for name, values in self.beside.items()}
        labels = tuple(self.labels[place] for place in order)
        return replace(
            self,
            labels=labels,
            value=self.value[order],
            lower=self.lower[order],
            upper=self.upper[order],
            beside=beside,
            omitted=len(self.labels) - count,
        )

    def caption(self) -> str:
        """What the numbers are."""
        if self.question.estimand == "place":
            return "mean place, 1 being the first"
        if self.shares:
            unit = f", by {self.question.unit}" if self.question.grid is not None and self.question.unit else ""
            if self.question.kind == "word":
                return f"share of {self.whose} who gave each word that stands out"
            fewer = f", the {len(self.labels)} largest of {len(self.labels) + self.omitted:,}" if self.omitted else ""
            return f"share of {self.whose}{unit}{fewer}"
        return f"mean, in {self.question.unit}" if self.question.unit else "mean"

    def words(self) -> str:
        """The estimate in a line, for those who cannot see a picture."""
        if self.reports and not self.labels:
            return "No word stands out."
        said = (f"{label}: {value}, from {low} to {high}" for label, value, low, high, *_ in self.rows())
        return "; ".join(said) + "."

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        every = zip(self.labels, self.value, self.lower, self.upper, *self.beside.values(), strict=True)
        return {
            "name": self.question.name,
            "text": self.question.text,
            "kind": self.question.kind,
            "group": self.group or None,
            "reports": self.reports,
            "epsilon": float(self.question.epsilon),
            "mechanism": self.question.mechanism.kind,
            "estimates": [
                {
                    "label": label,
                    "value": plain(value),
                    "lower": plain(low),
                    "upper": plain(high),
                    **{name: plain(other) for name, other in zip(self.beside, more, strict=True)},
                }
                for label, value, low, high, *more in every
            ],
        }


def plain(value: float) -> float | None:
    """A number for JSON, which has none for what is not known yet."""
    return float(value) if math.isfinite(value) else None


@typed
def estimates(
    survey: Questionnaire, columns: Sequence[Mapping[Any, int]], *, confidence: float = 0.95, of: Of = "respondents"
) -> tuple[QuestionEstimate, ...]:
    """An estimate for each question, from how often each report came to it.

    `of="population"` widens the intervals by the error of having asked only some of many.
    """
    read_confidence(confidence)
    both = zip(survey.questions, columns, strict=True)
    return tuple(estimate_question(question, column, confidence, of) for question, column in both)


def estimate_question(
    question: Question, column: Mapping[Any, int], confidence: float, of: Of = "respondents", group: str = ""
) -> QuestionEstimate:
    """The estimate for one question."""
    count, labels = sum(column.values()), question.labels
    if count == 0:
        none = np.full(len(labels), np.nan)
        return QuestionEstimate(question, 0, confidence, labels, none, none, none, group)
    if isinstance(question.mechanism, HeavyHitters):
        words = find_words(question.mechanism, column, confidence)
        share, lower, upper = np.array([[one.share, one.lower, one.upper] for one in words]).reshape(-1, 3).T
        labels = tuple(one.value or "(empty)" for one in words)
        return QuestionEstimate(question, count, confidence, labels, share, lower, upper, group)
    found = question.estimate(column)
    ends = found.interval(confidence, of) if isinstance(found, Estimate) else found.interval(confidence)
    value, ends = found.values[: len(labels)], ends[: len(labels)]
    return QuestionEstimate(question, count, confidence, labels, value, ends[:, 0], ends[:, 1], group)


def pool_question(
    question: Question,
    columns: Sequence[Mapping[Any, int]],
    parts: Sequence[float],
    confidence: float,
    group: str = "",
) -> QuestionEstimate:
    """The estimate for a population of groups that are these `parts` of it, from the reports of each group."""
    found = pooled([question.estimate(column) for column in columns], np.array(parts, dtype=np.float64))
    labels = question.labels
    value, ends = found.values[: len(labels)], found.interval(confidence)[: len(labels)]
    count = sum(sum(column.values()) for column in columns)
    return QuestionEstimate(question, count, confidence, labels, value, ends[:, 0], ends[:, 1], group)


@typed
def half_width(question: Question, people: int, confidence: float = 0.95) -> float:
    """How far the estimate from so many people may be off, at the true answers that are worst for it."""
    if isinstance(question.mechanism, Mean):
        return question.mechanism.half_width(people, confidence)
    if isinstance(question.mechanism, Sampled):
        return question.mechanism.half_width(question.sums(), people, confidence)
    if isinstance(question.mechanism, HeavyHitters):
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
    if isinstance(question.mechanism, Sampled):
        span = len(question.labels) - 1 if question.estimand == "place" else 1
        width = float(share) * span
        return max(
            1, math.ceil((question.mechanism.half_width(question.sums(), 1, confidence) / width) ** 2 * (1 - 1e-12))
        )
    if isinstance(question.mechanism, HeavyHitters):
        return max(1, math.ceil((question.mechanism.half_width(1, confidence) / float(share)) ** 2 * (1 - 1e-12)))
    return planner.sample_size(question.mechanism, share, confidence, of="respondents")
