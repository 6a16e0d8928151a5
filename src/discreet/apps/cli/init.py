"""`discreet init`: from a table to a schema to fill in."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from discreet.apps.cli.options import Data, Table
from discreet.apps.cli.output import number_of, say, working
from discreet.core.unit import Unit
from discreet.curator.setup import dataset_name
from discreet.data.csv_file import header_problem, read_first_line
from discreet.data.layout import Layout
from discreet.data.skeleton import skeleton
from discreet.data.source import Source, source_of
from discreet.errors import GIVEN, MISSING, InputError, Phrase

__all__ = ["init"]

_ROW = "row"
_QUESTIONS = {
    "groups": "In how many groups of a question (counties, months) may one person count? More mean more noise",
    "rows": "As how many rows may one person count in a group? What is beyond is left out",
}


def init(
    data: Data,
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("discreet.toml"),
    name: Annotated[str | None, typer.Option(help="Name of the dataset; the file's name by default.")] = None,
    table: Table = None,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header", help="Whether the first line of a CSV file holds the names of its columns."
        ),
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--names", help="The columns of a CSV file without a header line: NAME,NAME,...")
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="What divides the values of a CSV file, if not a comma: ';', '|' or 'tab'.")
    ] = None,
    types: Annotated[
        bool,
        typer.Option(
            "--types", help="Read the values of columns of text, to guess their types. Types become public; values not."
        ),
    ] = False,
    unit: Annotated[
        str | None,
        typer.Option(help="Who is protected: the column that identifies a person, or `row` if each row is another."),
    ] = None,
    groups: Annotated[int | None, typer.Option(help="In how many groups of a question one person counts.")] = None,
    rows: Annotated[
        int | None,
        typer.Option(help="As how many rows one person counts in a group; of --unit row, how many one has at most."),
    ] = None,
) -> None:
    """Write a schema to fill in. It is made of column names and stored types; no value is looked at without --types.

    The first line of a CSV file is taken for names once you say that it is a header, and not a person's values. Who is
    protected, and how much of one person counts, is asked on a terminal if no option says it.
    """
    if out.exists():
        raise InputError("--out", str(out), "a file that does not exist yet", "Nothing was written.")
    source = source_of(data, table)
    if delimiter is not None:
        source = replace(source, layout=_layout(source, delimiter))
    elif source.kind == "csv" and columns is None:
        _check_delimiter(source)
    if source.kind == "csv":
        source = replace(source, names=_names(source, data, header, columns))
    elif header is not None or columns is not None:
        raise InputError(
            "--header" if columns is None else "--names", GIVEN, "left out unless the data is a CSV or TSV file"
        )
    names = list(source.columns())
    protected = _unit(names, unit, groups, rows)
    guessed, layout = _guessed(source, protected) if types else ({}, {})
    text = skeleton(source, name or table or dataset_name(data), protected, guessed, layout)
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError("--out", str(out), f"a file that can be written ({problem.strerror})") from None
    say(f"Wrote {out}: {len(names)} column{'s' * (len(names) != 1)}. Fill in every '?', then:")
    if types:
        say(
            f"Its values were read here to guess the types of {number_of(len(guessed), 'column')}, and how numbers and "
            "days are written: that is in the schema, which is public. No bound and no value was taken from the data."
        )
    named = "" if out == Path("discreet.toml") else f" --schema {shlex.quote(str(out))}"
    say(f"discreet plan {shlex.quote(data)} count --epsilon 0.1{named}")
    for warning in _odd(names):
        say(f"Look at the header: {warning}")


def _guessed(source: Source, unit: Unit) -> tuple[dict[str, str], dict[str, str]]:
    from discreet.apps.cli.check import types_of  # reads rows: loaded when that was asked for

    with working("reading"):
        return types_of(source, unit.column)


def _layout(source: Source, delimiter: str) -> Layout:
    """How the file is written, as far as the options say it."""
    if source.kind != "csv":
        raise InputError("--delimiter", GIVEN, "left out unless the data is a CSV or TSV file", "Nothing was written.")
    try:
        return Layout(delimiter={"tab": "\t"}.get(delimiter, delimiter))
    except InputError as problem:
        raise problem.about("--delimiter") from None


def _check_delimiter(source: Source) -> None:
    """Refuse a file of one column whose first line another delimiter divides."""
    path = source.place.paths()[0]
    if len(source.first_line()) == 1:
        for other in (";", "\t", "|"):
            if len(read_first_line(path, other)) > 1:
                shown = "tab" if other == "\t" else other
                allowed = f"given: its first line is one value, unless {shown!r} divides it"
                hint = f"Nothing was written. Add --delimiter {shlex.quote(shown)}, or ',' if it is one column."
                raise InputError("--delimiter", MISSING, allowed, hint)


def _names(source: Source, data: str, header: bool | None, columns: str | None) -> tuple[str, ...]:
    """The names given for a file without a header line; none once its first line was said to be one."""
    if columns is not None:
        if header:
            raise InputError("--names", GIVEN, "left out where the file has a header line", "Nothing was written.")
        names, first = tuple(name.strip() for name in columns.split(",")), source.first_line()
        if len(names) != len(first):  # here the custodian looks at it; afterwards no line decides anything
            allowed = f"one name for each column: the first line of the file has {len(first)} values"
            hint = "Nothing was written. They are the names of its columns, in the order of the file."
            raise InputError("--names", Phrase(f"{len(names)} names"), allowed, hint)
        return names
    first = source.first_line()
    if header is False:
        return tuple(f"column_{number}" for number in range(1, len(first) + 1))
    if header is None:
        problem = header_problem(first)
        if problem is not None or not sys.stdin.isatty():
            allowed = "given: the first line of the file would be written into the schema, which is public"
            hint = (
                "Nothing was written. Add --header if that line holds the names of the columns; if it holds values, "
                "--no-header, or --names with the names in the order of the file."
            )
            raise InputError("--header", MISSING, allowed + (f" ({problem})" if problem else ""), hint)
        typer.echo(f"The first line of {data} would be written into the schema, which is public.", err=True)
        typer.confirm(
            f"Does it hold the names of its {len(first)} columns, not somebody's values?", abort=True, err=True
        )
    return ()


def _odd(names: list[str]) -> Iterator[str]:
    """What a header looks like when the file is not what its ending says."""
    if any("\0" in name for name in names):
        yield "it is UTF-16 or no text at all. Save the file as UTF-8."


def _unit(names: list[str], unit: str | None, groups: int | None, rows: int | None) -> Unit:
    """Who is protected and within which limits: as the options say, else as answered on a terminal, never assumed."""
    if unit is None:
        if not sys.stdin.isatty():
            hint = (
                "Nothing was written. Add --unit with the name of the column that identifies a person, and --groups "
                "and --rows, how much of one person counts; or --unit row if every row is another person."
            )
            raise InputError("--unit", MISSING, "given: it says who is protected", hint)
        unit = str(
            typer.prompt(f"Who is protected: which column identifies a person ({_ROW}: each row is another)", err=True)
        )
    if unit == _ROW:
        if _ROW in names:
            hint = "Nothing was written. Rename the column, or name another one."
            raise InputError("--unit", unit, "unambiguous: it is also the name of a column", hint)
        if groups is not None:
            raise InputError("--groups", GIVEN, "left out unless the unit is a person", "Nothing was written.")
        return Unit() if rows is None else Unit(rows=rows)
    if unit not in names:
        raise InputError("--unit", unit, f"{_ROW}, or a column", "Nothing was written.", among=names)
    return Unit(unit, groups=_limit("groups", groups), rows=_limit("rows", rows))


def _limit(limit: str, given: int | None) -> int:
    """A limit on one person: as the option says, else as answered."""
    if given is not None:
        return given
    if not sys.stdin.isatty():
        hint = (
            "Nothing was written. --groups says in how many groups of a question one person counts, --rows as how many "
            "rows in each: 1 and 1 if everybody has one row, more if people come back. What is beyond is left out."
        )
        raise InputError(f"--{limit}", MISSING, "given where the unit is a person", hint)
    return int(typer.prompt(_QUESTIONS[limit], type=int, err=True))
