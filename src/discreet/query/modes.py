"""The most frequent value of a column: an output of a question, chosen from what is declared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, ClassVar

from discreet.data.column import Boolean, Category, Date, Integer, Real, Text, Timestamp
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.function import Function, Sampled, register
from discreet.query.key import Key, key, keys_of
from discreet.query.predicate import Predicate
from discreet.query.pruning import pruned
from discreet.query.sql_hint import only, refuse

__all__ = ["MOST_VALUES", "Mode", "mode"]

MOST_VALUES = 2**16
"""As many values as rows are sorted into."""

_TAKES = (Category, Boolean, Integer, Date)


@register
@dataclass(frozen=True, slots=True)
class Mode(Sampled):
    """The value that most rows of a group have; of equally frequent ones the first in the order of declaration."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(name="mode", call="mode()", words="most frequent value of", takes=_TAKES, sql={"MODE": {}}, place=85),
    )

    column: str

    @property
    def label(self) -> str:
        """What it is called in SQL where it has no other name."""
        return "mode"

    def values(self, schema: Schema, condition: Predicate | None = None) -> Key:
        """The values it is chosen from, in their order, as a key: those of the column that a condition leaves possible.

        A missing value is none of them. Refuses columns whose values nobody has listed.
        """
        name, column = self.column, schema.column(self.column, "mode")
        shell = f"or `discreet ask --top '{name}?'` with a delta: values that enough units share are then found."
        hints = {
            Text: f'Use top(discover("{name}"), k=1), {shell}',
            Real: f'Round it: mode("round({name})"), or MODE(ROUND({name})) in SQL.',
            Timestamp: f"Take a part of it: mode(\"date_trunc('day', {name})\").",
        }
        allowed = "a category, a boolean, whole numbers or dates: its values must be declared"
        if type(column) in hints:
            raise InputError("mode", name, allowed, hints[type(column)])
        if isinstance(column, Integer) and name in schema.columns:
            _check_size(name, int(column.upper - column.lower) + 1)
        with keys_of("mode"):
            if isinstance(column, Date) and name in schema.columns:
                days = range(min((column.upper - column.lower).days + 1, MOST_VALUES + 1))
                found = key(name, [column.lower + timedelta(days=place) for place in days])
            else:
                found = key(name).checked(schema)
            labels = [label for label in found.labels(schema) if label is not None]
        _check_size(name, len(labels))
        listed = found if len(labels) == len(found.labels(schema)) else replace(found, values=tuple(labels))
        return pruned(listed, condition, schema)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"of": "mode", "column": self.column}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Mode:
        """From its JSON values."""
        if set(entry) != {"of", "column"} or not isinstance(entry["column"], str):
            raise InputError("outputs", entry, "{'of': 'mode', 'column': ...}")
        return cls(entry["column"])

    @classmethod
    def read_sql(cls, node: Any, scope: Any) -> Mode | None:
        """MODE(x), or MODE() WITHIN GROUP (ORDER BY x)."""
        from sqlglot import exp

        inside = node.this if type(node) is exp.WithinGroup else node
        if type(inside) is exp.Anonymous and str(inside.this).upper() == "MODE":  # older parsers know no such function
            values = inside.expressions
        elif type(inside).__name__ == "Mode":
            only(inside, "this")
            values = [inside.this] if inside.this else []
        else:
            return None
        if type(node) is exp.WithinGroup:
            only(node, "this", "expression")
            only(node.expression, "expressions")
            values += [each.this for each in node.expression.expressions]
        if len(values) != 1 or type(values[0]) is exp.Distinct:
            raise refuse(node, "MODE(column), or MODE() WITHIN GROUP (ORDER BY column), of one column or expression")
        return cls(scope.column(values[0]))


def _check_size(name: str, values: int) -> None:
    if values > MOST_VALUES:
        hint = f'Coarser values have a mode: mode("{name} // {10 ** len(str(values // MOST_VALUES))}"), say.'
        raise InputError("mode", name, f"a column of at most {MOST_VALUES:,} values", hint)


def mode(column: str) -> Mode:
    """The most frequent of a column's declared values: MODE(column) in SQL.

    Its interval reaches, in the order of declaration, from the first to the last value that may be the most frequent.
    """
    return Mode(column)
