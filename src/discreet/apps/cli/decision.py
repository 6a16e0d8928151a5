"""What every decision of a custodian asks for: who decides, why, and a yes. Each goes on the record."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Iterable
from typing import Annotated

import typer

from discreet.errors import MISSING, InputError
from discreet.ledger import decision
from discreet.ledger.record import Head

__all__ = ["Who", "Why", "Yes", "check_reason", "confirm", "head_values", "person"]

Who = Annotated[
    str | None, typer.Option(envvar="DISCREET_WHO", help="Who decides; the user of this system by default.")
]
Why = Annotated[str, typer.Option(help="The reason; recorded on the ledger.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before the change.")]


def confirm(lines: Iterable[str], question: str) -> None:
    """Ask before a change; refused where nobody can be asked."""
    for line in lines:
        typer.echo(line, err=True)
    if not sys.stdin.isatty():
        hint = "Add --yes to agree beforehand. Nothing was changed."
        raise InputError("--yes", MISSING, "given where nobody can confirm", hint)
    typer.confirm(question, abort=True, err=True)


def check_reason(why: str) -> str:
    """The reason itself, which must say something."""
    return decision.check_reason(why, "--why")


def person(who: str | None) -> str:
    """Who decides."""
    return who or getpass.getuser()


def head_values(head: Head) -> dict[str, object]:
    """The end of the chain, as plain values."""
    return {"sequence": head.sequence, "hash": head.hash}
