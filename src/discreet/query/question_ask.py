"""A question as a job: which plan it takes, and what is said of it beside the price."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from attrs import frozen

from discreet.core.exact import Number
from discreet.core.release import Release
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.query.ask import Ask, Checked, Form, option
from discreet.query.composite_plan import GroupedPlan, plan_question
from discreet.query.discovery_plan import DiscoveryPlan, plan_discovery
from discreet.query.forms import AMOUNT
from discreet.query.key import Key
from discreet.query.presentation import UNCHANGED, Presentation
from discreet.query.price import Price, plan_at, plan_within
from discreet.query.question import Query
from discreet.query.release import read_table
from discreet.query.top import Top, TopPlan, plan_top
from discreet.query.top_discovery import TopDiscoveryPlan, plan_top_discovery
from discreet.query.union import Union, UnionPlan, plan_union

__all__ = ["QUERY", "AnyPlan", "AnyQuery", "CheckedQuestion", "QuestionAsk", "plan_any", "read_query"]

AnyQuery = Query | Top | Union
AnyPlan = GroupedPlan | DiscoveryPlan | TopPlan | TopDiscoveryPlan | UnionPlan


def plan_any(
    asked: AnyQuery, schema: Schema, allotment: Allotment, price: Price, delta: Number | None = None
) -> AnyPlan:
    """Read a question against its schema and price it. Only discovered keys take a delta, and they need one."""
    if isinstance(asked, Query) and asked.discovered:
        if asked.ordered:
            hint = "List the groups, key(column, values), or ask for them in a question of their own."
            raise InputError(
                "group_by", asked.discovered[0].column, "public where quantiles or modes are computed", hint
            )
        return plan_discovery(asked, schema, allotment, price, delta)
    if isinstance(asked, Top) and isinstance(asked.key, Key) and asked.key.discovered:
        return plan_top_discovery(asked, schema, allotment, price, delta)
    if delta is not None:
        hint = "Leave it out, or group by discover(column)."
        raise InputError("delta", delta, "left out: all groups of this question are public", hint)
    if isinstance(asked, Union):
        return plan_union(asked, schema, allotment, price)
    if isinstance(asked, Top):
        return plan_top(asked, schema, allotment, price)
    return plan_question(asked, schema, allotment, price)


def read_query(entry: AnyQuery | Mapping[str, Any] | str, schema: Schema) -> AnyQuery:
    """A question as it is, or from its JSON form, checked."""
    if isinstance(entry, AnyQuery):
        return entry
    if isinstance(entry, str):
        try:
            read = json.loads(entry)
        except (ValueError, RecursionError):
            read = None
        other = isinstance(read, dict) and ("top" in read or "union" in read)
        return read_query(read, schema) if other else Query.from_json(entry, schema)
    if "union" in entry:
        return Union.from_dict(entry, schema)
    return Top.from_dict(entry, schema) if "top" in entry else Query.from_dict(entry, schema)


def _query_from(value: Any, schema: Schema) -> AnyQuery:
    """A question from its JSON form, or from SQL; what SQL does to the released table is left out."""
    if isinstance(value, str) and not value.lstrip().startswith("{"):
        from discreet.query.sql import parse_sql  # most questions are no SQL

        return parse_sql(value, schema).query
    return read_query(value, schema)


QUERY = Form(str | dict[str, Any], write=lambda value: value.to_dict(), read=_query_from)
"""A question in its JSON form, or in SQL."""
PRESENTATION = Form(Any)


@frozen(eq=False)
class QuestionAsk(Ask):
    """Groups of rows and what is computed of each, or the most common values of a column."""

    kind: ClassVar[str] = "question"
    prices: ClassVar[tuple[str, ...]] = ("epsilon", "rho", "share", "within", "confidence", "noise")

    query: AnyQuery = option(QUERY, help="The question, in its JSON form")
    presentation: Presentation = option(
        PRESENTATION, UNCHANGED, help="What happens to the released table", here_only=True, shell=False
    )
    delta: Number | None = option(
        AMOUNT, None, help="In addition to the price, for discovered values: such as 1e-7", late=True
    )

    def checked(self, schema: Schema) -> CheckedQuestion:
        """The question with its schema, which it is read against when it is priced."""
        return CheckedQuestion(self, schema)


@dataclass(frozen=True)
class CheckedQuestion(Checked[Release]):
    """A question to be priced."""

    ask: QuestionAsk
    schema: Schema

    def priced(self, allotment: Allotment, price: Price | None) -> AnyPlan:
        """The plan at a price: of an accuracy, the noise of each measure by itself where that is possible."""
        if price is None:
            return super().priced(allotment, price)  # type: ignore[no-any-return]
        buys = plan_within if isinstance(self.ask.query, Top) else plan_at
        return buys(price, allotment, lambda paid: self.plan(allotment, paid))

    def plan(self, allotment: Allotment, price: Price) -> AnyPlan:
        """The whole question at a price."""
        return plan_any(self.ask.query, self.schema, allotment, price, self.ask.delta)

    def read(self, answer: Answer, cost: str, remaining: str) -> Release:
        """The table that an answer holds."""
        whole = read_table(answer, cost, remaining)
        return whole if self.ask.presentation is UNCHANGED else self.ask.presentation.apply(whole)
