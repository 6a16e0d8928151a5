"""The same question every day, month or year under one price: T periods cost as much as about log2 T.

Periods are the leaves of binary trees. Every period is counted once, from the table as it is then, and the nodes it
completes are published with noise of their own; running totals are put together from what was published. Who has
counted in how many periods, and the exact sums, are remembered privately (`stream_state`), so that rows which are
amended or moved later count no second time. The first period pays for all. Proof: docs/proofs/stream.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet.accounting.compose import compose
from discreet.core.digest import digest_of, text_of
from discreet.core.exact import sqrt_up
from discreet.core.explained import Expected, Explained
from discreet.core.loss import ZCDP, Composed, Loss, Pure
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.plan import Cover
from discreet.core.release import plural
from discreet.core.unit import Neighbours, Unit
from discreet.core.wire import Json
from discreet.data.column import Date, Integer, Real
from discreet.data.dialect import as_bytes, engine_of
from discreet.data.read import as_text, within_bounds
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError, Phrase
from discreet.ledger.budget import Allotment, Charge
from discreet.ledger.stream_state import StreamState
from discreet.mechanisms import ContinualCount, Gaussian, Laplace
from discreet.mechanisms.continual_count import closing
from discreet.noise.bits import words
from discreet.query.aggregate import Count, Persons, Sum
from discreet.query.compile import GROUP, PERSON, compile_parts, compile_query, measure_name
from discreet.query.estimate import linear_step
from discreet.query.key import Key
from discreet.query.measure import Measure, contribution
from discreet.query.notes import declared_notes, limit_notes
from discreet.query.plan import noise_name
from discreet.query.predicate import And, Compare, Predicate, columns_of
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.table_plan import TablePlan

__all__ = ["StreamPlan", "StreamStep", "plan_stream", "scaled"]

Noise = Laplace | Gaussian
_PERSON = "discreet person"


@dataclass(frozen=True, slots=True)
class StreamPlan(TablePlan):
    """A question repeated for every period of a key, priced before the first."""

    question: Query
    schema: Schema
    allotment: Allotment
    confidence: float
    period: Key
    limit: int
    measures: tuple[Measure, ...]
    trees: tuple[ContinualCount, ...]
    noises: tuple[Noise, ...]

    @property
    def periods(self) -> int:
        """How many periods the price covers."""
        return len(self.period.labels(self.schema))

    @property
    def groups(self) -> int:
        """How many groups are published each period."""
        return self.question.groups(self.schema)

    @property
    def cost(self) -> Loss:
        """The price of all periods together."""
        return compose([self._loss(i) for i in range(len(self.measures))])

    def _loss(self, index: int) -> Loss:
        tree, noise = self.trees[index], self.noises[index]
        moved = _each(self.measures[index], self.schema.unit)
        touched = _touched(self.schema.unit, self.groups)
        match noise:
            case Laplace(scale):
                return Pure(tree.levels * tree.limit * touched * moved / scale)
            case Gaussian(sigma):
                return ZCDP(touched * moved * moved * tree.l2_squared / (2 * sigma * sigma))

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        return "; ".join(dict.fromkeys(f"tree of {noise_name(noise)}" for noise in self.noises))

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        return {"stream": self.question.to_dict(), "period": self.period.to_dict(), "limit": self.limit}

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the results."""
        content = {
            "schema": self.schema.to_dict(),
            "query": self.query,
            "noise": [text_of(noise) for noise in self.noises],
            "confidence": self.confidence,
        }
        return digest_of(content)

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        named = [self.period.column, *(key.column for key in self.question.keys)]
        named += [column for measure in self.measures if (column := getattr(measure, "column", None)) is not None]
        if self.question.condition is not None:
            named += columns_of(self.question.condition)
        return named if self.schema.unit.column is None else [*named, self.schema.unit.column]

    def explained(self) -> Explained:
        """What there is to know before it is paid: the error of one period, and of running totals at most."""
        errors = []
        for name, index, step in self.outputs():
            noise, tree = self.noises[index], self.trees[index]
            errors.append(Expected(f"{name}, a period", noise_name(noise), noise.error(self.confidence) * step))
            most = tree.error(self.confidence, noise=noise) * step
            errors.append(Expected(f"{name}, a running total at most", f"a tree of {noise_name(noise)}", most))
        who = self.schema.unit.column
        few = "the first period" if self.limit == 1 else f"the first {self.limit:,} periods"
        note = (
            f"A {who} counts in {few} in which a row of theirs counts when it is released; what follows is left out."
            if who is not None
            else "A row counts in its period as it is when that is released. One that is amended later is another row "
            "and counts again: declare the person, if rows may be amended."
        )
        return Explained(
            title=f"Stream over {self.periods:,} periods of {self.period.column} in {self.dataset!r}",
            unit=str(self.schema.unit),
            shape=(f"Releases {self.groups * self.periods:,} rows, {self.groups:,} a period, and running totals.",),
            errors=tuple(errors),
            confidence=self.confidence,
            notes=("All is paid with the first period: stopping early gets nothing back.", note),
            facts={"groups": self.groups, "periods": self.periods, "limit": self.limit},
        )

    def label(self, period: int) -> str:
        """What a period is called."""
        return str(self.period.labels(self.schema)[period - 1])

    def outputs(self) -> list[tuple[str, int, float]]:
        """Each output's name, the place of its measure, and the size of one of its steps."""
        found = []
        for name, aggregate in self.question.outputs:
            (measure,) = aggregate.measures(self.schema)
            found.append((name, self.measures.index(measure), linear_step(aggregate, self.schema) or 1.0))
        return found

    def published(self, period: int, counts: list[list[int]]) -> dict[str, Any]:
        """The table of one period by itself, from its noisy counts."""
        label = [self.label(period)] * self.groups
        columns: dict[str, list[Any]] = {self.period.column: label, **self.question.key_columns(self.schema)}
        keys = list(columns)
        for name, index, step in self.outputs():
            half = self.noises[index].error(self.confidence)
            for end, shift in (("", 0), ("_lower", -half), ("_upper", half)):
                columns[name + end] = [scaled(count + shift, step) for count in counts[index]]
        names = [name for name, _ in self.question.outputs]
        notes = [note.to_dict() for note in self.notes]
        return {"columns": columns, "keys": keys, "outputs": names, "confidence": self.confidence, "notes": notes}

    @property
    def notes(self) -> list[Note]:
        """What an interval of any period does not hold."""
        binned = replace(self.question, keys=(self.period, *self.question.keys))
        found = [note for note in declared_notes(binned, self.schema) if note.kind != "groups"]
        if (who := self.schema.unit.column) is None:
            return found
        text = f"Each {who} counts in the first {plural(self.limit, 'period')} they appear in; later ones are left out."
        first = Note("groups", text, tuple(name for name, _ in self.question.outputs))
        within = limit_notes(self.schema.unit, self.question.outputs, self.groups)
        return [first, *(note for note in within if note.kind == "groups"), *found]


