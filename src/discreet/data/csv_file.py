"""CSV files: every record counts, however it is broken, and none changes how another is read.

A record with fewer values than the header has missing values at its end; what it has more is ignored. What is not UTF-8
is read by the rule of `encoding`. How a file is quoted decides only how many threads may read it.

The first line holds the names of columns or, where there is no header, somebody's values. Nothing here quotes a cell of
it. A line is taken for names once a person said so: by a schema that declares them, or with `discreet init --header`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.copies import Copies
from discreet.data.encoding import Utf8Check, open_text
from discreet.data.files import DELIMITERS
from discreet.data.record import LONGEST, LineCheck, has_long
from discreet.errors import InputError, Phrase

__all__ = ["QuoteCheck", "check_names", "header_problem", "read_first_line", "readable"]

_BLOCK = 1 << 20
_MARK = b"\xef\xbb\xbf"
_QUOTE = ord('"')


def readable(
    files: list[str], names: Sequence[str], copies: Copies | None, delimiter: str = ""
) -> tuple[list[str], dict[str, Any]]:
    """The files to be read by the engine, and how: every column as text, divided as their ending or a delimiter says.

    Nothing is guessed from values. With `names` there is no header line, and no line is looked at: the first one is a
    person's, and whether it has as many values as there are names must decide nothing. Without `copies` the table is
    there for its names and types only.
    """
    endings = {Path(file).suffix.lower() for file in files}
    if len(endings) > 1:
        raise InputError("source", sorted(endings), "files of one kind")
    delimiter = delimiter or DELIMITERS[endings.pop()]
    lines = [list(names)] if names else [read_first_line(file, delimiter) for file in files]
    if any(line != lines[0] for line in lines):
        hint = "If they have no header line, name their columns: [dataset] names in the schema."
        raise InputError("source", Phrase(f"{len(files)} files"), "files with the same header line", hint)
    header = lines[0] if names else _with_first_named(lines[0])
    check_names(header, files[0])
    simple = True
    if copies is not None:
        checks = [_checked(file, delimiter) for file in files]
        simple = all(check.simple for check in checks)
        files = [
            file if check.utf8 and check.short else copies.copy(file, None if check.short else delimiter, not names)
            for file, check in zip(files, checks, strict=True)
        ]
    return files, {
        "columns": dict.fromkeys(header, "VARCHAR"),
        "auto_detect": False,
        "header": not names,
        "delim": delimiter,
        "quote": '"',
        "escape": '"',
        "strict_mode": False,
        "null_padding": True,
        "hive_partitioning": False,  # what a folder is called must not take the place of what a file holds
        "ignore_errors": True,
        "max_line_size": 4
        * LONGEST,  # the longest record that is left, and as UTF-8 it has up to three times the bytes
        "buffer_size": 16 * LONGEST,
        "parallel": simple,
    }


class QuoteCheck:
    """Whether every quote of a file begins or ends a value and no value has a line end in it, block by block.

    The engine fills up short lines with several threads only where this holds, and fails where it does not.
    """

    def __init__(self, delimiter: str) -> None:
        self._beside = np.zeros(256, bool)
        self._beside[list(b'\r\n"' + delimiter.encode())] = True
        self._rest = b"\n"  # what the next block follows: one byte that was looked at, and one that was not
        self._inside = 0
        self._simple = True

    def add(self, block: bytes) -> None:
        """The next block."""
        window = self._rest + block
        if self._simple and (self._inside or b'"' in window):
            text = np.frombuffer(window, np.uint8)
            own = text[1:-1]
            quotes = np.flatnonzero(own == _QUOTE) + 1
            lines = np.flatnonzero((own == 10) | (own == 13)) + 1
            begins, stops = quotes[self._inside :: 2], quotes[1 - self._inside :: 2]
            within = (np.searchsorted(quotes, lines) + self._inside) % 2
            beside = np.concatenate([text[begins - 1], text[stops + 1]])
            self._simple = bool(self._beside[beside].all()) and not within.any()
            self._inside = (self._inside + len(quotes)) % 2
        self._rest = window[-2:]

    @property
    def holds(self) -> bool:
        """Whether it was so up to here, the last byte included."""
        self.add(b"\n")
        return self._simple and not self._inside


@dataclass(frozen=True, slots=True)
class _Checked:
    """What there is to know of a file before it is read."""

    utf8: bool
    simple: bool
    short: bool


def _checked(path: str, delimiter: str) -> _Checked:
    """In one pass over a file, or two if its lines are not its records."""
    utf8, quotes, lines = Utf8Check(), QuoteCheck(delimiter), LineCheck()
    with Path(path).open("rb") as file:
        if file.read(len(_MARK)) != _MARK:
            file.seek(0)
        while block := file.read(_BLOCK):
            utf8.add(block)
            quotes.add(block)
            lines.add(block)
    simple = quotes.holds
    return _Checked(utf8.holds, simple, lines.holds if simple else not has_long(path, delimiter))


_LONG = 64  # names are shorter, and no pattern is tried on what is longer
_VALUES = {
    "a number": r"[-+€$£¥ ]*[\d.,'_ ]*\d[\d.,'_ ]*(e[-+]?\d+)?[%€$£¥ ]*|[-+]?(nan|inf|infinity)",
    "a date or a time": r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([t ].*)?|\d{1,2}:\d{2}.*",
    "an address": r"\S+@\S+\.\S+",
    "an identifier": r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}",
    "a truth value": r"true|false|yes|no|null|none|n/?a",
}


def read_first_line(path: str, delimiter: str) -> list[str]:
    """The cells of the first line of a file."""
    with open_text(path) as file:
        try:
            return next(csv.reader(file, delimiter=delimiter), [])
        except csv.Error:  # nothing of the line is repeated: it may hold somebody's values
            allowed = f"one whose first line holds values of at most {csv.field_size_limit():,} characters"
            hint = "Look at the delimiter, and for a double quote that is never closed."
            raise InputError("source", Path(path).name, allowed, hint) from None


def header_problem(cells: Sequence[str]) -> str | None:
    """Why a first line may hold values rather than names, by the position of a cell; None if nothing speaks for it."""
    for number, cell in enumerate(map(str.strip, cells), 1):
        if len(cell) > _LONG:
            return f"cell {number} of {len(cells)} is longer than names are"
        for kind, pattern in _VALUES.items():
            if re.fullmatch(pattern, cell, re.IGNORECASE):
                return f"cell {number} of {len(cells)} reads as {kind}"
    if not all(cell.strip() for cell in cells) or len({cell.lower() for cell in cells}) < len(cells):
        return "cells are empty or alike"
    return None


def _with_first_named(header: list[str]) -> list[str]:
    """The names of a header line; the first column has one, too, where all others do: tables of pandas and R begin with
    the numbers of their rows, under no name.

    >>> _with_first_named(["", "age", "pay"])
    ['column_1', 'age', 'pay']
    """
    first, *others = header or [""]
    if not first.strip() and others and all(other.strip() for other in others):
        return ["column_1", *others]
    return header


def check_names(names: Sequence[str], place: str) -> None:
    """Refuse names of columns that cannot be told apart, by the position of the first that cannot."""
    hint = "If the file has no header line, name its columns: [dataset] names in the schema, or discreet init --names."
    if not names:
        raise InputError(
            "source", place, "a file that begins with the names of its columns", "Its first line is empty."
        )
    seen: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if not name.strip():
            more = f"A comma at the end of the line makes a column without a name. {hint}"
            raise InputError(
                "source", place, f"a file with a name for every column: number {number} of {len(names)} has none", more
            )
        if (other := seen.setdefault(name.lower(), number)) != number:
            more = f"Upper and lower case count as the same. {hint}"
            raise InputError(
                "source", place, f"a file whose columns have different names: {other} and {number} have the same", more
            )
