"""A question as a statement in SQL that is read back as the same question, where SQL has words for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import Any

from discreet.data.column import Column, Date, Timestamp
from discreet.data.expression.node import quoted
from discreet.data.instant import Instant
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.function import functions
from discreet.query.key import Key, bins
from discreet.query.notation import write_condition
from discreet.query.pruning import narrowed_bins
from discreet.query.question import Query
from discreet.query.sql import parse_sql
from discreet.query.sql_vector import clipped_mean
from discreet.query.union import Union

__all__ = ["bin_sizes", "write_sql"]

_TRUE = ("CASE WHEN ", " THEN 1 ELSE 0 END")
_EVERY = ("year", "quarter", "month", "week", "day", "hour")


def write_sql(query: Any, schema: Schema) -> str | None:
    """The question as a SELECT that `parse_sql` reads as the same one; None where SQL has no words for it.

    Limits on each person stand beside a statement, and are left out. Groups that a condition rules out by what is
    declared are not published by a statement.

    >>> from discreet.data.column import Category, Integer
    >>> schema = Schema("people", {"age": Integer(0, 120), "sex": Category(["f", "m"])})
    >>> from discreet.query.aggregate import count, mean
    >>> print(write_sql(Query().where("age >= 18").group_by("sex").agg(n=count(), age=mean("age")), schema))
    SELECT sex, COUNT(*) AS n, AVG(age) AS age
    FROM people
    WHERE age >= 18
    GROUP BY sex
    """
    if not isinstance(query, Query) or query.persons is not None or query.combinations is not None:
        return None
    asked = replace(query, person_limits=None)
    try:
        whole = asked.checked(schema)
        outputs = whole.to_dict()["outputs"]
        keys = [_key(key, schema) for key in whole.keys]
        pairs = zip(keys, whole.keys, strict=True)
        named = [text if key.name is None else f"{text} AS {quoted(key.name)}" for text, key in pairs]
        shown = [f"{_output(entry, schema)} AS {quoted(name)}" for name, entry in outputs.items()]
        text = "\n".join(_clauses(whole, [*named, *shown], keys, schema))
        return text if _same(parse_sql(text, schema).query, whole, schema) else None
    except (InputError, KeyError):
        return None


def _clauses(query: Query, items: list[str], keys: list[str], schema: Schema) -> Iterator[str]:
    yield f"SELECT {'DISTINCT ' if query.listing else ''}{', '.join(items)}"
    yield f"FROM {quoted(schema.name)}"
    if query.condition is not None:
        yield f"WHERE {write_condition(query.condition)}"
    if keys and not query.listing:
        yield f"GROUP BY {', '.join(keys)}"


def _same(read: Query | Union, asked: Query, schema: Schema) -> bool:
    """Whether a statement was read as the question, but for names of keys and for groups that a condition rules out."""
    if not isinstance(read, Query):
        return False
    narrow = tuple(narrowed_bins(replace(key, name=None), asked.condition, schema) for key in asked.keys)
    return replace(read, asked=()) == replace(replace(asked, keys=narrow).checked(schema), asked=()) and (
        read.names == asked.names
    )


def _output(entry: Mapping[str, Any], schema: Schema) -> str:
    """An output as SQL writes it; `KeyError` where it has no word for it."""
    column = quoted(entry["column"]) if entry.get("column") in schema.columns else entry.get("column")
    match entry["of"]:
        case "count":
            return f"COUNT({column or '*'})"
        case "people":
            return f"COUNT(DISTINCT {quoted(schema.unit.column or '')})"
        case "distinct":
            return f"COUNT(DISTINCT {column})"
        case "quantile":  # how it is searched for is not said: what differs there is not read back as the same
            share = Fraction(entry["q"])
            return f"MEDIAN({column})" if share == Fraction(1, 2) else f"QUANTILE_CONT({column}, {float(share)!r})"
        case "share":
            return f"SHARE({str(column).removeprefix(_TRUE[0]).removesuffix(_TRUE[1])})"
        case "vector_mean":
            vector = [quoted(each) if each in schema.columns else f"({each})" for each in entry["vector"]]
            own = vector[entry["vector"].index(entry["column"])]
            return clipped_mean(own, vector, f"{float(Fraction(entry['norm']))!r}")
    rest = {name: value for name, value in entry.items() if name not in ("of", "column", "other")}
    if entry["of"] == "sum" and "person" in rest:
        column = f"PERSON_BOUNDS({column}, {', '.join(rest.pop('person'))})"
    (function,) = (each for each in functions() if each.name == entry["of"])
    name = next((word for word, fields in function.sql.items() if dict(fields) == rest), None)
    if name is None:
        raise KeyError(entry["of"])
    return f"{name}({', '.join([str(column), *([quoted(entry['other'])] if 'other' in entry else [])])})"


def _key(key: Key, schema: Schema) -> str:
    """A key as it stands in GROUP BY."""
    name = quoted(key.column) if key.column in schema.columns else key.column
    if key.edges is None:
        return name
    sizes = bin_sizes(key, schema)
    written = sizes if len(sizes) == 1 and not sizes[0].isalpha() else tuple(map(_constant, sizes))
    return f"BIN({', '.join([name, *written])})"


def _constant(text: str) -> str:
    try:
        float(text)
    except ValueError:
        return f"'{text}'"
    return text


def bin_sizes(key: Key, schema: Schema) -> tuple[str, ...]:
    """What bins are made with, as short as can be: a width, a word such as month, or all edges.

    >>> from discreet.data.column import Integer
    >>> schema = Schema("people", {"age": Integer(0, 120)})
    >>> bin_sizes(bins("age", width=10), schema), bin_sizes(bins("age", [0, 18, 65]), schema)
    (('10',), ('0', '18', '65'))
    """
    whole = key.checked(schema)
    edges = whole.edges or ()
    column = schema.column(key.column, "group_by")
    for size in _candidates(edges, column):
        how: dict[str, Any] = {"every" if size.isalpha() else "width": size}
        try:
            if bins(key.column, **how).checked(schema).edges == edges:
                return (size,)
        except InputError:
            continue
    return tuple(_edge(edge) for edge in edges)


def _candidates(edges: tuple[Any, ...], column: Column) -> Iterator[str]:
    if isinstance(column, Date | Timestamp):
        yield from _EVERY
    steps = [after - before for before, after in pairwise(edges)]
    if steps and isinstance(column, Date):
        yield str(steps[0].days)
    elif steps and not isinstance(column, Timestamp):
        yield _edge(steps[0])


def _edge(edge: Any) -> str:
    if isinstance(edge, Fraction):
        return str(edge.numerator) if edge.denominator == 1 else str(float(edge))
    return str(edge) if isinstance(edge, date | Instant) else f"{edge}"
