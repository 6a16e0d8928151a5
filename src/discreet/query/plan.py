"""A priced question: what it costs and how far its answers may be off, known without looking at the data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.accounting.compose import compose
from discreet.core.decision import Decision, decide
from discreet.core.digest import text_of
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.packing import pack, unpack
from discreet.core.sensitivity import Sensitivity
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.mechanisms import Gaussian, Laplace
from discreet.query.aggregate import Aggregate, Derived
from discreet.query.compile import GROUP, compile_query, measure_name
from discreet.query.contribution import fresh_salt
from discreet.query.estimate import estimate, linear_step
from discreet.query.measure import Complete, Measure, Rows, sensitivity
from discreet.query.notes import declared_notes, published_notes
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.table_plan import QuestionPlan, at_confidence, explained, rows_published

__all__ = ["QueryPlan", "noise_name", "plan_query"]

Noise = Laplace | Gaussian
_SIZES = (100, 1_000, 10_000)


@dataclass(frozen=True, slots=True)
class QueryPlan(QuestionPlan):
    """A question, the noise it will get, and its price. Nothing is read and nothing is spent by making one."""

    kind: ClassVar[str] = "question"
    version: ClassVar[int] = 1
    question: Query
    schema: Schema
    allotment: Allotment
    confidence: float
    measures: tuple[Measure, ...]
    noises: tuple[Noise, ...]

    @property
    def groups(self) -> int:
        """How many groups will be published."""
        return self.question.groups(self.schema)

    @property
    def moved(self) -> tuple[Sensitivity, ...]:
        """How far one unit can move each measure."""
        return tuple(sensitivity(measure, self.schema.unit, self.groups) for measure in self.measures)

    @property
    def cost(self) -> Loss:
        """The price of the whole question: the composition of its measures."""
        return compose([noise.loss(moved) for noise, moved in zip(self.noises, self.moved, strict=True)])

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        return "; ".join(dict.fromkeys(noise_name(noise) for noise in self.noises))

    @property
    def law(self) -> dict[str, Any]:
        """What beside the question decides the law of the result."""
        return {
            "noise": [text_of(noise) for noise in self.noises],
        }

    def explained(self) -> Explanation:
        """What it costs a reader to know before they spend."""
        notes = [note.text for note in declared_notes(self.question, self.schema)]
        return explained(self, [rows_published(self.groups)], notes)

    def expected(self) -> list[Accuracy]:
        """The error of every output at the plan's confidence, from the noise alone."""
        found = []
        for name, aggregate in self.question.outputs:
            noises = [self.noises[i] for i in self._indices(aggregate)]
            words_ = "; ".join(dict.fromkeys(noise_name(noise) for noise in noises))
            step = linear_step(aggregate, self.schema)
            if step is not None:
                found.append(Accuracy(name, words_, noises[0].error(self.confidence) * step))
            else:
                by_rows = tuple((rows, self._typical(aggregate, noises, rows)) for rows in _SIZES)
                found.append(Accuracy(name, words_, None, by_rows))
        return found

    def decide(
        self,
        sizes: Mapping[Any, float] | Sequence[float],
        *,
        fund: float | None = None,
        threshold: float | None = None,
        by: str | Mapping[Any, Any] | None = None,
        output: str | None = None,
        repair: str | None = None,
    ) -> Decision:
        """What its noise would do to a decision if groups had these public or assumed `sizes`: see `Release.decide`."""
        from discreet.query.assumed_sizes import assumed_trials

        trials = assumed_trials(self, sizes, output)
        return decide(trials, fund=fund, threshold=threshold, by=by, repair=repair, confidence=self.confidence)

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count in the engine, add the noise. Called by the one door only."""
        return self.draw(data, bits)

    def draw(self, data: Connection, bits: Bits, salt: Sequence[int] | None = None) -> dict[str, Any]:
        """The noisy measures, for a job this plan is a part of; `salt` is that of the whole question."""
        salt = fresh_salt(bits) if salt is None else salt
        expression = compile_query(self.question, self.schema, self.measures, data.table, salt)
        found = data.integers(expression)
        noisy = []
        for index, noise in enumerate(self.noises):
            exact = np.zeros(self.groups, dtype=np.int64)
            exact[found[GROUP]] = found[measure_name(index)]
            noisy.append(noise.release(exact, bits=bits))
        return {"noisy": pack(np.stack(noisy))}

    def publish(self, measured: Mapping[str, Any], *, confidence: float | None = None) -> dict[str, Any]:
        """The table of results, with intervals of the plan's confidence or of another one."""
        return at_confidence(self, confidence).table(list(unpack(measured["noisy"])))

    def table(self, noisy: Sequence[Any]) -> dict[str, Any]:
        """The table of results made from noisy measures alone."""
        columns = self.question.key_columns(self.schema)
        for name, aggregate in self.question.outputs:
            places = self._indices(aggregate)
            result = estimate(
                aggregate, self.schema, [noisy[i] for i in places], [self.noises[i] for i in places], self.confidence
            )
            for end, numbers in (("", result.value), ("_lower", result.lower), ("_upper", result.upper)):
                columns[name + end] = [None if number != number else number for number in numbers.tolist()]
        return {
            "columns": columns,
            "keys": [key.title for key in self.question.keys],
            "outputs": [name for name, _ in self.question.outputs],
            "confidence": self.confidence,
            "notes": [note.to_dict() for note in self.notes(columns)],
        }

    def notes(self, columns: Mapping[str, Any]) -> list[Note]:
        """What an interval of these published columns does not hold."""
        found = published_notes(self.question.outputs, columns, self.confidence)
        return [*declared_notes(self.question, self.schema), *found]

    def _indices(self, aggregate: Aggregate) -> list[int]:
        return [self.measures.index(measure) for measure in aggregate.measures(self.schema)]

    def _typical(self, aggregate: Aggregate, noises: list[Noise], rows: int) -> float:
        """About half the width of the interval for a group of so many rows with values in the middle of the bounds.

        Each measure is moved by its own half-width, and what that does to the output is added in squares.
        """
        times = 1.0
        if isinstance(aggregate, Derived):
            aggregate, times = aggregate.stated
        exact = [float(rows) if isinstance(m, (Rows, Complete)) else 0.0 for m in aggregate.measures(self.schema)]
        total = 0.0
        for place, noise in enumerate(noises):
            ends = []
            for sign in (-1, 1):
                moved = [np.array([value]) for value in exact]
                moved[place] = moved[place] + sign * noise.error(self.confidence)
                ends.append(float(aggregate.estimate(self.schema, moved)[0]))
            total += ((ends[1] - ends[0]) / 2) ** 2
        return math.sqrt(total) * times


