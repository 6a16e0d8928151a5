"""The examples of a private table, laid out in its engine: whole numbers come back, in an order of their own.

Rows are sorted by what they hold, so that the same table gives the same examples wherever it is read from and in
whatever order: a run that is taken up again finds them as they were. Of each person one row counts, or up to so many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.data.column import Boolean, Category, Date, Integer
from discreet.data.read import as_declared, bounded, identity, whole
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.learn.encoding import MISSING, STEPS, Encoding, Part
from discreet.learn.persons import fill_up, rows_apart
from discreet.noise.bits import words
from discreet.query.compile import chosen
from discreet.query.contribution import order_of
from discreet.query.group import group_codes
from discreet.query.key import Key
from discreet.query.predicate import Predicate
from discreet.query.question import Query

__all__ = ["examples_of"]

Expression = Any  # ibis expressions carry no useful static types here
_PERSON, _ORDER, _PLACE = "person", "order", "place"
_BITS = 31
_MASK = 2**_BITS - 1
_EPOCH = date(1970, 1, 1).toordinal()


def examples_of(
    encoding: Encoding,
    schema: Schema,
    data: Connection,
    bits: Bits,
    condition: Predicate | None = None,
    rows: int = 1,
) -> Any:
    """What the model sees and what it is to tell, one row an example; with more `rows`, as `persons.by_person` has it.

    Guarantee: one row of the table, or one person where the unit is a person, is at most one example, and what it is
    depends on their rows and `bits` alone. A row whose target is missing is no example.
    """
    salt = [int(word) & _MASK for word in words(bits, 8)]
    found = data.integers(_coded(encoding, schema, data.table, salt, condition, rows))
    codes = {part.name: found[f"c{place}"] for place, part in enumerate(encoding.parts)}
    if rows > 1:
        return _by_person(encoding, codes, found[_PERSON], found[_PLACE], rows)
    order = np.lexsort([codes[part.name] for part in encoding.parts])
    codes = {name: column[order] for name, column in codes.items()}
    return encoding.inputs(codes), encoding.outputs(codes)


def _by_person(
    encoding: Encoding, codes: Mapping[str, NDArray[Any]], person: NDArray[Any], place: NDArray[Any], rows: int
) -> Any:
    """Examples by person, sorted by what their rows hold."""
    order = np.lexsort((place, person))
    person = np.unique(person[order], return_inverse=True)[1]
    index, weights = fill_up(person, place[order], rows)
    index = order[index]
    columns = [codes[part.name][index] for part in encoding.parts]
    sort = np.lexsort([weights[:, 0], *(column[:, row] for row in reversed(range(rows)) for column in columns)])
    index, weights = index[sort], weights[sort]
    flat = {name: column[index.ravel()] for name, column in codes.items()}
    laid_out = [leaf.reshape(*index.shape, *leaf.shape[1:]) for leaf in (encoding.inputs(flat), encoding.outputs(flat))]
    return rows_apart(tuple(laid_out), weights)


def _coded(
    encoding: Encoding, schema: Schema, table: Expression, salt: Sequence[int], condition: Predicate | None, most: int
) -> Expression:
    table = chosen(Query(condition), schema, table)
    listed = [part for part in encoding.parts if isinstance(part.column, (Category, Boolean))]
    keys = [Key(part.name, _labels(part)).checked(schema) for part in listed]
    table, codes = group_codes(keys, schema, table)
    columns: dict[str, Expression] = {}
    for place, part in enumerate(encoding.parts):
        if part in listed:
            code = codes[listed.index(part)].fill_null(MISSING)
        else:
            code = _steps(part, table[schema.slot(part.name)])
        columns[f"c{place}"] = code.cast("int32")
    if schema.unit.column is not None:
        columns[_PERSON] = identity(table[schema.unit.column])
    rows = table.select(**columns)
    rows = rows.filter(rows[f"c{len(encoding.parts) - 1}"] >= 0)
    if schema.unit.column is None:
        return rows
    return _first_rows(rows.filter(rows[_PERSON].notnull()), [f"c{i}" for i in range(len(encoding.parts))], salt, most)


def _labels(part: Part) -> tuple[Any, ...]:
    """What the codes of a column stand for, in their order; what is missing is none of it."""
    return part.column.values if isinstance(part.column, Category) else (False, True)


def _steps(part: Part, raw: Expression) -> Expression:
    """Steps from the lower bound of a number or a day; -1 where it is missing."""
    import ibis

    column: Any = part.column
    missing = ibis.literal(MISSING, "int64")
    low, step = part.origin, part.step

    def place(number: Expression) -> Expression:
        # Half a step first: a number too small to be scaled is then no reason for an engine to fail.
        return ((number.cast("float64") - low + step / 2) * (1 / step)).floor().cast("int64")

    if isinstance(column, Date):
        seconds = as_declared(raw, column).cast("timestamp").epoch_seconds().cast("int64")
        day = (seconds / 86400.0 + 0.25).floor() + _EPOCH
        return place(day).fill_null(MISSING)

    def inside(number: Expression) -> Expression:
        return place(whole(number) if isinstance(column, Integer) else number)

    below, above = ibis.literal(0, "int64"), ibis.literal(STEPS, "int64")
    return bounded(
        raw,
        float(column.lower),
        float(column.upper),
        inside=inside,
        below=below,
        above=above,
        missing=missing,
    )


def _first_rows(rows: Expression, names: Sequence[str], salt: Sequence[int], most: int) -> Expression:
    """Rows of each person: the first by a keyed hash of what the rows hold, ties by what they hold.

    Where it is more than one, with a number for the person and the row's place.
    """
    import ibis

    folded = ibis.literal(0, "int64")
    factor = (salt[5] & _MASK) | 2**30 | 1
    for name in names:
        folded = (folded * factor + rows[name].cast("int64") + salt[6]) & _MASK
    rows = rows.mutate(**{_ORDER: order_of(rows[_PERSON], folded, _BITS, salt)})
    place = ibis.row_number().over(ibis.window(group_by=_PERSON, order_by=[_ORDER, *names]))
    rows = rows.mutate(**{_PLACE: place})
    if most == 1:
        return rows.filter(rows[_PLACE] == 0).select(*names)
    rows = rows.filter(rows[_PLACE] < most)
    number = ibis.dense_rank().over(ibis.window(order_by=_PERSON))
    return rows.select(*names, **{_PLACE: rows[_PLACE].cast("int32"), _PERSON: number.cast("int32")})
