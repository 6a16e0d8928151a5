"""The table of persons as an engine expression: each person's row follows from that person's rows alone.

Sums are of whole steps on the lattice of the column, so that no order of rows matters; what is divided or scaled is
divided and scaled once, which every engine does alike.
"""

from __future__ import annotations

from typing import Any

from discreet.data.column import Boolean, Category, Integer, Real, Text
from discreet.data.dialect import as_bytes, engine_of, gathered
from discreet.data.read import as_text, identity
from discreet.data.schema import Schema
from discreet.query.compile import Reading, chosen, row_value
from discreet.query.measure import Total, lattice_for
from discreet.query.person_table import Each
from discreet.query.question import Query

__all__ = ["person_rows"]

Expression = Any  # ibis expressions carry no useful static types here

_BYTES = "discreet bytes"


def person_rows(schema: Schema, table: Expression) -> Expression:
    """The rows of persons, with the columns of `schema`, out of the rows they are computed of.

    Guarantee: a person's rows follow from that person's own and no others, and carry that person's id. Proof:
    docs/proofs/query.md, "One row for each person".
    """
    persons = schema.persons
    if persons is None:
        return table
    made, base, engine = persons.table, persons.rows, engine_of(table)
    table = base.computed(table, [name for name in persons.names if base.slot(name) not in table.columns])
    table = chosen(Query(made.condition), base, table)
    read = Reading(base, table)
    person = str(base.unit.column)
    by = {person: identity(table[person])} | {name: _key(base, read, column) for name, column in made.keys}
    # As bytes, too: under a rule of the column by which "Ann" equals "ANN", two persons would share a row.
    by |= {f"{_BYTES} {name}": as_bytes(value, engine) for name, value in by.items() if value.type().is_string()}
    parts = {f"discreet part {place}": _part(each, base, read) for place, (_, each) in enumerate(made.columns)}
    found = {f"discreet found {place}": _found(each, read) for place, (_, each) in enumerate(made.columns)}
    rows = table.select(**by, **parts, **found)
    rows = rows.filter(rows[person].notnull())
    sums: dict[str, Expression] = {}
    for place, (_, each) in enumerate(made.columns):
        part, there = rows[f"discreet part {place}"], rows[f"discreet found {place}"]
        sums[f"discreet sum {place}"] = _gathered(each, part, engine)
        sums[f"discreet many {place}"] = gathered(there, engine)
    grouped = rows.group_by(list(by)).aggregate(**sums) if sums else rows.select(*by).distinct()
    columns = {name: grouped[name] for name in (person, *(name for name, _ in made.keys))}
    for place, (name, each) in enumerate(made.columns):
        columns[name] = _value(
            each, name, schema, base, grouped[f"discreet sum {place}"], grouped[f"discreet many {place}"]
        )
    return grouped.select(**columns)


def _key(schema: Schema, read: Reading, name: str) -> Expression:
    column = schema.columns[name]
    return as_text(read.raw(name)) if isinstance(column, Text) else read[name]


def _total(each: Each, schema: Schema) -> Total:
    column = schema.numeric(str(each.column), "per_person")
    return Total(str(each.column), lattice_for(column, column.lower, column.upper))


def _part(each: Each, schema: Schema, read: Reading) -> Expression:
    """What a row has to say."""
    import ibis

    if each.column is None:
        return ibis.literal(1, "int32")
    column = schema.columns[each.column]
    match each.of:
        case "count":
            return read[each.column].notnull().ifelse(ibis.literal(1, "int32"), ibis.literal(0, "int32"))
        case "distinct":
            value = _key(schema, read, each.column)
            return as_bytes(value, engine_of(value)) if value.type().is_string() else value
        case "sum" | "mean":
            return row_value(_total(each, schema), read)
    if isinstance(column, Boolean):
        flag = read[each.column]
        return ibis.cases((flag, ibis.literal(1, "int64")), (~flag, ibis.literal(0, "int64")), else_=ibis.null("int64"))
    if isinstance(column, Category):
        codes = [(label, ibis.literal(place, "int64")) for place, label in enumerate(_ordered(column))]
        return read[each.column].cases(*codes, else_=ibis.null("int64"))
    return read[each.column]


def _found(each: Each, read: Reading) -> Expression:
    """One where a row has a value that counts: complete columns have one in every row."""
    import ibis

    one = ibis.literal(1, "int32")
    if each.column is None or (each.of in ("sum", "mean") and not read.schema.columns[each.column].nullable):
        return one
    return read[each.column].notnull().ifelse(one, ibis.literal(0, "int32"))


def _gathered(each: Each, part: Expression, engine: str) -> Expression:
    match each.of:
        case "distinct":
            return part.nunique()
        case "min":
            return part.min()
        case "max":
            return part.max()
    return gathered(part, engine)


def _ordered(column: Category) -> list[str]:
    """The declared values in the order of their bytes."""
    return sorted(column.values, key=lambda value: value.encode())


def _value(each: Each, name: str, schema: Schema, base: Schema, sums: Expression, found: Expression) -> Expression:
    """What a person's rows come to, as the new column holds it."""
    import ibis

    column = schema.columns[name]
    match each.of:
        case "count" | "distinct" if isinstance(column, Integer):
            return _within(sums, int(column.lower), int(column.upper)).cast("int64")
        case "sum" if isinstance(column, Integer | Real):
            step = _total(each, base).lattice.step
            low, high = -(-column.lower // step), column.upper // step  # points of the lattice within the bounds
            steps = _within(sums, int(low), int(high)).cast("int64")
            value = steps if isinstance(column, Integer) else steps.cast("float64") * float(step)
        case "mean":
            scale = float(_total(each, base).lattice.step)
            # One division of whole numbers, each exact as a float: every engine rounds it alike.
            value = sums.cast("float64") / ibis.greatest(found, 1).cast("float64") * scale
        case _:
            value = sums
            if isinstance(column, Boolean):
                return value == 1
            if isinstance(column, Category):
                labels = [(place, ibis.literal(label)) for place, label in enumerate(_ordered(column))]
                return value.cases(*labels, else_=ibis.null("string"))
            return value
    return (found > 0).ifelse(value, ibis.null(value.type()))


def _within(value: Expression, low: int, high: int) -> Expression:
    import ibis

    return ibis.greatest(ibis.least(value, high), low)
