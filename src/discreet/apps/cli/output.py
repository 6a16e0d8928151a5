"""How commands speak: tables for people, one JSON value with --json."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.apps.cli.completion import offered
from discreet.core.filename import file_name
from discreet.core.progress import listening, time_left
from discreet.core.release import Release, percent
from discreet.errors import MISSING, InputError, MissingExtraError

if TYPE_CHECKING:
    from discreet.core.publication import Publication

__all__ = [
    "TWO_KINDS",
    "AsJson",
    "Shape",
    "confirm_spending",
    "fit_to_draw",
    "fit_to_write",
    "number_of",
    "paid",
    "plain",
    "progress",
    "say",
    "show_bars",
    "show_json",
    "show_release",
    "show_table",
    "show_whole",
    "working",
    "write_tables",
]

TWO_KINDS = "each for one region, typical for many together"
"""What the two kinds of intervals of a hierarchy are for."""

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """Text from a file or a table, as a terminal may show it: what would steer the terminal becomes a mark."""
    return _CONTROL.sub("\ufffd", text)


def console() -> Console:
    """Made anew each time: the streams may have been redirected since."""
    wide = Console(highlight=False, soft_wrap=True)
    return wide if wide.is_terminal else Console(highlight=False, soft_wrap=True, width=160)


def say(text: str = "") -> None:
    """A line for people."""
    console().print(plain(text), markup=False)


def confirm_spending(offer: object) -> None:
    """Show a plan and wait for a yes; where nobody can be asked, refuse and name the option that says it."""
    typer.echo(str(offer), err=True)
    if not sys.stdin.isatty():
        hint = "Add --yes to agree to the price beforehand. Nothing was spent."
        raise InputError("--yes", MISSING, "given where nobody can confirm", hint)
    typer.confirm("Spend it?", abort=True, err=True)


@contextmanager
def working(text: str) -> Iterator[None]:
    """A sign of life while something takes long: on stderr, on a terminal only."""
    err = Console(stderr=True)
    if err.is_terminal:
        with err.status(text):
            yield
    else:
        yield


@contextmanager
def progress() -> Iterator[None]:
    """Which stage the work is in and how long it may yet take: on stderr, on a terminal only."""
    err = Console(stderr=True)
    if not err.is_terminal:
        yield
        return
    begun = time.monotonic()
    with err.status("starting") as status:

        def heard(stage: str, done: float | None) -> None:
            status.update(stage if done is None else f"{stage} {done:.0%}{time_left(time.monotonic() - begun, done)}")

        with listening(heard):
            yield


def fit_to_write(path: Path | None, option: str, endings: Sequence[str] = ()) -> None:
    """Refuse a file that cannot be written before anything is spent on what goes into it."""
    if path is None:
        return
    if endings and path.suffix.lower() not in endings:
        raise InputError(option, str(path), "a file that ends in " + ", ".join(endings), "Nothing was spent.")
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InputError(option, str(path), "a file in a folder that exists", "Nothing was spent.")


def fit_to_draw(path: Path | None, option: str = "--plot") -> None:
    """Refuse a picture that cannot be drawn, likewise."""
    fit_to_write(path, option, (".png", ".svg", ".html", ".pdf"))
    if path is not None and path.suffix.lower() in (".png", ".pdf") and find_spec("vl_convert") is None:
        raise MissingExtraError("charts", "vl_convert")


def number_of(count: int, noun: str) -> str:
    """So many of something.

    >>> number_of(1, "charge"), number_of(1200, "charge")
    ('1 charge', '1,200 charges')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def show_json(value: Any) -> None:
    """A value for programs."""
    typer.echo(json.dumps(value))


def show_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 0) -> None:
    """A table; the last `numbers` columns are set right. Cells are shown as they are: square brackets style nothing."""
    table = Table(title=Text(plain(title)) if title else None, title_justify="left", header_style="bold")
    for place, name in enumerate(head):
        table.add_column(Text(plain(name)), justify="right" if place >= len(head) - numbers else "left")
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    console().print(table)


def paid(release: Release | Publication) -> str:
    """What a release cost, and whether that was now; what is left."""
    cost = f"Cost: {release.cost}" + (", paid before: nothing was spent now" if release.replayed else "")
    return f"{cost}. Left: {release.remaining}." if release.remaining else f"{cost}."


def show_release(release: Release) -> None:
    """A release with its intervals, its cost and what is left."""
    head = release.head()
    show_table("", head, release.cells(), numbers=len(head) - len(release.keys))
    for note in release.notes:
        say(f"Note: {note}")
    told = f": {TWO_KINDS}" if "typical" in head else ""
    intervals = f"{percent(release.confidence)} confidence intervals (not simultaneous){told}. "
    say(f"{intervals if release.outputs else ''}{paid(release)}")
    say(f"Release {release.id}" + (f"; data version: {release.data}" if release.data else ""))


def write_tables(tables: Mapping[str, Release], folder: Path) -> list[Path]:
    """Write every table to a CSV file of its name."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, table in tables.items():
        written.append(folder / f"{file_name(name or 'table')}.csv")
        table.to_csv(written[-1])
    return written


def show_bars(release: Release, output: str, width: int = 40) -> None:
    """One output as bars with error bars, for a terminal."""
    rows = release.rows()
    most = max([1, *(row[f"{output}_upper"] or 0 for row in rows)])
    lines = []
    for row, cells in zip(rows, release.cells(), strict=True):
        low, value, high = (
            round(width * max(row[name] or 0, 0) / most) for name in (f"{output}_lower", output, f"{output}_upper")
        )
        bar = "".join(
            "\u2588" if i < low else "\u2593" if i < value else "\u2591" if i < high else " " for i in range(width)
        )
        lines.append([*cells[: len(release.keys)], bar, cells[len(release.keys) + release.outputs.index(output)]])
    show_table("", [*release.keys, "", output], lines, numbers=1)


Shape = Annotated[
    str,
    typer.Option(
        "--format",
        help="table, csv, json or markdown.",
        autocompletion=offered("table", "csv", "json", "markdown"),
    ),
]


def show_whole(whole: Any, shape: str, part: str, as_json: bool) -> None:
    """A release of any kind: its tables, or the one of a name."""
    from discreet.curator.kinds import table_of  # most commands show none

    if shape not in ("table", "csv", "json", "markdown"):
        raise InputError("--format", shape, among=("table", "csv", "json", "markdown"))
    tables = {part: table_of(whole, part, "--part")} if part else whole.tables()
    if as_json or shape == "json":
        named = {name: table.to_dict() for name, table in tables.items()}
        show_json(named[part] if part else whole.to_dict() if not named or "" in named else named)
        return
    if not tables and shape != "table":
        raise InputError("--format", shape, "table or json: this release is no table")
    if shape == "csv" and len(tables) > 1:
        raise InputError("--part", MISSING, "given for csv, which is one table", among=tables)
    if not tables:
        say(repr(whole))
    for name, table in tables.items():
        if name and not part and shape != "csv":
            say(f"{name}:")
        if shape == "csv":
            typer.echo(table.to_csv(), nl=False)
        elif shape == "markdown":
            typer.echo(table.to_markdown())
        else:
            show_release(table)
