"""What would keep the machine of a server busy for long is refused before it is planned: planning is free."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.core.exact import as_written
from discreet.data.column import Date, Integer, Real
from discreet.data.schema import Schema
from discreet.data.text import read_constant, read_statement
from discreet.errors import InputError, Phrase
from discreet.query.key import Key, bins

__all__ = ["BINS", "LARGEST", "check_amount", "check_key", "check_lists", "check_sql"]

BINS = 10_000
"""Bins of one key, and values or edges in one list of a question."""
LARGEST = 10**18
"""A price, an error or a rate beyond this is a slip of the pen."""
_DIGITS = 100


def check_key(key: Key, schema: Schema) -> Key:
    """The key, unless its bins are too many: settled from the bounds, before a bin is made."""
    column = schema.column(key.column, "group_by")
    if key.edges is None or len(key.edges) != 2 or key.edges[0] not in ("width", "every"):
        return key
    how, size = key.edges
    if not isinstance(column, (Integer, Real, Date)) or (how == "every" and size != "day"):
        return key
    span = Fraction((column.upper - column.lower).days) if isinstance(column, Date) else column.upper - column.lower
    step = as_written(1 if how == "every" else size, "bins.width")
    if step > 0 and span / step > BINS:
        raise InputError(f"bins.{how}", size, f"at most {BINS:,} bins over HTTP", "Nothing was spent.")
    return key


def check_sql(text: str, schema: Schema) -> None:
    """The same for every BIN(column, width) of a text; `InputError` where it is no SQL."""
    for node in read_statement(text).walk():
        if type(node).__name__ != "Anonymous" or str(node.this).upper() != "BIN" or len(node.expressions) != 2:
            continue
        column, width = node.expressions
        if column.name in schema.columns:
            check_key(bins(column.name, width=read_constant(width, "sql")), schema)


def check_lists(value: Any, name: str, schema: Schema) -> None:
    """Refuse plain values in which a list is longer than any that a question needs, or stands for one that is."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, dict) and isinstance(one.get("column"), str) and isinstance(one.get("edges"), list):
            check_key(Key(one["column"], edges=tuple(one["edges"])), schema)
        if isinstance(one, list) and len(one) > BINS:
            raise InputError(name, Phrase(f"a list of {len(one):,}"), f"made of lists of at most {BINS:,} over HTTP")
        if isinstance(one, (list, dict)):
            pending += one.values() if isinstance(one, dict) else one


def check_amount(value: str | float | None) -> str | float | None:
    """A number as it was sent, unless it is larger than any that has a meaning. What is no number is told later."""
    if isinstance(value, str) and len(value) > _DIGITS:
        raise ValueError(f"a number must be written in at most {_DIGITS} characters")
    try:
        large = value is not None and abs(as_written(value, "amount")) > LARGEST
    except InputError:
        return value
    if large:
        raise ValueError("a number must be at most 1e18")
    return value
