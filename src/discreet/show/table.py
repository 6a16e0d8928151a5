"""A table of text on a page: heads with a scope, numbers to the right, wide ones scroll by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import InputError, Phrase
from discreet.show.svg import Markup, element

__all__ = ["Table"]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under heads. The first column names the row; those in `numbers` (all others, if None) are set right.

    `label` names the table to those who do not see it, where several on a page have the same caption. One that is
    `stacked` may be shown on a narrow screen as a card for each row, with each cell under the name of its column.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    caption: str = ""
    numbers: frozenset[int] | None = None
    label: str = ""
    stacked: bool = False

    def __post_init__(self) -> None:
        wrong = next((row for row in self.rows if len(row) != len(self.head)), None)
        if wrong is not None:
            raise InputError(
                "rows", Phrase(f"{len(wrong)} cells"), f"rows with as many cells as heads, {len(self.head)}"
            )

    @classmethod
    def of(
        cls, head: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "", numbers: Sequence[int] | None = None
    ) -> Table:
        """The same from any sequences."""
        chosen = None if numbers is None else frozenset(numbers)
        return cls(tuple(head), tuple(tuple(row) for row in rows), caption, chosen)

    def __html__(self) -> str:
        heads = (self._head(i, name) for i, name in enumerate(self.head))
        line, group = self._role("row"), self._role("rowgroup")
        rows = (element("tr", line, *(self._cell(i, cell) for i, cell in enumerate(row))) for row in self.rows)
        parts = [element("caption", None, self.caption)] if self.caption else []
        parts += [element("thead", group, element("tr", line, *heads)), element("tbody", group, *rows)]
        region = {
            "class": "scroll",
            "role": "region",
            "tabindex": "0",
            "aria-label": self.label or self.caption or self.head[0],
        }
        whole = {"class": "stacked", **self._role("table")} if self.stacked else None
        return element("div", region, element("table", whole, *parts))

    def _role(self, name: str) -> dict[str, Any]:
        """What a part is, said where its style may take that away."""
        return {"role": name} if self.stacked else {}

    def _kind(self, column: int) -> str | None:
        right = column > 0 if self.numbers is None else column in self.numbers
        return "number" if right else None

    def _head(self, column: int, name: str) -> Markup:
        """The name of a column; a corner without one is no heading."""
        kind = {"scope": "col", "class": self._kind(column), **self._role("columnheader")}
        return element("th", kind, name) if name else element("td", None)

    def _cell(self, column: int, cell: Any) -> Markup:
        if column == 0:
            return element("th", {"scope": "row", **self._role("rowheader")}, cell)
        named = {"data-label": self.head[column], **self._role("cell")} if self.stacked else {}
        return element("td", {"class": self._kind(column), **named}, cell)
