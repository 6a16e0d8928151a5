"""The same question for every period, as it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attrs import frozen

from discreet.core.release import Release
from discreet.data.schema import Schema
from discreet.errors import InputError, kind_of
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.query.ask import Ask, Checked, option
from discreet.query.forms import KEY, WHOLE
from discreet.query.key import Key
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.question_ask import QUERY
from discreet.query.stream import StreamPlan, plan_stream
from discreet.query.tables import read_table

__all__ = ["CheckedStream", "StreamAsk"]


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
