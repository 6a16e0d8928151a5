"""A session at the prompt: its tables, the price of the next question, and what is done with a line."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

import typer

from discreet.apps.cli.output import confirm_spending, say, say_plan, show_release, show_table, show_whole, working
from discreet.apps.cli.table_width import terminal_width
from discreet.curator import Curator, read_release
from discreet.curator.question import Question
from discreet.curator.release_id import short_ids
from discreet.errors import MISSING, InputError
from discreet.ledger.quote import price_text

__all__ = ["PRICES", "Session"]

PRICES = ("epsilon", "rho", "share", "within")
"""The ways in which a question is priced here; one of them holds at a time."""
_USUAL = {"share": "0.05"}
_FROM = re.compile(r'\b(?:from|join)\s+("[^"]+"|[\w.]+)', re.IGNORECASE)

_HELP = (
    ("SELECT ...;", "A question in SQL, over one or more lines. You see its plan; yes spends the price."),
    (
        ".epsilon 0.1",
        "Price the next questions by epsilon. Or: .rho 0.01, .share 0.05 (of the allotment), .within 40 (the "
        "half-width of every interval; the price follows).",
    ),
    (".allotment NAME", "The part of the budget that pays, where there are several."),
    (".price", "What the next question is priced by."),
    (".budget", "What is spent and left."),
    (".tables, .columns", "What can be asked about. .columns NAME: of one table."),
    (".releases, .show ID", "Stored releases, read again for free; the beginning of an id will do."),
    (".help, .quit", "This text; leave (or Ctrl-D)."),
)


def _help() -> str:
    """What can be typed, in lines that fit."""
    width = max(40, min(terminal_width() or 80, 100))
    return "\n".join(
        textwrap.fill(f"{typed:<21} {words}", width, subsequent_indent=" " * 22, break_on_hyphens=False)
        for typed, words in _HELP
    )


class Session:
    """What a prompt remembers. Errors are raised: who shows the prompt says them."""

    def __init__(
        self,
        curators: Mapping[str, Curator],
        price: Mapping[str, str] | None = None,
        allotment: str | None = None,
        dialect: str = "duckdb",
        *,
        yes: bool = False,
    ) -> None:
        if len(price or {}) > 1:
            raise InputError("price", sorted(price or {}), "one of epsilon, rho, share and within")
        self.ended = False
        self._curators = dict(curators)
        self._price = dict(price or _USUAL)
        self._allotment = allotment
        self._dialect = dialect
        self._yes = yes
        self._commands: dict[str, Callable[[str], None]] = {
            "help": lambda _: say(_help()),
            "budget": lambda _: self._show_budget(),
            "tables": lambda _: self._show_tables(),
            "columns": self._show_columns,
            "releases": lambda _: self._show_releases(),
            "show": self._show,
            "price": lambda _: say(self.price_said()),
            "allotment": self._pay_from,
            "quit": lambda _: self._end(),
            "exit": lambda _: self._end(),
            **{way: self._pricing(way) for way in PRICES},
        }

    def whole(self, text: str) -> bool:
        """Whether nothing more need be typed: a command is one line, a statement ends with a semicolon."""
        return text.startswith(".") or text.lower() in ("quit", "exit", "help") or text.endswith(";")

    def run(self, text: str) -> None:
        """Do what a line says."""
        word, _, rest = text.rstrip(";").strip().removeprefix(".").partition(" ")
        if text.startswith(".") or (word.lower() in ("quit", "exit", "help") and not rest):
            if word.lower() not in self._commands:
                raise InputError.unknown(f".{word}", [f".{name}" for name in self._commands])
            self._commands[word.lower()](rest.strip())
        else:
            for statement in _statements(text):
                self._ask(statement)

    def price_said(self) -> str:
        """What the next question is priced by."""
        ((way, amount),) = self._price.items()
        words = {"share": f"{amount} of the allotment", "within": f"half-widths of {amount}, the price follows"}
        paid = "" if self._allotment is None else f", from allotment '{self._allotment}'"
        return f"Price of a question: {words.get(way, f'{way} = {amount}')}{paid}."

    def _ask(self, text: str) -> None:
        question = self._curator_of(text).sql(text, dialect=self._dialect)
        offer = question.plan(allotment=self._allotment, **self._terms(question))
        if self._yes:
            say_plan(offer)
        elif not sys.stdin.isatty():
            say_plan(offer)
            say("Planned only. With --yes, statements from a file or pipe are asked and paid for.")
            return
        else:
            try:
                confirm_spending(offer)
            except typer.Abort:
                say("Nothing was spent.")
                return
        with working("Counting in the engine..."):
            answer = offer.release(why="at the prompt")
        show_release(answer)

    def _terms(self, question: Question) -> dict[str, Any]:
        """The price of the session, unless the statement states its own."""
        return {} if "epsilon" in question.stated else dict(self._price)

    def _curator_of(self, text: str) -> Curator:
        """The curator of the table that a statement names; that of the first where none is known, to say so."""
        named = {name.strip('"').casefold() for name in _FROM.findall(text)}
        first = next(iter(self._curators.values()))
        return next((one for name, one in self._curators.items() if name.casefold() in named), first)

    def _pricing(self, way: str) -> Callable[[str], None]:
        def set_price(amount: str) -> None:
            try:
                right = float(amount) > 0
            except ValueError:
                right = False
            if not right:
                raise InputError(f".{way}", amount or MISSING, "given a number above zero, such as .epsilon 0.1")
            self._price = {way: amount}
            say(self.price_said())

        return set_price

    def _pay_from(self, name: str) -> None:
        known = {s.allotment.name for curator in self._curators.values() for s in curator.standing()}
        if name and name not in known:
            raise InputError(".allotment", name, among=sorted(known))
        self._allotment = name or None
        say(self.price_said())

    def _show_budget(self) -> None:
        rows = [
            [
                s.dataset,
                s.allotment.name,
                price_text(s.allotment, s.allotment.cap, "down"),
                price_text(s.allotment, s.spent),
                price_text(s.allotment, s.left, "down"),
            ]
            for curator in self._curators.values()
            for s in curator.standing()
        ]
        head = ("dataset", "allotment", "budget", "spent", "left")
        show_table("", head, rows, numbers=3, drop=("budget", "spent"), whole="discreet ledger show --json prints all.")

    def _show_tables(self) -> None:
        rows = [[name, f"{len(one.schema.columns)}", str(one.schema.unit)] for name, one in self._curators.items()]
        show_table("", ["table", "columns", "protects"], rows)

    def _show_columns(self, named: str) -> None:
        from discreet.curator.columns import described

        if named and named not in self._curators:
            raise InputError(".columns", named, among=self._curators)
        for name, curator in self._curators.items():
            if named in ("", name):
                rows = [[one.name, one.kind, one.bounds or _few(one.values)] for one in described(curator.schema)]
                show_table(name, ["column", "kind", "values"], rows, whole="The schema has them.")

    def _show_releases(self) -> None:
        for name, curator in self._curators.items():
            found = [one.charged for one in curator.ledger.releases(name) if one.answer is not None]
            short = short_ids(one.release for one in found)
            show_table(name, ["id", "why", "time"], [[short[one.release], one.why, one.time[:19]] for one in found])

    def _show(self, typed: str) -> None:
        if not typed:
            raise InputError(".show", MISSING, "given the id of a release, or the beginning of it")
        problem: InputError | None = None
        for name, curator in self._curators.items():
            try:
                whole = read_release(curator.ledger, typed, dataset=name)
            except InputError as missing:
                problem = problem or missing
            else:
                show_whole(whole, "table", "", False)
                return
        if problem is not None:
            raise problem

    def _end(self) -> None:
        self.ended = True


def _few(values: tuple[str, ...]) -> str:
    """The first values of a list, and how many more there are."""
    shown = ", ".join(values[:8])
    return shown if len(values) <= 8 else f"{shown} and {len(values) - 8} more"


_ENDS = re.compile(r"""'[^']*'|"[^"]*"|--[^\n]*|/\*.*?\*/|(;)""", re.DOTALL)


_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def _statements(text: str) -> list[str]:
    """The statements of a text: what semicolons divide that stand in no quotes and no comments.

    >>> _statements("SELECT ';' ; SELECT 2;")
    ["SELECT ';'", 'SELECT 2']
    """
    ends = [match.start() for match in _ENDS.finditer(text) if match[1]]
    parts = (text[start:end] for start, end in zip([0, *(end + 1 for end in ends)], [*ends, len(text)], strict=True))
    return [part.strip() for part in parts if _COMMENT.sub("", part).strip()]
