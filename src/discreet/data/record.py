"""Records of a CSV file that are too long to be read: each is left out by its own length, wherever it stands.

An engine's limit depends on where a record lies in its buffer, and so on the records before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["LONGEST", "LineCheck", "copy_short", "has_long"]

LONGEST = 2_000_000
"""Bytes of a record that is read, without its line end."""

_CLOSED = re.compile(rb'(?:[^"]++|"")*+"')


class LineCheck:
    """Whether every line of a file can be read, block by block."""

    def __init__(self) -> None:
        self._begun = 0  # bytes of the line that is not at its end yet
        self.holds = True

    def add(self, block: bytes) -> None:
        """The next block, which is no longer than what is allowed."""
        first = min((at for at in (block.find(b"\n"), block.find(b"\r")) if at >= 0), default=len(block))
        self.holds = self.holds and self._begun + first <= LONGEST
        last = max(block.rfind(b"\n"), block.rfind(b"\r"))
        self._begun = len(block) - 1 - last if last >= 0 else self._begun + len(block)


def has_long(path: str, delimiter: str) -> bool:
    """Whether a record is too long, in a file whose values may have line ends in them."""
    return Path(path).stat().st_size > LONGEST and any(size > LONGEST for size, _ in _records(path, delimiter))


def copy_short(path: str, to: Path, delimiter: str, *, header: bool) -> None:
    """Write a file again without the records that are too long; its header stays."""
    with to.open("wb") as new:
        for number, (size, lines) in enumerate(_records(path, delimiter)):
            if size <= LONGEST or (header and not number):
                new.writelines(lines)


def _records(path: str, delimiter: str) -> Iterator[tuple[int, list[bytes]]]:
    """The length of each record without its line end, and its lines; of one that is too long, not all of them."""
    opening, inside, size = delimiter.encode() + b'"', False, 0
    lines: list[bytes] = []
    with Path(path).open("rb") as file:
        for whole in file:
            for line in whole.splitlines(keepends=True) if b"\r" in whole else (whole,):
                if inside or b'"' in line:
                    inside = _inside(line, opening, inside)
                if size <= LONGEST:
                    lines.append(line)
                size += len(line)
                if not inside:
                    yield size - len(line) + len(line.rstrip(b"\r\n")), lines
                    size, lines = 0, []
    if lines:
        yield size, lines


def _inside(line: bytes, opening: bytes, inside: bool) -> bool:
    """Whether a value goes on after this line. A quote begins one at its first byte only, and two are one in it."""
    at = 0
    if not inside:
        start = 0 if line.startswith(b'"') else line.find(opening) + 1 or -1
        if start < 0:
            return False
        at = start + 1
    while closed := _CLOSED.match(line, at):
        start = line.find(opening, closed.end())
        if start < 0:
            return False
        at = start + len(opening)
    return True
