"""`discreet shell`: a prompt. SQL goes in, its plan comes out, and after a yes the answer."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from discreet.apps.cli import options
from discreet.apps.cli.ask import Dialect, Yes
from discreet.apps.cli.output import say
from discreet.apps.cli.session import PRICES, Session
from discreet.apps.cli.sql_completion import SqlCompletion
from discreet.errors import DiscreetError, InputError, LedgerError
from discreet.ledger.location import private_folder, state_folder

__all__ = ["shell"]

Tables = Annotated[list[str], typer.Argument(help="One or more tables: files or postgresql://...")]
_HISTORY = 1000  # statements
_DELIMITERS = " \t\n,()=<>+-*/%;"


def _shell(**given: Any) -> None:
    """A prompt for SQL: it shows each plan and asks before spending.

    A statement ends with a semicolon or an empty line; .help lists the other commands. From a pipe, it ends with a
    semicolon only, and is planned only, unless --yes agrees to its price beforehand.
    """
    if given["table"] is not None and len(given["data"]) > 1:
        raise InputError("--table", given["table"], "left out where several tables are named")
    curators = {}
    for data in given["data"]:
        curator = options.curator_at(data, given["schema"], given["ledger"], given["table"])
        curators[curator.schema.name] = curator
    price = {name: given[name] for name in PRICES if given[name] is not None}
    session = Session(curators, price, given["allotment"], given["dialect"], yes=given["yes"])
    typed = sys.stdin.isatty() and sys.stdout.isatty()
    with _editing(SqlCompletion(curators)) if typed else contextlib.nullcontext() as history:
        if typed:
            say(f"Tables: {', '.join(curators)}. .help for help, .quit to leave.")
            say("A statement ends with ; or an empty line.")
            say(session.price_said())
        _read(session, history, typed)


shell = options.with_signature(
    _shell,
    {
        "data": (Tables, options.REQUIRED),
        **{name: options.PRICES[name] for name in PRICES},
        **options.SOURCES,
        "dialect": (Dialect, "duckdb"),
        "yes": (Yes, False),
    },
)


def _read(session: Session, history: ModuleType | None, typed: bool) -> None:
    """Line after line, until there are no more. Ctrl-C forgets what was begun; Ctrl-D leaves.

    At a terminal an empty line ends a statement, as a semicolon does.
    """
    lines: list[str] = []
    while not session.ended:
        try:
            line = _line(("      ...> " if lines else "discreet> ") if typed else "")
        except EOFError:
            if typed:
                say()
            break
        except KeyboardInterrupt:
            lines = []
            say()
            continue
        lines.append(line)
        text = "\n".join(lines).strip()
        if text and not session.whole(text) and (line.strip() or not typed):
            continue
        lines = []
        if text:
            if history is not None:
                history.add_history(" ".join(text.split()))
            _run(session, text)
    if not session.ended and (text := "\n".join(lines).strip()):
        _run(session, text)  # the last statement of a file needs no semicolon


def _run(session: Session, text: str) -> None:
    """One statement or command. What is wrong with it is said, and the prompt stays."""
    try:
        session.run(text)
    except DiscreetError as problem:
        typer.echo(f"discreet: {problem}", err=True)
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("Stopped; nothing more was spent.", err=True)


def _line(prompt: str) -> str:
    return input(prompt) if prompt else _next_line()


def _next_line() -> str:
    """The next line of a file or pipe, of which nothing is shown."""
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


@contextlib.contextmanager
def _editing(completion: SqlCompletion) -> Iterator[ModuleType | None]:
    """Lines that can be edited, with TAB and a history; where Python has no readline, plain lines."""
    try:
        import readline
    except ImportError:
        yield None
        return
    readline.set_auto_history(False)  # a yes is no statement
    readline.set_completer(completion.complete)
    readline.set_completer_delims(_DELIMITERS)
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
    path = _history_file()
    if path is not None:
        with contextlib.suppress(OSError):
            readline.read_history_file(path)
    try:
        yield readline
    finally:
        readline.set_completer(None)
        if path is not None:
            readline.set_history_length(_HISTORY)
            with contextlib.suppress(OSError):
                readline.write_history_file(path)
                path.chmod(0o600)


def _history_file() -> Path | None:
    """Where statements are remembered, for their owner alone; None where nothing can be kept."""
    try:
        return private_folder(state_folder()) / "shell-history"
    except LedgerError:
        return None
