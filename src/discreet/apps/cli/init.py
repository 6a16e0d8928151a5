"""`discreet init`: from a table to a schema to fill in."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from discreet.apps.cli.options import Data, Table
from discreet.apps.cli.output import number_of, say, working
from discreet.core.unit import Unit
from discreet.curator.schema_draft import (
    ROW,
    draft_schema,
    header_doubt,
    other_delimiter,
    unit_of,
    with_delimiter,
    with_names,
)
from discreet.curator.setup import STATE, dataset_name
from discreet.data.source import Source, source_of
from discreet.errors import MISSING, InputError

__all__ = ["init"]

_QUESTIONS = {
    "groups": "In how many groups of a question (counties, months) may one person count? More mean more noise",
    "rows": "With how many rows may one person count in a group? Further rows are left out",
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
        str | None, typer.Option(help="Delimiter of a CSV file, if not a comma: ';', '|' or 'tab'.")
    ] = None,
    types: Annotated[
        bool,
        typer.Option(
            "--types",
            help="Read the values of text columns to guess their types. The types become public; values do not.",
        ),
    ] = False,
    unit: Annotated[
        str | None,
        typer.Option(
            help="Who is protected: the column that identifies a person, or `row` if each row is a different person."
        ),
    ] = None,
    groups: Annotated[int | None, typer.Option(help="In how many groups of a question one person counts.")] = None,
    rows: Annotated[
        int | None,
        typer.Option(
            help="With how many rows one person counts in a group; with --unit row, how many one person has at most."
        ),
    ] = None,
) -> None:
    """Write a schema to fill in. It is made of column names and stored types; no value is looked at without --types.

    The first line of a CSV file is taken for names once you say that it is a header, and not a person's values. Who is
    protected, and how much of one person counts, is asked on a terminal if no option says it.
    """
    if out.exists():
        raise InputError("--out", str(out), "a file that does not exist yet", "Nothing was written.")
    source = source_of(data, table)
    with _options():
        if delimiter is not None:
            source = with_delimiter(source, delimiter)
        elif columns is None and (other := other_delimiter(source)) is not None:
            allowed = f"given: its first line is one value, unless {other!r} divides it"
            hint = f"Nothing was written. Add --delimiter {shlex.quote(other)}, or ',' if it is one column."
            raise InputError("delimiter", MISSING, allowed, hint)
        if source.kind == "csv" or header is not None or columns is not None:
            source = _named(source, data, header, columns)
        names = list(source.columns())
        protected = _unit(names, unit, groups, rows)
    with working("reading") if types else nullcontext():
        draft = draft_schema(source, name or table or dataset_name(data), protected, types=types)
    try:
        out.write_text(draft.text, encoding="utf-8")
    except OSError as problem:
        raise InputError("--out", str(out), f"a file that can be written ({problem.strerror})") from None
    if draft.guessed is not None:
        say(
            f"Its values were read here to guess the types of {number_of(draft.guessed, 'column')}, and how numbers "
            "and days are written: that is in the schema, which is public. No bound and no value was taken from the "
            "data."
        )
    for warning in draft.warnings:
        say(f"Look at the header: {warning}")
    say(f"Wrote {out}: {len(names)} column{'s' * (len(names) != 1)}. Fill in every '?', then:")
    here, file = out == Path("discreet.toml"), shlex.quote(str(out))
    say(f"discreet check {shlex.quote(data)}{'' if here else f' {file}'}")
    ledger = out.parent / STATE / "ledger.db"  # where it is looked for beside a schema
    if not os.environ.get("DISCREET_LEDGER") and not ledger.exists():
        say("discreet ledger create" + (f" --ledger {shlex.quote(str(ledger))}" if out.parent != Path() else ""))
    say(f"discreet plan {shlex.quote(data)} count --epsilon 0.1{'' if here else f' --schema {file}'}")


@contextmanager
def _options() -> Iterator[None]:
    """What is wrong, said of the option."""
    try:
        yield
    except InputError as problem:
        if problem.field in ("delimiter", "names", "header", "unit", "groups", "rows"):
            raise problem.about(f"--{problem.field}") from None
        raise


def _named(source: Source, data: str, header: bool | None, columns: str | None) -> Source:
    """The source with names for its columns; its first line holds them once that was said."""
    if source.kind == "csv" and columns is None and header is None:
        problem = header_doubt(source)
        if problem is not None or not sys.stdin.isatty():
            allowed = "given: the first line of the file would be written into the schema, which is public"
            hint = (
                "Nothing was written. Add --header if that line holds the names of the columns; if it holds values, "
                "--no-header, or --names with the names in the order of the file."
            )
            raise InputError("header", MISSING, allowed + (f" ({problem})" if problem else ""), hint)
        typer.echo(f"The first line of {data} would be written into the schema, which is public.", err=True)
        typer.confirm(
            f"Does it hold the names of its {len(source.first_line())} columns, not somebody's values?",
            abort=True,
            err=True,
        )
        header = True
    return with_names(source, header=bool(header), names=columns)


def _unit(names: list[str], unit: str | None, groups: int | None, rows: int | None) -> Unit:
    """Who is protected and within which limits: as the options say, else as answered on a terminal, never assumed."""
    if unit is None:
        if not sys.stdin.isatty():
            hint = (
                "Nothing was written. Add --unit with the name of the column that identifies a person, and --groups "
                "and --rows, how much of one person counts; or --unit row if every row is a different person."
            )
            raise InputError("unit", MISSING, "given: it says who is protected", hint)
        unit = str(
            typer.prompt(f"Who is protected: which column identifies a person ({ROW}: each row is another)", err=True)
        )
    if unit == ROW or unit not in names:
        return unit_of(names, unit, groups, rows)
    return unit_of(names, unit, _limit("groups", groups), _limit("rows", rows))


def _limit(limit: str, given: int | None) -> int:
    """A limit on one person: as the option says, else as answered."""
    if given is not None:
        return given
    if not sys.stdin.isatty():
        hint = (
            "Nothing was written. --groups says in how many groups of a question one person counts, --rows as how many "
            "rows in each: 1 and 1 if everybody has one row, more if people come back. What is beyond is left out."
        )
        raise InputError(limit, MISSING, "given where the unit is a person", hint)
    return int(typer.prompt(_QUESTIONS[limit], type=int, err=True))
