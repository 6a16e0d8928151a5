"""How commands speak: tables for people, one JSON value with --json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

__all__ = ["AsJson", "say", "show_json", "show_table"]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]


def console() -> Console:
    """Made anew each time: the streams may have been redirected since."""
    return Console(highlight=False, soft_wrap=True)


def say(text: str = "") -> None:
    """A line for people."""
    console().print(text, markup=False)


def show_json(value: Any) -> None:
    """A value for programs."""
    typer.echo(json.dumps(value))


def show_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 0) -> None:
    """A table; the last `numbers` columns are set right."""
    table = Table(title=title or None, title_justify="left", header_style="bold")
    for place, name in enumerate(head):
        table.add_column(name, justify="right" if place >= len(head) - numbers else "left")
    for row in rows:
        table.add_row(*row)
    console().print(table)
