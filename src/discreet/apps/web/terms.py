"""A question mark beside each term of art: what it means opens on the spot, by pointer or by key, without a script."""

from __future__ import annotations

from discreet.core.glossary import TERMS, Term, find_term
from discreet.show import Markup, element

__all__ = ["Terms"]


class Terms:
    """The terms that one page marks; what they mean stands once at its end."""

    def __init__(self) -> None:
        self._used: dict[str, Term] = {}

    @property
    def used(self) -> list[Term]:
        """The terms so far, in the order of the glossary."""
        return [term for name, term in TERMS.items() if name in self._used]

    def mark(self, name: str) -> Markup:
        """A question mark that opens what a term means."""
        term = find_term(name)
        self._used[term.name] = term
        given = {"type": "button", "class": "term", "popovertarget": f"term-{term.anchor}"}
        return element("button", {**given, "aria-label": f"What is {term.name}?"}, "?")

    def need(self, *names: str) -> str:
        """Have terms at hand for a part of the page that a script puts in place later."""
        for name in names:
            term = find_term(name)
            self._used[term.name] = term
        return ""
