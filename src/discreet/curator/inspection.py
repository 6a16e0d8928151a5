"""What of the data does not fit its schema, for the custodian alone; and types for a schema's first draft.

Besides releases, nothing but this reads private rows. Nothing that serves others imports it: the commands `check` and
`init`, and the pages that a custodian alone may open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from discreet.curator.setup import Setup
from discreet.data.column import Column
from discreet.data.inspection import Finding, guess_types, inspect_columns, inspect_files, inspect_persons
from discreet.data.schema import Schema
from discreet.data.source import Connection, Source
from discreet.data.toml import toml_table
from discreet.errors import InputError, nearest
from discreet.query.ask import SUBJECTS, WAYS

__all__ = ["NOTICE", "Inspection", "guess_column_types", "inspect_data"]

Seen = TypeVar("Seen")

NOTICE = (
    "For the custodian's eyes only: this reads the data itself, and nothing below is private. What is copied from here "
    "into the schema becomes public."
)


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found: the number of rows, if they could be read, and every finding, about files and about columns."""

    dataset: str
    rows: int | None
    columns: int
    findings: tuple[Finding, ...]

    @property
    def problems(self) -> int:
        """How many of the findings are more than a note."""
        return sum(not finding.note for finding in self.findings)

    @property
    def fits(self) -> bool:
        """Whether the data fits its schema."""
        return not self.problems

    @property
    def summary(self) -> str:
        """In one line."""
        read = "" if self.rows is None else f"{_number_of(self.rows, 'row')}, {_number_of(self.columns, 'column')} "
        read += "declared. " if read else ""
        return read + ("All of it fits the schema." if self.fits else f"{_number_of(self.problems, 'finding')}.")

    def by_column(self) -> list[tuple[str, list[Finding]]]:
        """Findings that follow each other about the same column, together; "" is about the data as a whole."""
        parts: list[tuple[str, list[Finding]]] = []
        for finding in self.findings:
            if not parts or parts[-1][0] != finding.column:
                parts.append((finding.column, []))
            parts[-1][1].append(finding)
        return parts

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs."""
        listed = [finding.to_dict() for finding in self.findings]
        return {"notice": NOTICE, "dataset": self.dataset, "rows": self.rows, "fits": self.fits, "findings": listed}


def inspect_data(source: Source, declared: Setup, *, values: int = 5) -> Inspection:
    """Read the rows of a source and compare them with what its schema's file declares; so many values of each kind."""
    schema = declared.schema
    if not isinstance(schema, Schema):
        raise InputError(
            "schema",
            schema.name,
            f"that of a table: this one declares {SUBJECTS[schema.subject]}",
            WAYS[schema.subject],
        )
    read = replace(source, names=declared.names, layout=schema.layout)
    rows, findings = _inspected(read, schema, values)
    return Inspection(schema.name, rows, len(schema.stored), tuple(findings))


def guess_column_types(source: Source, person: str | None) -> tuple[dict[str, str], dict[str, str]]:
    """Of which types the columns of text seem to be, by their values, and how those are written."""
    names = [name for name, kind in source.columns().items() if kind.removeprefix("!") == "string" and name != person]
    return _opened(source, lambda connection: guess_types(connection, names))


def _inspected(source: Source, schema: Schema, most: int) -> tuple[int | None, list[Finding]]:
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
        text = f"{_number_of(len(others), 'column')} of the data not declared, which cannot be asked about"
        findings.append(Finding("not declared", text, note=True))
    rows = None
    if columns:
        rows, more = _read(source, schema, columns, most)
        findings += more
    return rows, findings


def _read(source: Source, schema: Schema, columns: Mapping[str, Column], most: int) -> tuple[int, list[Finding]]:
    def inspected(connection: Connection) -> tuple[int, list[Finding]]:
        rows, findings = inspect_columns(connection, schema, columns, tries=source.tries, most=most)
        return rows, findings + inspect_persons(connection, schema)

    return _opened(source, inspected)


def _opened(source: Source, look: Callable[[Connection], Seen]) -> Seen:
    with source.open() as connection:
        return look(connection)


def _number_of(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
