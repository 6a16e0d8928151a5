"""A question about a curator's table, being put together: in Python, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from discreet.core.exact import Number
from discreet.core.release import Release
from discreet.core.signature import typed
from discreet.curator.desk import Desk
from discreet.curator.draft import Draft
from discreet.curator.offer import Offer
from discreet.curator.stream import StreamOffer
from discreet.data.expression import Expression
from discreet.errors import InputError, Phrase, kind_of
from discreet.query.aggregate import Aggregate
from discreet.query.batch import BatchAsk
from discreet.query.combination import parse_combinations
from discreet.query.key import Key, key
from discreet.query.limit_choice import USUAL, LimitTable, limit_query
from discreet.query.limits import PersonLimits
from discreet.query.notation import read_key, read_outputs
from discreet.query.person_table import Each
from discreet.query.predicate import Predicate
from discreet.query.presentation import UNCHANGED, Presentation
from discreet.query.quantile import Ordered, bounds_of, maximum, median, minimum, quantiles, spread
from discreet.query.question import Query, refuse_reading
from discreet.query.question_ask import AnyQuery, QuestionAsk
from discreet.query.release import Tables
from discreet.query.stream import StreamAsk
from discreet.query.title import question_title
from discreet.query.top import Top
from discreet.query.union import Union

__all__ = ["Question", "StreamQuestion", "batch_of", "read_question", "with_limits"]

_LONG = 120


@dataclass(frozen=True, slots=True, repr=False)
class Question:
    """A question about a curator's table, being put together. Nothing happens until it is planned and released."""

    desk: Desk
    query: AnyQuery
    presentation: Presentation = UNCHANGED
    stated: Mapping[str, Number] = field(default_factory=dict)
    """Epsilon and delta, where the words of the question name them."""

    @property
    def grouped(self) -> Query:
        """The question, if it is one about groups."""
        if not isinstance(self.query, Query):
            raise InputError(
                "top", Phrase("one with other outputs"), "a question of its own", "Ask for them in another question."
            )
        return self.query

    @typed
    def where(self, condition: str | Predicate | Expression) -> Question:
        """Keep the rows for which the condition is true."""
        return replace(self, query=self.query.where(condition))

    def group_by(self, *keys: str | Key | Expression) -> Question:
        """Answer for every group of public keys, or of keys that are discovered."""
        return replace(self, query=self.grouped.group_by(*keys))

    def only_groups(self, combinations: Sequence[Sequence[Any]]) -> Question:
        """Have no other groups than these combinations of the keys' values, in this order; other rows are left out."""
        return replace(self, query=self.grouped.only_groups(combinations))

    def limits(self, groups: int | None = None, rows: int | None = None, rows_total: int | None = None) -> Question:
        """How much of each person counts in this question, instead of what the schema states: in at most `groups`
        groups, as at most `rows` rows in each, and with at most `rows_total` rows over all groups, drawn at random.
        Who is protected stays the same; price and error follow."""
        if self.presentation != UNCHANGED:  # a statement, which may state its own
            _check_limits(self.query, {"groups": groups, "rows": rows, "rows_total": rows_total})
        return replace(self, query=self.query.limits(groups, rows, rows_total))

    def keys(self) -> Question:
        """Ask which groups there are and nothing about them, such as `group_by(discover("city")).keys()`."""
        return replace(self, query=self.grouped.list_groups())

    def per_person(self, **columns: str | Aggregate | Each) -> Question:
        """Ask about a table with a row for each person: `per_person(visits="count(*)", paid="sum(cost)")`.

        It is computed of the rows that meet the conditions so far, with COUNT, COUNT(DISTINCT), SUM, AVG, MIN and MAX;
        with keys given before, for each of a person's groups. What follows is about the new columns.
        """
        return replace(self, query=self.grouped.per_person(**columns))

    def agg(self, /, *nameless: Aggregate | Ordered, **outputs: Aggregate | Ordered) -> Question:
        """Name what is computed."""
        return replace(self, query=self.grouped.agg(*nameless, **outputs))

    def _repr_html_(self) -> str:
        from discreet.curator.notebook import question_cell

        return question_cell(self)

    def __repr__(self) -> str:
        try:
            title = question_title(self.query.to_dict())
        except InputError:  # not yet one that can be asked
            title = "not complete"
        about = f"about {self.desk.declared.name!r}: {title}"
        return f"<Question {about if len(about) <= _LONG else about[:_LONG] + '...'}; plan(...) it to see its price>"

    def __iter__(self) -> NoReturn:
        refuse_reading("iterated over")

    def __getitem__(self, index: object) -> NoReturn:
        refuse_reading("indexed")

    def histogram(
        self, column: str, edges: Any = None, *, by: str | Key | Expression | None = None, **how: Any
    ) -> Question:
        """How many rows in each bin of a column."""
        return replace(self, query=self.grouped.histogram(column, edges, by=by, **how))

    def top(self, column: str | Key, k: int = 10, *, counts: bool = True) -> Question:
        """The `k` values of a column that most units have, the most common first; with noisy `counts` or without."""
        asked = self.grouped
        if asked != Query(asked.condition, person_limits=asked.person_limits):
            raise InputError(
                "top", Phrase("one with keys or outputs"), "a question of its own", "Begin with table() and where()."
            )
        sought = key(column) if isinstance(column, str) else column
        return replace(self, query=Top(sought, k, counts, asked.condition, asked.person_limits))

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
    def suggest_limits(self, by: str | None = None, *, most: int = USUAL) -> Question:
        """What limits would cut and what noise they cost: how many rows people have, or, with `by`, in how many groups
        of that column they are; more than `most` count as so many. Like any question it has a price; each person
        counts once, so a small one will do."""
        return replace(self, query=limit_query(self.grouped, by, most), presentation=LimitTable(by=by, most=most))

    @typed
    def stream(self, period: Key | str, *, limit: int = 1) -> StreamQuestion:
        """The same question for every period, such as `stream(bins("day", every="month"))`, under one price.

        A person counts in at most `limit` periods: the first in which a row of theirs counts when it is released.
        """
        if isinstance(period, str):
            allowed = "periods of equal length or with stated ends"
            raise InputError("period", period, allowed, f'Write bins("{period}", every="month").')
        return StreamQuestion(self.desk, StreamAsk.of(self.query, period, limit))

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
        epsilon, delta = self._stated(rho, share, within, epsilon=epsilon, delta=delta)
        ask = QuestionAsk(self.query, self.presentation, delta)
        price = ask.price(epsilon=epsilon, rho=rho, share=share, within=within, confidence=confidence, noise=noise)
        offer: Offer[Release] = self.desk.offer(ask, None, price, allotment)
        return offer

    def _stated(self, *others: Number | None, **given: Number | None) -> Iterator[Number | None]:
        """What is given; what the question itself says, where nothing is."""
        for name, value in given.items():
            said = self.stated.get(name)
            paid = value if name == "delta" else next((one for one in (value, *others) if one is not None), None)
            if said is not None and paid is not None and paid != said:
                hint = "The statement names it: leave it out here, or there."
                raise InputError(name, Phrase("another price"), f"{float(said):g}, as the statement says", hint)
            yield said if paid is None else value


