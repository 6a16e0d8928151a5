"""Pieces of SQL text as a tree: one statement, the columns and the constants in it. Nothing here is ever run."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from discreet.errors import InputError

__all__ = ["DIALECTS", "LONGEST", "check_dialect", "place", "read_column", "read_constant", "read_statement"]

DIALECTS = ("duckdb", "postgres", "spark", "bigquery", "tsql", "mysql", "snowflake", "sqlite", "trino")
"""Spellings of SQL that are read."""

LONGEST = 100_000
"""Characters of a statement at most."""
_DIGITS = 100
_EXPONENT = 300
"""Of ten, in a number: beyond it no float holds one, and 1e999999999 written out would take all memory."""
_CONSTANTS = "a constant (number, 'text', true, false, DATE '2024-12-31')"


def check_dialect(dialect: str) -> None:
    """Refuse a spelling that is not read."""
    if dialect not in DIALECTS:
        raise InputError("dialect", dialect, among=DIALECTS)


def read_statement(text: str, field: str = "sql", shown: str | None = None, dialect: str = "duckdb") -> Any:
    """The parsed tree of one statement in a dialect. Parsing is all that happens to it here; comments are left out."""
    import sqlglot
    from sqlglot import errors

    written = text if shown is None else shown
    if len(text) > LONGEST:
        raise InputError(field, written, f"at most {LONGEST:,} characters long")
    try:
        tokens = sqlglot.tokenize(text, read=dialect)
        kinds = [token.token_type.name for token in tokens]
        while kinds and kinds[-1] == "SEMICOLON":  # what ends a statement; another one would begin another statement
            text = text[: tokens.pop().start].rstrip()
            kinds.pop()
        if "SEMICOLON" in kinds:
            hint = "Ask one after the other; a batch has one price for several."
            raise InputError(field, written, "a single statement", hint)
        if kinds and kinds[0] not in _BEGINNINGS:  # what the parser does not know it would complain about aloud
            priced = tokens[0].text.upper() in ("EXPLAIN", "DESCRIBE")
            hint = "What a question would cost: --plan, or plan() in Python." if priced else ""
            raise InputError(field, written, "a question that begins with SELECT", hint)
        trees = sqlglot.parse(text, read=dialect)
    except (errors.SqlglotError, RecursionError) as error:
        raise InputError(field, written, f"valid SQL{_near(error)}", _quoted(text, shown)) from None
    if len(trees) != 1 or trees[0] is None:
        raise InputError(field, written, "a single statement")
    for node in trees[0].walk():
        node.comments = None
        if isinstance(node, sqlglot.exp.Literal) and not node.is_string:
            _short(str(node.this), field)
    return trees[0]


_BEGINNINGS = ("SELECT", "WITH", "FROM", "L_PAREN")


def _near(error: Exception) -> str:
    """Where reading ended; the parser's own words may hold the text, and are not repeated."""
    found = next(iter(getattr(error, "errors", ())), None)
    if not isinstance(found, dict) or not isinstance(found.get("line"), int) or not isinstance(found.get("col"), int):
        return ""
    return f" (up to line {found['line']}, column {found['col']})"


def _quoted(text: str, expression: str | None) -> str:
    """What to do about a name with spaces or signs, if that may be what was meant."""
    odd = expression is not None and (
        ('"' not in expression and re.search(r"[?$%#]|\w \w", expression)) or expression.count("'") % 2 == 1
    )
    return 'Quote names with double quotes: "zip code".' if "`" in text or odd else ""


def place(node: Any) -> str:
    """Where a piece of a statement stands, in words; nothing if the parser did not keep it."""
    nodes = node.walk() if hasattr(node, "walk") else ()
    known = [part.meta for part in nodes if {"line", "col", "start", "end"} <= set(part.meta)]
    if not known:
        return ""
    first = min(known, key=lambda meta: meta["start"])
    return f" (line {first['line']}, column {first['col'] - (first['end'] - first['start'])})"


def read_column(node: Any, field: str = "where") -> str:
    """The name of a plain column."""
    from sqlglot import exp

    if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier) and not node.table:
        return str(node.name)
    hint = f"Leave out the table: {node.name}." if isinstance(node, exp.Column) and node.table else ""
    raise InputError(field, node.sql(), "a plain column name", hint)


def read_constant(node: Any, field: str = "where") -> Any:
    """A number, a text, true or false."""
    from sqlglot import exp

    match node:
        case exp.Literal():
            if node.is_string:
                return str(node.this)
            return _number(str(node.this), field)
        case exp.Boolean():
            return bool(node.this)
        case exp.Neg() if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return -read_constant(node.this, field)
        case exp.Cast() if isinstance(node.this, exp.Literal) and node.this.is_string and node.to.is_type("date"):
            if not {name for name, value in node.args.items() if value} - {"this", "to"}:
                return str(node.this.this)
    hint = "Quote text with single quotes." if isinstance(node, exp.Column) and node.this.args.get("quoted") else ""
    raise InputError(field, node.sql(), _CONSTANTS, "Write IS NULL." if isinstance(node, exp.Null) else hint)


def _short(text: str, field: str) -> None:
    if not text.isascii():
        raise InputError(field, text, "a number in plain digits")
    if len(text) > _DIGITS:
        raise InputError(field, text, f"a number of at most {_DIGITS} digits")


def _number(text: str, field: str) -> int | Decimal:
    _short(text, field)
    try:
        number = int(text) if text.isdigit() else Decimal(text)
    except (ArithmeticError, ValueError):
        raise InputError(field, text, "a number") from None
    if isinstance(number, Decimal):
        places = (number.adjusted(), number.as_tuple().exponent)  # of a zero too: 0e999999999
        if not all(isinstance(place, int) and abs(place) <= _EXPONENT for place in places):
            allowed = f"between -1e{_EXPONENT} and 1e{_EXPONENT}, of at most {_EXPONENT} digits after the point"
            raise InputError(field, text, f"a number {allowed}")
    return number
