"""Which columns of a table are shown: as many as fit, the others left out in a stated order, and named."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence

__all__ = ["fitting_columns", "terminal_width", "wrapped"]

_BORDERS = 3  # characters that a column takes beside its cells; the table takes one more


def terminal_width() -> int | None:
    """How wide tables may be: COLUMNS, else the terminal's; None in a file or pipe, from which nothing is left out."""
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and int(named) > 0:
        return int(named)
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def fitting_columns(widths: Sequence[int], limit: int | None, order: Sequence[int]) -> list[int]:
    """The columns that are shown, of these widths, where `order` says which are left out first.

    >>> fitting_columns([10, 20, 30], 60, order=[1, 2])
    [0, 2]
    >>> fitting_columns([10, 20, 30], None, order=[1, 2])
    [0, 1, 2]
    """
    shown = list(range(len(widths)))
    for column in order:
        if limit is None or sum(widths[one] + _BORDERS for one in shown) + 1 <= limit:
            break
        shown.remove(column)
    return shown


def wrapped(text: str) -> str:
    """Lines broken between words where they are wider than the terminal, and what follows set in below its beginning.

    In a file or pipe lines stay as they are.
    """
    width = terminal_width()
    return text if width is None else "\n".join(_folded(line, max(width, 20)) for line in text.split("\n"))


def _folded(line: str, width: int) -> str:
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    folded = textwrap.wrap(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, drop_whitespace=True
    )
    return "\n".join(folded)
