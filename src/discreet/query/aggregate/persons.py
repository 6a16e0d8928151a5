"""How many different persons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase
from discreet.query.aggregate.base import Additive
from discreet.query.function import Function, register
from discreet.query.measure import Measure, People
from discreet.query.sql_hint import only, refuse

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
            place=2,
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
        """COUNT(DISTINCT person)."""
        from sqlglot import exp

        if type(node) is not exp.Count or type(node.this) is not exp.Distinct:
            return None
        only(node, "this", "big_int")
        only(node.this, "expressions")
        person = scope.person
        if scope.condition is not None or [scope.column(part) for part in node.this.expressions] != [person]:
            raise refuse(node, f"COUNT(DISTINCT {person or 'person'}), the unit of protection")
        return cls()


def people() -> Persons:
    """How many different persons."""
    return Persons()
