"""The same questions in several rounds: what the reports of all rounds cost one person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.posterior import posterior
from discreet.accounting.words import percent, readable
from discreet.core.exact import Number
from discreet.errors import InputError
from discreet.local.questionnaire.question import Question

__all__ = ["SeriesLoss", "series_loss"]


@dataclass(frozen=True, slots=True)
class SeriesLoss:
    """What one person's reports of all rounds cost, all questions together.

    Guarantee
        Reports of all `rounds` are `same`-differentially private in answers that stay the same on a device that
        remembers, and `changing`-differentially private in answers that change in any way, known or not, on a device
        that may forget. Proof: docs/proofs/survey.md, "Rounds".
    """

    rounds: int
    same: Fraction
    changing: Fraction

    def words(self) -> str:
        """Both bounds, and what each of them assumes."""
        return (
            f"All {self.rounds} reports of one person together cost epsilon = {readable(self.same, 4)} if the answers "
            f"stay the same, and at most {readable(self.changing, 4)} if they change. The second bound also holds if "
            "the device forgets: a private window, another device, deleted data."
        )

    def reveals(self, prior: Number) -> str:
        """What all reports together can reveal, in one line."""
        same, changing = (posterior(prior, epsilon) for epsilon in (self.same, self.changing))
        return (
            f"About all your answers in {self.rounds} rounds: someone who thought {percent(same.prior)} before the "
            f"first report will think at most {percent(same.high, direction='up')} after the last one if your answers "
            f"stay the same, and at most {percent(changing.high, direction='up')} if they change or this device "
            "forgets, whatever is sent."
        )

    def to_dict(self) -> dict[str, float | int]:
        """Plain values."""
        return {"rounds": self.rounds, "same": float(self.same), "changing": float(self.changing)}


def series_loss(questions: Sequence[Question], rounds: int) -> SeriesLoss:
    """What `rounds` reports to these questions cost: each question has memories and draws of its own, so costs add."""
    same = changing = Fraction(0)
    for question in questions:
        if question.repeated is None:
            raise InputError("questions", question.name, "a question with an instant epsilon")
        same += question.repeated.loss(rounds).epsilon
        changing += question.repeated.loss(rounds, hidden=True).epsilon
    return SeriesLoss(rounds, min(same, changing), changing)
