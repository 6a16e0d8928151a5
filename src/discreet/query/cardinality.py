"""How many different values there are in each group, as engine expressions; no person adds more than the limits allow.

Of a person's groups those count that count for every other output. Of a person's different values in a group the first
`unit.rows` count, in the order of a keyed hash of person, group and value, so that nobody else's rows decide which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real, Text, Timestamp
from discreet.data.dialect import added, as_bytes, engine_of
from discreet.data.read import as_declared, as_text
from discreet.data.schema import Schema
from discreet.query.contribution import PERSON, numbered, order_of

__all__ = ["count_values", "joined_counts", "plain_value", "value_columns"]

Expression = Any  # ibis expressions carry no useful static types here

_VALUE = " value"
_NUMBER = " number"
_CHANCE = "chance"
_BITS = 31
_MASK = 2**_BITS - 1


def plain_value(column: str, schema: Schema, table: Expression) -> Expression:
    """A declared value as text or as a number that all engines tell apart alike; missing where it cannot be read."""
    import ibis

    declared, raw = schema.columns[column], table[schema.slot(column)]
    match declared:
        case Integer() | Category() | Timestamp():
            return as_declared(raw, declared)
        case Boolean():
            flag = as_declared(raw, declared)
            one, zero = ibis.literal(1, "int64"), ibis.literal(0, "int64")
            return ibis.cases((flag, one), (~flag, zero), else_=ibis.null("int64"))
        case Date():
            return as_declared(raw, declared).cast("timestamp").epoch_seconds().cast("int64")
        case Text():
            return as_text(raw)
        case Real():
            return as_declared(raw, declared) + 0.0  # which makes one zero of two


def value_columns(column: str, schema: Schema, table: Expression, name: str) -> dict[str, Expression]:
    """What `count_values` of this name needs to know of each row beside its keys and its person."""
    value = plain_value(column, schema, table)
    number = numbered(value)
    # As bytes: under a rule of the column by which "Ann" equals "ANN", one person's spelling would stand for all.
    told = as_bytes(value, engine_of(table)) if value.type().is_string() else value
    return {f"{name}{_VALUE}": told, f"{name}{_NUMBER}": (number ^ (number >> _BITS)) & _MASK}


def count_values(
    rows: Expression, keys: Sequence[str], name: str, unit: Unit, order: str, salt: Sequence[int]
) -> Expression:
    """How many different values the rows of each combination of keys have: (keys, name).

    `order` is the column with the hash of person and keys; the rows are those of the groups that count.

    Guarantee: the values of one person that count are at most `unit.rows` for each combination of keys, where it is set
    at most `unit.rows_total` over all of them, and which they are depends on that person's rows and the salt alone.
    Proof: docs/proofs/query.md.
    """
    import ibis

    value = f"{name}{_VALUE}"
    rows = rows.filter(rows[value].notnull())
    if unit.column is not None:
        # The value itself comes last: two values never share a place, whatever the hash does.
        rows = rows.mutate(**{_CHANCE: order_of(rows[order].cast("int64"), rows[f"{name}{_NUMBER}"], _BITS, salt[4:8])})
        within = ibis.window(group_by=[PERSON, *keys], order_by=[_CHANCE, value])
        rows = rows.mutate(place=ibis.dense_rank().over(within))
        rows = rows.filter(rows["place"] < unit.rows)
        if unit.rows_total is not None:
            within = ibis.window(group_by=PERSON, order_by=[_CHANCE, *keys, value])
            rows = rows.mutate(place=ibis.dense_rank().over(within))
            rows = rows.filter(rows["place"] < unit.rows_total)
    return rows.group_by(list(keys)).aggregate(**{name: rows[value].nunique().cast("int64")})


def joined_counts(
    parts: Sequence[tuple[Expression, Mapping[str, str]]], keys: Sequence[str], names: Sequence[str]
) -> Any:
    """Several tables of sums as one: (keys, names). Each comes with its own names of some of the sums."""
    import ibis

    zero = ibis.literal(0, "int64")
    wide = [
        part.select(*keys, **{name: part[own[name]].cast("int64") if name in own else zero for name in names})
        for part, own in parts
    ]
    rows = wide[0] if len(wide) == 1 else ibis.union(*wide)
    return rows.group_by(list(keys)).aggregate(**{name: added(rows[name], engine_of(rows)) for name in names})
