"""What is said of SQL that is not understood: the piece, where it stands, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from discreet.data.column import Column, Date, Real, Timestamp
from discreet.data.text import place
from discreet.errors import InputError, nearest
from discreet.query.function import functions

__all__ = ["SHAPE", "grouped_by", "instead", "only", "place", "refuse", "shown_aggregates"]

SHAPE = "SELECT keys and aggregates FROM table [WHERE] [GROUP BY] [HAVING] [ORDER BY] [LIMIT]"

# By the name that the parser gives to a part of a statement.
_PARTS = {
    "distinct": "GROUP BY gives every group once; COUNT(DISTINCT person) counts people.",
    "alias": "Leave out the alias, and name columns alone: sex, not p.sex.",
    "db": "Leave out the schema: the table has one name here.",
    "on": "Write USING (key) for a public table that is declared in [lookups].",
    "sample": "Ask of all rows: sampling saves no budget here.",
    "fetch": "Write LIMIT.",
    "into": "Write the answer to a file: --csv, or to_csv in Python.",
}
_FREE = "Compute with the released numbers yourself: that is free."


def shown_aggregates() -> str:
    """The aggregates that SQL may ask for.

    >>> shown_aggregates()  # doctest: +ELLIPSIS
    'COUNT(*), COUNT(column), COUNT(DISTINCT person), COUNT(DISTINCT column), SUM, AVG, VAR_POP, STDDEV, ...'
    """
    return ", ".join(word for function in functions() for word in function.sql_words)


def refuse(node: Any, allowed: str, hint: str = "", among: Iterable[str] | None = None) -> InputError:
    """The error that points at a piece of a statement."""
    written = node.sql("duckdb") if hasattr(node, "sql") else str(node)
    return InputError("sql", written, allowed, hint, among=among, at=place(node))


def only(node: Any, *allowed: str) -> None:
    """Every argument of a node that is set must be one we read."""
    for name, value in node.args.items():
        if value and name.rstrip("_") not in (*allowed, "_type"):
            part = value[0] if isinstance(value, list) else value
            known = SHAPE if type(node).__name__ == "Select" else "left out: it is not supported here"
            raise refuse(part if hasattr(part, "sql") else node, known, _PARTS.get(name.rstrip("_"), ""))


def grouped_by(name: str, column: Column | None) -> str:
    """How rows are grouped by a column, or by what it holds, in SQL.

    >>> grouped_by("pay", Real(0, 1000))
    'GROUP BY BIN(pay, 100)'
    """
    match column:
        case Real():
            return f"GROUP BY BIN({name}, {float((column.upper - column.lower) / 10):g})"
        case Date() | Timestamp():
            return f"GROUP BY DATE_TRUNC('month', {name})"
    return f"GROUP BY {name}"


def _names() -> list[str]:
    return [*(name for function in functions() for name in function.sql), "BIN"]


def instead(node: Any) -> str:
    """What to write instead of an expression that is no column and no aggregate we know; nothing if we cannot tell."""
    from sqlglot import exp

    match node:
        case exp.Star():
            return "Rows are not shown to anybody. Group them: SELECT sex, COUNT(*) FROM people GROUP BY sex."
        case exp.Window():
            return "There are no windows over rows: use GROUP BY."
        case exp.Binary() | exp.Func() if any(part.find(exp.AggFunc) for part in node.iter_expressions()):
            return _FREE
        case exp.Anonymous() if close := nearest(str(node.this), _names()):
            return f"Did you mean `{close}`?"
    return ""
