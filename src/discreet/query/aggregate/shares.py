"""The share of rows that meet a condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from discreet.core.lattice import Lattice
from discreet.data.column import Boolean, Integer
from discreet.data.expression import Call, Constant, Expression
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate.base import Derived, Floats, rows_of
from discreet.query.function import Function, register
from discreet.query.measure import Measure, Moment, moment_lattice
from discreet.query.sql_hint import only, refuse

__all__ = ["Share", "share"]

_HALVES = Lattice(Fraction(0), Fraction(1), -1)
"""Yes and no at the same distance from the middle: a row moves the sum by one step, not by two."""


@register
@dataclass(frozen=True, slots=True)
class Share(Derived):
    """The share of rows that meet a condition: a noisy sum of +1 for yes and -1 for no, over the noisy count.

    Rows for which it is unknown whether they meet it do not. `column` is the condition, or what it is as 0 and 1.

    Guarantee: it is made of two measures, whose noise is charged as that of all measures. Proof: docs/proofs/query.md.
    """

    functions: ClassVar[tuple[Function, ...]] = (
        Function(
            name="share",
            call="share()",
            words="share of rows with",
            takes=(Boolean,),
            sql={"SHARE": {}},
            shown=("SHARE(condition)",),
            place=82,
        ),
    )
    gaps: ClassVar[str] = "as one half"

    column: str

    def canonical(self, schema: Schema) -> Self:
        """The same, of what its condition is as 0 and 1."""
        return replace(self, column=self._number(schema))

    def _number(self, schema: Schema) -> str:
        """The condition as 0 and 1, by its one name."""
        name = schema.canonical(self.column, "share")
        column = schema.column(name, "share")
        if isinstance(column, Boolean):
            yes = schema.expression(name, "share")
            return schema.canonical(str(Call("case", (yes, Constant(1), Constant(0)))), "share")
        if not isinstance(column, Integer) or column.lower < 0 or column.upper > 1:
            hint = 'Write a condition, such as share("age >= 18"); the mean of a column is mean(column).'
            raise InputError("share", self.column, "a condition, a boolean column, or a column of 0 and 1", hint)
        return name

    def moment(self, schema: Schema) -> Moment:
        """The sum of +1 for every yes and -1 for every no, in half steps; of a person, in finer ones."""
        name = self._number(schema)
        column = schema.numeric(name, "share")
        lattice = _HALVES
        if schema.unit.column is not None:
            lattice = moment_lattice(column, _HALVES.lower, _HALVES.upper, whole=False)
        return Moment(name, lattice, 1, rows_of(schema, name))

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        first = self.moment(schema)
        return first, first.weight

    def estimate(self, schema: Schema, noisy: Sequence[Floats], excess: float = 0.0) -> Floats:
        """The answer from noisy measures, group by group."""
        first = self.moment(schema)
        found = (noisy[0] / np.maximum(noisy[1], 1.0) + first.middle) * float(first.lattice.step)
        return np.clip(found, 0.0, 1.0)

    def extent(self, schema: Schema) -> tuple[float, float]:
        """The least and the most it can be."""
        return 0.0, 1.0

    def widened(self, schema: Schema, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """An interval that also holds what rounding a person's own share may have done."""
        off = 0.0 if schema.unit.column is None else float(self.moment(schema).lattice.step) / 2
        return lower - off, upper + off

    @classmethod
    def read_sql(cls, node: Any, scope: Any) -> Self | None:
        """SHARE(condition), or AVG of a condition or of a CASE that is 0 or 1; None if it is none of them."""
        from sqlglot import exp

        if type(node) is exp.Anonymous and str(node.this).upper() == "SHARE":
            if len(node.expressions) != 1:
                raise refuse(node, "SHARE of one condition")
            return cls(scope.column(_zero_or_one(node.expressions[0]), number=True)).canonical(scope.schema)
        if type(node) is not exp.Avg or type(node.this) is exp.Distinct:
            return None
        only(node, "this")
        name = scope.column(node.this, number=True)
        column = scope.schema.column(name, "sql")
        whole = isinstance(column, Integer) and column.lower == 0 and column.upper == 1
        return cls(name) if whole and name not in scope.schema.columns else None


def _zero_or_one(condition: Any) -> Any:
    """A condition as 1 where it is met and 0 elsewhere, also where that is unknown."""
    from sqlglot import exp

    return exp.Case(ifs=[exp.If(this=condition, true=exp.Literal.number(1))], default=exp.Literal.number(0))


def share(condition: str | Expression) -> Share:
    """The share of rows that meet a condition: `share("age >= 18")`, `share(col("age") >= 18)`.

    In SQL AVG(condition), SHARE(condition), or COUNT(*) FILTER (WHERE condition) / COUNT(*). Rows for which it is
    unknown whether they meet it count as rows that do not; with AVG(condition), as in SQL, they do not count at all.
    """
    return Share(str(condition) if isinstance(condition, Expression) else condition)
