"""One period of a stream: counted once, drawn once, published from what was drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from discreet.core.explanation import Explanation
from discreet.core.loss import Composed, Loss
from discreet.core.mechanism import Bits
from discreet.core.plan import Cover
from discreet.core.unit import Unit
from discreet.core.wire import Json
from discreet.data.column import Date, Integer, Real, Timestamp
from discreet.data.dialect import as_bytes, engine_of
from discreet.data.read import as_text, within_bounds
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.ledger.budget import Allotment, Charge
from discreet.ledger.stream_state import StreamState
from discreet.mechanisms.continual_count import closing
from discreet.noise.bits import words
from discreet.query.compile import GROUP, PERSON, compile_parts, compile_query, measure_name
from discreet.query.predicate import And, Compare, Predicate
from discreet.query.question import Query
from discreet.query.stream import StreamPlan
from discreet.query.table_plan import at_confidence

__all__ = ["StreamStep"]

_PERSON = "discreet person"


@dataclass(frozen=True, slots=True)
class StreamStep:
    """One period of the stream called `name`. The first costs what all of them cost, and covers the others."""

    kind: ClassVar[str] = "stream"
    version: ClassVar[int] = 1
    stream: StreamPlan
    period: int
    name: str
    folder: Path
    earlier: tuple[Any, ...] | None = None
    """The nodes that each period before this one has published, where they are at hand."""

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

    def explained(self) -> Explanation:
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
        """Whether the draw is in the file of the stream, as before `measure` returns: then that reads no data."""
        return self.state.result(self.period) is not None

    def measure(self, data: Connection, bits: Bits) -> Json:
        """The noisy sums of the nodes this period completes. Called by the one door only.

        The period is counted once, from the table as it is now; wider nodes add up what was counted before. Counted
        people and drawn noise are in the file of the stream before anything is returned.
        """
        stream, state = self.stream, self.state
        if (drawn := state.result(self.period)) is not None:
            return drawn  # by an older version perhaps, with the table beside it
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
        result: dict[str, Json] = {"nodes": nodes}
        state.record(self.period, here, people, result)
        return result

    def publish(self, measured: Mapping[str, Any], *, confidence: float | None = None) -> dict[str, Any]:
        """The table of the period, with the running totals where what was published before is at hand."""
        levels = [levels[0] for levels in measured["nodes"]]
        history = None if self.earlier is None else (*self.earlier, measured["nodes"])
        return at_confidence(self.stream, confidence).published(self.period, levels, history)

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
        if isinstance(
            declared, Integer | Real | Date | Timestamp
        ):  # as in bins: the last edge may lie beyond the bounds
            table = table.filter(within_bounds(table[schema.slot(column)], declared))
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
