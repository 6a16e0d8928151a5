"""How many different persons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase
from discreet.query.aggregate.base import Additive
from discreet.query.function import Function, register
from discreet.query.measure import Measure, People
from discreet.query.sql_hint import only

__all__ = ["Persons", "people"]


@register
@dataclass(frozen=True, slots=True)
class Persons(Additive):
    """How many different persons."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(
            name="people",
            call="people()",
            words="how many people",
            column="none",
            shown=("COUNT(DISTINCT person)",),
            place=20,
        ),
    )
    never_negative: ClassVar[bool] = True

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        if schema.unit.column is None:
            hint = "Declare [unit] column = ..., or use count()."
            raise InputError(
                "people", Phrase("a schema whose unit is a row"), "asked of a schema whose unit is a person", hint
            )
        return (People(),)

    def step(self, schema: Schema) -> float:
        """The size of one step of its measure."""
        return 1.0

    @classmethod
    def read_sql(cls, node: Any, scope: Any) -> Persons | None:
        """COUNT(DISTINCT person), or APPROX_COUNT_DISTINCT(person)."""
        from sqlglot import exp

        approximate = type(node) is exp.ApproxDistinct
        if not approximate and (type(node) is not exp.Count or type(node.this) is not exp.Distinct):
            return None
        named = [node.this] if approximate else node.this.expressions
        if len(named) != 1 or type(named[0]) is exp.Star or scope.column(named[0]) != scope.person:
            return None  # of another column, or of some rows: how many different values there are
        only(node, "this", *([] if approximate else ["big_int"]))
        return cls()


def people() -> Persons:
    """How many different persons."""
    return Persons()
