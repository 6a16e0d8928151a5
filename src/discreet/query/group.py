"""Which group a row belongs to, as a number: its place in the published list of groups, or missing if it has none.

Few labels are compared one by one; many are looked up in a small table that is joined to the rows. Bins are found by
arithmetic where they are evenly spaced, else in a search tree. All ways give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

from discreet.data.column import Category, Date, Integer, Real, Timestamp
from discreet.data.dialect import as_bytes, engine_of, joins, listed
from discreet.data.expression.calendar import day_number
from discreet.data.instant import Instant
from discreet.data.read import as_declared, as_label, as_text, bounded, spellings, whole, within_bounds
from discreet.data.schema import Schema
from discreet.query.key import Key

__all__ = ["group_codes", "group_number", "numbered_groups"]

Expression = Any  # ibis expressions carry no useful static types here

_FEW = 12  # labels or edges compared one by one
_EXACT = 2**53
_EPOCH = date(1970, 1, 1)


def group_number(
    keys: Sequence[Key], schema: Schema, table: Expression, only: Sequence[int] | None = None
) -> tuple[Expression, Expression]:
    """The table, with what had to be joined to it, and the number of each row's group.

    With `only`, groups are those of the combinations of labels that have these numbers, and their places its numbers.
    """
    table, codes = group_codes(keys, schema, table)
    return table, numbered_groups(keys, codes, schema, only)


def numbered_groups(
    keys: Sequence[Key], codes: Sequence[Expression], schema: Schema, only: Sequence[int] | None = None
) -> Expression:
    """The number of each row's group, from the places of its values among the labels of each key."""
    import ibis

    number = None
    for key, code in zip(keys, codes, strict=True):
        number = code if number is None else number * len(key.labels(schema)) + code
    if only is not None and number is not None:
        number = number.cases(
            *((other, ibis.literal(place, "int64")) for place, other in enumerate(only)), else_=ibis.null("int64")
        )
    return ibis.literal(0, "int32") if number is None else number.cast("int32")


def group_codes(
    keys: Sequence[Key], schema: Schema, table: Expression, *, clamped: bool = False
) -> tuple[Expression, list[Expression]]:
    """The table, with what had to be joined to it, and for each key the place of a row's value among its labels.

    Numbers and days outside the declared bounds have no place; `clamped`, they have that of the nearer end, and missing
    ones of a binned column have none. No row is ever repeated by a join: labels differ, and are compared byte by byte.
    """
    engine = engine_of(table)
    many = [place for place, key in enumerate(keys) if joins(engine) and _is_listed(key, schema)]
    for place in many:
        labels = _labels(place, keys[place], schema, table)
        sought, label = _sought(table, keys[place], schema), labels[f"discreet label {place}"]
        if label.type().is_string():  # as bytes: engines may compare text by a rule of its column
            sought, label = as_bytes(sought, engine), as_bytes(label, engine)
        table = table.left_join(labels, [sought == label])
    found = {place: table[f"discreet code {place}"] for place in many}
    return table, [_code(key, schema, table, found.get(place), clamped) for place, key in enumerate(keys)]


def _is_listed(key: Key, schema: Schema) -> bool:
    """Whether a key's labels are looked up in a table."""
    column = schema.columns[key.column]
    named = key.values is not None or isinstance(column, Category)
    return key.edges is None and named and len(key.labels(schema)) > _FEW


def _labels(place: int, key: Key, schema: Schema, table: Expression) -> Expression:
    named = _named(key, schema, table)
    kind = "int64" if isinstance(schema.columns[key.column], Integer | Date | Timestamp) else "string"
    label, code = f"discreet label {place}", f"discreet code {place}"
    labels = list(named) if kind == "string" and all(type(each) is str for each in named) else _marks(named)
    return listed({label: labels, code: list(named.values())}, {label: kind, code: "int64"}, engine_of(table))


def _named(key: Key, schema: Schema, table: Expression) -> dict[Any, int]:
    """What is looked up, and the place of the label that it stands for: labels, and where text is stored also other
    texts for them. These are compared as they are, for an engine would rewrite a text again for every label.
    """
    column = schema.columns[key.column]
    named = {label: index for index, label in enumerate(key.labels(schema)) if label is not None}
    if isinstance(column, Category) and table[schema.slot(key.column)].type().is_string():
        named |= {text: named[value] for text, value in spellings(column).items() if value in named}
    return named


def _marks(labels: Iterable[Any]) -> list[Any]:
    """Labels as the table that they are looked up in has them: days as numbers."""
    return [(each - _EPOCH).days if isinstance(each, date) else _mark(each) for each in labels]


