"""The same question every day, month or year under one price: T periods cost as much as about log2 T.

Periods are the leaves of binary trees. Every period is counted once, from the table as it is then, and the nodes it
completes are published with noise of their own; running totals are put together from what was published. Who has
counted in how many periods, and the exact sums, are remembered privately (`stream_state`), so that rows which are
amended or moved later count no second time. The first period pays for all. Proof: docs/proofs/stream.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from attrs import frozen

from discreet.accounting.compose import compose
from discreet.core.digest import digest_of, text_of
from discreet.core.exact import sqrt_up
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import ZCDP, Loss, Pure
from discreet.core.note import Note
from discreet.core.release import Release, plural
from discreet.core.unit import Neighbours, Unit
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase, kind_of
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.mechanisms import ContinualCount, Gaussian, Laplace
from discreet.mechanisms.continual_count import close
from discreet.query.aggregate import Additive
from discreet.query.ask import Ask, Checked, option
from discreet.query.estimate import linear_step
from discreet.query.forms import KEY, WHOLE
from discreet.query.function import kinds
from discreet.query.key import Key
from discreet.query.measure import Measure, contribution
from discreet.query.notes import declared_notes, limit_notes
from discreet.query.plan import noise_name
from discreet.query.predicate import columns_of
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.question_ask import QUERY
from discreet.query.release import read_table
from discreet.query.table_plan import TablePlan

__all__ = ["CheckedStream", "StreamAsk", "StreamPlan", "plan_stream", "scaled"]

Noise = Laplace | Gaussian


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
        period = replace(self.period, missing=True).to_dict()  # which every period is without
        return {"stream": self.question.to_dict(), "period": period, "limit": self.limit}

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

    def explained(self) -> Explanation:
        """What there is to know before it is paid: the error of one period, and of running totals at most."""
        errors = []
        for name, index, step in self.outputs():
            noise, tree = self.noises[index], self.trees[index]
            errors.append(Accuracy(f"{name}, a period", noise_name(noise), noise.error(self.confidence) * step))
            most = tree.error(self.confidence, noise=noise) * step
            errors.append(Accuracy(f"{name}, a running total at most", f"a tree of {noise_name(noise)}", most))
        who = self.schema.unit.column
        few = "the first period" if self.limit == 1 else f"the first {self.limit:,} periods"
        note = (
            f"A {who} counts in {few} in which they have a row at the time of release; later periods are left out."
            if who is not None
            else "A row counts in its period as it is at the time of release. A row that is amended later counts again "
            "as another row: if rows may be amended, declare the person."
        )
        return Explanation(
            title=f"Stream over {self.periods:,} periods of {self.period.column} in {self.dataset!r}",
            unit=str(self.schema.unit),
            shape=(f"Releases {self.groups * self.periods:,} rows, {self.groups:,} a period, and running totals.",),
            errors=tuple(errors),
            confidence=self.confidence,
            notes=("All periods are paid with the first one. Stopping early refunds nothing.", note),
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

    def published(self, period: int, counts: list[list[int]], history: Sequence[Any] | None = None) -> dict[str, Any]:
        """The table of one period, from its noisy counts; with the nodes of all periods up to it, also the totals."""
        label = [self.label(period)] * self.groups
        columns: dict[str, list[Any]] = {self.period.column: label, **self.question.key_columns(self.schema)}
        keys = list(columns)
        for name, index, step in self.outputs():
            half = self.noises[index].error(self.confidence)
            for end, shift in (("", 0), ("_lower", -half), ("_upper", half)):
                columns[name + end] = [scaled(count + shift, step) for count in counts[index]]
        names = [name for name, _ in self.question.outputs]
        if history is not None:
            names = [each for name in names for each in (name, f"{name}_total")]
            columns |= self._totals(period, history)
        notes = [note.to_dict() for note in self.notes]
        return {"columns": columns, "keys": keys, "outputs": names, "confidence": self.confidence, "notes": notes}

    def _totals(self, period: int, history: Sequence[Any]) -> dict[str, list[Any]]:
        """Running totals with intervals, put together from the nodes that the periods so far have published."""
        columns: dict[str, list[Any]] = {}
        for name, index, step in self.outputs():
            tree = self.trees[index]
            closed = [[Fraction(0)] * tree.levels for _ in range(self.groups)]
            for nodes in history:
                for group, parts in enumerate(closed):
                    close(parts, [level[group] for level in nodes[index]])
            half = tree.error(self.confidence, period=period, noise=self.noises[index])
            for end, shift in (("", 0.0), ("_lower", -half), ("_upper", half)):
                columns[f"{name}_total{end}"] = [scaled(float(sum(parts)) + shift, step) for parts in closed]
        return columns

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
    if question.persons is not None:
        raise InputError("per_person", Phrase("asked"), "left out where a stream is asked for: it counts rows")
    if question.combinations is not None:
        raise InputError("groups", Phrase("combinations"), "left out where a stream is asked for")
    schema = question.limited(schema)
    checked, key = question.checked(schema), replace(period.checked(schema), missing=False)
    if key.edges is None:
        raise InputError("period", key.column, "bins of a date or a number, such as bins('day', every='month')")
    schema.unit.check_named("a stream is asked for")
    if schema.unit.rows_total is not None:
        allowed = "left out where a stream is asked for: periods are counted one by one"
        raise InputError("limits.rows_total", schema.unit.rows_total, allowed, "Limit the groups and rows of a period.")
    if schema.unit.neighbours is not Neighbours.ADD_REMOVE:
        raise InputError("unit.neighbours", Phrase(schema.unit.neighbours), "add-remove where a stream is asked for")
    for name, aggregate in (*checked.outputs, *checked.ordered):
        if not isinstance(aggregate, Additive) or not aggregate.adds_up:
            *others, last = [kind.functions[0].call for kind in kinds() if issubclass(kind, Additive) and kind.adds_up]
            allowed = f"{', '.join(others)} or {last} in a stream: running totals must add up"
            raise InputError("outputs", name, allowed)
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


@frozen(eq=False)
class StreamAsk(Ask):
    """A question that is answered again every day, month or year, all under one price."""

    kind: ClassVar[str] = "stream"

    query: Query = option(QUERY, help="The question, in SQL or its JSON form", flags=("sql",))
    period: Key = option(KEY, help="The periods: day/month, day/7 or bins with stated ends", names_columns=True)
    limit: int = option(WHOLE, 1, help="In how many periods a person counts: the first ones in which they have a row")

    def checked(self, schema: Schema) -> CheckedStream:
        """The same with its schema, which it is read against when it is priced."""
        if not isinstance(self.query, Query):
            raise InputError("stream", kind_of(self.query), "a question with count(), people() or total()")
        return CheckedStream(self, schema)


@dataclass(frozen=True)
class CheckedStream(Checked[Release]):
    """A stream to be priced."""

    ask: StreamAsk
    schema: Schema

    def plan(self, allotment: Allotment, price: Price) -> StreamPlan:
        """All periods at a price."""
        return plan_stream(self.ask.query, self.schema, allotment, price, self.ask.period, self.ask.limit)

    def read(self, answer: Answer, cost: str, remaining: str) -> Release:
        """The table of the period that an answer holds."""
        return read_table(answer, cost, remaining)
