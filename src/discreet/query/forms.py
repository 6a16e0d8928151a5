"""The forms that fields of many kinds of ask have: words, numbers, names of columns, conditions, keys."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from discreet.core.exact import Number
from discreet.data.expression import Expression
from discreet.data.schema import Schema
from discreet.errors import InputError, kind_of
from discreet.query.ask import Form, read_file
from discreet.query.key import Key, column_name, key
from discreet.query.notation import read_key
from discreet.query.parse import parse_condition
from discreet.query.predicate import Predicate, checked, predicate_from, predicate_to

__all__ = [
    "AMOUNT",
    "COLUMN",
    "CONDITION",
    "CONDITIONS",
    "FLAG",
    "KEY",
    "KEYS",
    "NAMES",
    "PLACES",
    "REAL",
    "TEXT",
    "WEIGHTS",
    "WHOLE",
    "check_condition",
    "names_in",
    "pairs_in",
    "sizes_in",
]

TEXT = Form(str)
WHOLE = Form(int, text=int)
REAL = Form(float, text=float)
FLAG = Form(bool, text=bool)


def _plain_amount(value: Number) -> Any:
    return value if isinstance(value, (int, float, str)) else str(Fraction(value))


AMOUNT = Form(str | float, write=_plain_amount)
"""A number that is read exactly as it is written: 0.1, "1/3"."""


def names_in(text: str) -> list[str]:
    """Names and expressions with commas between them; those in brackets and quotes belong to one."""
    return [part.strip() for part in _split(text) if part.strip()]


def _split(text: str) -> list[str]:
    parts, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        else:
            depth += (sign == "(") - (sign == ")")
        if sign == "," and not quote and depth <= 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts if not quote else text.split(",")


def pairs_in(text: str, field: str, example: str) -> dict[str, str]:
    """NAME=VALUE with commas between them."""
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name.strip() and sign and value.strip() for name, sign, value in pairs):
        raise InputError(field, text, f"NAME=VALUE, separated by commas, such as {example}")
    return {name.strip(): value.strip() for name, _, value in pairs}


def sizes_in(text: str, field: str, example: str) -> dict[str, int]:
    """NAME=NUMBER with commas between them."""
    pairs = pairs_in(text, field, example)
    if not all(value.isdecimal() for value in pairs.values()):
        raise InputError(field, text, f"NAME=NUMBER with whole numbers, such as {example}")
    return {name: int(value) for name, value in pairs.items()}


WEIGHTS = Form(
    dict[str, str | float],
    settle=lambda value: dict(value) if isinstance(value, Mapping) else value,
    write=lambda value: {name: _plain_amount(weight) for name, weight in value.items()},
    parse=lambda text: pairs_in(text, "weights", "cells=2,origins=1"),
)
"""A weight for each of some names."""


COLUMN = Form(str, settle=column_name)
"""The name of a column, or an expression of columns."""


def _names(value: Iterable[str | Expression] | str | Expression) -> tuple[str, ...]:
    return tuple(column_name(one) for one in ([value] if isinstance(value, str | Expression) else value))


NAMES = Form(list[str], settle=_names, write=list, parse=names_in)
"""Names of columns, or expressions of them."""


def _condition_to(value: str | Predicate) -> Any:
    return str(value) if isinstance(value, str | Expression) else predicate_to(value)


def _condition_from(value: Any, schema: Schema) -> str | Predicate:
    return predicate_from(value) if isinstance(value, Mapping) else value


def check_condition(value: str | Predicate | None, schema: Schema) -> Predicate | None:
    """A condition as it was given, read against the schema."""
    read = parse_condition(value) if isinstance(value, str) else value
    return None if read is None else checked(read, schema)


CONDITION = Form(str | dict[str, Any], write=_condition_to, read=_condition_from)
"""Which rows count: as text, 'age >= 18', or in the JSON form of a query."""


def _conditions(value: Iterable[str | Predicate]) -> tuple[str | Predicate, ...]:
    return (value,) if isinstance(value, str | Predicate) else tuple(value)


CONDITIONS = Form(
    list[str | dict[str, Any]],
    settle=_conditions,
    write=lambda value: [_condition_to(one) for one in value],
    read=lambda value, schema: [_condition_from(one, schema) for one in value],
    repeated=True,
)


def _key_from(value: Any, schema: Schema) -> Key:
    return read_key(value, schema) if isinstance(value, str) else Key.from_dict(value, schema)


def _key(value: str | Key | Expression) -> Key:
    return key(value) if isinstance(value, str | Expression) else value


KEY = Form(str | dict[str, Any], settle=_key, write=Key.to_dict, read=_key_from, keyed=True)
"""What to group by: written as on a command line (`sex`, `age/10`), or in the JSON form of a query."""


def _keys(value: Iterable[str | Key | Expression] | str | Key | Expression) -> tuple[Key, ...]:
    return tuple(_key(one) for one in ([value] if isinstance(value, str | Key | Expression) else value))


def _parse_keys(texts: list[str]) -> list[str]:
    """Bins may have commas of their own: in age/0,18,65 what follows a comma and begins with a digit is an edge."""
    names: list[str] = []
    for part in (part for text in texts for part in names_in(text)):
        edge = names and "/" in names[-1] and part.lstrip("-+.")[:1].isdigit()
        names[-1:] = [f"{names[-1]},{part}"] if edge else [*names[-1:], part]
    return names


KEYS = Form(
    list[str | dict[str, Any]],
    settle=_keys,
    write=lambda value: [one.to_dict() for one in value],
    read=lambda value, schema: [_key_from(one, schema) for one in value],
    parse=_parse_keys,
    repeated=True,
    keyed=True,
)


def _places(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _places_to(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(place): list(one) if isinstance(one, tuple) else one for place, one in value.items()}


def _places_from(value: Any, schema: Schema) -> Any:
    if not isinstance(value, Mapping):
        raise InputError("places", kind_of(value), "an object with a value for every place")
    return {place: tuple(one) if isinstance(one, list) else one for place, one in value.items()}


def _parse_places(text: str) -> dict[str, Any]:
    """Lines of a public CSV file: a header, then place,value or place,x,y on every line."""
    head, *rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if row] or [[]]
    if len(head) < 2 or any(len(row) != len(head) for row in rows):
        raise InputError("places", head, "lines of a CSV file: a header, then place,value or place,x,y on every line")
    try:
        values: list[list[Any]] = [[_number(cell) for cell in row[1:]] for row in rows]
    except ValueError:
        values = [row[1:] for row in rows]
    return {row[0]: one[0] if len(one) == 1 else one for row, one in zip(rows, values, strict=True)}


def _number(cell: str) -> int | float:
    return int(cell) if cell.lstrip("-").isdecimal() else float(cell)


PLACES = Form(
    dict[str, Any],
    settle=_places,
    write=_places_to,
    read=_places_from,
    parse=_parse_places,
    load=read_file(_parse_places),
)
"""Something public of every place: its zone, where it is, how many rows it has."""
