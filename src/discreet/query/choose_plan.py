"""The best of some options by a private score, as a priced job: one of them is named, and no score is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from discreet.core.digest import text_of
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.release import percent
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.query.aggregate import total
from discreet.query.candidates import OPTION, Candidates
from discreet.query.compile import count_groups, measure_name
from discreet.query.contribution import fresh_salt
from discreet.query.notes import condition_notes, expression_notes, join_notes, limit_notes
from discreet.query.predicate import columns_of
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.table_plan import QuestionPlan, at_confidence, explained

__all__ = ["METHODS", "ChoosePlan", "plan_choice", "rows_needed"]

METHODS = ("auto", "permute-and-flip", "exponential")
_FINE = 10**12
_SHARES = (Fraction(1, 10), Fraction(1, 100))

Choice = Exponential | PermuteAndFlip


@dataclass(frozen=True, slots=True)
class ChoosePlan(QuestionPlan):
    """A choice of one option, by scores that one unit moves by at most its sensitivity.

    Guarantee: a run is one release of `choice`, and costs what that costs. Proof: docs/proofs/query-choose.md.
    """

    kind: ClassVar[str] = "choose"
    version: ClassVar[int] = 1
    candidates: Candidates
    allotment: Allotment
    confidence: float
    choice: Choice

    @property
    def question(self) -> Query:
        """The rows that count and the columns that are read."""
        return self.candidates.question

    @property
    def schema(self) -> Schema:
        """What is declared about the table."""
        return self.candidates.schema

    @property
    def groups(self) -> int:
        """How many options will be named."""
        return 1

    @property
    def cost(self) -> Loss:
        """What the choice costs."""
        return self.choice.loss()

    @property
    def mechanism(self) -> str:
        """What chooses, in words."""
        name = "permute-and-flip" if isinstance(self.choice, PermuteAndFlip) else "exponential mechanism"
        step, moved = self.candidates.step, self.choice.sensitivity
        return f"{name}, epsilon {float(self.choice.epsilon):.6g}, a score moves by at most {float(step * moved):.6g}"

    @property
    def query(self) -> dict[str, Any]:
        """What was asked as plain values, for the record."""
        found = self.candidates
        scores = [
            {"option": label, "score": each.column, "bounds": [str(each.lattice.lower), str(each.lattice.upper)]}
            for label, each in zip(found.labels, found.measures, strict=True)
        ]
        bare = found.question.to_dict()
        limits = {"limits": bare["limits"]} if "limits" in bare else {}
        return {"where": bare["where"], "choose": scores, **limits}

    @property
    def law(self) -> dict[str, Any]:
        """What beside the question decides the law of the result."""
        return {"choice": text_of(self.choice), "lattice": [text_of(each.lattice) for each in self.candidates.measures]}

    def explained(self) -> Explanation:
        """What there is to know before it is paid: how far behind the best the choice may be, and from how many rows
        on that is little."""
        shape = f"Releases one of {len(self.candidates.labels):,} options, and no score."
        needed = {share: rows_needed(self._behind, share * self.candidates.each) for share in _SHARES}
        sizes = ", ".join(
            f"{percent(float(share))} from {rows:,} {'row' if rows == 1 else 'rows'} on"
            for share, rows in needed.items()
        )
        note = f"Behind the best by at most this share of the largest possible score: {sizes}."
        made = explained(self, [shape], [*(each.text for each in self.notes), note])
        facts = {**made.facts, "rows_needed": {f"{float(share):g}": rows for share, rows in needed.items()}}
        return replace(made, facts=facts)

    @property
    def _behind(self) -> Fraction:
        """How far behind the best the choice is at most, in steps."""
        return self.choice.error(self.confidence, len(self.candidates.labels))

    def expected(self) -> list[Accuracy]:
        """How far behind the best option the one that is named may be, whatever the data."""
        behind = float(self._behind * self.candidates.step)
        unit = "point of score" if math.ceil(behind) == 1 else "points of score"  # it is shown rounded up
        return [Accuracy(OPTION, self.mechanism, behind, unit=unit, of="shortfall")]

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Sum the scores in the engine, and choose. Called by the one door only."""
        measures = self.candidates.measures
        found = count_groups(data, self.question, self.schema, measures, fresh_salt(bits))
        scores = [sum(found[measure_name(place)].tolist()) for place in range(len(measures))]  # none in an empty table
        return {"chosen": self.choice.release(scores, bits=bits)}

    def publish(self, measured: Mapping[str, Any], *, confidence: float | None = None) -> dict[str, Any]:
        """The option that was chosen, and how far behind the best it may be: what the plan said beforehand."""
        plan = at_confidence(self, confidence)
        (behind,) = plan.expected()
        error = Note("shortfall", f"What was chosen is {behind.error(plan.confidence)}, whatever the rows.", (OPTION,))
        return {
            "columns": {OPTION: [self.candidates.labels[measured["chosen"]]]},
            "keys": [OPTION],
            "outputs": [],
            "confidence": plan.confidence,
            "notes": [note.to_dict() for note in (*self.notes, error)],
        }

    @property
    def notes(self) -> list[Note]:
        """What limits, bounds and conditions do to the scores."""
        schema, question, names = self.schema, self.question, [OPTION]
        outputs = [(OPTION, total(self.candidates.measures[0].column))]
        columns = [each.column for each in self.candidates.measures]
        condition = [] if question.condition is None else columns_of(question.condition)
        uses = [(column, names) for column in dict.fromkeys([*columns[:1], *condition])]
        return [
            *limit_notes(schema.unit, outputs, 1),
            *join_notes(schema, self.columns, names),
            *condition_notes(question.condition, names, schema),
            *expression_notes(uses, schema),
            *self._cut(names),
        ]

    def _cut(self, names: Sequence[str]) -> list[Note]:
        """What a bound leaves out of the scores."""
        for each in self.candidates.measures:
            column = self.schema.numeric(each.column, "score")
            low, high = each.lattice.lower, each.lattice.upper
            if low > column.lower or high < column.upper:
                ends = f"{float(low):.15g}..{float(high):.15g}"
                text = (
                    f"What a row adds to a score is clipped to {ends}: the best option is the best by clipped scores."
                )
                return [Note("clipped", text, tuple(names))]
        return []


