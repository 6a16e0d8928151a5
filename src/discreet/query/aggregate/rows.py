"""How many rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.data.expression import Call, Constant
from discreet.data.schema import Schema
from discreet.query.aggregate.base import Additive, rows_of
from discreet.query.function import Function, register
from discreet.query.measure import Measure
from discreet.query.sql_hint import only

__all__ = ["Count", "count"]


@register
@dataclass(frozen=True, slots=True)
class Count(Additive):
    """How many rows; with a column, how many where it has a value."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(
            name="count",
            call="count()",
            words="how many rows",
            column="optional",
            sql={"COUNT": {}},
            shown=("COUNT(*)", "COUNT(column)"),
            place=10,
        ),
    )
    never_negative: ClassVar[bool] = True
    gaps: ClassVar[str] = "as a value"

    column: str | None = None

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        if self.column is not None:
            schema.column(self.column, "count")
        return (rows_of(schema, self.column),)

    def step(self, schema: Schema) -> float:
        """The size of one step of its measure."""
        return 1.0

    def limited(self, who: str, rows: str) -> tuple[str, str]:
        """What the limit on the rows of one person does to it."""
        return "rows", f"Each {who} counts with at most {rows} in a group; further rows are left out."

    @classmethod
    def read_sql(cls, node: Any, scope: Any) -> Count | None:
        """COUNT(*), COUNT(1), COUNT(column) or COUNT_IF(condition)."""
        from sqlglot import exp

        if type(node) is exp.CountIf:
            only(node, "this", "zero_on_all_null")
            condition = scope.filtered(scope.reader.read(node.this))
            return cls(scope.schema.canonical(str(Call("case", (condition, Constant(1), Constant(None)))), "sql"))
        if type(node) is not exp.Count or type(node.this) is exp.Distinct:
            return None
        only(node, "this", "big_int")
        if type(node.this) is exp.Star or type(node.this) is exp.Literal:
            every = scope.filtered(Constant(1))
            return cls() if isinstance(every, Constant) else cls(scope.schema.canonical(str(every), "sql"))
        return cls(scope.column(node.this))


def count(column: str | None = None) -> Count:
    """How many rows (with a column: how many have a value there)."""
    return Count(column)
