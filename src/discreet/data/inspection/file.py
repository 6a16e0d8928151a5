"""What a CSV file looks like from outside: delimiter, header line, encoding, lines of another length."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from discreet.data.csv_file import header_problem, read_first_line
from discreet.data.encoding import Utf8Check, open_text
from discreet.data.files import DELIMITERS
from discreet.data.inspection.finding import Finding
from discreet.data.schema import Schema
from discreet.data.source import Source

__all__ = ["inspect_files"]

_BLOCK = 1 << 20
_OTHERS = (";", "\t", "|", ",")
_WIDE = (b"\xff\xfe", b"\xfe\xff")


def inspect_files(source: Source, schema: Schema) -> list[Finding]:
    """Findings about the files of a source as files; none for data that is no CSV."""
    if source.kind != "csv":
        return []
    findings = []
    with source.near(rows=True) as near:
        for path in near.place.paths():
            name = Path(path).name
            findings += [replace(finding, text=f"{name}: {finding.text}") for finding in _file(path, source, schema)]
    return findings


def _file(path: str, source: Source, schema: Schema) -> Iterator[Finding]:
    utf8 = Utf8Check()
    with Path(path).open("rb") as file:
        start = file.read(_BLOCK)
        block = start
        while block:
            utf8.add(block)
            block = file.read(_BLOCK)
    if start.startswith(_WIDE) or b"\0" in start[:1000]:
        yield Finding("encoding", "it is UTF-16, or no text at all", suggestion="Save the file as UTF-8.")
        return
    if not utf8.holds:
        text = "it is not all UTF-8; what is not is read as Windows-1252, which contains Latin-1"
        yield Finding(
            "encoding", text, suggestion="Save the file as UTF-8 if it is written in another alphabet.", note=True
        )
    delimiter = schema.layout.delimiter or DELIMITERS[Path(path).suffix.lower()]
    first = read_first_line(path, delimiter)
    declared = [name for name in schema.stored if name not in first] if not source.names else []
    if (other := _other_delimiter(path, delimiter, first, schema)) is not None:
        shown = "\\t" if other == "\t" else other
        text = f"its first line has {len(first)} value{'s' * (len(first) != 1)}, and {shown!r} divides it into more"
        yield Finding("delimiter", text, suggestion=f'delimiter = "{shown}" under [dataset]')
        return
    if source.names and list(source.names) == first:
        text = "its first line holds the names of the columns, and is read as a row"
        yield Finding("header", text, suggestion="Leave out names under [dataset].")
    elif declared and not source.names and (problem := header_problem(first)) is not None:
        text = f"its first line seems to hold values, not names: {problem}"
        yield Finding("header", text, suggestion='names = ["...", ...] under [dataset], in the order of the file')
    width = len(source.names) if source.names else len(first)
    short, long, rows = _lengths(path, delimiter, width, header=not source.names)
    if short:
        text = f"fewer than {width} values in the line; the last columns are missing there"
        yield Finding("short lines", text, rows=short, of=rows, suggestion="Look for line ends inside of values.")
    if long:
        text = f"more than {width} values in the line; those at the end are ignored"
        advice = "Put values that contain the delimiter, such as decimal commas, in double quotes."
        yield Finding("long lines", text, rows=long, of=rows, suggestion=advice)


def _other_delimiter(path: str, delimiter: str, first: list[str], schema: Schema) -> str | None:
    """A delimiter under which the first line has the declared names, or several values where it has one; else None."""
    present = sum(name in first for name in schema.stored)
    for other in _OTHERS:
        if other == delimiter:
            continue
        cells = read_first_line(path, other)
        better = sum(name in cells for name in schema.stored) > present
        if len(cells) > len(first) and (better or (len(first) == 1 and not present)):
            return other
    return None


def _lengths(path: str, delimiter: str, width: int, *, header: bool) -> tuple[int, int, int]:
    """How many records have fewer values than columns, how many more, and how many there are."""
    short = long = rows = 0
    with open_text(path) as file:
        try:
            for number, record in enumerate(csv.reader(file, delimiter=delimiter)):
                if not record or (header and not number):
                    continue
                rows += 1
                short += len(record) < width
                long += len(record) > width
        except csv.Error:  # a value that is longer than Python's reader takes: the engine has rules of its own
            return 0, 0, 0
    return short, long, rows
