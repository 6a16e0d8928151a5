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


_SHAPE_OF = "Ask for quantiles: QUANTILE_CONT(column, 0.1), MEDIAN(column), QUANTILE_CONT(column, 0.9)."
_AVERAGE = "Ask for AVG(column) or MEDIAN(column)."
_TALLY = "Ask how often each value occurs: SELECT column, COUNT(*) ... GROUP BY column ORDER BY COUNT(*) DESC LIMIT 10."
_WHETHER = "Ask how many rows it is true of: COUNT_IF(condition), and COUNT(*)."
# Aggregates that other systems have, by what answers the same need.
_OTHERS = {
    **dict.fromkeys(("KURTOSIS", "KURTOSIS_POP", "SKEWNESS", "SKEWNESS_POP", "MAD", "SKEW"), _SHAPE_OF),
    **dict.fromkeys(("GEOMEAN", "GEOMETRIC_MEAN", "PRODUCT", "HARMMEAN", "GEO_MEAN"), _AVERAGE),
    **dict.fromkeys(("APPROX_TOP_K", "APPROX_TOP_COUNT", "HISTOGRAM", "ENTROPY", "TOPK"), _TALLY),
    **dict.fromkeys(("TOTAL", "FSUM", "SUMKAHAN", "KAHAN_SUM"), "Ask for SUM(column)."),
    **dict.fromkeys(("SUM_IF", "SUMIF"), "Write SUM(column) FILTER (WHERE condition)."),
    **dict.fromkeys(("AVG_IF", "AVGIF"), "Write AVG(column) FILTER (WHERE condition)."),
    "STD": "Write STDDEV_POP(column), or STDDEV_SAMP(column).",
    "SEM": "Ask for STDDEV(column) and COUNT(column).",
    **dict.fromkeys(("EVERY", "BOOL_AND", "BOOL_OR", "LOGICAL_AND", "LOGICAL_OR", "ANY", "SOME"), _WHETHER),
}


def _other(node: Any) -> str:
    """What answers the need for an aggregate that there is not; nothing if it is no such thing."""
    from sqlglot import exp

    names = [str(node.this)] if type(node) is exp.Anonymous else node.sql_names() if isinstance(node, exp.Func) else []
    return next((_OTHERS[name.upper()] for name in names if name.upper() in _OTHERS), "")


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
        case exp.Func() if found := _other(node):
            return found
        case exp.Binary() | exp.Func() if any(part.find(exp.AggFunc) for part in node.iter_expressions()):
            return _FREE
        case exp.Anonymous() if close := nearest(str(node.this), _names()):
            return f"Did you mean `{close}`?"
    return ""
