"""A CSV file of private numbers, one a line, under public names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.constraints.hidden.values import ValuesSchema
from discreet.core.decimal_steps import Exact, exact_numbers
from discreet.core.version import DataVersion
from discreet.errors import MISSING, InputError, Phrase, kind_of

__all__ = ["ValuesFile"]

_COLUMN = "values.column"
_LABEL = "values.label"


@dataclass(frozen=True, slots=True)
class ValuesFile:
    """A CSV file with a header: the numbers are in `column`, and are read by the one door only.

    What they are called stands in the column `label`, or they are numbered from 1. That is public, and so is how many
    there are; a file whose names changed since it was described is not read. Commas and line ends part words, whatever
    stands between them: quotes would let one number move others. Names behind the numbers are counted from the end of
    a line, so that no part of a number with a comma of its own is taken for a name. A line that lacks its name has
    fewer words than the header, and the file is refused. If it lacks its name and its number has a comma, no one can
    tell: the last word is the name. In a file of one column an empty line is a number that is missing, and counts as 0:
    left out, it would give its name to the next.
    """

    path: Path
    column: str
    label: str = ""
    names: tuple[str, ...] = ()
    declared: DataVersion | None = None

    @classmethod
    def of(cls, source: Any, schema: ValuesSchema) -> ValuesFile:
        """The file of that path, with the columns that a schema declares."""
        if not isinstance(source, (str, Path)):
            raise InputError("source", kind_of(source), "the path of a CSV file of numbers")
        path = Path(source)
        if path.suffix.lower() != ".csv" or not path.is_file():
            raise InputError("source", path.name, "a CSV file of numbers that exists")
        if not schema.column:
            raise InputError(_COLUMN, MISSING, "given: the column of the CSV file that holds the numbers")
        return cls(path, schema.column, schema.label)

    def described(self, schema: ValuesSchema, version: DataVersion | None = None) -> tuple[ValuesSchema, ValuesFile]:
        """What is public of the file, and the file held to it."""
        names = self._names(*self._lines())
        if not names or len(set(names)) < len(names) or "" in names:
            allowed = "a column with another name on every line, and a line for each number"
            raise InputError(_LABEL, self.label or Phrase("a file without lines"), allowed)
        if schema.names and schema.names != names:
            raise InputError("values.names", Phrase("other names than in the file"), "the names in its order")
        return replace(schema, names=names), replace(self, names=names, declared=version)

    def check(self) -> None:
        """Refuse a file with other names than were described. The numbers have no part in that."""
        if self._names(*self._lines()) != self.names:
            hint = "Nothing was spent. Open it again: other numbers are another question."
            raise InputError("source", self.path.name, "the file with the names it had when it was opened", hint)

    def version(self, key: bytes) -> DataVersion:
        """Which state the file is in: as declared, or by its name, size and time of change."""
        if self.declared is not None:
            return self.declared
        at = self.path.stat()
        return DataVersion.of_files([["", None, [[self.path.name, at.st_size, at.st_mtime_ns]]]], key)

    @contextmanager
    def open(self) -> Iterator[Exact]:
        """The numbers as written, in the order of their names. Called by the one door only, after the charge."""
        header, lines = self._lines()
        if self._names(header, lines) != self.names:
            raise InputError("source", Phrase("other names"), "the file as it was when it was opened")
        yield exact_numbers(",".join(_words(line, header, self.column)) for line in lines)

    def _names(self, header: list[str], lines: list[list[str]]) -> tuple[str, ...]:
        """The public names."""
        if not self.label:
            return tuple(str(place) for place in range(1, len(lines) + 1))
        place = header.index(self.label)
        behind = place > header.index(self.column)  # a number like 1,5 must not move part of itself here
        # Counted from the end where no word is missing: else the last word may be the number.
        places = [place - len(header) if behind and len(line) >= len(header) else place for line in lines]
        return tuple(line[at] if at < len(line) else "" for at, line in zip(places, lines, strict=True))

    def _lines(self) -> tuple[list[str], list[list[str]]]:
        """The words of the header, and of every line below it."""
        try:
            text = self.path.read_bytes().decode("utf-8-sig", errors="replace")
        except OSError:
            raise InputError("source", self.path.name, "a file that can be read") from None
        first, *written = (text.lstrip().removesuffix("\n").removesuffix("\r")).split("\n")
        header, *lines = [[word.strip() for word in line.split(",")] for line in (first, *written)]
        if len(header) > 1:  # there a number has a comma beside it, also one that is left empty
            lines = [line for line in lines if line != [""]]
        for field, name in ((_COLUMN, self.column), (_LABEL, self.label)):
            if (name or field == _COLUMN) and header.count(name) != 1:
                hint = f"The first line of {self.path.name} names its columns, with commas between them."
                raise InputError(field, name, "a column of the file, there once", hint)
        return header, lines


def _words(line: list[str], header: list[str], column: str) -> list[str]:
    """What stands in a column, with the commas that are too many for the header: `1,5` is no number, and not 1."""
    place = header.index(column)
    return line[place : place + 1 + max(len(line) - len(header), 0)]
