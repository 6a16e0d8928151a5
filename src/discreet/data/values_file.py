"""Public lists of values in files of their own: codes of diagnoses, of occupations, of places."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discreet.data.encoding import open_text
from discreet.data.files import DELIMITERS
from discreet.errors import InputError, Phrase

__all__ = ["read_values"]

_MOST = 1_000_000


def read_values(path: str | Path, column: Any = None) -> list[str]:
    """The values of a file: one a line or, of a .csv or .tsv file, its first cell; empty lines are none.

    With `column` the file has a header line, and the values are those of the column of that name.
    """
    place = Path(path)
    try:
        values = []
        for value in _column(place, column) if column is not None else _first(place):
            if value:
                values.append(value)
            if len(values) > _MOST:
                raise InputError("values_file", str(path), f"a file of at most {_MOST:,} values")
    except OSError as problem:
        raise InputError("values_file", str(path), f"a readable file ({problem.strerror})") from None
    except csv.Error:
        raise InputError("values_file", str(path), "a file of short lines") from None
    if not values:
        raise InputError("values_file", str(path), "a file with a value in each line")
    return values


def _first(path: Path) -> Iterator[str]:
    delimiter = DELIMITERS.get(path.suffix.lower())
    with open_text(path) as file:
        if delimiter is None:
            yield from (line.rstrip("\r\n") for line in file)
        else:
            yield from (record[0] for record in csv.reader(file, delimiter=delimiter) if record)


def _column(path: Path, column: Any) -> Iterator[str]:
    with open_text(path) as file:
        records = csv.reader(file, delimiter=DELIMITERS.get(path.suffix.lower(), ","))
        names = next(records, [])
        if not isinstance(column, str) or column not in names:
            given = column if isinstance(column, str) else Phrase("no name")
            raise InputError("values_column", given, "a column of the file", among=names)
        place = names.index(column)
        yield from (record[place] for record in records if len(record) > place)
