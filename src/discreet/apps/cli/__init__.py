"""The `discreet` command. Exit codes: 0 done, 1 error, 2 usage, 3 budget refused, 4 audit violation."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

import typer

from discreet import __version__
from discreet.apps.cli.commands import AS_JSON, CommandGroup
from discreet.apps.cli.examples import epilog
from discreet.core.garbage import rarely_collected
from discreet.errors import BudgetError, DiscreetError, InputError, MissingLedgerError

__all__ = ["app", "exit_code", "main"]

_OWN_WORDS = "Value error, "  # before what a reader of ours says of a value
# The root of usage errors, wherever this version of typer keeps its click.
_UsageProblem: type[Exception] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="discreet",
    cls=CommandGroup,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="A trusted curator: answers with differential privacy, priced before anything is spent.",
    epilog=epilog(""),
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if ctx.invoked_subcommand is None:
        from discreet.apps.cli.welcome import welcome

        typer.echo(welcome())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; every error is one plain message and an exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with warnings.catch_warnings(), rarely_collected():  # most commands load libraries, answer and end
        warnings.showwarning = _warn
        _run(words)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    print(f"discreet: {message}", file=sys.stderr)


def _run(words: list[str]) -> None:
    AS_JSON.set("--json" in words)
    try:
        code = app(words, standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except _UsageProblem as problem:
        if type(problem).__name__ == "NoArgsIsHelpError":  # a group of commands, named alone, explains itself
            typer.echo(str(problem))
            sys.exit(0)
        if said := _misread(problem, words):
            _complain("InputError", said, words)
            sys.exit(2)
        problem.show()  # type: ignore[attr-defined]
        sys.exit(problem.exit_code)  # type: ignore[attr-defined]
    except (typer.Abort, KeyboardInterrupt):
        _complain("stopped", "Stopped; nothing more was spent.", words)
        sys.exit(1)
    except DiscreetError as problem:
        _complain(type(problem).__name__, str(_as_typed(problem, words)), words)
        sys.exit(exit_code(problem))


def _as_typed(problem: DiscreetError, words: Sequence[str]) -> DiscreetError:
    """A problem about a key by the option that was typed, rather than by its name in Python."""
    typed = any(word.partition("=")[0] == "--by" for word in words)
    return (
        problem.about("--by") if typed and isinstance(problem, InputError) and problem.field == "group_by" else problem
    )


def _misread(problem: Exception, words: Sequence[str]) -> str | None:
    """An option that is not there, or one that should be a number, as errors here say it; None of other problems.

    The library that reads options says what its own parser could not do.
    """
    if (unknown := getattr(problem, "option_name", None)) and hasattr(problem, "possibilities"):
        known = [flag for one in problem.ctx.command.params for flag in one.opts]  # type: ignore[attr-defined]
        context = problem.ctx  # type: ignore[attr-defined]
        root = context.find_root().command_path  # whatever started this: discreet, python -m discreet
        command = f"discreet{context.command_path.removeprefix(root)}"
        return f"`{unknown}` is not an option of `{command}`. {_meant(unknown, known)}All of them: {command} --help."
    option, said = getattr(problem, "param", None), str(getattr(problem, "message", ""))
    if said.startswith(_OWN_WORDS):  # of a reader of ours
        return said.removeprefix(_OWN_WORDS)
    kind = "a whole number" if "integer" in said else "a number" if "number" in said or "float" in said else None
    if option is None or kind is None:
        return None
    for flag in option.opts:
        pairs = pairwise(words)
        values = [value for word, value in pairs if word == flag]
        values += [word.partition("=")[2] for word in words if word.startswith(f"{flag}=")]
        if values:
            return str(InputError(flag, values[-1], kind))
    return None


def _meant(typed: str, known: Sequence[str]) -> str:
    from discreet.errors import nearest

    close = nearest(typed, known)
    return "" if close is None else f"Did you mean `{close}`? "


def exit_code(problem: DiscreetError) -> int:
    """What the command exits with after an error: see `discreet.apps.cli.examples.CODES`."""
    return 3 if isinstance(problem, BudgetError) else 2 if isinstance(problem, (InputError, MissingLedgerError)) else 1


def _complain(kind: str, message: str, words: Sequence[str]) -> None:
    if "--json" in words:
        print(json.dumps({"error": kind, "message": message}), file=sys.stderr)
    else:
        print(f"discreet: {message}", file=sys.stderr)
