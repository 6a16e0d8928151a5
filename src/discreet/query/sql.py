"""The same questions in SQL. Text is parsed and read through an allow-list into a `Query`; it never reaches an engine.

Every node and every argument that is not understood is refused, with the piece of text it stands for. What is allowed:

    [WITH name AS (SELECT columns and expressions FROM table WHERE ...)]
    SELECT keys, aggregates and arithmetic over them
    FROM the table [[LEFT] JOIN a public table ON its key]
    [WHERE condition] [GROUP BY expressions, BIN(column, width)] [HAVING condition] [ORDER BY ...] [LIMIT n]

HAVING, ORDER BY, LIMIT and arithmetic over aggregates work on the released table: they cost nothing and see only
published numbers. The values of a text column in GROUP BY are discovered, which takes a delta.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from discreet.core.exact import Number
from discreet.data.schema import Schema
from discreet.data.text import check_dialect, read_statement
from discreet.errors import InputError
from discreet.query.presentation import Presentation
from discreet.query.question import Query
from discreet.query.sql_privacy import read_private
from discreet.query.sql_scope import Scope
from discreet.query.sql_select import Reading
from discreet.query.sql_union import selects_of, united
from discreet.query.union import Union

__all__ = ["Scope", "Statement", "parse_sql"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as what is asked of the data, and what is done with the released table."""

    query: Query | Union
    presentation: Presentation
    price: dict[str, Number] = field(default_factory=dict)
    """Epsilon and delta, where the statement names them."""


def parse_sql(text: str, schema: Schema, dialect: str = "duckdb") -> Statement:
    """Read one SELECT statement about the table of `schema`; refuses everything it does not fully understand."""
    check_dialect(dialect)
    try:
        private = read_private(text, schema, dialect)
        query, presentation = _read(read_statement(private.text, dialect=dialect), schema, dialect)
        query = query.limits(**private.limits) if private.limits else query
        found = query.discovered  # only there a delta buys something
        price = {name: value for name, value in private.price.items() if name != "delta" or found}
        return Statement(query.checked(schema), presentation, price)
    except RecursionError:
        raise InputError("sql", text, "a shorter statement") from None


def _read(tree: Any, schema: Schema, dialect: str) -> tuple[Query | Union, Presentation]:
    selects = selects_of(tree)
    readings = [Reading(schema, dialect).read(select) for select in selects]
    if len(readings) > 1:
        return united(tree, readings)
    return readings[0].asked, readings[0].presentation
