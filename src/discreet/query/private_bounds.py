"""Sums and means whose bounds nobody knows: one job that first searches for bounds and then answers with them.

The price is divided by a fixed rule before anything is read. Whatever bounds the search finds, the noise of the answer
is made for them and costs the same: its scale follows from what was published, and from the price.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, TypeGuard

from discreet.accounting.compose import compose
from discreet.accounting.words import readable
from discreet.core.digest import text_of
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import ZCDP, Loss, Pure, Repeated
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.release import percent
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours
from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.query.aggregate import Aggregate, Bounded, VectorMean, settled
from discreet.query.measure import Measure, Moment, Rows, Total, sensitivity
from discreet.query.notes import declared_notes
from discreet.query.plan import QueryPlan, noise_name, plan_query
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.range_search import SURE, Pair, RangeSearch, moved_by_one, round_bins
from discreet.query.table_plan import QuestionPlan, explained, rows_published

__all__ = ["SEARCHED", "BoundsPlan", "plan_bounds", "slots"]

SEARCHED = Fraction(1, 4)
"""The part of the price that all searches for bounds take together; the rest buys the answer."""

_NEAR = 2**24  # no square on its lattice is larger, nor a number whose lattice begins or is centred at zero
_FAR = 2**30 + 1  # nor any number at all


@dataclass(frozen=True, slots=True)
class BoundsPlan(QuestionPlan):
    """A question with private bounds: the searches for them, and the price that the answer will keep to.

    Guarantee: a run is the adaptive composition of `searches` and of at most `measured` releases that cost `each`, for
    all bounds that may be found. Proof: docs/proofs/private_bounds.md.
    """

    kind: ClassVar[str] = "question"
    version: ClassVar[int] = 1
    question: Query
    schema: Schema
    allotment: Allotment
    price: Price
    searches: tuple[RangeSearch, ...]

    @property
    def confidence(self) -> float:
        """Of every interval."""
        return self.price.confidence

    @property
    def groups(self) -> int:
        """How many groups will be published."""
        return self.question.groups(self.schema)

    @property
    def measured(self) -> int:
        """How many measures the answer takes at most."""
        return slots(self.question, self.schema)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What would be measured if nothing but the declared bounds were found."""
        return self.answering({}).measures

    @property
    def given(self) -> tuple[Measure, ...]:
        """What is measured with bounds that are known already."""
        known = [aggregate for _, aggregate in self.question.outputs if not _private(aggregate)]
        return tuple(dict.fromkeys(measure for aggregate in known for measure in aggregate.measures(self.schema)))

    @property
    def each(self) -> Loss:
        """What one measure costs, whatever bounds are found: the noise is made for them, at this price."""
        currency, whole = self.price.spent(self.allotment)
        amount = whole * (1 - SEARCHED) / self.measured
        if currency == "rho":
            return ZCDP(amount)
        moved = sensitivity(Rows(), self.schema.unit, self.groups)
        if moved.shared:  # one group may take all of it
            return Pure(amount)
        return Repeated(Pure(amount / moved.outputs), moved.outputs)

    @property
    def cost(self) -> Loss:
        """The price of the whole question: every search, and every measure that may be taken."""
        return compose([*(search.loss() for search in self.searches), Repeated(self.each, self.measured)])

    @property
    def mechanism(self) -> str:
        """What hides one unit in each step, in words."""
        first = [
            f"counts of {search.grid.bins} bins of {search.column}, {noise_name(search.noise)}"
            for search in self.searches
        ]
        return "; ".join([*first, f"then {self.noise}"])

    @property
    def noise(self) -> str:
        """What the answer gets, in words."""
        currency, whole = self.price.spent(self.allotment)
        law = "Laplace" if currency == "epsilon" else "Gaussian"
        share = float(whole * (1 - SEARCHED) / self.measured)
        return f"discrete {law} for {currency} {share:.6g}, made for the bounds found"

    @property
    def law(self) -> dict[str, Any]:
        """What beside the question decides the law of the result."""
        return {
            "price": [str(part) for part in (*self.price.spent(self.allotment), SEARCHED)],
            "searches": [text_of(search) for search in self.searches],
        }

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        notes = [note.text for note in declared_notes(self.question, self.schema)]
        notes += [note.text for note in self.searched_notes()]
        return explained(self, [rows_published(self.groups)], notes, self._steps())

    def searched_notes(self) -> list[Note]:
        """What bounds that were searched for do to the outputs, and what they are themselves."""
        notes = []
        for search in self.searches:
            name = search.column
            text = (
                f"Values of {name} outside {name}_low..{name}_high, which are released too, are clipped to the nearer "
                "bound. Intervals cover the noise, not the clipping error, which may be larger. The bounds come from "
                "a noisy search. If no bin seems to have rows, they are the declared ones."
            )
            moved = [output for output, one in self.question.outputs if _private(one) and one.column == name]
            notes.append(Note("searched", text, (*moved, f"{name}_low", f"{name}_high")))
        return notes

    def _steps(self) -> list[str]:
        """How bounds come to be found, and at which price the answer is then made."""
        currency, whole = self.price.spent(self.allotment)
        lines = []
        for search in self.searches:
            grid, share = search.grid, SEARCHED / len(self.searches)
            lines += [
                f"First, bounds of {search.column}, for {currency} = {readable(whole * share)} ({share}): counts of "
                f"{grid.bins:,} bins that end at round numbers in {float(grid.edges[0]):g}..{float(grid.edges[-1]):g}; "
                f"{noise_name(search.noise)}.",
                f"  Bins of more than {2 * search.sure:,} rows are within the bounds, and no isolated empty bin is "
                f"({percent(SURE)}). An empty bin next to the others is included with probability at most 1/20.",
            ]
        rest = 1 - SEARCHED
        return [*lines, f"Then, for {currency} = {readable(whole * rest)} ({rest}) whatever was found, the answer:"]

    def expected(self) -> list[Accuracy]:
        """The error of every output at the plan's confidence; where bounds are private, in units of what is found."""
        named = dict(self.question.outputs)
        found = []
        for expected in self.answering({}).expected():
            aggregate = named[expected.output]
            if not _private(aggregate):
                found.append(expected)
                continue
            size, unit = aggregate.unit(self.schema)
            half = None if expected.half_width is None else expected.half_width / size
            by_rows = tuple((rows, width / size) for rows, width in expected.by_rows)
            found.append(Accuracy(expected.output, self.noise, half, by_rows, unit=unit))
        return found

    def answering(self, found: Mapping[str, Pair]) -> QueryPlan:
        """The plan of the answer for these bounds; where a column has none yet, for the declared ones.

        Every measure gets the same part of the price, however many there turn out to be.
        """
        outputs = tuple((name, _answered(aggregate, found, self.schema)) for name, aggregate in self.question.outputs)
        question = replace(self.question, outputs=outputs)
        taken = len({measure for _, aggregate in outputs for measure in aggregate.measures(self.schema)})
        part = self.price.part((1 - SEARCHED) * Fraction(taken, self.measured))
        # Each measure has the price it was charged: one that is not taken must not go to the others.
        return plan_query(question, self.schema, self.allotment, part, declared_rows=False)

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Search, then measure with what was found. Called by the one door only."""
        return self.draw(data, bits)

    def draw(self, data: Connection, bits: Bits, salt: Sequence[int] | None = None) -> dict[str, Any]:
        """Bounds and noisy measures, for a job this plan is a part of; `salt` is that of the whole question."""
        rows, keys = Query(self.question.condition), self.question.keys
        found = {
            search.column: search.found(search.counts(rows, keys, self.schema, data, bits)) for search in self.searches
        }
        # From here on the bounds are public: noisy counts and fixed rules are all that they are made of.
        drawn = self.answering(found).draw(data, bits, salt)
        return {"bounds": {column: [str(bound) for bound in pair] for column, pair in found.items()}, **drawn}

    def publish(self, measured: Mapping[str, Any], *, confidence: float | None = None) -> dict[str, Any]:
        """The table of results, and the bounds that were found."""
        bounds = {search.column: measured["bounds"][search.column] for search in self.searches}
        found = {column: (Fraction(low), Fraction(high)) for column, (low, high) in bounds.items()}
        table = self.answering(found).publish(measured, confidence=confidence)
        columns, outputs = table["columns"], table["outputs"]
        for column, (low, high) in found.items():
            whole = isinstance(self.schema.columns[column], Integer)
            for name, bound in ((f"{column}_low", low), (f"{column}_high", high)):
                told = [int(bound) if whole else float(bound)] * self.groups
                columns |= {name + end: list(told) for end in ("", "_lower", "_upper")}
                outputs = [*outputs, name]
        notes = [*table["notes"], *(note.to_dict() for note in self.searched_notes())]
        return {**table, "columns": columns, "outputs": outputs, "notes": notes}


def slots(question: Query, schema: Schema) -> int:
    """How many different measures the sums of a question take at most, whatever bounds are found for private ones.

    Bounds that are found may make two of them equal; that is not known before, and does not change what each is paid.
    """
    different: set[Any] = set()
    for _, aggregate in question.outputs:
        for measure in settled(aggregate, None).measures(schema):
            if _private(aggregate) and isinstance(measure, (Total, Moment)):
                different.add((measure.column, getattr(measure, "power", 0)))
            else:
                different.add(measure)
    return len(different)


def plan_bounds(question: Query, schema: Schema, allotment: Allotment, price: Price) -> BoundsPlan:
    """Read a question with private bounds against its schema and price it. Raises before anything is spent."""
    schema = question.limited(schema)
    checked = question.checked(schema)
    if price.way == "within":
        hint = (
            "Give epsilon, rho or share; the plan then says how far answers may be off, as a part of the range found."
        )
        allowed = "left out where bounds are private: how far answers err depends on the bounds found"
        raise InputError("within", float(price.amount), allowed, hint)
    if vectors := [name for name, output in checked.outputs if isinstance(output, VectorMean)]:
        hint = "Ask for it in a question of its own."
        raise InputError(
            "outputs", vectors[0], "other outputs than mean([...], norm=...) where bounds are private", hint
        )
    if allotment.kind == "plan":
        raise InputError(
            "allotment", allotment.name, "a pure or zcdp allotment: a plan allotment pays for one fixed plan"
        )
    moved = moved_by_one(schema.unit)
    grids = {column: round_bins(schema, column) for column in checked.searched}
    counted = sensitivity(Rows(), schema.unit, checked.groups(schema))
    # No bounds that may be found are to fail later: noise is made for the least and the most that a unit can move.
    ends = [Sensitivity(1, 1 if counted.shared else counted.outputs)]
    ends += [Sensitivity(_most(checked, schema), counted.outputs)]
    rest = (1 - SEARCHED) * Fraction(len(ends), slots(checked, schema))
    try:
        noises = price.part(SEARCHED).buys(allotment, [moved] * len(grids), [None] * len(grids))
        price.part(rest).buys(allotment, ends, [None] * len(ends))
    except InputError as problem:  # a part of the price is not what a person wrote
        got = float(price.amount) if problem.field == price.way else problem.got
        raise InputError(problem.field, got, problem.allowed, problem.hint) from None
    searches = tuple(
        RangeSearch(column, grid, noise, moved) for (column, grid), noise in zip(grids.items(), noises, strict=True)
    )
    plan = BoundsPlan(checked, schema, allotment, price, searches)
    plan.answering({})
    return plan


def _private(aggregate: Aggregate) -> TypeGuard[Bounded]:
    return isinstance(aggregate, Bounded) and aggregate.private


def _answered(aggregate: Aggregate, found: Mapping[str, Pair], schema: Schema) -> Aggregate:
    """The same with the bounds found, as it takes them."""
    if not _private(aggregate) or aggregate.column not in found:
        return settled(aggregate, None)
    return settled(aggregate, aggregate.stretched(*found[aggregate.column], schema))


def _most(question: Query, schema: Schema) -> int:
    """What no unit adds more than to any measure of the answer, in steps, whatever bounds are found."""
    unit, most = schema.unit, _NEAR
    taken = [measure for _, output in question.outputs for measure in settled(output, None).measures(schema)]
    summed = {measure.column for measure in taken if isinstance(measure, Total)}
    for name in question.searched:
        column = schema.numeric(name, "bounds")
        if isinstance(column, Integer):  # whole numbers keep steps of one
            most = max(most, min(math.ceil(max(abs(column.lower), abs(column.upper))) + 1, _FAR))
        elif name in summed and not column.lower <= 0 <= column.upper:
            most = _FAR
    ends = 1 if unit.neighbours is Neighbours.ADD_REMOVE else 2
    return ends * most * unit.most_rows
