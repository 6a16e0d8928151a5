"""A priced question whose keys nobody listed: first which of them may be shown, then the measures of those.

Both steps see the same bounded table. The price is divided evenly: the selection gets as much as each measure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.accounting.calibrate import epsilon_for_rho
from discreet.accounting.compose import compose
from discreet.accounting.words import readable
from discreet.core.digest import text_of
from discreet.core.exact import Number
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Approx, Loss, Repeated
from discreet.core.mechanism import Bits
from discreet.core.packing import pack
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, Unit
from discreet.data.column import Boolean, Column, Date, Integer, Text, Timestamp
from discreet.data.instant import Instant
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.mechanisms import Gaussian, Laplace, PartitionSelection
from discreet.noise.bits import words
from discreet.query.compile import GROUP, measure_name
from discreet.query.discovery import LONGEST, PEOPLE, WORDS, compile_discovery, part_name
from discreet.query.key import published
from discreet.query.measure import Measure, sensitivity
from discreet.query.notes import declared_notes, published_notes
from discreet.query.plan import QueryPlan
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.table_plan import QuestionPlan, explained

__all__ = ["CROWDS", "DiscoveryPlan", "plan_discovery"]

Noise = Laplace | Gaussian

CROWDS = (1, 5, 10, 20, 50)
"""The numbers of units for which a plan states the chance that their key appears."""

_MANY = 2**62  # how many combinations there may be: nothing is known of it


@dataclass(frozen=True, slots=True)
class DiscoveryPlan(QuestionPlan):
    """A question with discovered keys, the selection of keys, the noise, and the price of all of it.

    Guarantee: a run is the adaptive composition of `selection`, which costs `selected`, and of one release for each
    measure. Proof: docs/proofs/query-unknown-keys.md.
    """

    kind: ClassVar[str] = "question"
    version: ClassVar[int] = 1
    question: Query
    schema: Schema
    allotment: Allotment
    confidence: float
    measures: tuple[Measure, ...]
    noises: tuple[Noise, ...]
    selection: PartitionSelection

    @property
    def groups(self) -> None:
        """How many groups will be published: nobody knows beforehand."""
        return None

    @property
    def moved(self) -> tuple[Sensitivity, ...]:
        """How far one unit can move each measure."""
        return tuple(sensitivity(measure, self.schema.unit, _MANY) for measure in self.measures)

    @property
    def selected(self) -> Loss:
        """What the selection costs: a coin for every key, of which one unit moves at most `selection.keys`."""
        keys = self.selection.keys
        return Repeated(Approx(self.selection.epsilon / keys, self.selection.delta / keys), keys)

    @property
    def cost(self) -> Loss:
        """The price of the whole question: the selection and every measure."""
        noisy = [noise.loss(moved) for noise, moved in zip(self.noises, self.moved, strict=True)]
        return compose([self.selected, *noisy])

    @property
    def chances(self) -> tuple[tuple[int, float], ...]:
        """How likely a key that so many units have appears, rounded up."""
        return tuple((crowd, self.selection.chance(crowd)) for crowd in CROWDS)

    @property
    def mechanism(self) -> str:
        """What selects and what adds the noise, in words."""
        chosen, each = self.selection, "" if self.selection.keys == 1 else f" over {self.selection.keys} keys"
        first = f"partition selection, epsilon {float(chosen.epsilon):.6g}, delta {float(chosen.delta):.6g}{each}"
        return f"{first}; {self._outputs.mechanism}" if self.measures else first

    @property
    def law(self) -> dict[str, Any]:
        """What beside the question decides the law of the result."""
        return {
            "selection": text_of(self.selection),
            "noise": [text_of(noise) for noise in self.noises],
        }

    def explained(self) -> Explanation:
        """What there is to know before it is paid: how keys come to appear, and how likely it is."""
        who = "rows" if self.schema.unit.column is None else "people"
        names = ", ".join(key.title for key in self.question.keys)
        sure, parts = self.selection.certain_at, len(self.measures) + 1
        chances = ", ".join(f"{_chance(chance)} at {crowd:,}" for crowd, chance in self.chances if crowd < sure)
        shape = (
            f"Releases a row for each {names} that enough {who} share. How many there are is private, and is known "
            "only after the release."
        )
        share = "all" if parts == 1 else f"1/{parts}"
        step = (
            f"Selection: {share} of the price, and all of the delta. The probability that a value appears, by how many "
            f"{who} have it: {chances}; always from {sure:,} on. A value that nobody has never appears."
        )
        free = [key.column for key in self.question.discovered if isinstance(self.schema.columns[key.column], Text)]
        notes = [note.text for note in declared_notes(self.question, self.schema)]
        notes += [f"A {name} of more than {LONGEST} characters counts as missing." for name in free]
        return explained(self, [shape], notes, [step])

    def expected(self) -> list[Accuracy]:
        """The error of every output at the plan's confidence, for the keys that appear."""
        return self._outputs.expected()

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count in the engine, select, add the noise. Called by the one door only."""
        salt = [int(word) & (2**31 - 1) for word in words(bits, WORDS)]
        found = data.values(compile_discovery(self.question, self.schema, self.measures, data.table, salt))
        people = np.array(found[PEOPLE], dtype=np.int64)
        kept = np.flatnonzero(self.selection.select(people, bits=bits)).tolist()
        keys = self._keys(found, kept)
        # By the keys themselves: the order in which an engine finds them follows the data.
        order = sorted(range(len(kept)), key=lambda i: [column[i][0] for column in keys])
        noisy = []
        for index, noise in enumerate(self.noises):
            exact = np.array([found[measure_name(index)][kept[i]] for i in order], dtype=np.int64)
            noisy.append(noise.release(exact, bits=bits))
        stacked = np.stack(noisy) if noisy else np.zeros((0, len(order)), dtype=np.int64)
        return {"keys": [[column[i][1] for i in order] for column in keys], "noisy": pack(stacked)}

    def publish(self, measured: Mapping[str, Any], *, confidence: float | None = None) -> dict[str, Any]:
        """The table of the keys that were selected."""
        result = self._outputs.publish({"noisy": measured["noisy"]}, confidence=confidence)
        named = dict(zip((key.title for key in self.question.keys), measured["keys"], strict=True))
        said = published_notes(self.question.outputs, result["columns"], result["confidence"])
        notes = [note.to_dict() for note in (*declared_notes(self.question, self.schema), *said)]
        return {**result, "columns": {**named, **result["columns"]}, "keys": list(named), "notes": notes}

    def _keys(self, found: dict[str, list[Any]], rows: list[int]) -> list[list[tuple[Any, Any]]]:
        """For every key and each of these rows, where its value stands in order, and the value as it is published."""
        numbers = [found[GROUP][row] for row in rows] if self.question.listed else []
        columns: list[list[tuple[Any, Any]]] = []
        place = len(self.question.discovered)
        for key in reversed(self.question.keys):
            if key.discovered:
                place -= 1
                kind, values = self.schema.columns[key.column], found[part_name(place)]
                read = [_published(values[row], kind) for row in rows]
                columns.append([((value is None, "" if value is None else value), value) for value in read])
            else:
                labels = [published(label) for label in key.labels(self.schema)]
                columns.append([(number % len(labels), labels[number % len(labels)]) for number in numbers])
                numbers = [number // len(labels) for number in numbers]
        return columns[::-1]

    @property
    def _outputs(self) -> QueryPlan:
        """The same outputs without keys: it makes outputs of noisy measures. Its own price is not this one."""
        bare = Query(None, (), self.question.outputs)
        return QueryPlan(bare, self.schema, self.allotment, self.confidence, self.measures, self.noises)


def _published(value: Any, column: Column) -> Any:
    """A discovered key as plain JSON."""
    if value is None:
        return None
    match column:
        case Integer():
            return int(value)
        case Timestamp():
            return Instant(int(value), column.timezone).isoformat()
        case Boolean():
            return bool(value)
        case Date():
            return (date(1970, 1, 1) + timedelta(seconds=int(value))).isoformat()
        case _:
            return bytes(value).decode("utf-8", "backslashreplace")


def plan_discovery(
    question: Query, schema: Schema, allotment: Allotment, price: Price, delta: Number | None
) -> DiscoveryPlan:
    """Read a question with discovered keys against its schema and price it. Raises before anything is spent."""
    schema = question.limited(schema)
    checked = question.checked(schema)
    if checked.ordered:
        hint = "Declare the values, as a category; or ask for counts, sums and means."
        raise InputError(
            "outputs", checked.ordered[0][0], "counts, sums, means or variances where keys are discovered", hint
        )
    schema.unit.check_named("values are discovered: a threshold is for people, and these rows may all be one's")
    named = ", ".join(key.column for key in checked.discovered)
    missed = _payable(named, allotment, price, delta)
    measures = tuple(dict.fromkeys(m for _, aggregate in checked.outputs for m in aggregate.measures(schema)))
    moved = [sensitivity(measure, schema.unit, _MANY) for measure in measures]
    parts = len(measures) + 1
    noises = []
    if measures:
        noises = price.part(Fraction(len(measures), parts)).buys(allotment, moved, [None] * len(moved))
    selection = _selection(price, allotment, touched(schema.unit), missed, parts)
    return DiscoveryPlan(checked, schema, allotment, price.confidence, measures, tuple(noises), selection)


def touched(unit: Unit) -> int:
    """How many combinations of keys one unit can enter or leave."""
    return unit.most_groups * (1 if unit.neighbours is Neighbours.ADD_REMOVE else 2)


def _payable(named: str, allotment: Allotment, price: Price, delta: Number | None) -> Number:
    """The delta, if this allotment can pay with one."""
    listed = "Or declare the values, as a category: public groups need no delta."
    if allotment.kind == "plan":
        raise InputError("allotment", allotment.name, "a zcdp allotment: a plan allotment pays for one fixed plan")
    if allotment.kind == "pure":
        allowed = f"a zcdp allotment: values of {named} that nobody declared take a delta, and a pure one has none"
        raise InputError("allotment", allotment.name, allowed, f"Use a budget with a delta. {listed}")
    if delta is None:
        allowed = f"given, such as 1e-7: the chance that a value of {named} appears although one person alone has it"
        raise InputError("delta", delta, allowed, listed)
    if allotment.cap.delta == 0:
        allowed = f"left out: the allotment {allotment.name!r} has no delta to spend"
        raise InputError("delta", delta, allowed, f"Give the budget a delta. {listed}")
    if price.way == "within":
        allowed = "left out: the selection of keys has a price too"
        raise InputError("within", float(price.amount), allowed, "Give epsilon, rho or share.")
    return delta


def _selection(price: Price, allotment: Allotment, keys: int, delta: Number, parts: int) -> PartitionSelection:
    currency, whole = price.spent(allotment)
    amount = whole / parts
    # In rho it is dearer by far to be one mechanism of `epsilon` than `keys` of them of `epsilon/keys`, which it is.
    epsilon = amount if currency == "epsilon" else keys * epsilon_for_rho(amount / keys)
    try:
        return PartitionSelection(epsilon, delta, keys)
    except InputError as problem:
        if problem.field != "epsilon":
            raise
        raise InputError(
            price.way, float(price.amount), f"such that the selection of keys gets {problem.allowed}"
        ) from None


def _chance(chance: float) -> str:
    # Two digits, upward; but a chance of 1e-7 that is a bound from above by a last bit is not 1.1e-7.
    return "above 0.99" if chance > 0.99 else readable(chance * (1 - 1e-12), 2)
