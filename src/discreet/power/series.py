"""What loads draw at several times: a CSV file with a column for each load and a row for each time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from discreet.errors import InputError, Phrase

__all__ = ["check_header", "read_series"]


def check_header(path: Path, names: Sequence[str]) -> None:
    """Refuse a file whose first line, which is public, does not name every load once. Nothing below it is read."""
    some = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    hint = f"Its first line names the loads, as the grid does, with commas between them: {some}."
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            header = _words(file.readline())
    except OSError:
        raise InputError("grid.series", path.name, "a CSV file beside the grid file", hint) from None
    if missing := [name for name in names if header.count(name) != 1]:
        raise InputError("grid.series", path.name, f"a CSV file with one column for load {missing[0]!r}", hint)


def read_series(path: Path, names: Sequence[str], times: int) -> list[str]:
    """What stands in the file, time by time, in the order of the names. Private: called behind the one door.

    Nothing is refused that depends on what loads draw: a row or a word that is missing is text that is no number, and
    rows beyond the last time are not read. Commas and line ends part words, whatever stands between them: quotes would
    let one load move others.
    """
    found: list[str] = []
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            header = _words(file.readline())
            places = [header.index(name) if name in header else -1 for name in names]
            for line, _ in zip(file, range(times), strict=False):
                row = _words(line)
                found += [row[place] if 0 <= place < len(row) else "" for place in places]
    except OSError:
        raise InputError("grid.series", Phrase("a file that cannot be read"), "the file as it was") from None
    return found + [""] * (len(names) * times - len(found))


def _words(line: str) -> list[str]:
    return [word.strip() for word in line.split(",")]
