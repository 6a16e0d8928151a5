"""Before anyone is asked: what each question reveals, how close the estimates will come, how many people it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.accounting.posterior import posterior
from discreet.accounting.words import percent, readable
from discreet.core.exact import Number, as_written
from discreet.local.questionnaire.estimate import half_width, people_for
from discreet.local.questionnaire.question import Question
from discreet.local.questionnaire.questionnaire import Questionnaire
from discreet.mechanisms.inputs import read_confidence, read_count

__all__ = ["SurveyPlan", "plan_survey"]


@dataclass(frozen=True, slots=True)
class SurveyPlan:
    """A survey with so many people in mind."""

    survey: Questionnaire
    people: int
    confidence: float
    prior: Number
    within: Number | None

    def head(self) -> list[str]:
        """The columns of the table for people."""
        more = [] if self.within is None else [f"people for ±{float(as_written(self.within, 'within')):.3g}"]
        return ["question", "mechanism", "epsilon", "believed after", f"± with {self.people:,}", *more]

    def rows(self) -> list[list[str]]:
        """One line a question."""
        return [self._row(question) for question in self.survey.questions]

    def _row(self, question: Question) -> list[str]:
        after = percent(posterior(self.prior, question.epsilon).high, direction="up")
        wide = half_width(question, self.people, self.confidence)
        shown = (
            percent(wide, direction="up") if question.grid is None else f"{readable(wide, 3)} {question.unit}".strip()
        )
        cells = [question.name, question.mechanism.kind, readable(question.epsilon, 4), after, shown]
        return cells if self.within is None else [*cells, f"{people_for(question, self.within, self.confidence):,}"]

    def lines(self) -> list[str]:
        """What the table does not say."""
        lines = [
            f"Everyone answers every question: together epsilon = {readable(self.survey.epsilon, 4)} for one person.",
            self.survey.reveals(self.prior),
            f"{percent(self.confidence)} intervals, at the true answers that are least favourable.",
        ]
        return [*lines, "Whether someone took part is not hidden, only what was answered."]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "survey": self.survey.id,
            "digest": self.survey.digest,
            "people": self.people,
            "confidence": self.confidence,
            "epsilon": float(self.survey.epsilon),
            "prior": float(as_written(self.prior, "prior")),
            "believed_after": float(posterior(self.prior, self.survey.epsilon).high),
            "questions": [
                {
                    "name": question.name,
                    "mechanism": question.mechanism.kind,
                    "epsilon": float(question.epsilon),
                    "asked_epsilon": float(question.mechanism.epsilon),
                    "believed_after": float(posterior(self.prior, question.epsilon).high),
                    "half_width": half_width(question, self.people, self.confidence),
                    "people_needed": None
                    if self.within is None
                    else people_for(question, self.within, self.confidence),
                }
                for question in self.survey.questions
            ],
        }


def plan_survey(
    survey: Questionnaire,
    *,
    people: int,
    within: Number | None = None,
    prior: Number = "0.02",
    confidence: float = 0.95,
) -> SurveyPlan:
    """Check what is asked, before anything is computed."""
    read_count(people, "--people")
    read_confidence(confidence)
    posterior(prior, survey.epsilon)
    if within is not None:
        people_for(survey.questions[0], within, confidence)
    return SurveyPlan(survey, people, confidence, prior, within)
