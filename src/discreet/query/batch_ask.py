"""Several questions as one job, as it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from attrs import frozen

from discreet.core.exact import Number
from discreet.data.schema import Schema
from discreet.errors import InputError, kind_of
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.query.after import After
from discreet.query.ask import Ask, Checked, Form, option
from discreet.query.batch import BatchPlan, plan_batch
from discreet.query.forms import WEIGHTS
from discreet.query.price import Price, plan_at
from discreet.query.question import Query
from discreet.query.question_ask import AFTER, QUERY
from discreet.query.tables import Tables, tables

__all__ = ["QUESTIONS", "BatchAsk", "CheckedBatch"]


def _queries_from(value: Any, schema: Schema) -> dict[str, Query]:
    """Questions by name, each in its JSON form or in SQL."""
    if not isinstance(value, Mapping):
        raise InputError("questions", kind_of(value), "an object: {name: question or SQL}")
    found = {}
    for name, one in value.items():
        found[name] = query = QUERY.read(one, schema)
        if not isinstance(query, Query):
            raise InputError(f"questions.{name}", one, "a question about groups")
    return found


def _parse_questions(texts: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    if not all(name.strip().isidentifier() and query.strip() for name, _, query in pairs):
        raise InputError("question", ", ".join(texts), 'NAME=SQL, such as by_sex="select sex, count(*) ..."')
    return {name.strip(): query.strip() for name, _, query in pairs}


QUESTIONS = Form(
    dict[str, str | dict[str, Any]],
    settle=dict,
    write=lambda value: {name: query.to_dict() for name, query in value.items()},
    read=_queries_from,
    parse=_parse_questions,
    repeated=True,
)


@frozen(eq=False)
class BatchAsk(Ask):
    """Several questions with one price."""

    kind: ClassVar[str] = "batch"

    questions: Mapping[str, Query] = option(
        QUESTIONS, help="NAME=SQL: a question and its name; repeat for more", flags=("question",)
    )
    afters: Mapping[str, After] | None = option(
        AFTER, None, help="What happens to each released table", here_only=True, shell=False
    )
    weights: Mapping[str, Number] | None = option(
        WEIGHTS, None, help="How much the relative accuracy of each answer matters: by_sex=2,total=1", late=True
    )

    def checked(self, schema: Schema) -> CheckedBatch:
        """The same with its schema, which its questions are read against when they are priced."""
        return CheckedBatch(self, schema)


@dataclass(frozen=True)
class CheckedBatch(Checked[Tables]):
    """Questions to be priced together."""

    ask: BatchAsk
    schema: Schema

    def priced(self, allotment: Allotment, price: Price | None) -> BatchPlan:
        """One plan at one price; of an accuracy, each question at that accuracy."""
        if price is None:
            return super().priced(allotment, price)  # type: ignore[no-any-return]
        return plan_at(price, allotment, lambda paid: self.plan(allotment, paid))

    def plan(self, allotment: Allotment, price: Price) -> BatchPlan:
        """All questions at a price."""
        return plan_batch(self.ask.questions, self.schema, allotment, price, self.ask.weights)

    def read(self, answer: Answer, cost: str, remaining: str) -> Tables:
        """The tables that an answer holds."""
        found = tables(answer, cost, remaining)
        for name, after in (self.ask.afters or {}).items():
            found[name] = after.apply(found[name])
        return found
