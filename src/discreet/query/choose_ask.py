"""The best of some options by a private score: docs/guides/choices.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from attrs import frozen

from discreet.core.exact import Number
from discreet.core.release import Release
from discreet.data.expression import Expression
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.ledger.door import Answer
from discreet.query.ask import Ask, Checked, Form, option
from discreet.query.candidates import Candidates, Score, read_candidates
from discreet.query.choose_plan import METHODS, ChoosePlan, plan_choice
from discreet.query.forms import AMOUNT, CONDITION, TEXT, names_in
from discreet.query.predicate import Predicate
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.release import read_table

__all__ = ["CheckedChoice", "ChooseAsk"]


def _score(value: Any) -> Any:
    return str(value) if isinstance(value, Expression) else value


def _options(value: Iterable[Any]) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError("options", value, "a list of options, such as ['A', 'B']")
    return tuple(value)


SCORE = Form(
    str | dict[str, Any],
    settle=_score,
    write=lambda value: value.to_dict() if isinstance(value, Query) else value,
    read=lambda value, schema: Query.from_dict(value, schema) if isinstance(value, Mapping) else value,
)
"""A column, an expression, or a question in its JSON form."""
OPTIONS = Form(list[str | int | float | bool], settle=_options, write=list, parse=names_in)


@frozen(eq=False)
class ChooseAsk(Ask):
    """The option with the highest score, as far as noise allows; scores are sums over rows and are not published."""

    kind: ClassVar[str] = "choose"

    score: Score = option(
        SCORE, help="Column that is counted, or what a row adds to an option's score: an expression with `option` in it"
    )
    options: tuple[Any, ...] | None = option(
        OPTIONS, None, help="What is chosen from: A,B,C. The declared values of the column, unless given"
    )
    bound: Number | None = option(AMOUNT, None, help="The most that one row adds to a score, or takes from it")
    where: str | Predicate | None = option(CONDITION, None, help="Which rows of the data count")
    method: str = option(TEXT, "auto", help="How it is chosen", choices=METHODS, late=True)

    def checked(self, schema: Schema) -> CheckedChoice:
        """The same, read against a schema."""
        return CheckedChoice(read_candidates(self.score, self.options, self.bound, self.where, schema), self.method)


@dataclass(frozen=True)
class CheckedChoice(Checked[Release]):
    """A choice to be priced."""

    candidates: Candidates
    method: str

    def plan(self, allotment: Allotment, price: Price) -> ChoosePlan:
        """The choice at a price."""
        return plan_choice(self.candidates, allotment, price, self.method)

    def read(self, answer: Answer, cost: str, remaining: str) -> Release:
        """The option that an answer holds."""
        return read_table(answer, cost, remaining)
