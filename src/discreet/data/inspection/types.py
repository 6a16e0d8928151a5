"""Of which type columns of text seem to be, by their values: for `discreet init --types`, if a custodian asks for it.

Only names of types come out, and how numbers and days are written. They are public once they stand in a schema; no
bound and no value is taken along.
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
_NUMBERS = {
    (mark, groups): Layout(decimal=mark, thousands=groups) for mark, groups in ((".", ""), (",", ""), (".", ","))
}
_NUMBERS[",", "."] = Layout(decimal=",", thousands=".")
_DAY = r"^\s*[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4}"
_ORDERS = {"dd/mm/yyyy": r"^\s*(1[3-9]|[23][0-9])[./-]", "mm/dd/yyyy": r"^\s*[0-9]{1,2}[./-](1[3-9]|[23][0-9])[./-]"}
_WAYS = {**{f"{mark} {groups}": one.number_pattern for (mark, groups), one in _NUMBERS.items()}, "day": _DAY, **_ORDERS}


def guess_types(connection: Connection, names: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The type of each column of text that has values, one that fits nearly all of them; and how they are written.

    The latter are fields of a `Layout` that are not as usual, with "?" where the values do not tell.
    """
    import ibis

    table, one, zero = connection.table, ibis.literal(1, "int64"), ibis.literal(0, "int64")
    sums: dict[str, Expression] = {}
    for number, name in enumerate(names):
        there = table[name].notnull() & (table[name].strip() != "")
        tests = {kind: there & table[name].re_search(pattern) for kind, pattern in _PATTERNS.items()}
        coded = there & table[name].re_search(r"^\s*[-+]?0[0-9]")
        tests["real"] = tests["real"] & ~coded
        ways = {way: there & table[name].re_search(pattern) for way, pattern in _WAYS.items()}
        for kind, holds in {"": there, **tests, **ways}.items():
            sums[f"{number} {kind}"] = ibis.coalesce(ibis.cases((holds, one), else_=zero).sum(), zero).cast("int64")
        sums[f"{number} values"] = table[name].nunique().cast("int64")
    counts = connection.integers(table.aggregate(**sums)) if sums else {}
    keys = ("", "values", *_PATTERNS, *_WAYS)
    rows = {name: {key: int(counts[f"{number} {key}"][0]) for key in keys} for number, name in enumerate(names)}
    guesses = {name: _type(rows[name]) for name in names}
    types = {name: guess for name, guess in guesses.items() if guess is not None}
    numbers = [rows[name] for name, kind in types.items() if kind in ("integer", "real")]
    days = [rows[name] for name, kind in types.items() if kind in ("date", "timestamp")]
    return types, _numbers(numbers) | _days(days)


def _type(rows: dict[str, int]) -> str | None:
    """The first type that nearly all values have; else a category where few values are repeated, or text."""
    known = rows[""]
    if not known:
        return None
    fitting = next((kind for kind in _PATTERNS if rows[kind] >= _ENOUGH * known), None)
    if fitting is not None:
        return fitting
    return "category" if rows["values"] <= _FEW and rows["values"] * _REPEATED <= known else "text"


def _numbers(columns: Sequence[dict[str, int]]) -> dict[str, str]:
    """Decimal mark and groups of digits with which nearly all numbers can be read."""
    known = sum(rows[""] for rows in columns)
    read = {way: sum(rows[" ".join(way)] for rows in columns) for way in _NUMBERS}
    if read[".", ""] >= _ENOUGH * known:
        return {}
    best = {mark: max((way for way in read if way[0] == mark), key=lambda way: read[way]) for mark in (".", ",")}
    first, second = sorted(best.values(), key=lambda way: -read[way])
    if read[first] == read[second] or read[first] < _ENOUGH * known:  # 1,250 may be either
        return {"decimal": "?", "thousands": "?"}
    return _NUMBERS[first].given


def _days(columns: Sequence[dict[str, int]]) -> dict[str, str]:
    """The order of day and month, where days are written with numbers of two digits first."""
    if not any(rows["day"] for rows in columns):
        return {}
    seen = [order for order in _ORDERS if any(rows[order] for rows in columns)]
    return {"dates": seen[0] if len(seen) == 1 else "?"}