def rows_needed(behind: Fraction, each: Fraction) -> int:
    """From how many rows on a choice that is so far behind is so little behind for each row.

    >>> rows_needed(Fraction(30), Fraction(1, 10))
    300
    """
    return max(1, math.ceil(behind / each))


def plan_choice(candidates: Candidates, allotment: Allotment, price: Price, method: str = "auto") -> ChoosePlan:
    """Price a choice: permute-and-flip where epsilon is counted, the exponential mechanism, whose range is bounded,
    where rho is."""
    if allotment.kind == "plan":
        raise InputError(
            "allotment", allotment.name, "a pure or zcdp allotment: a plan allotment pays for one fixed plan"
        )
    if method not in METHODS:
        raise InputError("method", method, among=METHODS)
    currency, amount = price.spent(allotment)
    kind: type[Choice] = PermuteAndFlip if currency == "epsilon" else Exponential
    if method != "auto":
        kind = Exponential if method == "exponential" else PermuteAndFlip
    # A bounded range of epsilon is epsilon^2/8-zCDP, pure epsilon is epsilon^2/2.
    times = 8 if kind is Exponential else 2
    epsilon = amount if currency == "epsilon" else Fraction(math.isqrt(int(times * amount * _FINE**2)), _FINE)
    choice = kind(epsilon, sensitivity=candidates.sensitivity, monotone=candidates.monotone)
    return ChoosePlan(candidates, allotment, price.confidence, choice)
