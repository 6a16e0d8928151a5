"""How many different values a column has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.data.column import Boolean, Category, Date, Integer, Real, Text, Timestamp
from discreet.data.expression import Constant
from discreet.data.schema import Schema
from discreet.query.aggregate.base import Additive
from discreet.query.function import Function, register
from discreet.query.measure import Distinct, Measure, People
from discreet.query.sql_hint import only, refuse

__all__ = ["DistinctValues", "distinct"]

_FEW = 100  # values of a column that are told apart one by one
_MOST = 2**31


@register
@dataclass(frozen=True, slots=True)
class DistinctValues(Additive):
    """How many different values a column has; of each person at most as many count in a group as rows do."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(
            name="distinct",
            call="distinct()",
            words="how many different values of",
            takes=(Integer, Real, Date, Timestamp, Boolean, Category, Text),
            sql={"APPROX_COUNT_DISTINCT": {}},
            shown=("COUNT(DISTINCT column)",),
            place=25,
        ),
    )
    never_negative: ClassVar[bool] = True
    adds_up: ClassVar[bool] = False
    gaps: ClassVar[str] = "as no value"

    column: str

    @property
    def label(self) -> str:
        """What it is called in SQL where it has no other name."""
        return "distinct"

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: one count with noise. Different persons are counted as persons."""
        schema.column(self.column, self.named())
        return (People(),) if self.column == schema.unit.column else (Distinct(self.column),)

    def step(self, schema: Schema) -> float:
        """The size of one step of its measure."""
        return 1.0

    def extent(self, schema: Schema) -> tuple[int, int | None]:
        """From none to as many as are declared, if that is a list."""
        domain = schema.domain(self.column, self.named())
        if domain.values is not None:
            return 0, len(domain.values)
        if domain.kind == "integer":
            return 0, int(domain.upper) - int(domain.lower) + 1
        if domain.kind == "date":
            return 0, (domain.upper - domain.lower).days + 1
        return 0, None

    def clipped(self, schema: Schema) -> str | None:
        """What becomes of values that are not declared, in words."""
        if self.column == schema.unit.column:
            return None
        match schema.columns[self.column]:
            case Integer() | Real() as numbers:
                ends = f"{float(numbers.lower):.15g}..{float(numbers.upper):.15g}"
                return f"Values of {self.column} outside {ends} are clipped to the nearer bound."
            case Date() as days:
                return f"Days of {self.column} outside {days.lower}..{days.upper} are clipped to the nearer bound."
            case Timestamp():
                return f"Moments of {self.column} outside the declared bounds are clipped to the nearer bound."
            case Category():
                return f"Values of {self.column} that are not declared are not counted."
        return None

    def limited(self, who: str, rows: str) -> tuple[str, str]:
        """What the limit on the rows of one person does to it."""
        text = (
            f"Each {who} counts in a group with at most as many different values as {rows} can have, picked at random; "
            "the others are left out."
        )
        return "rows", text

    @classmethod
    def read_sql(cls, node: Any, scope: Any) -> DistinctValues | None:
        """COUNT(DISTINCT column) or APPROX_COUNT_DISTINCT(column); of the person, how many people there are."""
        from sqlglot import exp

        if type(node) is exp.ApproxDistinct:
            only(node, "this")
            inner = [node.this]
        elif type(node) is exp.Count and type(node.this) is exp.Distinct:
            only(node, "this", "big_int")
            only(node.this, "expressions")
            inner = node.this.expressions
        else:
            return None
        row = len(inner) == 1 and type(inner[0]) is exp.Tuple  # (a, b) is a value of its own, also if a is missing
        parts = inner[0].expressions if row else inner
        if not parts or type(parts[0]) is exp.Star:
            raise refuse(parts[0] if parts else node, "COUNT(DISTINCT column), of columns or expressions")
        return cls(scope.column(parts[0]) if len(parts) == 1 else _combined(parts, scope, row))


def _combined(parts: list[Any], scope: Any, row: bool) -> str:
    """One whole number for every combination of values of several columns; missing where one of them is, but in a row.

    In a row, (a, b), missing is a value as others are.
    """
    code, many = "", 1
    for part in parts:
        name = scope.column(part)
        domain, text = scope.schema.domain(name, "sql"), str(scope.schema.expression(name, "sql"))
        if domain.kind == "integer" and domain.values is None:
            place, size = f"({text} - ({int(domain.lower)}))", int(domain.upper) - int(domain.lower) + 1
        elif domain.values is not None and len(domain.values) <= _FEW:
            cases = " ".join(f"WHEN {text} = {Constant(value)} THEN {at}" for at, value in enumerate(domain.values))
            place, size = f"(CASE {cases} END)", len(domain.values)
        else:
            allowed = f"declared as whole numbers, a boolean or at most {_FEW} values, to be counted with others"
            raise refuse(part, allowed, f"Count its values alone: COUNT(DISTINCT {part.sql('duckdb')}).")
        if row and domain.missing:
            place, size = f"(CASE WHEN {text} IS NULL THEN {size} ELSE {place} END)", size + 1
        code, many = f"({code}) * {size} + {place}" if code else place, many * size
        if many > _MOST:
            raise refuse(part, f"of fewer values: {_MOST:,} combinations in all at most", "Count the columns singly.")
    return str(scope.schema.canonical(code, "sql"))


def distinct(column: str) -> DistinctValues:
    """How many different values a column or an expression has: COUNT(DISTINCT column) in SQL."""
    return DistinctValues(column)
