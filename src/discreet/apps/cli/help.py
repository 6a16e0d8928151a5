"""`discreet help`: what a term means, in a sentence or two."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.apps.cli.completion import offered
from discreet.apps.cli.output import AsJson, say, show_json, show_table
from discreet.core.glossary import TERMS, Term, find_term

__all__ = ["help_"]

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TERM]",
        help="A term, such as epsilon; all of them if none is given.",
        autocompletion=offered(*TERMS),
    ),
]


def help_(term: Words = None, as_json: AsJson = False) -> None:
    """Explain a term: epsilon, privacy budget, confidence interval and others. Without a term, list all of them."""
    if term:
        _show(find_term(" ".join(term)), as_json)
    elif as_json:
        show_json([_plain(one) for one in TERMS.values()])
    else:
        show_table("", ["term", "what it is"], [[one.name, one.short] for one in TERMS.values()])
        say("More about one of them: discreet help TERM. Options of a command: discreet COMMAND --help.")


def _show(term: Term, as_json: bool) -> None:
    if as_json:
        show_json(_plain(term))
        return
    say(f"{term.name[0].upper()}{term.name[1:]}: {term.short}")
    if term.more:
        say(term.more)
    say(f"Explained in docs/{term.page}" if term.page else "")


def _plain(term: Term) -> dict[str, object]:
    return {"term": term.name, "short": term.short, "more": term.more, "page": term.page, "also": list(term.also)}
