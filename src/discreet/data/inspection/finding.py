"""One thing about a table that does not fit its schema, with the line of the schema that would say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Finding", "shown_values"]

Values = tuple[tuple[str, int], ...]
"""Values as they are stored, each with the number of its rows, the most common first."""

_LONG = 40


@dataclass(frozen=True, slots=True)
class Finding:
    """What does not fit: where, how many rows, which values, and what to write or to do."""

    kind: str
    text: str
    column: str = ""
    rows: int | None = None
    of: int = 0
    values: Values = ()
    suggestion: str = ""
    note: bool = False
    """Whether it is worth knowing, and fits all the same."""

    @property
    def share(self) -> float | None:
        """The share of all rows."""
        return None if self.rows is None or not self.of else self.rows / self.of

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs."""
        return {
            "column": self.column or None,
            "kind": self.kind,
            "note": self.note,
            "rows": self.rows,
            "share": self.share,
            "values": [list(pair) for pair in self.values],
            "text": self.text,
            "suggestion": self.suggestion,
        }

    def __str__(self) -> str:
        many = ""
        if self.rows is not None:
            share = "" if self.share is None else f" ({_percent(self.share)})"
            many = f"{self.rows:,} row{'s' * (self.rows != 1)}{share}: "
        listed = f" {shown_values(self.values)}." if self.values else ""
        return f"{many}{self.text}{listed}"


def shown_values(values: Values) -> str:
    """Values and their rows in one line.

    >>> shown_values((("f ", 12), ("X", 3)))
    "'f ' (12), 'X' (3)"
    """
    short = ((text if len(text) <= _LONG else text[: _LONG - 3] + "...", rows) for text, rows in values)
    return ", ".join(f"{text!r} ({rows:,})" for text, rows in short)


def _percent(share: float) -> str:
    return f"{100 * share:.2g}%" if share < 1 else "all"