@dataclass(frozen=True, slots=True, repr=False)
class StreamQuestion:
    """A question to be repeated every period."""

    desk: Desk
    ask: StreamAsk

    def __repr__(self) -> str:
        return f"<Stream of a question about {self.desk.declared.name!r}; plan(...) it to see its price>"

    def _repr_html_(self) -> str:
        from discreet.curator.notebook import draft_cell

        return draft_cell(self)

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
        price = self.ask.price(epsilon=epsilon, rho=rho, share=share, within=within, confidence=confidence)
        offer: StreamOffer = self.desk.offer(self.ask, None, price, allotment)
        return offer


def batch_of(desk: Desk, questions: Mapping[str, Question]) -> Draft[Tables]:
    """Several questions of one desk as one job."""
    for name, question in questions.items():
        if not isinstance(question, Question) or question.desk is not desk:
            raise InputError(f"batch.{name}", kind_of(question), "a question of this curator")
    queries = {name: question.grouped for name, question in questions.items()}
    presentations = {
        name: question.presentation for name, question in questions.items() if question.presentation != UNCHANGED
    }
    return Draft.of(desk, BatchAsk(queries, presentations or None))


def _check_limits(query: AnyQuery, given: Mapping[str, int | None]) -> None:
    """Refuse limits other than those that a statement states itself."""
    parts = [part.query for part in query.parts] if isinstance(query, Union) else [query]
    for stated in (part.person_limits for part in parts if part.person_limits is not None):
        for name, value in stated.to_dict().items():
            if given.get(name) not in (None, value):
                hint = "Say it once: in OPTIONS, or beside the statement."
                raise InputError(f"limits.{name}", given[name], f"{value}, as the statement says", hint)


def with_limits(question: Question, limits: Mapping[str, Any] | None) -> Question:
    """The question with limits of its own, if any of these are set."""
    given = {name: value for name, value in (limits or {}).items() if value is not None}
    return question.limits(**PersonLimits.from_dict(given).to_dict()) if given else question


def read_question(
    desk: Desk,
    outputs: Iterable[str] | None,
    by: Iterable[str] | None,
    where: str | None,
    top: tuple[str | None, int] = (None, 0),
    limits: Mapping[str, Any] | None = None,
    groups: Iterable[str | Sequence[Any]] | None = None,
    listing: bool = False,
) -> Question:
    """A question as people type it: `count` and `mean(pay)` by `age/10`, or the `k` most common values of a column.

    `groups` are the only combinations of the keys' values that count; `listing` asks for the groups alone.
    """
    question = with_limits(Question(desk, Query()), limits)
    if where:
        question = question.where(where)
    if top[0] is not None:
        if outputs or by or groups or listing:
            raise InputError("top", top[0], "a question of its own, without outputs, keys and groups")
        return question.top(read_key(top[0], desk.schema), top[1])
    if by:
        question = question.group_by(*(read_key(text, desk.schema) for text in by))
    if groups:
        question = question.only_groups(parse_combinations(groups, question.grouped.keys, desk.schema))
    if listing:
        question = question.keys()
        return question.agg(**read_outputs(list(outputs))) if outputs else question
    return question.agg(**read_outputs(list(outputs or ["count"])))
