"""Declared columns by name, and expressions of them by the text that stands for each."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from discreet.data.column import Column
from discreet.data.expression.compile import with_expressions
from discreet.data.expression.domain import Domain, Domains, column_of, domain_of, domain_of_column
from discreet.data.expression.node import Expression, Name, columns_in, quoted
from discreet.data.expression.read import read_expression
from discreet.data.expression.resolve import declared_name, resolve
from discreet.errors import InputError

__all__ = ["Columns"]

_KEPT = 2_000
"""Expressions that are kept at most: a question of more than that reads some of them again and again."""
_LETTERS = 16_000_000
"""What their texts and values may come to, so that nobody fills the memory with questions."""


class Columns(dict[str, Column]):
    """The declared columns. What else it is asked for is read as an expression, and has the declaration of its domain.

    Only declared columns are in it, and counted; `columns["cost * hours"]` is computed when it is asked for.
    """

    def __init__(self, declared: dict[str, Column]) -> None:
        super().__init__(declared)
        self._read: dict[str, tuple[str, Expression, Domain]] = {}
        self._letters = 0

    def __missing__(self, text: str) -> Column:
        return self.column(text)

    def __reduce__(self) -> Any:
        return Columns, (dict(self),)

    def column(self, text: str, use: str = "column") -> Column:
        """The declaration of a column or an expression."""
        if text in self:
            return self[text]
        _, _, domain = self._expression(text, use)
        try:
            return column_of(domain, text)
        except InputError as problem:
            raise problem.about(use) from None

    def canonical(self, text: str, use: str) -> str:
        """The one text of a column or an expression."""
        return text if text in self else self._expression(text, use)[0]

    def domain(self, text: str, use: str = "column") -> Domain:
        """What a column or an expression can be."""
        return domain_of_column(self[text]) if text in self else self._expression(text, use)[2]

    def expression(self, text: str, use: str = "column") -> Expression:
        """A column or an expression, as an expression."""
        return Name(text) if text in self else self._expression(text, use)[1]

    def read_by(self, text: str) -> list[str]:
        """The declared columns that it reads."""
        return columns_in(self.expression(text))

    def slot(self, text: str) -> str:
        """A column's own name; for an expression, a short one that no engine cuts."""
        return text if text in self else f"discreet {hashlib.sha256(text.encode()).hexdigest()[:20]}"

    def computed(self, table: Any, texts: Iterable[str]) -> Any:
        """A table with these expressions beside its columns, each under its slot."""
        made = {self.slot(text): self.expression(text) for text in texts}
        return with_expressions(made, table, self) if made else table

    def _unquoted(self, text: str, use: str) -> InputError | None:
        """The refusal of a text with a name such as 2020 or select in it, read as a number or a word of SQL."""
        plain = re.sub(r"\"[^\"]*\"|'[^']*'", " ", text)
        for name in self:
            if re.fullmatch(r"\w+", name) and quoted(name) != name and re.search(rf"(?<![\w.]){name}(?![\w.])", plain):
                hint = f'The column {name} is written "{name}" here.'
                return InputError(use, text, "an expression with such names in double quotes", hint)
        return None

    def _misspelt(self, text: str) -> bool:
        """Whether a text is most likely one of the columns with signs or blanks in their names, written wrongly."""
        from difflib import get_close_matches  # only where something is wrong already

        odd = [name.casefold() for name in self if not name.isidentifier()]
        return bool(get_close_matches(text.casefold(), odd, n=1, cutoff=0.8))

    def _expression(self, text: str, use: str) -> tuple[str, Expression, Domain]:
        known = self._read.get(text)  # read once: another thread may empty it
        if known is None:
            if quoted(text) == text and text.isidentifier():  # a name, so no expression: perhaps a misspelt one
                name = declared_name(text, self, use)
                return name, Name(name), domain_of_column(self[name])
            try:
                read = read_expression(text, use)
            except InputError as problem:
                strange = InputError(use, text, "a declared column or an expression", among=sorted(self))
                named = (" " not in text.strip() and "(" not in text) or self._misspelt(text)
                raise (self._unquoted(text, use) or (strange if named else problem)) from None
            made = resolve(read, self, use)
            if not columns_in(made) and (meant := self._unquoted(text, use)) is not None:
                raise meant
            domains = Domains(self)
            canonical = made.name if isinstance(made, Name) else str(made)
            known = canonical, made, domain_of(made, domains)
            self._letters += _letters(text, known[2])
            if len(self._read) >= _KEPT or self._letters > _LETTERS:
                self._read.clear()
                self._letters = _letters(text, known[2])
            self._read[text] = known
        return known


def _letters(text: str, domain: Domain) -> int:
    """About how much an expression and its values take."""
    values = domain.values or ()
    return 20 * len(text) + (sum(map(len, values)) if domain.kind == "text" else 4 * len(values))
