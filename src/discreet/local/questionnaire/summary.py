"""One number about a distribution: its mean, its median, or the share between two values, each with an interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.local.questionnaire.estimate import plain
from discreet.local.questionnaire.form import Scale
from discreet.local.questionnaire.question import Question
from discreet.local.sampled import LinearEstimate, Sampled
from discreet.mechanisms.inputs import read_confidence

__all__ = ["Span", "Summary", "summarise"]


@dataclass(frozen=True, slots=True)
class Span:
    """From one value of a question's scale to another, both included."""

    question: str
    low: str
    high: str

    def places(self, question: Question) -> tuple[int, int]:
        """The first place on the grid, and the one after the last; `InputError` if these are no values of it."""
        if not isinstance(question.form, Scale):
            raise InputError("--range", self.question, "a question of kind distribution")
        grid = question.form.grid
        try:
            first, last = grid.index(self.low), grid.index(self.high)
        except InputError:
            raise InputError("--range", f"{self.low}:{self.high}", f"two values, each {grid.words()}") from None
        if first > last:
            raise InputError("--range", f"{self.low}:{self.high}", "the smaller value first")
        return first, last + 1


@dataclass(frozen=True, slots=True)
class Summary:
    """What is estimated of a distribution, and its interval."""

    question: Question
    label: str
    value: float
    lower: float
    upper: float
    share: bool = False

    def row(self) -> list[str]:
        """Label, estimate, lower and upper end, as text."""
        return [self.label, *(self._text(one) for one in (self.value, self.lower, self.upper))]

    def _text(self, value: float) -> str:
        if math.isnan(value):
            return "-"
        return self.question.number(value) if self.share else f"{value:.4g} {self.question.unit}".strip()

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        ends = {"value": plain(self.value), "lower": plain(self.lower), "upper": plain(self.upper)}
        return {"question": self.question.name, "label": self.label, **ends}


def summarise(
    question: Question, reports: Mapping[Any, int], *, confidence: float = 0.95, spans: Sequence[Span] = ()
) -> tuple[Summary, ...]:
    """Mean, median and the shares of `spans` of a distribution question, from how often each report came.

    Mean and shares are unbiased. The interval of the median holds every value whose place the intervals of the shares
    up to it, and below it, do not rule out: it misses the median with probability 1 - confidence at most, if those do.
    """
    read_confidence(confidence)
    form, mechanism = question.form, question.mechanism
    if not isinstance(form, Scale) or not isinstance(mechanism, Sampled):
        return ()
    grid, points = form.grid, np.arange(form.grid.points)
    ends = [span.places(question) for span in spans]
    wanted = [
        np.array([float(grid.value(int(place))) for place in points]),
        *(((points >= first) & (points < last)) * 1.0 for first, last in ends),
        *((points <= place) * 1.0 for place in points[:-1]),
    ]
    found = question.estimate_sums(reports, form.weights(mechanism, wanted))
    if not sum(reports.values()) or np.isnan(found.values).any():
        names = ["mean", "median", *(f"{span.low} to {span.high}" for span in spans)]
        return tuple(
            Summary(question, name, math.nan, math.nan, math.nan, place > 1) for place, name in enumerate(names)
        )
    sides = found.interval(confidence)
    shares = [
        Summary(question, f"{span.low} to {span.high}", *_numbers(found, sides, 1 + place), share=True)
        for place, span in enumerate(spans)
    ]
    mean = Summary(question, "mean", *_numbers(found, sides, 0))
    return mean, _median(question, found, sides, 1 + len(spans)), *shares


def _numbers(found: LinearEstimate, sides: Any, place: int) -> tuple[float, float, float]:
    return float(found.values[place]), float(sides[place, 0]), float(sides[place, 1])


def _median(question: Question, found: LinearEstimate, sides: Any, start: int) -> Summary:
    """The first value that half of the people are at or below: F(m) >= 1/2 > F(m - 1)."""
    form = question.form
    grid = form.grid if isinstance(form, Scale) else None
    if grid is None:
        raise InputError("question", question.name, "one of kind distribution")
    rising = np.maximum.accumulate(np.append(found.values[start:], 1.0))
    upper, below = np.append(sides[start:, 1], 1.0), np.append(0.0, sides[start:, 0])
    possible = np.flatnonzero((upper >= 0.5) & (below < 0.5))
    middle = int(np.argmax(rising >= 0.5))
    low, high = min(int(possible[0]), middle), max(int(possible[-1]), middle)
    value, first, last = (float(grid.value(place)) for place in (middle, low, high))
    return Summary(question, "median", value, first, last)
