"""Before anyone is asked: what each question reveals, how close the estimates will come, how many people it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.accounting.posterior import posterior
from discreet.accounting.words import percent, readable
from discreet.apps.survey.crowd import Crowd, hide_in_crowd
from discreet.core.exact import Number, as_written
from discreet.local.heavy_hitters import HeavyHitters
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
    crowd: Crowd | None = None
    """What reports cost against someone who sees how often each came, and not whose it is."""

    def head(self) -> list[str]:
        """The columns of the table for people."""
        more = [] if self.within is None else [f"people for ±{float(as_written(self.within, 'within')):.3g}"]
        hidden = [] if self.crowd is None else ["in the crowd"]
        return ["question", "mechanism", "epsilon", *hidden, "believed after", f"± with {self.people:,}", *more]

    def rows(self) -> list[list[str]]:
        """One line a question."""
        return [self._row(place, question) for place, question in enumerate(self.survey.questions)]

    def _row(self, place: int, question: Question) -> list[str]:
        after = percent(posterior(self.prior, question.epsilon).high, direction="up")
        wide = half_width(question, self.people, self.confidence)
        shown = (
            percent(wide, direction="up")
            if question.estimand == "share"
            else f"{readable(wide, 3)} {question.unit}".strip()
        )
        hidden = [] if self.crowd is None else [readable(self.crowd.each[place], 3)]
        cells = [question.name, question.mechanism.kind, readable(question.epsilon, 4), *hidden, after, shown]
        return cells if self.within is None else [*cells, f"{people_for(question, self.within, self.confidence):,}"]

    def lines(self) -> list[str]:
        """What the table does not say."""
        series, cost = self.survey.series_loss(), readable(self.survey.epsilon, 4)
        lines = [
            f"Everyone answers every question: together epsilon = {cost} for one person"
            + ("." if series is None else ", for one report alone."),
            *(() if series is None else (series.words(),)),
            self.survey.reveals(self.prior),
            f"{percent(self.confidence)} confidence intervals, for the least favourable true answers.",
            *(() if self.crowd is None else self.crowd.lines(self.people, len(self.survey.questions))),
        ]
        for question in self.survey.questions:
            if isinstance(question.mechanism, HeavyHitters):
                least = question.mechanism.least_share(self.people, self.confidence)
                found = f"a word that {percent(least, direction='up')} of the people give is found nine times in ten"
                said = "hardly any word is found: ask more people, or for fewer letters" if least >= 1 else found
                lines.append(f"{question.name}: with {self.people:,} people {said}.")
        return [*lines, "Whether someone took part is not hidden, only what was answered."]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        series = self.survey.series_loss()
        return {
            "survey": self.survey.id,
            "digest": self.survey.digest,
            **({} if series is None else {"all_rounds": series.to_dict()}),
            "people": self.people,
            **({} if self.crowd is None else {"crowd": self.crowd.to_dict(self.survey.names)}),
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
                    **(
                        {"least_share": question.mechanism.least_share(self.people, self.confidence)}
                        if isinstance(question.mechanism, HeavyHitters)
                        else {}
                    ),
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
    delta: Number | None = None,
) -> SurveyPlan:
    """Check what is asked, before anything is computed."""
    read_count(people, "--people")
    read_confidence(confidence)
    posterior(prior, survey.epsilon)
    if within is not None:
        people_for(survey.questions[0], within, confidence)
    crowd = None if delta is None else hide_in_crowd(survey, people, delta)
    return SurveyPlan(survey, people, confidence, prior, within, crowd)
