"""A question whose keys nobody listed, as one engine expression: bounded integers for every combination there is.

What comes back is one row for each combination of keys that some row has: the keys, how many units have it, and the
measures. All of it is private still: which combinations exist is what the selection decides upon.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.data.column import Real, Text
from discreet.data.dialect import added, as_bytes, engine_of, hashed
from discreet.data.schema import Schema
from discreet.query.cardinality import count_values, joined_counts, plain_value, value_columns
from discreet.query.compile import GROUP, chosen, measure_name, measured, summed
from discreet.query.contribution import ORDER, PERSON, drawn, limited, order_of
from discreet.query.group import group_number
from discreet.query.key import Key
from discreet.query.measure import WEIGHTED, Distinct, Measure, Rows, Total, with_values
from discreet.query.question import Query

__all__ = ["LONGEST", "PEOPLE", "WORDS", "compile_discovery", "part_name"]

Expression = Any  # ibis expressions carry no useful static types here

LONGEST = 200
"""Text of more characters than this is no key: it counts as missing."""

PEOPLE = "people"
"""The column that counts the units that have a combination."""

WORDS = 8
"""How many random words the choice of combinations takes."""

_MIXED = "mixed"
_BITS = 31
_MASK = 2**_BITS - 1


def part_name(place: int) -> str:
    """The column that holds the discovered key of this place."""
    return f"k{place}"


def compile_discovery(
    query: Query, schema: Schema, measures: Sequence[Measure], table: Expression, salt: Sequence[int]
) -> Expression:
    """The expression whose rows are (group, k0, k1, ..., people, m0, m1, ...), one for each combination there is.

    `group` is the number of the combination of listed keys, absent where there are none. Discovered keys are bytes
    (text, categories) or integers (whole numbers; days in seconds; 0 and 1 for false and true); None if missing.

    Guarantee: the rows of one person count in at most `unit.groups` combinations, once in `people` and within
    `contribution` in each measure, and it is the same rows for all of them. Proof: docs/proofs/query-unknown-keys.md.
    """
    table, number = group_number(query.listed, schema, chosen(query, schema, table))
    engine = engine_of(table)
    found = {part_name(place): _value(key, schema, table) for place, key in enumerate(query.discovered)}
    keys = {GROUP: number} if query.listed else {}
    # As bytes: under a rule of the column by which "Ann" equals "ANN", one person's spelling would stand for all.
    keys |= {name: as_bytes(part, engine) if part.type().is_string() else part for name, part in found.items()}
    columns = dict(keys)
    for index, measure in enumerate(measures):
        if isinstance(measure, Distinct):
            columns |= value_columns(measure.column, schema, table, measure_name(index))
    plain = [measure for measure in measures if not isinstance(measure, Distinct)]
    if schema.unit.column is not None:
        columns[_MIXED] = _mixed([number, *found.values()] if query.listed else list(found.values()), engine, salt)
    rows = measured(columns, schema, with_values(plain, schema), table)
    needed = [GROUP] if query.listed else []
    needed += [
        part_name(place) for place, key in enumerate(query.discovered) if not schema.columns[key.column].nullable
    ]
    rows = rows.filter([rows[name].notnull() for name in needed]) if needed else rows
    if schema.unit.column is not None:
        rows = _kept(rows.filter(rows[PERSON].notnull()), list(keys), schema, salt)
    counted = _counted(rows, list(keys), schema, plain, salt)
    if len(plain) == len(measures):
        return counted
    names = {measure: measure_name(index) for index, measure in enumerate(measures)}
    own = {names[measure]: measure_name(index) for index, measure in enumerate(plain)} | {PEOPLE: PEOPLE}
    tables = [(counted, own)]
    for measure, name in names.items():
        if isinstance(measure, Distinct):
            tables.append((count_values(rows, list(keys), name, schema.unit, ORDER, salt), {name: name}))
    return joined_counts(tables, list(keys), [PEOPLE, *names.values()])


def _counted(
    rows: Expression, keys: list[str], schema: Schema, measures: Sequence[Measure], salt: Sequence[int]
) -> Expression:
    """How many units each combination has, and the sums of what they add to it: (keys, people, m0, m1, ...)."""
    if schema.unit.column is None:
        return summed(rows, len(measures), keys, **{PEOPLE: rows.count()})
    needed = with_values(measures, schema)
    if schema.unit.rows_total is not None:
        told = [measure_name(index) for index, measure in enumerate(needed) if not measure.per_person]
        rows = drawn(rows, keys, told, schema.unit, salt)
    parts = _contributions(rows, keys, schema, needed)
    return summed(parts, len(measures), keys, **{PEOPLE: parts.count()})


def _kept(rows: Expression, keys: list[str], schema: Schema, salt: Sequence[int]) -> Expression:
    """The rows of the combinations of each person that count."""
    import ibis

    rows = rows.mutate(**{ORDER: order_of(rows[PERSON], rows[_MIXED], _BITS, salt)})
    # By hash and then by the keys themselves: two combinations never share a place, whatever the hash does.
    order = ibis.window(group_by=PERSON, order_by=[ORDER, *keys])
    ranked = rows.mutate(place=ibis.dense_rank().over(order))
    return ranked.filter(ranked["place"] < schema.unit.groups)


def _contributions(kept: Expression, keys: list[str], schema: Schema, measures: Sequence[Measure]) -> Expression:
    """One row for each person and combination that counts, with what the person adds to it."""
    import ibis

    engine = engine_of(kept)
    named = {measure_name(index): measure for index, measure in enumerate(measures)}
    sums = {name: added(kept[name], engine) for name, measure in named.items() if not measure.per_person}
    each = kept.group_by([*keys, PERSON]).aggregate(**sums) if sums else kept.select(*keys, PERSON).distinct()
    found = {measure: each[name] for name, measure in named.items() if name in sums}
    bounded = {}
    for name, measure in named.items():
        values = found[measure.weight] if isinstance(measure, WEIGHTED) else None
        if isinstance(measure, Total):
            values = found.get(Rows(measure.column), ibis.literal(1))  # a complete column has one in each row
        bounded[name] = ibis.literal(1) if measure.per_person else limited(measure, found[measure], values, schema.unit)
    return each.select(*keys, **bounded)


def _value(key: Key, schema: Schema, table: Expression) -> Expression:
    """A discovered key as text or as a whole number; missing where it cannot be read."""
    import ibis

    column = schema.columns[key.column]
    if isinstance(column, Real):
        raise TypeError("real numbers are not discovered")
    value = plain_value(key.column, schema, table)
    return (value.length() <= LONGEST).ifelse(value, ibis.null("string")) if isinstance(column, Text) else value


def _mixed(parts: Sequence[Expression], engine: str, salt: Sequence[int]) -> Expression:
    """One number of 31 bits made of all keys; equal combinations have equal ones."""
    first, second = ((int(word) & (2**30 - 1)) | 2**29 | 1 for word in salt[5:7])
    whole = None
    for part in parts:
        number = (hashed(part, engine) if part.type().is_string() else part).cast("int64")
        number = part.isnull().ifelse(_MASK, (number ^ (number >> _BITS)) & _MASK)  # engines hash NULL differently
        whole = number if whole is None else ((whole * first + number * second) >> 20) & _MASK
    return whole
