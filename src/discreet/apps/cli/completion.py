"""What the shell offers after TAB: declared names and ids of releases. All of it is public; no row is ever read."""

from __future__ import annotations

import os
import tomllib
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer

from discreet.data.expression.node import quoted
from discreet.errors import DiscreetError
from discreet.ledger.budget import QUESTIONS
from discreet.query.function import listed_functions

__all__ = ["allotments", "choice", "columns", "datasets", "offered", "outputs", "releases"]

Offering = Callable[[typer.Context, str], list[str]]


def offered(*words: str) -> Offering:
    """Offers some of a few words.

    >>> offered("auto", "laplace", "gaussian")(None, "la")
    ['laplace']
    """

    def those(ctx: typer.Context, incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return those


def choice(*words: str, help: str, flags: tuple[str, ...] = (), other: str = "") -> Any:
    """An option that takes one of a few words, which its help shows; `other` is what else it takes."""
    shown = "|".join((*words, other) if other else words)
    return typer.Option(*flags, help=help, metavar=f"[{shown}]", autocompletion=offered(*words))


def columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Declared columns; after a comma, one more of them."""
    done, comma, begun = incomplete.rpartition(",")
    return _sorted(f"{done}{comma}{name}" for name in _columns(ctx) if name.startswith(begun))


def outputs(ctx: typer.Context, incomplete: str) -> list[str]:
    """Functions; after a parenthesis, a declared column, in quotes if its name needs them."""
    function, parenthesis, begun = incomplete.partition("(")
    if not parenthesis:
        known = listed_functions().items()
        words = [name + ("(" if written.column == "required" else "") for name, written in known]
        return [word for word in words if word.startswith(incomplete)]
    named = listed_functions().get(function.rpartition("=")[2])
    end = "," if named is not None and named.argument is not None and named.argument.required else ")"
    names = [(name, quoted(name)) for name in _columns(ctx)]
    return _sorted(
        f"{function}({word}{end}" for name, word in names if begun in (name[: len(begun)], word[: len(begun)])
    )


def allotments(ctx: typer.Context, incomplete: str) -> list[str]:
    """Allotments of the declared budget; a budget that is not divided has one, for questions."""
    names = _table(_table(_schema(ctx), "budget"), "allotments") or {QUESTIONS: {}}
    return _sorted(name for name in names if name.startswith(incomplete))


def releases(ctx: typer.Context, incomplete: str) -> list[str]:
    """Ids of stored releases."""
    books = _books(ctx)
    found = [] if books is None else [one for one in books.releases() if one.answer is not None]
    return _sorted(one.charged.release for one in found if one.charged.release.startswith(incomplete))


def datasets(ctx: typer.Context, incomplete: str) -> list[str]:
    """Datasets on the ledger."""
    books = _books(ctx)
    return [] if books is None else _sorted(name for name in books.datasets() if name.startswith(incomplete))


def _columns(ctx: typer.Context) -> list[str]:
    declared = _schema(ctx)
    names = [*_table(declared, "columns"), *_table(declared, "derived")]
    for wider in ("lookups", "joins"):
        names += [name for one in _table(declared, wider).values() for name in _table(one, "columns")]
    return names


def _schema(ctx: typer.Context) -> dict[str, Any]:
    try:
        return tomllib.loads(_schema_path(ctx).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # a shell that waits for words is no place to complain
        return {}


def _schema_path(ctx: typer.Context) -> Path:
    from discreet.curator.setup import schema_path

    data, named = ctx.params.get("data"), ctx.params.get("schema") or os.environ.get("DISCREET_SCHEMA")
    return schema_path(data if isinstance(data, str) else "", named)


def _table(declared: Any, name: str) -> dict[str, Any]:
    found = declared.get(name) if isinstance(declared, dict) else None
    return found if isinstance(found, dict) else {}


def _books(ctx: typer.Context) -> Any:
    """The ledger, if it is a file that is there: TAB makes no ledger and calls no server."""
    from discreet.curator.setup import find_ledger
    from discreet.ledger.ledger import Ledger

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            place = str(find_ledger(None, _schema_path(ctx), ctx.params.get("ledger")))
        return Ledger.open(place) if "://" not in place and Path(place).is_file() else None
    except DiscreetError:
        return None


def _sorted(words: Iterable[str]) -> list[str]:
    return sorted(set(words))
