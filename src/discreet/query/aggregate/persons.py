"""How many different persons, or those who have a row that meets a condition."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

from discreet.core.lattice import Lattice
from discreet.data.expression import Call, Constant, Expression, Name
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase
from discreet.query.aggregate.base import Additive, setting
from discreet.query.function import Function, register
from discreet.query.measure import Measure, People, Total
from discreet.query.sql_hint import only

__all__ = ["Persons", "people"]

_ONCE = Lattice(Fraction(0), Fraction(1), 0)


def _read_where(value: Any) -> str:
    if not isinstance(value, str):
        raise InputError("people.where", value, "a condition, such as age >= 65")
    return value


@register
@dataclass(frozen=True, slots=True)
class Persons(Additive):
    """How many different persons; with `where`, those with a row that meets the condition: each of them once."""

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
    gaps: ClassVar[str] = "as one that does not meet the condition"

    where: str | None = field(default=None, metadata=setting(_read_where, str))

    @property
    def columns(self) -> tuple[str, ...]:
        """What tells the rows that count: 1 where the condition is met, else missing."""
        return () if self.where is None else (f"CASE WHEN {self.where} THEN 1 END",)

    def canonical(self, schema: Schema) -> Persons:
        """The same, its condition in the one way to write it."""
        if self.where is None:
            return self
        if schema.domain(self.where, self.named()).kind != "boolean":
            raise InputError("people.where", self.where, "a condition, such as age >= 65")
        return replace(self, where=schema.canonical(self.where, self.named()))

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        if schema.unit.column is None:
            hint = "Declare [unit] column = ..., or use count()."
            raise InputError(
                "people", Phrase("a schema whose unit is a row"), "used with a schema whose unit is a person", hint
            )
        if self.where is None:
            return (People(),)
        schema.column(self.columns[0], "people.where")
        # A person's rows that meet it, added up and cut to 1: the person once. Proof: docs/proofs/query.md.
        return (Total(self.columns[0], _ONCE, (0, 1)),)

    def step(self, schema: Schema) -> float:
        """The size of one step of its measure."""
        return 1.0

    @classmethod
    def read_sql(cls, node: Any, scope: Any) -> Persons | None:
        """COUNT(DISTINCT person), or APPROX_COUNT_DISTINCT(person), of all rows or of those that FILTER keeps.

        COUNT(DISTINCT CASE WHEN condition THEN person END) is the same.
        """
        from sqlglot import exp

        approximate = type(node) is exp.ApproxDistinct
        if not approximate and (type(node) is not exp.Count or type(node.this) is not exp.Distinct):
            return None
        named = [node.this] if approximate else node.this.expressions
        if len(named) != 1 or type(named[0]) in (exp.Star, exp.Tuple) or scope.person is None:
            return None
        conditions = _conditions(scope.filtered(scope.reader.read(named[0])), scope.person)
        if conditions is None:
            return None  # of another column: how many different values there are
        only(node, "this", *([] if approximate else ["big_int"]))
        if not conditions:
            return cls()
        met = conditions[0] if len(conditions) == 1 else Call("and", tuple(conditions))
        return cls(scope.schema.canonical(str(met), "sql"))


def _conditions(expression: Expression, person: str) -> list[Expression] | None:
    """The conditions under which an expression is the person, and missing otherwise; None if it is anything else."""
    match expression:
        case Name(name):
            return [] if name == person else None
        case Call("case", (condition, inner)) | Call("case", (condition, inner, Constant(None))):
            found = _conditions(inner, person)
            return None if found is None else [condition, *found]
    return None


def people(where: str | Expression | None = None) -> Persons:
    """How many different persons; with `where`, those with a row that meets it: `people(where="age >= 65")`."""
    return Persons(None if where is None else str(where))
