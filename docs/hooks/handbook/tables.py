"""Tables for those who hear a page: a corner that heads nothing is no header."""

from __future__ import annotations

import re

__all__ = ["plain_corners"]

_EMPTY = re.compile(r"<th([^>]*)>\s*</th>")


def plain_corners(html: str) -> str:
    """A page on which header cells without a word are cells."""
    return _EMPTY.sub(r"<td\1></td>", html)
