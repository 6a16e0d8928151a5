"""A schema to fill in, written from column names and declared types only. No value of the data is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from discreet.core.unit import Unit
from discreet.data.source import Source
from discreet.data.toml import toml_table, toml_text

__all__ = ["skeleton", "stored_type"]

_HEAD = """\
# What discreet may know about this table. Fill in every "?"; nothing here may be read off the data itself:
# take bounds and categories from a codebook, the law, or common sense.

[dataset]
name = {name}
{names}# version = "?"            # your name for this state of the data, such as "2024-02"

{unit}neighbours = "add-remove"  # or "replace": the number of units is public

# All that may ever be spent. epsilon alone, or epsilon with delta, or rho.
[budget]
epsilon = "?"
# delta = 1e-6
"""
_PERSON = """\
# What is protected: everything of one person. What is beyond its limits is left out; higher ones mean more noise.
[unit]
{lines}
"""
_ROW = """\
# What is protected: one row, as every row is another person. Where people come back, add column, groups and rows.
[unit]
"""
_ROWS = """\
# What is protected: any so many rows, as nobody has more, though no column says whose they are. Nothing checks that.
[unit]
{rows:<26} # that one person has at most
"""


_WAYS = {
    "decimal": 'the decimal mark, "." or ","',
    "thousands": 'what stands between groups of three digits: "," or "." or, for nothing, ""',
    "dates": '"dd/mm/yyyy" or "mm/dd/yyyy"',
}


def skeleton(
    source: Source,
    name: str,
    unit: Unit,
    types: Mapping[str, str] = MappingProxyType({}),
    layout: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The text of a `discreet.toml` for the columns of a source and the unit that was chosen.

    `types` are those of columns of text, and `layout` how their values are written, where a person had them guessed.
    """
    listed = ", ".join(map(toml_text, source.names))
    names = f"names = [{listed}]  # of the columns: the file has no header line\n" if source.names else ""
    written = {**(layout if source.kind == "csv" else {}), **source.layout.given}
    lines = {f"{field} = {toml_text(value)}": _WAYS[field] if value == "?" else "" for field, value in written.items()}
    names += "".join(f"{line:<26} # {why}\n" if why else f"{line}\n" for line, why in lines.items())
    parts = [_HEAD.format(name=toml_text(name), names=names, unit=_protected(unit))]
    parts.extend(
        _person(column) if column == unit.column else _column(column, types.get(column) or stored_type(kind))
        for column, kind in source.columns().items()
    )
    return "\n".join(parts)


def _protected(unit: Unit) -> str:
    if unit.column is None:
        return _ROW if unit.rows == 1 else _ROWS.format(rows=f"rows = {unit.rows}")
    said = {
        f"column = {toml_text(unit.column)}": "identifies a person",
        f"groups = {unit.groups}": "in how many groups of a question a person counts",
        f"rows = {unit.rows}": "as how many rows a person counts in one group; `discreet limits` helps to choose",
    }
    return _PERSON.format(lines="\n".join(f"{line:<26} # {why}" for line, why in said.items()))


def _person(name: str) -> str:
    return "\n".join(
        [toml_table("columns", name), 'type = "text"             # identifies a person: nothing more to declare', ""]
    )


def stored_type(kind: str) -> str | None:
    """The type of column that a stored type stands for; None for text, which may hold anything.

    >>> stored_type("!int64"), stored_type("decimal(9, 2)"), stored_type("string")
    ('integer', 'real', None)
    """
    kind = kind.removeprefix("!").lower()
    if kind.startswith(("int", "uint")):
        return "integer"
    if kind.startswith(("float", "decimal")):
        return "real"
    if kind.startswith("bool"):
        return "boolean"
    return next((known for known in ("date", "timestamp") if kind.startswith(known)), None)


def _column(name: str, known: str | None) -> str:
    lines = [toml_table("columns", name)]
    if known in ("integer", "real"):
        lines += [f'type = "{known}"', 'lower = "?"', 'upper = "?"']
    elif known in ("boolean", "text"):
        lines += [f'type = "{known}"']
    elif known == "category":
        lines += [
            'type = "category"',
            'values = "?"             # a list of every value that may occur: ["...", "..."]',
        ]
    elif known == "timestamp":
        lines += [
            'type = "timestamp"',
            'lower = "?"              # such as 2020-01-01',
            'upper = "?"',
            'timezone = "?"           # whose clocks and days count, such as Europe/Vienna or UTC',
        ]
    elif known == "date":
        lines += ['type = "date"', 'lower = "?"              # such as 2020-01-01', 'upper = "?"']
    else:
        lines += [
            'type = "?"               # integer, real, category, boolean, date, timestamp or text',
            '# lower = "?"            # integer, real, date, timestamp',
            '# upper = "?"',
            '# timezone = "?"         # timestamp: such as Europe/Vienna or UTC',
            '# values = ["?"]         # category: every value that may occur',
        ]
    return "\n".join([*lines, "nullable = true           # false if a value is never missing", ""])
