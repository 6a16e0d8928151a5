"""Text of files that are not all UTF-8: every byte is read as something, so that no line is lost to its letters.

What is valid UTF-8 is read so. A byte that is no part of it is read as Windows-1252, which is what such files nearly
always are; the five bytes that have no letter there are control characters, as in browsers. The rule looks at no byte
beyond a broken character, and takes no ASCII with it: delimiters, quotes and the ends of lines stay what they are.
"""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import TextIO

__all__ = ["FALLBACK", "Utf8Check", "copy_as_utf8", "open_text"]

FALLBACK = "discreet.windows-1252"
"""The name of the rule, as `errors=` of Python's decoders."""

_CHARACTERS = 1 << 22


def _fallback(problem: UnicodeError) -> tuple[str, int]:
    if not isinstance(problem, UnicodeDecodeError):
        raise problem
    return "".join(_LETTERS[byte] for byte in problem.object[problem.start : problem.end]), problem.end


_LETTERS = [bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256)]
codecs.register_error(FALLBACK, _fallback)


def open_text(path: str | Path) -> TextIO:
    """A file as text by this rule, its line ends as they are and without the mark of its encoding."""
    return Path(path).open(encoding="utf-8-sig", errors=FALLBACK, newline="")


class Utf8Check:
    """Whether all bytes of a file are valid UTF-8, block by block."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._valid = True

    def add(self, block: bytes) -> None:
        """The next block."""
        if self._valid and (not block.isascii() or self._decoder.getstate()[0]):  # ASCII is looked at much faster
            try:
                self._decoder.decode(block)
            except UnicodeDecodeError:
                self._valid = False

    @property
    def holds(self) -> bool:
        """Whether it was so up to here, with no character left unfinished."""
        return self._valid and not self._decoder.getstate()[0]


def copy_as_utf8(path: str | Path, to: Path) -> None:
    """Write a file again as UTF-8."""
    with open_text(path) as old, to.open("w", encoding="utf-8", newline="") as new:
        while text := old.read(_CHARACTERS):
            new.write(text)
