"""What TAB offers at the prompt: words of SQL, functions, tables, columns and declared values. No row is read."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.curator import Curator
from discreet.data.column import Category
from discreet.query.function import listed_functions

__all__ = ["SqlCompletion"]

_KEYWORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "AS", "AND", "OR", "NOT", "IN"),
    *("BETWEEN", "IS NULL", "CASE", "WHEN", "THEN", "ELSE", "END", "DESC"),
)
_COMMANDS = (
    *(".help", ".budget", ".tables", ".columns", ".price", ".epsilon", ".rho", ".share", ".within"),
    *(".allotment", ".releases", ".show", ".quit"),
)


class SqlCompletion:
    """The words that may follow, by what is typed of one."""

    def __init__(self, curators: Mapping[str, Curator]) -> None:
        functions = [f"{name}(" for one in listed_functions().values() for name in one.sql]
        columns = {name: column for one in curators.values() for name, column in one.schema.columns.items()}
        values = [f"'{value}'" for one in columns.values() if isinstance(one, Category) for value in one.values]
        self._words = list(dict.fromkeys([*curators, *columns, *functions, *_KEYWORDS, *values]))
        self._offered: list[str] = []

    def words(self, begun: str) -> list[str]:
        """What may be meant: commands after a dot, else every word that begins so, in its own spelling."""
        known = _COMMANDS if begun.startswith(".") else self._words
        return [word for word in known if word.casefold().startswith(begun.casefold())] if begun else []

    def complete(self, begun: str, number: int) -> str | None:
        """The way readline asks: the words one after the other, then None."""
        if number == 0:
            self._offered = self.words(begun)
            if len(self._offered) == 1 and self._offered[0][-1] != "(":  # a word that is whole, and the next may follow
                self._offered[0] += " "
        return self._offered[number] if number < len(self._offered) else None