@dataclass(frozen=True, slots=True)
class StreamStep:
    """One period of the stream called `name`. The first costs what all of them cost, and covers the others."""

    stream: StreamPlan
    period: int
    name: str
    folder: Path

    def __post_init__(self) -> None:
        at, last = self.period, self.stream.periods
        if isinstance(at, bool) or not isinstance(at, int) or not 1 <= at <= last:
            raise InputError("period", at, f"a period from 1 to {last}, all that the price covers")

    @property
    def dataset(self) -> str:
        """The dataset's name."""
        return self.stream.dataset

    @property
    def unit(self) -> Unit:
        """What is protected."""
        return self.stream.unit

    @property
    def cost(self) -> Loss:
        """Everything with the first period: a stream that stops early gets nothing back."""
        return self.stream.cost if self.period == 1 else Composed(())

    @property
    def charge(self) -> Charge:
        """The price in the currency of the allotment."""
        return self.allotment.price(self.cost)

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        return self.stream.columns

    def explained(self) -> Explained:
        """What there is to know before the stream is paid."""
        return self.stream.explained()

    @property
    def release(self) -> str:
        """The id of the period's release: the stream's name and the period."""
        return f"{self.name}/{self.period}"

    @property
    def covered_by(self) -> Cover | None:
        """The release of the first period, which paid for this one."""
        return None if self.period == 1 else Cover(self.stream.digest, self.period, f"{self.name}/1")

    @property
    def allotment(self) -> Allotment:
        """The allotment that pays."""
        return self.stream.allotment

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        return self.stream.mechanism

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values."""
        return {**self.stream.query, "step": self.period}

    @property
    def digest(self) -> str:
        """A hash of the stream and the period."""
        return Cover.digest(self.stream.digest, self.period)

    @property
    def state(self) -> StreamState:
        """What the stream remembers of people: private, beside the ledger."""
        return StreamState(self.folder, self.name, self.stream.digest)

    @property
    def watched(self) -> bool:
        """Nothing of a period is shown before its answer is on the ledger."""
        return False

    def begun(self) -> bool:
        """Whether the period was drawn before a crash: then the same is published."""
        return self.drawn()

    def drawn(self) -> bool:
        """Whether the draw is in the file of the stream, as it is before `run` returns: then `run` reads no data."""
        return self.state.result(self.period) is not None

    def run(self, data: Connection, bits: Bits) -> Json:
        """The noisy sums of the nodes this period completes. Called by the one door only.

        The period is counted once, from the table as it is now; wider nodes add up what was counted before. Counted
        people and drawn noise are in the file of the stream before anything is returned.
        """
        stream, state = self.stream, self.state
        if (drawn := state.result(self.period)) is not None:
            return drawn
        ids = self.ids(data.table.schema(), engine_of(data.table))
        state.check(self.period, ids)
        state.begin(ids)
        here, people = self._counted(data, bits)
        deepest = max(closing(self.period, tree.levels) for tree in stream.trees)
        width = 1 << (deepest - 1)
        sums = [*state.sums(self.period - width, self.period - 1), here]
        nodes: list[Json] = []
        for index, (tree, noise) in enumerate(zip(stream.trees, stream.noises, strict=True)):
            counts = np.array([period[index] for period in sums], dtype=np.int64)
            levels = [counts[width - (1 << level) :].sum(axis=0) for level in range(closing(self.period, tree.levels))]
            nodes.append([noise.release(level, bits=bits).tolist() for level in levels])
        published = stream.published(self.period, [levels[0] for levels in nodes])  # type: ignore[index, misc]
        result: dict[str, Json] = {"nodes": nodes, **published}
        state.record(self.period, here, people, result)
        return result

    def ids(self, stored: Any, engine: str) -> str:
        """How ids of people are stored, given the types of an engine's columns; one text for types whose values have
        the same text on every engine."""
        if self.stream.schema.unit.column is None:
            return "rows"
        kind = stored[self.stream.schema.unit.column]
        if kind.is_uuid():  # in lower case as text, which text of the same number need not be
            return "uuid"
        if kind.is_integer() or kind.is_floating():
            return "whole numbers"
        if kind.is_string():
            return "text"
        return f"{kind} on {engine}"

    def _counted(self, data: Connection, bits: Bits) -> tuple[list[list[int]], list[bytes]]:
        """Bounded integers of this period for each measure and group, and whom they count (hashed)."""
        stream, schema = self.stream, self.stream.schema
        edges, column = stream.period.edges or (), stream.period.column
        end = "<=" if self.period == stream.periods else "<"  # the last bin holds its end
        parts: list[Predicate] = [
            Compare(column, ">=", edges[self.period - 1]),
            Compare(column, end, edges[self.period]),
        ]
        if stream.question.condition is not None:
            parts.append(stream.question.condition)
        query = Query(And(tuple(parts)), stream.question.keys, stream.question.outputs)
        salt = [int(word) & (2**31 - 1) for word in words(bits, 8)]
        counts = np.zeros((len(stream.measures), stream.groups), dtype=np.int64)
        table, declared = data.table, schema.columns[column]
        if isinstance(declared, Integer | Real | Date):  # as in bins: the last edge may lie beyond the bounds
            table = table.filter(within_bounds(table[column], declared))
        if schema.unit.column is None:
            found = data.integers(compile_query(query, schema, stream.measures, table, salt))
            for index in range(len(stream.measures)):
                counts[index][found[GROUP]] = found[measure_name(index)]
            return counts.tolist(), []
        table = _named(table, schema.unit.column)
        schema = replace(schema, columns=schema.stored, unit=replace(schema.unit, column=_PERSON))
        named = compile_parts(query, schema, stream.measures, table, salt, named=True)
        named = named.mutate(**{PERSON: as_bytes(named[PERSON], engine_of(named))})
        listed = data.values(named)
        people = self.state.hashes(listed[PERSON])
        spent = self.state.spent(people, stream.limit)
        counts_in = np.array([person not in spent for person in people], dtype=bool)
        groups = np.array(listed[GROUP], dtype=np.int64)[counts_in]
        for index in range(len(stream.measures)):
            values = np.array(listed[measure_name(index)], dtype=np.int64)[counts_in]
            np.add.at(counts[index], groups, values)
        return counts.tolist(), [person for person in people if person not in spent]


def _named(table: Any, person: str) -> Any:
    """The table with people as text. Spellings that the engine takes for one person (by a rule of the column) get one
    name. Floats are people where they are whole: engines write the others differently, and some not in full."""
    import ibis

    named = table[person]
    if named.type().is_floating():
        named = as_text(named)
    named = named.cast("string") if named.type().is_uuid() else named
    table = table.mutate(**{_PERSON: named})
    table = table.mutate(**{_PERSON: table[_PERSON].min().over(ibis.window(group_by=_PERSON))})
    return table.mutate(**{_PERSON: table[_PERSON].cast("string")})


def scaled(steps: float, step: float) -> float:
    """Steps as a number of the output's own unit; whole numbers stay whole."""
    return steps if step == 1 else steps * step