def _sought(table: Expression, key: Key, schema: Schema) -> Expression:
    """What is looked up among the labels."""
    column, raw = schema.columns[key.column], table[schema.slot(key.column)]
    match column:
        case Integer() | Timestamp():
            return as_declared(raw, column)
        case Date():
            return day_number(as_declared(raw, column))
        case Category() if not raw.type().is_string():
            return as_label(raw, column)
        case _:
            return as_text(raw)


def _code(key: Key, schema: Schema, table: Expression, found: Expression | None, clamped: bool) -> Expression:
    import ibis

    column, labels, raw = schema.columns[key.column], key.labels(schema), table[schema.slot(key.column)]
    if isinstance(column, Integer) and key.values is None and key.edges is None:
        low, high = int(column.lower), int(column.upper)
        return bounded(
            raw,
            low,
            high,
            inside=lambda number: whole(number) - low,
            below=ibis.literal(0, "int64") if clamped else ibis.null("int64"),
            above=ibis.literal(high - low, "int64") if clamped else ibis.null("int64"),
            missing=ibis.literal(len(labels) - 1, "int64") if column.nullable else ibis.null("int64"),
        )
    if found is not None and isinstance(column, Category) and None not in labels:
        return found
    # Undeclared text need not be struck out where the declared one is looked up anyway.
    plain = isinstance(column, Category) and (None not in labels or key.values is None)
    value = _sought(table, key, schema) if plain else as_declared(raw, column)
    if key.edges is not None and isinstance(column, Integer | Real | Date | Timestamp):
        if clamped:
            return _bin(key.edges, value)
        inside = within_bounds(raw, column)
        gap = ibis.literal(len(labels) - 1, "int64") if None in labels else ibis.null("int64")
        return ibis.cases((inside, _bin(key.edges, value)), (value.isnull(), gap), else_=ibis.null("int64"))
    other = ibis.literal(labels.index(None), "int64") if None in labels else ibis.null("int64")
    if found is None:
        named = [(_mark(label), ibis.literal(index, "int64")) for label, index in _named(key, schema, table).items()]
        none = ibis.null("int64")  # where missing values alone are left
        found = value.cases(*named, else_=none) if named else none
    if isinstance(column, Integer | Date | Timestamp) and not clamped:
        found = within_bounds(raw, column).ifelse(found, ibis.null("int64"))
    if None not in labels:
        return found
    if key.values is None:  # all declared values are listed: what is not found is missing
        return found.fill_null(labels.index(None))
    return value.isnull().ifelse(other, found)


def _bin(edges: Sequence[Any], value: Expression) -> Expression:
    """Which bin a value is in: the last edge belongs to the last bin, what is outside to none."""
    import ibis

    inside = (value >= _mark(edges[0])) & (value <= _mark(edges[-1]))
    even = _even(edges, value) if len(edges) > _FEW else None
    code = _search([_mark(edge) for edge in edges[1:-1]], value, 0) if even is None else even
    return inside.ifelse(code, ibis.null("int64"))


def _mark(edge: Any) -> Any:
    return float(edge) if isinstance(edge, Fraction) else int(edge) if isinstance(edge, Instant) else edge


def _search(inner: Sequence[Any], value: Expression, offset: int) -> Expression:
    import ibis

    if not inner:
        return ibis.literal(offset, "int64")
    middle = len(inner) // 2
    left = _search(inner[:middle], value, offset)
    right = _search(inner[middle + 1 :], value, offset + middle + 1)
    return (value < inner[middle]).ifelse(left, right)


def _even(edges: Sequence[Any], value: Expression) -> Expression | None:
    """The bin by arithmetic, if all but the last are equally wide and the arithmetic is exact; else None."""
    import ibis

    width = edges[1] - edges[0]
    if any(edges[i + 1] - edges[i] != width for i in range(len(edges) - 2)) or edges[-1] - edges[-2] > width:
        return None
    last = len(edges) - 2
    if isinstance(edges[0], date):
        days = value.cast("timestamp").epoch_seconds().cast("int64") - (edges[0] - date(1970, 1, 1)).days * 86400
        return ibis.least(((days + 0.5) / (width.days * 86400)).floor().cast("int64"), last)
    scale = math.lcm(edges[0].denominator, width.denominator)
    start, step = int(edges[0] * scale), int(width * scale)
    if max(abs(start), abs(start) + len(edges) * step, scale) >= _EXACT:
        return None
    # One division of whole numbers gives the nearest float to an edge: the very number it is compared with elsewhere.
    number = value.cast("float64")
    # Half a width first: a number too small to be divided is then no reason for an engine to fail.
    guess = ((number - float(edges[0]) + float(width) / 2) / float(width) - 0.5).floor()
    below = (number < (guess * float(step) + float(start)) / float(scale)).ifelse(1, 0)
    above = (number >= ((guess + 1) * float(step) + float(start)) / float(scale)).ifelse(1, 0)
    return ibis.greatest(ibis.least(guess.cast("int64") - below + above, last), 0)
