"""What a report costs against someone who sees the results alone: how often each report came, and not whose it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting.words import readable
from discreet.core.exact import Number, as_written
from discreet.errors import InputError
from discreet.local.protocol import Responder
from discreet.local.questionnaire.questionnaire import Questionnaire
from discreet.local.shuffle import shuffled

__all__ = ["Crowd", "hide_in_crowd"]


@dataclass(frozen=True, slots=True)
class Crowd:
    """The epsilon of each question, and of all together, if the reports are shuffled; each at `delta`.

    Guarantee
        The counts of all questions, and of the pairs of reports in cross-tables that the survey declares, are
        (each[j], delta)-differentially private in one person's answer to question j, and (together, delta)-private in
        all answers of one person. Neighbours have other answers. The reports of all
        others are made as the page makes them. The counts are seen once, when all reports are there: whoever sees them
        before and after a report arrives sees that report, for which the local epsilon alone holds.
        Proof: docs/proofs/survey.md.
    """

    delta: Fraction
    each: tuple[Fraction, ...]
    together: Fraction

    def lines(self, people: int, questions: int) -> list[str]:
        """How it is to be read."""
        every = "" if questions == 1 else f", and all answers together at most epsilon = {readable(self.together, 3)}"
        return [
            f"In the crowd: someone who sees the results of {people:,} people, not who sent what, learns of an answer "
            f"at most what that epsilon says (delta = {readable(self.delta)}){every}. This needs that whoever stores "
            "the reports tells nobody whose they are, that results are shown when all have answered and not while "
            "reports arrive (survey serve --no-results), of everybody and not by groups, with no cross-tables but "
            "those that the survey declares, and that the others are real: forged reports hide nobody. Without that "
            "the first epsilon holds."
        ]

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Plain values."""
        each = {name: float(epsilon) for name, epsilon in zip(names, self.each, strict=True)}
        return {"delta": float(self.delta), "each": each, "together": float(self.together)}


def hide_in_crowd(survey: Questionnaire, people: int, delta: Number) -> Crowd:
    """What the reports of so many people cost if nobody knows whose is whose.

    Questions that cross-tables join hide as one report: in a cross-table an answer hides among those who sent the same
    to the other question, who may be few. All together: the reports of a person as one report, or what is joined one by
    one, each with its part of delta; whichever is less.
    """
    miss = as_written(delta, "delta")
    if not 0 < miss < 1:
        raise InputError("delta", delta, "more than 0 and less than 1, such as 1e-6")
    if survey.rounds:
        hint = "Reports of several rounds of one person are not independent."
        raise InputError("delta", delta, "left out for a survey with [repeat]", hint)
    joined = _joined(survey)

    def of(part: Fraction) -> list[Fraction]:
        return [Fraction(shuffled(_randomiser(survey, group), people, part).epsilon) for group in joined]

    alone = dict(zip(joined, of(miss), strict=True))
    each = tuple(
        min(question.epsilon, next(cost for group, cost in alone.items() if place in group))
        for place, question in enumerate(survey.questions)
    )
    whole = Fraction(shuffled(survey.epsilon, people, miss).epsilon)
    return Crowd(miss, each, min(whole, sum(of(miss / len(joined)), Fraction(0))))


def _joined(survey: Questionnaire) -> list[tuple[int, ...]]:
    """The questions, those together that cross-tables join, also over others."""
    groups = [{place} for place in range(len(survey.questions))]
    for pair in survey.cross:
        places = {survey.place(name, "cross") for name in pair}
        met = [group for group in groups if group & places]
        groups = [group for group in groups if not group & places] + [set().union(*met)]
    return sorted(tuple(sorted(group)) for group in groups)


def _randomiser(survey: Questionnaire, group: tuple[int, ...]) -> Fraction | Responder:
    """What is known of the law of these reports together: their epsilon, or the mechanism of a single one."""
    mechanism = survey.questions[group[0]].mechanism
    if len(group) == 1 and isinstance(mechanism, Responder):
        return mechanism
    return sum((survey.questions[place].epsilon for place in group), Fraction(0))
