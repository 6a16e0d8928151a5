"""CSV files: every record counts, however it is broken, and none changes how another is read.

A record with fewer values than the header has missing values at its end; what it has more is ignored. What is not UTF-8
is read by the rule of `encoding`. How a file is quoted decides only how many threads may read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.copies import Copies
from discreet.data.encoding import Utf8Check
from discreet.data.files import DELIMITERS
from discreet.data.header import check_names, read_first_line
from discreet.data.record import LONGEST, LineCheck, has_long
from discreet.errors import InputError, Phrase

__all__ = ["QuoteCheck", "readable"]

_BLOCK = 1 << 20
_MARK = b"\xef\xbb\xbf"
_QUOTE = ord('"')


def readable(files: list[str], names: Sequence[str], copies: Copies | None) -> tuple[list[str], dict[str, Any]]:
    """The files to be read by the engine, and how: every column as text, in the one dialect of their ending.

    Nothing is guessed from values. With `names` there is no header line, and no line is looked at: the first one is a
    person's, and whether it has as many values as there are names must decide nothing. Without `copies` the table is
    there for its names and types only.
    """
    endings = {Path(file).suffix.lower() for file in files}
    if len(endings) > 1:
        raise InputError("source", sorted(endings), "files of one kind")
    delimiter = DELIMITERS[endings.pop()]
    lines = [list(names)] if names else [read_first_line(file, delimiter) for file in files]
    if any(line != lines[0] for line in lines):
        hint = "If they have no header line, name their columns: [dataset] names in the schema."
        raise InputError("source", Phrase(f"{len(files)} files"), "files with the same header line", hint)
    header = lines[0]
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
