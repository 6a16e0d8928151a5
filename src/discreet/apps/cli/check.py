"""`discreet check`: what of the data does not fit its schema, for the custodian alone; and types for `init --types`.

Besides releases, nothing but this reads private rows, and nothing that serves others imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, TypeVar

import typer

from discreet.apps.cli.options import Data, Table
from discreet.apps.cli.output import AsJson, number_of, say, show_json, working
from discreet.curator.setup import Setup, read_setup, schema_path
from discreet.data.column import Column
from discreet.data.inspection import Finding, guess_types, inspect_columns, inspect_files, inspect_persons
from discreet.data.schema import Schema
from discreet.data.source import Connection, Source, source_of
from discreet.data.toml import toml_table
from discreet.errors import InputError, nearest

__all__ = ["check", "types_of"]

Seen = TypeVar("Seen")

_NOTICE = (
    "For the custodian's eyes only: this reads the data itself, and nothing below is private. What is copied from here "
    "into the schema becomes public."
)


def check(
    data: Data,
    schema: Annotated[str | None, typer.Argument(help="The schema; discreet.toml by default.")] = None,
    table: Table = None,
    values: Annotated[int, typer.Option(min=0, max=1000, help="How many values to list of each finding.")] = 5,
    as_json: AsJson = False,
) -> None:
    """What of the data does not fit its schema: for the custodian alone. Nothing is released, nothing is spent.

    Values outside of bounds, undeclared ones, numbers and days that cannot be read, missing values in columns that are
    declared complete, rows beyond the limits on a person; and what a file looks like: delimiter, header, encoding. Each
    with its share of rows and what to write. Ends with 0 if all fits, with 1 if not.
    """
    declared = read_setup(schema_path(data, schema))
    if not isinstance(declared.schema, Schema):
        raise InputError("schema", declared.schema.name, "that of a table: this one declares the loads of a power grid")
    if not as_json:
        say(_NOTICE)
    with working("reading"):
        rows, findings = _inspected(data, table, declared, declared.schema, values)
    fits = all(finding.note for finding in findings)
    if as_json:
        listed: list[Any] = [finding.to_dict() for finding in findings]
        show_json({"notice": _NOTICE, "dataset": declared.schema.name, "rows": rows, "fits": fits, "findings": listed})
    else:
        _show(findings, rows, fits, len(declared.schema.stored))
    raise typer.Exit(0 if fits else 1)


def _inspected(
    data: str, table: str | None, declared: Setup, schema: Schema, most: int
) -> tuple[int | None, list[Finding]]:
    """The number of rows, if they could be read, and every finding: first about files, then about their columns."""
    source = replace(source_of(data, table), names=declared.names, layout=schema.layout)
    findings = inspect_files(source, schema)
    if any(finding.kind in ("delimiter", "encoding") and not finding.note for finding in findings):
        return None, findings  # nothing that is read of such a file says anything
    stored = source.columns()
    columns = {name: column for name, column in schema.stored.items() if name in stored}
    for name in schema.stored:
        if name not in stored:
            near = nearest(name, [there for there in stored if there not in schema.stored])
            spelt = "" if near is None else f"{toml_table('columns', near)}, as the data spells it"
            advice = spelt or "Remove it from the schema."
            findings.append(Finding("absent", "declared, and the data has no such column", name, suggestion=advice))
    if others := [name for name in stored if name not in schema.stored]:
        text = f"{number_of(len(others), 'column')} of the data not declared, which cannot be asked about"
        findings.append(Finding("not declared", text, note=True))
    rows = None
    if columns:
        rows, more = _read(source, schema, columns, most)
        findings += more
    return rows, findings


def types_of(source: Source, person: str | None) -> tuple[dict[str, str], dict[str, str]]:
    """Of which types the columns of text seem to be, by their values, and how those are written."""
    names = [name for name, kind in source.columns().items() if kind.removeprefix("!") == "string" and name != person]
    return _opened(source, lambda connection: guess_types(connection, names))


def _read(source: Source, schema: Schema, columns: Mapping[str, Column], most: int) -> tuple[int, list[Finding]]:
    def inspected(connection: Connection) -> tuple[int, list[Finding]]:
        rows, findings = inspect_columns(connection, schema, columns, tries=source.tries, most=most)
        return rows, findings + inspect_persons(connection, schema)

    return _opened(source, inspected)


def _opened(source: Source, look: Callable[[Connection], Seen]) -> Seen:
    with source.open() as connection:
        return look(connection)


def _show(findings: list[Finding], rows: int | None, fits: bool, columns: int) -> None:
    read = "" if rows is None else f"{number_of(rows, 'row')}, {number_of(columns, 'column')} declared. "
    problems = sum(not finding.note for finding in findings)
    say(f"\n{read}{'All of it fits the schema.' if fits else number_of(problems, 'finding') + '.'}")
    about = None
    for finding in findings:
        if finding.column != about:
            about = finding.column
            say(f"\n{about or 'The data'}")
        say(f"  {'Note: ' if finding.note else ''}{finding}")
        if finding.suggestion:
            say(f"    -> {finding.suggestion}")
