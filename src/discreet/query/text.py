"""Pieces of SQL text as a tree: one statement, the columns and the constants in it. Nothing here is ever run."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from discreet.errors import InputError

__all__ = ["read_column", "read_constant", "read_statement"]

_LONGEST = 100_000
_CONSTANTS = "a constant (number, 'text', true, false, DATE '2024-12-31')"


def read_statement(text: str, field: str = "sql", shown: str | None = None) -> Any:
    """The parsed tree of one statement, without comments. Parsing is all that happens to it here."""
    import sqlglot
    from sqlglot import errors

    written = text if shown is None else shown
    if len(text) > _LONGEST:
        raise InputError(field, written, f"at most {_LONGEST:,} characters")
    try:
        tokens = sqlglot.tokenize(text, read="duckdb")
        # Comments hang on tokens; a semicolon would begin another statement.
        if any(token.comments or token.token_type.name == "SEMICOLON" for token in tokens):
            raise InputError(field, written, "one statement, without comments and semicolons")
        trees = sqlglot.parse(text, read="duckdb")
    except (errors.SqlglotError, RecursionError):
        raise InputError(field, written, "something that reads as SQL") from None
    if len(trees) != 1 or trees[0] is None:
        raise InputError(field, written, "one statement")
    return trees[0]


def read_column(node: Any, field: str = "where") -> str:
    """The name of a plain column."""
    from sqlglot import exp

    if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier) and not node.table:
        return str(node.name)
    raise InputError(field, node.sql(), "a plain column name")


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
    raise InputError(field, node.sql(), _CONSTANTS)


def _number(text: str, field: str) -> int | Decimal:
    if not text.isascii():
        raise InputError(field, text, "a number in plain digits")
    try:
        return int(text) if text.isdigit() else Decimal(text)
    except (ArithmeticError, ValueError):
        raise InputError(field, text, "a number") from None
