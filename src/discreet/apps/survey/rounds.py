"""A survey of several rounds: each round's estimates, and how far they moved from one round to the next.

Reports of one person in two rounds start from the same memory, so they are not independent. Their covariance is never
negative; without it, the interval of a change is too wide and not too narrow. Proof: docs/proofs/survey.md, "Rounds".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.apps.survey.files import read_results
from discreet.apps.survey.reading import Reading
from discreet.apps.survey.results import Results
from discreet.core.release import percent
from discreet.errors import MISSING, InputError, Phrase
from discreet.local.questionnaire.estimate import QuestionEstimate
from discreet.local.questionnaire.questionnaire import Questionnaire

__all__ = ["Rounds", "changes", "read_rounds"]


@dataclass(frozen=True, slots=True)
class Rounds:
    """The estimates of every round that has reports, in order."""

    survey: Questionnaire
    results: tuple[Results, ...]
    confidence: float

    def shown(self, *, owner: bool = False) -> tuple[Results, ...]:
        """The rounds for the public: those with as many reports as the survey declares; all of them for its owner."""
        return tuple(found for found in self.results if owner or found.public)

    def head(self) -> list[str]:
        """The columns of `rows`, after the answer."""
        return ["round", "reports", "estimate", "from", "to", "change", "from", "to"]

    def tables(self, *, owner: bool = False) -> Iterator[tuple[str, list[list[str]]]]:
        """Each question, and a line for each of its answers and rounds."""
        shown = self.shown(owner=owner)
        for place, question in enumerate(self.survey.questions):
            estimates = [found.estimates[place] for found in shown]
            moved = [None, *(changes(before, after) for before, after in pairwise(estimates))]
            yield (
                question.text,
                [
                    [
                        estimated.labels[row],
                        str(found.survey.round),
                        f"{found.reports:,}",
                        *estimated.rows()[row][1:4],
                        *(["", "", ""] if change is None else [estimated.number(float(end)) for end in change[row]]),
                    ]
                    for row in range(len(question.labels))
                    for found, estimated, change in zip(shown, estimates, moved, strict=True)
                ],
            )

    def note(self) -> str:
        """How the numbers are to be read."""
        return (
            f"{percent(self.confidence)} confidence intervals, for the people who answered in each round (not "
            "simultaneous). A change is from the round above it. Reports of one person start from the same memory in "
            "every round; that can only make the intervals of changes too wide."
        )

    def to_dict(self, *, owner: bool = False) -> dict[str, Any]:
        """Plain values."""
        shown = self.shown(owner=owner)
        return {
            "survey": self.survey.id,
            "series": self.survey.series,
            "confidence": self.confidence,
            "rounds": [found.to_dict(owner=owner) for found in shown],
            "changes": [
                {
                    "question": question.name,
                    "label": label,
                    "from_round": before.survey.round,
                    "to_round": after.survey.round,
                    "value": float(value),
                    "lower": float(lower),
                    "upper": float(upper),
                }
                for before, after in pairwise(shown)
                for place, question in enumerate(self.survey.questions)
                for label, (value, lower, upper) in zip(
                    question.labels, changes(before.estimates[place], after.estimates[place]), strict=True
                )
            ],
        }


def changes(before: QuestionEstimate, after: QuestionEstimate) -> Any:
    """For each answer how far its share moved, and an interval: rows (change, lower, upper).

    The distances of both shares from the ends of their intervals are added as squares, as those of independent
    estimates are. Both intervals must be for the people who answered.
    """
    value = after.value - before.value
    lower = value - np.hypot(after.value - after.lower, before.upper - before.value)
    upper = value + np.hypot(after.upper - after.value, before.value - before.lower)
    return np.stack([value, lower, upper], axis=1)


def read_rounds(survey: Questionnaire, place: str, reading: Reading) -> Rounds:
    """The estimates of every round with reports, from a store or from files of reports."""
    if not survey.rounds:
        raise InputError("survey", MISSING, "a survey with [repeat]")
    if reading != Reading(reading.confidence):
        hint = "Changes between rounds are estimated of all reports, one interval at a time."
        raise InputError("--round", Phrase("other options"), "given beside every option but --confidence", hint)
    plain = replace(survey, round=0)
    found = (read_results(plain.at(number), place, reading) for number in range(1, survey.rounds + 1))
    return Rounds(plain, tuple(one for one in found if one.reports), reading.confidence)
