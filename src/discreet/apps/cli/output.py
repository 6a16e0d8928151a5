"""How commands speak: tables for people, one JSON value with --json."""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.apps.cli.completion import choice
from discreet.apps.cli.table_width import fitting_columns, terminal_width, wrapped
from discreet.core.filename import file_name
from discreet.core.progress import listening, time_left
from discreet.core.release import Release, percent
from discreet.curator.release_id import short_ids
from discreet.errors import MISSING, InputError, MissingExtraError

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.core.publication import Publication

__all__ = [
    "FIRST",
    "LONG",
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
    "say_plan",
    "show_bars",
    "show_json",
    "show_release",
    "show_table",
    "show_whole",
    "working",
    "write_tables",
]

LONG, FIRST = 200, 50
"""Of a table with more rows than the one, as many as the other are printed."""
TWO_KINDS = "each for one region, typical for many together"
"""What the two kinds of intervals of a hierarchy are for."""

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]


_FILE = 160  # characters: how wide tables are in a file
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """Text from a file or a table, as a terminal may show it: what would steer the terminal becomes a mark."""
    return _CONTROL.sub("\ufffd", text)


def console() -> Console:
    """Made anew each time: the streams may have been redirected since."""
    from rich.console import Console  # many commands print lines alone

    return Console(highlight=False, soft_wrap=True, width=terminal_width() or _FILE)


def say(text: str = "") -> None:
    """A line for people."""
    typer.echo(plain(text))


def say_plan(offer: object) -> None:
    """What an offer says, in lines that fit the terminal."""
    typer.echo(wrapped(plain(str(offer))))


def confirm_spending(offer: object) -> None:
    """Show a plan and wait for a yes; where nobody can be asked, refuse and name the option that says it."""
    typer.echo(wrapped(plain(str(offer))), err=True)
    if not sys.stdin.isatty():
        hint = "Add --yes to agree to the price beforehand. Nothing was spent."
        raise InputError("--yes", MISSING, "given where nobody can confirm", hint)
    typer.confirm("Spend it?", abort=True, err=True)


@contextmanager
def working(text: str) -> Iterator[None]:
    """A sign of life while something takes long: on stderr, on a terminal only."""
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status(text):
            yield
    else:
        yield


@contextmanager
def progress() -> Iterator[None]:
    """Which stage the work is in and how long it may yet take: on stderr, on a terminal only."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    begun = time.monotonic()
    with Console(stderr=True).status("starting") as status:

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


def show_table(
    title: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: int = 0,
    drop: Sequence[str] | None = None,
    whole: str = "--json prints all.",
) -> None:
    """A table; the last `numbers` columns are set right. Cells are shown as they are: square brackets style nothing.

    Where it is too wide, columns are left out in the order of `drop` (from the right, all but two, unless given),
    which is said below it; `whole` says where they are.
    """
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    cells = [[plain(cell) for cell in row] for row in rows]
    names = [plain(name) for name in head]
    order = range(len(head) - 1, 1, -1) if drop is None else [head.index(name) for name in drop]
    widths = [max(map(cell_len, column)) for column in zip(names, *cells, strict=True)]
    shown = fitting_columns(widths, terminal_width(), list(order))
    table = Table(title=Text(plain(title)) if title else None, title_justify="left", header_style="bold")
    for place in shown:
        table.add_column(Text(names[place]), justify="right" if place >= len(head) - numbers else "left")
    for row in cells:
        table.add_row(*(Text(row[place]) for place in shown))
    console().print(table)
    if missing := [name or "bars" for place, name in enumerate(names) if place not in shown]:
        say(wrapped(f"Columns not shown, to fit {terminal_width()} characters: {', '.join(missing)}. {whole}"))


def paid(release: Release | Publication) -> str:
    """What a release cost, and whether that was now; what is left."""
    cost = f"Cost: {release.cost}" + (", paid earlier: nothing was spent now" if release.replayed else "")
    return f"{cost}. Left: {release.remaining}." if release.remaining else f"{cost}."


def show_release(release: Release, part: str = "", whole: str = "") -> None:
    """A release with its intervals, its cost and what is left; of a long table, its first rows.

    `part` is its name, where it is one of several; `whole` says where all of it is, if not under the id.
    """
    head = release.head()
    outputs = len(head) - len(release.keys)
    order = list(reversed(head[len(release.keys) + 1 :] if len(set(head)) == len(head) else []))
    named = f"{short_ids([release.id])[release.id]}{f' --part {shlex.quote(part)}' if part else ''}"
    shown = whole or f"discreet releases show {named} --format csv prints all."
    rows, many = release, len(release)
    if many > LONG:
        rows = replace(release, columns={name: values[:FIRST] for name, values in release.columns.items()})
    show_table("", head, rows.cells(), numbers=outputs, drop=order, whole=shown)
    if many > LONG:
        say(wrapped(f"The first {FIRST} of {many:,} rows. {shown}"))
    for note in release.notes:
        say(wrapped(f"Note: {note}"))
    told = f": {TWO_KINDS}" if "typical" in head else ""
    intervals = f"{percent(release.confidence)} confidence intervals (not simultaneous){told}. "
    say(wrapped(f"{intervals if release.outputs else ''}{paid(release)}"))
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
    show_table("", [*release.keys, "", output], lines, numbers=1, drop=[""])


Shape = Annotated[
    str,
    choice("table", "csv", "json", "markdown", flags=("--format",), help="How it is printed."),
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
            show_release(table, name)
