"""From a table to the first draft of its schema: what a custodian says about the file and about whom to protect.

The draft holds names of columns and stored types, and what was said here. No value of the data is looked at, unless the
custodian asks to have types guessed; a first line counts as names once somebody said that it is a header.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from discreet.core.unit import Unit
from discreet.data.csv_file import header_problem, read_first_line
from discreet.data.layout import Layout
from discreet.data.skeleton import skeleton
from discreet.data.source import Source
from discreet.errors import GIVEN, MISSING, InputError, Phrase

__all__ = [
    "ROW",
    "SchemaDraft",
    "draft_schema",
    "header_doubt",
    "other_delimiter",
    "unit_of",
    "with_delimiter",
    "with_names",
]

ROW = "row"
"""The word for a unit of one row."""
_UNWRITTEN = "Nothing was written."


@dataclass(frozen=True, slots=True)
class SchemaDraft:
    """A schema to fill in, and what was looked at to write it."""

    text: str
    columns: tuple[str, ...]
    guessed: int | None
    """Of how many columns values were read to guess types; None where none were read."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a header looks like when the file is not what its ending says."""
        wide = any("\0" in name for name in self.columns)
        return ("it is UTF-16 or no text at all. Save the file as UTF-8.",) if wide else ()


def draft_schema(source: Source, name: str, unit: Unit, *, types: bool = False) -> SchemaDraft:
    """The draft for a source and the unit that was chosen; with `types`, types are guessed from the values of text."""
    guessed: dict[str, str] = {}
    layout: dict[str, str] = {}
    if types:
        from discreet.curator.inspection import guess_column_types  # reads rows: loaded when that was asked for

        guessed, layout = guess_column_types(source, unit.column)
    text = skeleton(source, name, unit, guessed, layout)
    return SchemaDraft(text, tuple(source.columns()), len(guessed) if types else None)


def with_delimiter(source: Source, delimiter: str) -> Source:
    """The same file, read with a delimiter: `tab` stands for a tab."""
    if source.kind != "csv":
        raise InputError("delimiter", GIVEN, "left out unless the data is a CSV or TSV file", _UNWRITTEN)
    try:
        return replace(source, layout=Layout(delimiter={"tab": "\t"}.get(delimiter, delimiter)))
    except InputError as problem:
        raise problem.about("delimiter") from None


def other_delimiter(source: Source) -> str | None:
    """What divides the first line of a file that is one value as it is read now; None where nothing does."""
    if source.kind != "csv" or len(source.first_line()) != 1:
        return None
    path = source.place.paths()[0]
    divides = (other for other in (";", "\t", "|") if len(read_first_line(path, other)) > 1)
    return next(("tab" if other == "\t" else other for other in divides), None)


def header_doubt(source: Source) -> str | None:
    """Why the first line may hold somebody's values rather than names, without any of them; None if nothing does."""
    return header_problem(source.first_line())


def with_names(source: Source, *, header: bool, names: str | None = None) -> Source:
    """The same file with the names of its columns: its first line, names that are given, or numbers.

    `names` are divided by commas, in the order of the file, and are for a file without a header line.
    """
    if source.kind != "csv":
        raise InputError("names" if names else "header", GIVEN, "left out unless the data is a CSV or TSV file")
    if names is None:
        if header:
            return source
        columns = tuple(f"column_{number}" for number in range(1, len(source.first_line()) + 1))
        return replace(source, names=columns)
    if header:
        raise InputError("names", GIVEN, "left out where the file has a header line", _UNWRITTEN)
    columns, first = tuple(name.strip() for name in names.split(",")), source.first_line()
    if len(columns) != len(first):  # here the custodian looks at it; afterwards no line decides anything
        allowed = f"one name for each column: the first line of the file has {len(first)} values"
        hint = "Nothing was written. They are the names of its columns, in the order of the file."
        raise InputError("names", Phrase(f"{len(columns)} names"), allowed, hint)
    return replace(source, names=columns)


def unit_of(columns: Sequence[str], unit: str, groups: int | None = None, rows: int | None = None) -> Unit:
    """Who is protected, as somebody said it: `row`, or the column that identifies a person, with limits."""
    if unit == ROW:
        if ROW in columns:
            hint = "Nothing was written. Rename the column, or name another one."
            raise InputError("unit", unit, "unambiguous: it is also the name of a column", hint)
        if groups is not None:
            raise InputError("groups", GIVEN, "left out unless the unit is a person", _UNWRITTEN)
        return Unit() if rows is None else Unit(rows=rows)
    if unit not in columns:
        raise InputError("unit", unit, f"{ROW}, or a column", _UNWRITTEN, among=columns)
    for limit, given in (("groups", groups), ("rows", rows)):
        if given is None:
            raise InputError(limit, MISSING, "given where the unit is a person", _UNWRITTEN)
    return Unit(unit, groups=groups or 0, rows=rows or 0)
