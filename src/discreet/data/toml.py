"""Names and texts as a schema's file writes them."""

from __future__ import annotations

import json
import re

__all__ = ["toml_table", "toml_text"]


def toml_text(text: str) -> str:
    """A TOML string. TOML wants one character more escaped than JSON does."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_table(*names: str) -> str:
    """The head of a table; a name with blanks or signs stands in quotes.

    >>> toml_table("columns", "visit day")
    '[columns."visit day"]'
    """
    return f"[{'.'.join(name if re.fullmatch(r'[A-Za-z0-9_-]+', name) else toml_text(name) for name in names)}]"
