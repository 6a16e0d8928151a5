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
        How often each report came to question j among the `people` reports is (each[j], delta)-differentially private
        in one person's answer to it; the counts of all questions are (together, delta)-private in all answers of one
        person, cross-tables that the survey declares included. Neighbours have other answers. The reports of all
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
            "reports arrive (survey serve --no-results), and that the others are real: forged reports hide nobody. "
            "Without that the first epsilon holds."
        ]

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Plain values."""
        each = {name: float(epsilon) for name, epsilon in zip(names, self.each, strict=True)}
        return {"delta": float(self.delta), "each": each, "together": float(self.together)}


def hide_in_crowd(survey: Questionnaire, people: int, delta: Number) -> Crowd:
    """What the reports of so many people cost if nobody knows whose is whose.

    All together: the reports of a person as one report, or the questions one by one, each with its part of delta;
    whichever is less.
    """
    miss = as_written(delta, "delta")
    if not 0 < miss < 1:
        raise InputError("delta", delta, "more than 0 and less than 1, such as 1e-6")
    if survey.rounds:
        hint = "Reports of several rounds of one person are not independent."
        raise InputError("delta", delta, "left out for a survey with [repeat]", hint)

    def of(part: Fraction) -> tuple[Fraction, ...]:
        mechanisms = [one.mechanism for one in survey.questions]
        return tuple(
            Fraction(shuffled(one if isinstance(one, Responder) else one.spent, people, part).epsilon)
            for one in mechanisms
        )

    each, parts = of(miss), of(miss / len(survey.questions))
    whole = Fraction(shuffled(survey.epsilon, people, miss).epsilon)
    # A cross-table joins two answers of a person: only the report as a whole is proved to hide then.
    return Crowd(miss, each, whole if survey.cross else min(whole, sum(parts, Fraction(0))))
