"""A priced question: what it costs and how far its answers may be off, known without looking at the data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
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
from discreet.core.unit import Unit
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.mechanisms import Gaussian, Laplace
from discreet.query.aggregate import Aggregate, Derived
from discreet.query.compile import GROUP, count_groups, measure_name
from discreet.query.contribution import fresh_salt
from discreet.query.estimate import estimate, linear_step
from discreet.query.known_rows import NO_NOISE, NoNoise, is_known, known_rows, known_step, row_count_note
from discreet.query.measure import Complete, Coordinate, Measure, Rows, sensitivity
from discreet.query.notes import declared_notes, published_notes
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.table_plan import QuestionPlan, at_confidence, explained, rows_published
from discreet.query.vector_price import counts_once, priced_with, vector_moved

__all__ = ["QueryPlan", "noise_name", "plan_query"]

Noise = Laplace | Gaussian
_SIZES = (100, 1_000, 10_000)


@dataclass(frozen=True)
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
    rows: int | None = None
    """The number of rows, where it is declared and public: then it is not measured."""

    @property
    def groups(self) -> int:
        """How many groups will be published."""
        return self.question.groups(self.schema)

    @cached_property
    def moved(self) -> tuple[Sensitivity, ...]:
        """How far one unit can move each measure."""
        pairs = zip(self.measures, self.noises, strict=True)
        return tuple(_moved(measure, self.schema.unit, self.groups, type(noise)) for measure, noise in pairs)

    @cached_property
    def cost(self) -> Loss:
        """The price of the whole question: the composition of its measures."""
        parts = zip(self.measures, self.noises, self.moved, strict=True)
        return compose([noise.loss(moved) for measure, noise, moved in parts if counts_once(measure)])

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        return "; ".join(dict.fromkeys(noise_name(noise) for noise in self.noises))

    @property
    def law(self) -> dict[str, Any]:
        """What beside the question decides the law of the result."""
        known = {} if self.rows is None else {"rows": self.rows}
        return {"noise": [text_of(noise) for noise in self.noises], **known}

    def explained(self) -> Explanation:
        """What it costs a reader to know before they spend."""
        notes = [note.text for note in self._declared_notes()]
        return explained(self, [rows_published(self.groups)], notes)

    def _declared_notes(self) -> list[Note]:
        divided = [name for name, one in self.question.outputs if any(map(self._known, one.measures(self.schema)))]
        known = [] if self.rows is None else [row_count_note(tuple(divided), self.rows)]
        return [*declared_notes(self.question, self.schema), *known]

    def expected(self) -> list[Accuracy]:
        """The error of every output at the plan's confidence, from the noise alone."""
        found = []
        for name, aggregate in self.question.outputs:
            noises = [noise for _, noise in self._taken(aggregate)]
            words_ = "; ".join(dict.fromkeys(noise_name(noise) for noise in noises))
            step = linear_step(aggregate, self.schema) or known_step(aggregate, self.schema, self.rows)
            if step is not None:
                found.append(Accuracy(name, words_, float(noises[0].error(self.confidence) * step)))
            else:
                sizes = _SIZES if self.rows is None else (self.rows,)
                by_rows = tuple((rows, self._typical(aggregate, noises, rows)) for rows in sizes)
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
        found = count_groups(data, self.question, self.schema, self.measures, salt)
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
            taken = self._taken(aggregate)
            rows = np.full(self.groups, self.rows or 0, dtype=np.int64)
            values = [rows if index is None else noisy[index] for index, _ in taken]
            result = estimate(aggregate, self.schema, values, [noise for _, noise in taken], self.confidence)
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
        return [*self._declared_notes(), *found]

    def _known(self, measure: Measure) -> bool:
        return is_known(measure, self.rows)

    def _taken(self, aggregate: Aggregate) -> list[tuple[int | None, Noise | NoNoise]]:
        """Where each of its measures stands among those with noise, and that noise; no place for one that is public."""
        found: list[tuple[int | None, Noise | NoNoise]] = []
        for measure in aggregate.measures(self.schema):
            index = None if self._known(measure) else self.measures.index(measure)
            found.append((index, NO_NOISE if index is None else self.noises[index]))
        return found

    def _typical(self, aggregate: Aggregate, noises: Sequence[Noise | NoNoise], rows: int) -> float:
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


def plan_query(
    question: Query, schema: Schema, allotment: Allotment, price: Price, *, declared_rows: bool = True
) -> QueryPlan:
    """Read a question against its schema and price it. Raises before anything is spent.

    Without `declared_rows`, a number of rows is measured also where it is declared.
    """
    schema = question.limited(schema)
    checked = question.checked(schema)
    if checked.ordered:
        raise InputError("outputs", checked.ordered[0][0], "sums and counts: quantiles have a plan of their own")
    measures: list[Measure] = []
    steps: dict[Measure, Fraction | None] = {}
    every = [measure for _, aggregate in checked.outputs for measure in aggregate.measures(schema)]
    rows = known_rows(checked, schema) if declared_rows and Rows() in every and {*every} != {Rows()} else None
    linear = [linear_step(one, schema) or known_step(one, schema, rows) for _, one in checked.outputs]
    for (_, aggregate), step in zip(checked.outputs, linear, strict=True):
        for measure in aggregate.measures(schema):
            if is_known(measure, rows):
                continue
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
    kind = Laplace if price.kind(allotment) == "laplace" else Gaussian
    moved = [_moved(each, schema.unit, groups, kind) for each in measures if counts_once(each)]
    if price.way == "within" and None in linear:
        price.buys(allotment, moved, [None] * len(moved))
    once = [each for each in measures if counts_once(each)]
    bought = dict(zip(once, price.buys(allotment, moved, [steps[each] for each in once]), strict=True))
    noises = [bought[priced_with(each)] for each in measures]
    return QueryPlan(checked, schema, allotment, price.confidence, tuple(measures), tuple(noises), rows)


def _moved(measure: Measure, unit: Unit, groups: int, noise: type[Noise]) -> Sensitivity:
    """How far one unit moves a measure, or the vector that it is a coordinate of."""
    if isinstance(measure, Coordinate):
        return vector_moved(measure, unit, groups, noise)
    return sensitivity(measure, unit, groups)


def noise_name(noise: Noise | NoNoise) -> str:
    """What a noise is called in plans and records."""
    if isinstance(noise, NoNoise):
        return "over the declared number of rows"
    if isinstance(noise, Laplace):
        return f"discrete Laplace, scale {float(noise.scale):.6g}"
    return f"discrete Gaussian, sigma {float(noise.sigma):.6g}"