def _each(measure: Measure, unit: Unit) -> int:
    low, high = contribution(measure, unit)
    return max(-low, high)


def _touched(unit: Unit, groups: int) -> int:
    return 1 if unit.column is None else min(unit.groups, groups)


def plan_stream(
    question: Query, schema: Schema, allotment: Allotment, price: Price, period: Key, limit: int = 1
) -> StreamPlan:
    """Price a question for every period of `period`. A person counts in at most `limit` periods: the first in which
    a row of theirs counts when the period is released."""
    checked, key = question.checked(schema), replace(period.checked(schema), missing=False)
    if key.edges is None:
        raise InputError("period", key.column, "bins of a date or a number, such as bins('day', every='month')")
    if schema.unit.neighbours is not Neighbours.ADD_REMOVE:
        raise InputError("unit.neighbours", Phrase(schema.unit.neighbours), "add-remove where a stream is asked for")
    for name, aggregate in checked.outputs:
        if not isinstance(aggregate, (Count, Persons, Sum)):
            raise InputError("outputs", name, "count(), people() or total() in a stream: running totals must add up")
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InputError("limit", limit, "a whole number of periods, 1 or more")
    if price.way == "within":
        raise InputError("within", float(price.amount), "left out for a stream", "Give epsilon, rho or share.")
    periods = len(key.labels(schema))
    measures = tuple(dict.fromkeys(m for _, aggregate in checked.outputs for m in aggregate.measures(schema)))
    unit, groups = schema.unit, checked.groups(schema)
    most = 1 if unit.column is None else min(limit, periods)
    amount = (price.amount * allotment.cap.amount if price.way == "share" else price.amount) / len(measures)
    pure = price.kind(allotment) == "laplace"
    trees: list[ContinualCount] = []
    noises: list[Noise] = []
    for measure in measures:
        moved, touched = _each(measure, unit), _touched(unit, groups)
        tree = ContinualCount(periods, amount, limit=most) if pure else ContinualCount(periods, rho=amount, limit=most)
        trees.append(tree)
        if pure:
            noises.append(Laplace(tree.levels * tree.limit * touched * moved / amount))
        else:
            noises.append(Gaussian(sqrt_up(Fraction(touched * moved * moved * tree.l2_squared) / (2 * amount))))
    return StreamPlan(checked, schema, allotment, price.confidence, key, most, measures, tuple(trees), tuple(noises))
