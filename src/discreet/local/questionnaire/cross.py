"""Two questions of a survey together: a cross-table of their answers, and one question by the answers to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.signature import typed
from discreet.errors import InputError
from discreet.local.heavy_hitters import HeavyHitters
from discreet.local.pairs import given, joint
from discreet.local.questionnaire.estimate import QuestionEstimate, plain
from discreet.local.questionnaire.question import Question, check_options
from discreet.local.sampled import Sampled

__all__ = ["CrossTable", "Pairs", "cross_table", "estimates_by"]

Floats = NDArray[np.float64]
Pairs = Mapping[tuple[Any, Any], int]
"""How often each pair of reports came, to the first question and to the second."""


@dataclass(frozen=True, slots=True, eq=False)
class CrossTable:
    """The share of those who answered with every pair of answers, with intervals."""

    first: Question
    second: Question
    reports: int
    confidence: float
    value: Floats
    lower: Floats
    upper: Floats

    @property
    def title(self) -> str:
        """Both questions."""
        return f"{self.first.text} / {self.second.text}"

    def head(self) -> list[str]:
        """The columns: answers to the second question."""
        return list(self.second.options)

    def rows(self) -> list[list[str]]:
        """An answer to the first question, then a cell for each answer to the second: the share and its interval."""
        number = self.first.number
        out = []
        for a, label in enumerate(self.first.options):
            every = zip(self.value[a], self.lower[a], self.upper[a], strict=True)
            out.append([label, *(f"{number(x)} [{number(low)}, {number(high)}]" for x, low, high in every)])
        return out

    def to_dict(self) -> dict[str, Any]:
        """Plain values: one entry for each pair of answers."""
        return {
            "questions": [self.first.name, self.second.name],
            "reports": self.reports,
            "cells": [
                {
                    "labels": [one, two],
                    "value": plain(self.value[a, b]),
                    "lower": plain(self.lower[a, b]),
                    "upper": plain(self.upper[a, b]),
                }
                for a, one in enumerate(self.first.options)
                for b, two in enumerate(self.second.options)
            ],
        }


@typed
def cross_table(first: Question, second: Question, pairs: Pairs, *, confidence: float = 0.95) -> CrossTable:
    """The cross-table of two questions, from how often each pair of reports came."""
    left, right = (check_options(question, "cross") for question in (first, second))
    one, two, times = _columns(first, second, pairs)
    found = joint(left, right, one, two, times)
    ends = found.interval(confidence)
    return CrossTable(first, second, sum(times), confidence, found.frequencies, ends[..., 0], ends[..., 1])


@typed
def estimates_by(question: Question, by: Question, pairs: Pairs, *, confidence: float = 0.95) -> tuple[Any, ...]:
    """A `QuestionEstimate` among those who would truly give each answer to `by`; the people are a sample of many.

    Where too few would for anything to be known, an interval is all that can be: 0 to 1, or a number's whole range.
    """
    groups = check_options(by, "by")
    if isinstance(question.mechanism, (Sampled, HeavyHitters)):
        raise InputError("question", question.name, "a question of kind binary, choice or number")
    one, two, times = _columns(question, by, pairs)
    found = given(question.mechanism, groups, one, two, times)
    labels, ends, values = question.labels, found.interval(confidence), found.values
    low, high = (0.0, 1.0) if question.grid is None else (float(question.grid.low), float(question.grid.high))
    made = []
    for place, answer in enumerate(by.options):
        lower, upper = (ends[: len(labels), place, side] for side in (0, 1))
        known = np.isfinite(lower) & np.isfinite(upper)
        made.append(
            QuestionEstimate(
                question,
                sum(times),
                confidence,
                labels,
                np.where(known, values[: len(labels), place], np.nan),
                np.where(known, lower, low),
                np.where(known, upper, high),
                f"{by.name} = {answer}",
            )
        )
    return tuple(made)


def _columns(first: Question, second: Question, pairs: Pairs) -> tuple[Any, Any, list[int]]:
    ordered = sorted(pairs.items())  # sums of floats are then the same wherever the reports were counted
    return (
        first.packed([one for (one, _), _ in ordered]),
        second.packed([two for (_, two), _ in ordered]),
        [times for _, times in ordered],
    )
