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

import re
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.core.exact import Number
from discreet.data.expression.domain import metered
from discreet.data.schema import Schema
from discreet.data.text import check_dialect, read_statement
from discreet.errors import InputError
from discreet.query.presentation import Presentation
from discreet.query.question import Query
from discreet.query.sql_check import check_labels, try_presentation
from discreet.query.sql_hint import refuse
from discreet.query.sql_member import of_persons
from discreet.query.sql_privacy import read_private
from discreet.query.sql_relation import aliased, renamed
from discreet.query.sql_released import ReleasedReading, released_source
from discreet.query.sql_scope import Scope
from discreet.query.sql_select import Reading
from discreet.query.sql_total import TotalReading, inlined
from discreet.query.sql_union import selects_of, united
from discreet.query.union import Union

__all__ = ["Scope", "Statement", "parse_sql"]

_HALF = re.compile("[\\ud800-\\udfff]")  # of a surrogate pair


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
    if isinstance(text, str) and _HALF.search(text):  # a name with one could be charged for, and not written to a file
        raise InputError("sql", text, "text that UTF-8 can hold: no half of a surrogate pair", "Nothing was spent.")
    with metered():
        return _statement(text, schema, dialect)


def _statement(text: str, schema: Schema, dialect: str) -> Statement:
    try:
        private = read_private(text, schema, dialect)
        tree = of_persons(inlined(read_statement(private.text, dialect=dialect), schema), schema)
        query, presentation = _read(tree, schema, dialect)
        query = query.limits(**private.limits) if private.limits else query
        found = query.discovered  # only there a delta buys something
        price = {name: value for name, value in private.price.items() if name != "delta" or found}
        query = query.checked(schema)
        check_labels(presentation, query.names)
        if presentation.then is not None or isinstance(query, Union):
            try_presentation(query, presentation, schema)
        return Statement(query, presentation, price)
    except RecursionError:
        raise InputError("sql", text, "a shorter statement") from None


def _read(tree: Any, schema: Schema, dialect: str) -> tuple[Query | Union, Presentation]:
    selects = selects_of(tree)
    if len(selects) == 1 and (inner := released_source(selects[0], schema)) is not None:
        query, first = _read(inner, schema, dialect)
        first = _relabelled(first, aliased(selects[0]), selects[0])
        numbers = {*query.names, *(first.totals.names if first.totals is not None else ())}
        labels, outputs = _shown(first, numbers)
        totals = TotalReading(schema, dialect)
        later = ReleasedReading(labels, outputs, first.tied(), totals).read(selects[0])
        if totals.parts:
            if first.totals is not None:
                raise refuse(selects[0], "a statement whose totals all stand in one SELECT")
            query, beside = totals.joined(query)
            first = replace(totals.carried(first), totals=beside)
        return query, _last(first, later)
    if len(selects) > 1 and (views := tree.args.get("with_") or tree.args.get("with")):
        slot = "with_" if tree.args.get("with_") else "with"  # what stands before a union is known to all of it
        for select in selects:
            if not select.args.get(slot):
                select.set(slot, views.copy())
    readings = [Reading(schema, dialect).read(select) for select in selects]
    if len(readings) > 1:
        return united(tree, readings)
    return readings[0].asked, readings[0].presentation


def _shown(presentation: Presentation, numbers: set[str]) -> tuple[list[str], set[str]]:
    """The columns of the table that a presentation makes in the end, and those that are numbers with intervals."""
    numbers = numbers | {e.name for e in presentation.formulas if e.is_number}
    left = {label for name, label in presentation.shown if name in numbers}
    if presentation.then is not None:
        return _shown(presentation.then, left)
    return [label for _, label in presentation.shown], left


def _relabelled(presentation: Presentation, names: list[str], node: Any) -> Presentation:
    """A presentation whose last table has the names of an alias: FROM (SELECT ...) AS t(a, b)."""
    if presentation.then is not None:
        return replace(presentation, then=_relabelled(presentation.then, names, node))
    labels = renamed([label for _, label in presentation.shown], names, node)
    return replace(
        presentation, shown=tuple((name, new) for (name, _), new in zip(presentation.shown, labels, strict=True))
    )


def _last(first: Presentation, later: Presentation) -> Presentation:
    """One presentation after another."""
    return replace(first, then=later if first.then is None else _last(first.then, later))