def plan_query(question: Query, schema: Schema, allotment: Allotment, price: Price) -> QueryPlan:
    """Read a question against its schema and price it. Raises before anything is spent."""
    schema = question.limited(schema)
    checked = question.checked(schema)
    if checked.ordered:
        raise InputError("outputs", checked.ordered[0][0], "sums and counts: quantiles have a plan of their own")
    measures: list[Measure] = []
    steps: dict[Measure, Fraction | None] = {}
    for _, aggregate in checked.outputs:
        step = linear_step(aggregate, schema)
        for measure in aggregate.measures(schema):
            if measure not in steps:
                measures.append(measure)
                steps[measure] = None
            if step is not None:
                steps[measure] = Fraction(step)
    if allotment.kind == "plan":
        raise InputError(
            "allotment", allotment.name, "a pure or zcdp allotment: a plan allotment pays for one fixed plan"
        )
    groups = checked.groups(schema)
    moved = [sensitivity(measure, schema.unit, groups) for measure in measures]
    if price.way == "within" and any(linear_step(aggregate, schema) is None for _, aggregate in checked.outputs):
        price.buys(allotment, moved, [None] * len(moved))
    noises = price.buys(allotment, moved, [steps[measure] for measure in measures])
    return QueryPlan(checked, schema, allotment, price.confidence, tuple(measures), tuple(noises))


def noise_name(noise: Noise) -> str:
    """What a noise is called in plans and records."""
    if isinstance(noise, Laplace):
        return f"discrete Laplace, scale {float(noise.scale):.6g}"
    return f"discrete Gaussian, sigma {float(noise.sigma):.6g}"
