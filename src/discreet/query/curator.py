"""Where a person starts: data, a schema and a ledger behind one counter."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, Self

from discreet.core.exact import Number
from discreet.core.release import Release
from discreet.core.typed import typed
from discreet.core.version import DataVersion
from discreet.data.schema import Schema
from discreet.data.source import Source, source_of
from discreet.errors import InputError
from discreet.ledger.account import Standing
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.door import Answer, stored
from discreet.ledger.door import release as through_the_door
from discreet.ledger.ledger import Ledger
from discreet.ledger.quote import price_text
from discreet.query.after import UNTOUCHED, After
from discreet.query.aggregate import Aggregate
from discreet.query.batch import plan_batch
from discreet.query.fit import fitting
from discreet.query.key import Key, key
from discreet.query.kinds import Asked, asked_from, plan_any
from discreet.query.offer import Offer
from discreet.query.opening import declared_in, ledger_place
from discreet.query.predicate import Predicate
from discreet.query.price import Price, plan_at
from discreet.query.quantile import Ordered, bounds_of, maximum, median, minimum, quantiles, spread
from discreet.query.question import Query, refuse_reading
from discreet.query.sql import parse_sql
from discreet.query.stream import StreamPlan, plan_stream
from discreet.query.streaming import StreamOffer
from discreet.query.table_plan import Priced
from discreet.query.tables import released, tables
from discreet.query.top import Top
from discreet.query.within import plan_within

__all__ = ["Curator", "Question", "open_curator"]


class Curator:
    """Answers questions about one private table, within its budget."""

    warns = True
    """Whether it warns of a stored answer that may describe earlier data, beside the note that the answer carries."""

    def __init__(self, source: Source, schema: Schema, ledger: Ledger, who: str) -> None:
        self._source = source
        self.schema = schema
        self.ledger = ledger
        self.who = who

    @classmethod
    @typed
    def open(
        cls,
        source: Any,
        schema: Schema | Mapping[str, Any] | str | Path = "discreet.toml",
        *,
        ledger: Ledger | str | Path | None = None,
        budget: Budget | None = None,
        table: str | None = None,
        joins: Mapping[str, Any] | None = None,
        who: str | None = None,
        version: str | None = None,
        names: Sequence[str] = (),
        create: bool = False,
    ) -> Self:
        """Put a curator in front of private data.

        `source` is a CSV or Parquet file, glob or folder, a DuckDB file or the address of a database or Spark cluster
        (with `table`), or an Arrow, pandas, Polars or Spark table. The ledger is `.discreet/ledger.db` beside the
        schema unless `ledger`, DISCREET_LEDGER or the schema's [ledger] names another; with `create` it is made if
        there is none. The budget, `budget` or the schema's [budget], is opened with the first charge; later it is
        only compared. A dataset that is new to a ledger with other budgets needs `create` as well. `joins` says
        where the private tables named in the schema's [joins] are. `version` is your name for this state of the data,
        such as "2024-02", and stands on every charge and release (docs/guides/new-data.md); `names` are those of the
        columns of a CSV file without a header line. Both may stand under [dataset] in the schema.
        """
        place = None if isinstance(ledger, Ledger) else ledger_place(source, schema, ledger)
        source = source_of(source, table)  # from here on nothing that could be printed holds the data
        declared = declared_in(schema)
        found = declared.schema
        joined = {name: source_of(other, name) for name, other in (joins or {}).items()}
        if set(joined) != set(found.joins):
            raise InputError(
                "joins", sorted(joined), "a place for each of the schema's [joins]: " + ", ".join(found.joins)
            )
        source = replace(
            source.beside(joined),
            view=found.view,
            names=tuple(names) or declared.names,
            declared=declared.version if version is None else DataVersion.declare(version),
        )
        fitting(source, found, found.columns)
        person = who or os.environ.get("DISCREET_WHO") or getpass.getuser()
        books = ledger if isinstance(ledger, Ledger) else Ledger.open(place or "", create=create, who=person)
        wanted = budget if budget is not None else declared.budget
        if wanted is not None:
            books.declare(found.name, wanted, unit=found.unit, who=person, new=create)
        books.account(found.name).check_unit(found.unit)
        return cls(source, found, books, person)

    def __repr__(self) -> str:
        left = ", ".join(f"{s.allotment.name}: {price_text(s.allotment, s.left, 'down')} left" for s in self.standing())
        return f"<Curator of {self.schema.name!r}; protects {self.schema.unit}; {left}>"

    def standing(self) -> tuple[Standing, ...]:
        """What every allotment has spent and has left."""
        return self.ledger.standing(self.schema.name)

    @typed
    def allotment(self, name: str | None = None) -> Allotment:
        """The allotment of that name; the only one, if there is one and no name is given."""
        return self.ledger.account(self.schema.name).budget.allotment(name)

    @typed
    def table(self, name: str | None = None) -> Question:
        """Begin a question about the table."""
        if name not in (None, self.schema.name):
            raise InputError("table", name, f"{self.schema.name!r}, the table of this curator")
        return Question(self, Query())

    @typed
    def question(self, query: Asked | Mapping[str, Any] | str) -> Question:
        """A question from a `Query` or its JSON form."""
        return Question(self, asked_from(query, self.schema))

    @typed
    def sql(self, text: str) -> Question:
        """A question in SQL: read through an allow-list, never handed to an engine."""
        statement = parse_sql(text, self.schema)
        return Question(self, statement.query, statement.after)

    def batch(self, **questions: Question) -> Batch:
        """Several questions as one job with one price."""
        for name, question in questions.items():
            if not isinstance(question, Question) or question.curator is not self:
                raise InputError(f"batch.{name}", type(question).__name__, "a question of this curator")
        return Batch(self, questions)

    def releases(self) -> list[str]:
        """The ids of the releases of this table that have an answer."""
        return [known.charged.release for known in self.ledger.releases(self.schema.name) if known.answer is not None]

    @typed
    def release(self, release: str, part: str = "") -> Release:
        """A release made before, read again for free; of a batch, the part of that name."""
        known = self.ledger.find(release)
        if known is None or known.answer is None or known.charged.dataset != self.schema.name:
            raise InputError("release", release, "the id of a stored release", "List them with releases().")
        parts = released(self.ledger, stored(known))
        if part not in parts:
            raise InputError("part", part, "one of " + ", ".join(map(repr, parts)))
        return parts[part]

    def through_the_door(
        self, plan: Priced, columns: Iterable[str], *, release: str | None, why: str, delta: Number | None = None
    ) -> Answer:
        """Release a priced job on this curator's data, once the columns it reads are known to fit.

        `delta` is what a job paid from a `plan` allotment is counted at.
        """
        fitting(self._source, self.schema, columns, getattr(plan, "identifiers", ()))
        books, name = self.ledger, plan.allotment.name
        return through_the_door(
            plan,
            self._source,
            books,
            who=self.who,
            why=why,
            release=release,
            allotment=name,
            delta=delta,
            warn=self.warns,
        )


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a curator's table, being put together. Nothing happens until it is planned and released."""

    curator: Curator
    query: Asked
    after: After = UNTOUCHED

    @property
    def grouped(self) -> Query:
        """The question, if it is one about groups."""
        if isinstance(self.query, Top):
            raise InputError("top", "with other outputs", "a question of its own", "Ask for them in another question.")
        return self.query

    @typed
    def where(self, condition: str | Predicate) -> Question:
        """Keep the rows for which the condition is true."""
        return replace(self, query=self.query.where(condition))

    def group_by(self, *keys: str | Key) -> Question:
        """Answer for every group of public keys, or of keys that are discovered."""
        return replace(self, query=self.grouped.group_by(*keys))

    def agg(self, /, *nameless: Aggregate | Ordered, **outputs: Aggregate | Ordered) -> Question:
        """Name what is computed."""
        return replace(self, query=self.grouped.agg(*nameless, **outputs))

    def __iter__(self) -> NoReturn:
        refuse_reading("iterated over")

    def __getitem__(self, index: object) -> NoReturn:
        refuse_reading("indexed")

    def histogram(self, column: str, edges: Any = None, **how: Any) -> Question:
        """How many rows in each bin of a column."""
        return replace(self, query=self.grouped.histogram(column, edges, **how))

    def top(self, column: str | Key, k: int = 10, *, counts: bool = True) -> Question:
        """The `k` values of a column that most units have, the most common first; with noisy `counts` or without."""
        asked = self.grouped
        if asked != Query(asked.condition):
            raise InputError("top", "with keys or outputs", "a question of its own", "Begin with table() and where().")
        sought = key(column) if isinstance(column, str) else column
        return replace(self, query=Top(sought, k, counts, asked.condition))

    def quantiles(self, column: str, listed: Iterable[Number] | Number, **how: Any) -> Question:
        """Quantiles of a column, named q25, q50, ...; `grid`, `method` and `interval` as in `quantile`."""
        return self.agg(**quantiles(column, listed, **how))

    def median(self, column: str, **how: Any) -> Question:
        """The value in the middle."""
        return self.agg(median=median(column, **how))

    def range(self, column: str, **how: Any) -> Question:
        """Where all but a share `tail` (0.01) of the rows lie, on either side, as `min`, `max` and `range`.

        The smallest and the largest value themselves are one person's and cannot be told.
        """
        return self.agg(min=minimum(column, **how), max=maximum(column, **how), range=spread(column, **how))

    def suggest_bounds(self, column: str, *, tail: Number = "0.01", method: str = "auto") -> Question:
        """Round numbers `low` and `high` that all but a share `tail` of the rows lie within, on either side.

        The search spans the declared bounds, which may be as wide as nobody doubts. Like any question it has a price.
        """
        return self.agg(**bounds_of(column, tail, method))

    @typed
    def stream(self, period: Key | str, *, limit: int = 1) -> StreamQuestion:
        """The same question for every period, such as `stream(bins("day", every="month"))`, under one price.

        A person counts in at most `limit` periods: the first in which a row of theirs counts when it is released.
        """
        if isinstance(period, str):
            allowed = "periods of equal length or with stated ends"
            raise InputError("period", period, allowed, f'Write bins("{period}", every="month").')
        return StreamQuestion(self, period, limit)

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        share: Number | None = None,
        within: Number | None = None,
        confidence: float = 0.95,
        noise: str = "auto",
        delta: Number | None = None,
        allotment: str | None = None,
    ) -> Offer[Release]:
        """Price the whole question: by epsilon, rho, a share of the allotment, or the accuracy wanted.

        `delta` is for discovered keys, beside the price: the chance that one appears because of a single unit.
        """
        price = Price.read(epsilon=epsilon, rho=rho, share=share, within=within, confidence=confidence, noise=noise)
        part = self.curator.allotment(allotment)
        schema = self.curator.schema
        buys = plan_within if isinstance(self.query, Top) else plan_at
        planned = buys(price, part, lambda paid: plan_any(self.query, schema, part, paid, delta))
        return Offer(self.curator, planned, self._read)

    def _read(self, answer: Answer, cost: str, remaining: str) -> Release:
        whole = tables(answer, cost, remaining)[""]
        return whole if self.after == UNTOUCHED else self.after.apply(whole)


