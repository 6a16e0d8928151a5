"""Of which type columns of text seem to be, by their values: for `discreet init --types`, if a custodian asks for it.

Only the name of a type comes out. It is public once it stands in a schema; no bound and no value is taken along.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.data.instant import TEXT
from discreet.data.layout import Layout
from discreet.data.source import Connection

__all__ = ["guess_types"]

Expression = Any  # ibis expressions carry no useful static types here

_ENOUGH = 0.95  # of the values that are not missing
_FEW = 100  # different values of a category at most
_REPEATED = 4  # rows for each of them at least
_PLAIN = Layout().number_pattern
_MARKED = "|".join(Layout(decimal=mark, thousands=groups).number_pattern for mark, groups in ((",", "."), (".", ",")))
_PATTERNS = {
    "boolean": r"^\s*([Tt]rue|TRUE|[Ff]alse|FALSE|[Yy]es|YES|[Nn]o|NO)\s*$",
    "integer": r"^\s*[-+]?(0|[1-9][0-9]{0,14})\s*$",  # a zero in front makes a code of it
    "date": r"^\s*([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4})\s*$",
    "timestamp": rf"{TEXT}|^\s*[0-9]{{1,2}}[./-][0-9]{{1,2}}[./-][0-9]{{4}} [0-9]{{1,2}}:[0-9]{{2}}",
    "real": f"{_PLAIN}|{_MARKED}",
}


def guess_types(connection: Connection, names: Sequence[str]) -> dict[str, str]:
    """The type of each column of text that has values; one that fits nearly all of them."""
    import ibis

    table, one, zero = connection.table, ibis.literal(1, "int64"), ibis.literal(0, "int64")
    sums: dict[str, Expression] = {}
    for number, name in enumerate(names):
        there = table[name].notnull() & (table[name].strip() != "")
        tests = {kind: there & table[name].re_search(pattern) for kind, pattern in _PATTERNS.items()}
        coded = there & table[name].re_search(r"^\s*[-+]?0[0-9]")
        tests["real"] = tests["real"] & ~coded
        for kind, holds in {"": there, **tests}.items():
            sums[f"{number} {kind}"] = ibis.coalesce(ibis.cases((holds, one), else_=zero).sum(), zero).cast("int64")
        sums[f"{number} values"] = table[name].nunique().cast("int64")
    counts = connection.integers(table.aggregate(**sums)) if sums else {}
    keys = ("", "values", *_PATTERNS)
    found = {name: _type({key: int(counts[f"{number} {key}"][0]) for key in keys}) for number, name in enumerate(names)}
    return {name: kind for name, kind in found.items() if kind is not None}


def _type(rows: dict[str, int]) -> str | None:
    """The first type that nearly all values have; else a category where few values are repeated, or text."""
    known = rows[""]
    if not known:
        return None
    fitting = next((kind for kind in _PATTERNS if rows[kind] >= _ENOUGH * known), None)
    if fitting is not None:
        return fitting
    return "category" if rows["values"] <= _FEW and rows["values"] * _REPEATED <= known else "text"
