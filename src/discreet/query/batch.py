"""Several questions as one job: one plan, one price, one charge, shared by how much each answer matters.

With weights w the budget is split so that the weighted sum of relative errors is as small as it can be: shares
proportional to w^(1/2) where errors fall as 1/epsilon (Laplace), to w^(2/3) where they fall as 1/sqrt(rho) (Gaussian).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from attrs import frozen

from discreet.accounting.compose import compose
from discreet.core.digest import digest_of
from discreet.core.exact import Number, as_written
from discreet.core.explanation import Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError, Phrase, kind_of
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.ledger.quote import price_text
from discreet.query.ask import Ask, Checked, Form, option
from discreet.query.composite_plan import GroupedPlan, plan_question
from discreet.query.forms import WEIGHTS
from discreet.query.presentation import Presentation
from discreet.query.price import Price, plan_at
from discreet.query.question import Query
from discreet.query.question_ask import PRESENTATION, QUERY
from discreet.query.release import Tables, tables
from discreet.query.table_plan import TablePlan

__all__ = ["QUESTIONS", "BatchAsk", "BatchPlan", "CheckedBatch", "plan_batch"]

_GRID = 10**6  # shares are rounded down to millionths: together they never exceed the whole


@dataclass(frozen=True, slots=True)
class BatchPlan(TablePlan):
    """Plans that are charged and run together."""

    kind: ClassVar[str] = "batch"
    version: ClassVar[int] = 1
    parts: tuple[tuple[str, GroupedPlan], ...]

    @property
    def schema(self) -> Schema:
        """What is declared about the table."""
        return self.parts[0][1].schema

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        return [name for _, plan in self.parts for name in plan.columns]

    def explained(self) -> Explanation:
        """What there is to know before it is paid: the parts, under one price."""
        return Explanation(
            title=f"Batch of {len(self.parts)} questions about {self.dataset!r}, one price",
            unit=str(self.unit),
            shape=(),
            parts=tuple((name, self._part(plan)) for name, plan in self.parts),
            confidence=self.parts[0][1].confidence,
        )

    def _part(self, plan: GroupedPlan) -> Explanation:
        told = plan.explained()
        price = f"Its part of the price: {price_text(self.allotment, plan.charge)}."
        return replace(told, shape=(price, *told.shape))

    @property
    def allotment(self) -> Allotment:
        """The allotment that pays."""
        return self.parts[0][1].allotment

    @property
    def cost(self) -> Loss:
        """The price of the whole batch."""
        return compose([plan.cost for _, plan in self.parts])

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        return "; ".join(dict.fromkeys(plan.mechanism for _, plan in self.parts))

    @property
    def query(self) -> dict[str, Any]:
        """The questions as plain values, for the record."""
        return {"batch": {name: plan.query for name, plan in self.parts}}

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content = [[name, plan.digest] for name, plan in self.parts]
        return digest_of(content)

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Each part in turn, with noise of its own. Called by the one door only."""
        return {"parts": {name: plan.draw(data, bits) for name, plan in self.parts}}

    def publish(self, measured: Mapping[str, Any], *, confidence: float | None = None) -> dict[str, Any]:
        """The table of each part."""
        drawn = measured["parts"]
        return {"parts": {name: plan.publish(drawn[name], confidence=confidence) for name, plan in self.parts}}


def plan_batch(
    questions: Mapping[str, Query],
    schema: Schema,
    allotment: Allotment,
    price: Price,
    weights: Mapping[str, Number] | None = None,
) -> BatchPlan:
    """Price several questions as one. `weights` (1 each unless given) say how much the accuracy of each matters."""
    if not questions:
        raise InputError("batch", Phrase("no questions"), "at least one question")
    unknown = set(weights or {}) - set(questions)
    if unknown:
        raise InputError("weights", min(unknown), "given for questions of the batch", among=questions)
    if price.way == "within":
        return BatchPlan(
            tuple((name, plan_question(query, schema, allotment, price)) for name, query in questions.items())
        )
    gaussian = allotment.kind == "zcdp" and price.way != "epsilon"
    found = shares({name: (weights or {}).get(name, 1) for name in questions}, 2 / 3 if gaussian else 1 / 2)
    return BatchPlan(
        tuple(
            (name, plan_question(query, schema, allotment, price.part(found[name])))
            for name, query in questions.items()
        )
    )


def shares(weights: Mapping[str, Number], power: float) -> dict[str, Fraction]:
    """The part of the budget each gets; together at most one.

    >>> shares({"a": 1, "b": 4}, 1 / 2)
    {'a': Fraction(333333, 1000000), 'b': Fraction(333333, 500000)}
    """
    read = {name: as_written(weight, f"weights.{name}") for name, weight in weights.items()}
    for name, weight in read.items():
        if weight <= 0:
            raise InputError(f"weights.{name}", weight, "more than zero")
    powers = {name: float(weight) ** power for name, weight in read.items()}
    total = sum(powers.values())
    if len(set(powers.values())) == 1:
        return {name: Fraction(1, len(powers)) for name in powers}
    return {name: Fraction(int(_GRID * value / total), _GRID) for name, value in powers.items()}


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
    presentations: Mapping[str, Presentation] | None = option(
        PRESENTATION, None, help="What happens to each released table", here_only=True, shell=False
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
        for name, after in (self.ask.presentations or {}).items():
            found[name] = after.apply(found[name])
        return found
