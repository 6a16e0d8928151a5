"""The first line of a CSV file: the names of its columns, or, where there is no header, somebody's values.

Nothing here quotes a cell of it. A line is taken for names once a person said so: by a schema that declares them, or
with `discreet init --header`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from discreet.data.encoding import open_text
from discreet.errors import InputError

__all__ = ["check_names", "doubt", "read_first_line"]

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
        return next(csv.reader(file, delimiter=delimiter), [])


def doubt(cells: Sequence[str]) -> str | None:
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
