"""One table of a census as it is asked for: what it counts, by what, and how much its accuracy matters."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from discreet.core.exact import Number, as_written
from discreet.data.schema import Schema
from discreet.errors import MISSING, InputError, Phrase, kind_of
from discreet.query.ask import Form, read_file
from discreet.query.forms import AMOUNT, KEYS
from discreet.query.key import Key, keys_of

__all__ = ["COUNTED", "TABLES", "CensusTable", "read_tables"]

COUNTED = ("persons", "households", "sizes")
_FIELDS = ("counts", "by", "household", "largest", "share", "zeros")
_EXAMPLE = '{"people": {"counts": "persons", "by": ["sex"]}, "types": {"counts": "households", "by": ["type"]}}'


def _keys(value: Any) -> tuple[Key, ...]:
    try:
        found: tuple[Key, ...] = KEYS.settle(value)
    except TypeError:
        raise InputError("by", kind_of(value), "a list of columns, bins(...) or key(...)") from None
    if strange := [one for one in found if not isinstance(one, Key)]:
        raise InputError("by", kind_of(strange[0]), "column names, bins(...) or key(...)")
    return found


def _zeros(value: Any) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, Mapping) for one in value):
        raise InputError("zeros", kind_of(value), 'a list of cells by label: [{"sex": "male"}]')
    return tuple(dict(one) for one in value)


@frozen
class CensusTable:
    """A table of persons, of households, or of households by size.

    `by` are columns of the person; in a table of households, of the householder. `household` are columns of the
    householder by which persons are counted: persons by type of their household. `largest` is the last size told
    apart. `share` is the weight of its part of the price. `zeros` are cells that cannot occur, which is public, by
    label: [{"type": "alone", "sex": "f"}].
    """

    counts: str
    by: tuple[Key, ...] = field(default=(), converter=_keys)
    household: tuple[Key, ...] = field(default=(), converter=_keys)
    largest: int | None = None
    share: Number = 1
    zeros: tuple[Mapping[str, Any], ...] = field(default=(), converter=_zeros)

    def check(self, name: str) -> None:
        """`InputError` where what is said does not go together."""
        at = f"tables.{name}"
        if self.counts not in COUNTED:
            raise InputError(f"{at}.counts", self.counts, among=COUNTED)
        if self.household and self.counts != "persons":
            hint = "Columns of the householder are what households are counted by: put them in `by`."
            raise InputError(f"{at}.household", self.household[0].column, "left out unless it counts persons", hint)
        if self.counts == "sizes" and (self.by or self.largest is None):
            if self.by:
                raise InputError(f"{at}.by", self.by[0].column, "left out where households are counted by size")
            raise InputError(f"{at}.largest", MISSING, "given: the largest size with a count of its own")
        if self.counts != "sizes" and self.largest is not None:
            raise InputError(f"{at}.largest", self.largest, "left out unless households are counted by size")
        if self.zeros and self.counts == "sizes":
            raise InputError(f"{at}.zeros", Phrase("some"), "left out where households are counted by size")
        if as_written(self.share, f"{at}.share") <= 0:
            raise InputError(f"{at}.share", self.share, "more than zero")

    def to_dict(self) -> dict[str, Any]:
        """As JSON values: what differs from the defaults."""
        found: dict[str, Any] = {"counts": self.counts}
        for name in ("by", "household"):
            if keys := getattr(self, name):
                found[name] = KEYS.write(keys)
        if self.largest is not None:
            found["largest"] = self.largest
        if self.share != 1:
            found["share"] = AMOUNT.write(self.share)
        if self.zeros:
            found["zeros"] = [dict(one) for one in self.zeros]
        return found


def _entries(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not value:
        raise InputError("tables", kind_of(value), f"tables by name, such as {_EXAMPLE}")
    for name, entry in value.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise InputError("tables", name, "named by letters, digits and underscores: their files have these names")
        if isinstance(entry, CensusTable):
            continue
        if not isinstance(entry, Mapping):
            raise InputError(f"tables.{name}", kind_of(entry), 'an object, such as {"counts": "persons"}')
        if unknown := [one for one in entry if one not in _FIELDS]:
            raise InputError.unknown(f"tables.{name}.{unknown[0]}", _FIELDS)
        if "counts" not in entry:
            raise InputError(f"tables.{name}.counts", MISSING, "given", among=COUNTED)
    return dict(value)


def read_tables(value: Any) -> dict[str, CensusTable]:
    """Tables by name, from what Python gives: each a `CensusTable`, or a dictionary of its fields."""
    found: dict[str, CensusTable] = {}
    for name, entry in _entries(value).items():
        if isinstance(entry, CensusTable):
            found[name] = entry
        else:
            try:
                found[name] = CensusTable(**entry)
            except InputError as problem:
                field_ = problem.field if problem.field == "zeros" else "by"
                raise problem.about(f"tables.{name}.{field_}") from None
        found[name].check(name)
    return found


def _tables_from(value: Any, schema: Schema) -> dict[str, CensusTable]:
    found = {}
    for name, entry in _entries(value).items():
        fields = dict(entry)
        for one in ("by", "household"):
            if one in fields:
                if not isinstance(fields[one], list):
                    raise InputError(f"tables.{name}.{one}", kind_of(fields[one]), "a list of columns")
                with keys_of(f"tables.{name}.{one}"):
                    fields[one] = KEYS.read(fields[one], schema)
        found[name] = fields
    return read_tables(found)


def _parse_tables(text: str) -> Any:
    """Tables by name, in TOML or JSON."""
    try:
        return json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (json.JSONDecodeError, tomllib.TOMLDecodeError) as problem:
        raise InputError("tables", Phrase("another text"), f"TOML or JSON, tables by name ({problem})") from None


TABLES = Form(
    dict[str, dict[str, Any]],
    settle=read_tables,
    write=lambda value: {name: table.to_dict() for name, table in value.items()},
    read=_tables_from,
    parse=_parse_tables,
    load=read_file(_parse_tables),
)
"""The tables of a census by name."""
