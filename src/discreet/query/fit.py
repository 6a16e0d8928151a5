"""Whether stored data can be read as it is declared: settled from names and types, before anything is spent."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.errors import InputError
from discreet.query.kinds import Asked
from discreet.query.predicate import columns_of
from discreet.query.read import problem
from discreet.query.schema import Schema
from discreet.query.source import Source

__all__ = ["columns_read", "fitting"]


def fitting(source: Source, schema: Schema, names: Iterable[str]) -> None:
    """Refuse a declared column that the data lacks or stores as something that cannot be read as declared."""
    import ibis

    stored = source.columns()
    for name in sorted(names):
        if name not in stored:
            hint = "Remove it from the schema, or name the column as it is in the data."
            has = ", ".join(repr(column) for column in stored)
            raise InputError("columns", name, f"a column the data has: {has}", hint)
        if reason := problem(schema.columns[name], ibis.dtype(stored[name]), tries=source.tries):
            raise InputError(f"columns.{name}", stored[name], reason)


def columns_read(question: Asked, schema: Schema) -> list[str]:
    """The columns a question reads."""
    named = [key.column for key in question.keys]
    outputs = [output for _, output in (*question.outputs, *question.ordered)]
    named += [column for output in outputs if (column := getattr(output, "column", None)) is not None]
    if question.condition is not None:
        named += columns_of(question.condition)
    if schema.unit.column is not None:
        named.append(schema.unit.column)
    return named
