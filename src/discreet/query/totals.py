"""Numbers about all rows beside those of groups: released as rows of their own, and then put beside every other row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["GROUPS", "Totals"]

GROUPS = "groups"
"""What marks the rows of the groups themselves."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Which rows of a released table are totals, and which columns they become of the others."""

    mark: str
    """The column that says what a row is: of the groups, or of which total."""
    columns: tuple[tuple[str, str, str], ...]
    """The name of each new column, which total it is from, and of which output."""

    @property
    def names(self) -> tuple[str, ...]:
        """The new columns, which have intervals."""
        return tuple(name for name, _, _ in self.columns)

    def beside(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The rows of groups, each with all totals."""
        totals = {row[self.mark]: row for row in rows}
        found = {
            name + end: totals[part][output + end]
            for name, part, output in self.columns
            for end in ("", "_lower", "_upper")
        }
        return [{**row, **found} for row in rows if row[self.mark] == GROUPS]