@dataclass(frozen=True, slots=True)
class StreamQuestion:
    """A question to be repeated every period."""

    question: Question
    period: Key
    limit: int

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        share: Number | None = None,
        within: Number | None = None,
        confidence: float = 0.95,
        allotment: str | None = None,
    ) -> StreamOffer:
        """Price all periods together."""
        price = Price.read(epsilon=epsilon, rho=rho, share=share, within=within, confidence=confidence)
        curator = self.question.curator
        part = curator.allotment(allotment)
        query = self.question.query
        if not isinstance(query, Query):
            raise InputError("stream", type(query).__name__, "a question with count(), people() or total()")
        schema, period, limit = curator.schema, self.period, self.limit

        def planned(part: Allotment) -> StreamPlan:
            return plan_within(price, part, lambda paid: plan_stream(query, schema, part, paid, period, limit))

        return StreamOffer(curator, planned(part), lambda answer, cost, left: tables(answer, cost, left)[""], planned)


@dataclass(frozen=True, slots=True)
class Batch:
    """Several questions that will be planned, charged and answered together."""

    curator: Curator
    questions: Mapping[str, Question]

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        share: Number | None = None,
        within: Number | None = None,
        confidence: float = 0.95,
        weights: Mapping[str, Number] | None = None,
        allotment: str | None = None,
    ) -> Offer[dict[str, Release]]:
        """One price for all, shared by `weights`: how much the relative accuracy of each answer matters."""
        price = Price.read(epsilon=epsilon, rho=rho, share=share, within=within, confidence=confidence)
        queries = {name: question.grouped for name, question in self.questions.items()}
        schema, part = self.curator.schema, self.curator.allotment(allotment)
        planned = plan_at(price, part, lambda paid: plan_batch(queries, schema, part, paid, weights))
        return Offer(self.curator, planned, self._read)

    def _read(self, answer: Answer, cost: str, remaining: str) -> dict[str, Release]:
        parts = tables(answer, cost, remaining)
        return {name: self.questions[name].after.apply(part) for name, part in parts.items()}


open_curator = Curator.open
