"""`discreet token`: who may speak to a server, for how long, about what, and how fast they may spend."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.apps.cli.completion import choice
from discreet.apps.cli.decision import person
from discreet.apps.cli.options import LedgerAddress, open_ledger
from discreet.apps.cli.output import AsJson, say, show_json, show_table
from discreet.errors import GIVEN, InputError
from discreet.ledger.ledger import Ledger

__all__ = ["TOKENS", "Store", "token_app"]

token_app = typer.Typer(no_args_is_help=True, help="Tokens of a server: create, list, rotate, cap, revoke.")

Store = Annotated[Path, typer.Option("--tokens", envvar="DISCREET_TOKENS", help="File of the tokens.")]
TOKENS = Path("discreet-tokens.db")

_EXPIRES = typer.Option(help="How long it lasts: 90d, 24h, 12w. Without it, until it is revoked.")


@token_app.command("create", epilog="Example: discreet token create ann --role analyst --allotment team --expires 90d")
def create(
    name: Annotated[str, typer.Argument(help="Name of the person; it goes on the ledger.")],
    role: Annotated[
        str, choice("custodian", "analyst", "viewer", "monitor", "auditor", help="What it may do.")
    ] = "analyst",
    allotment: Annotated[str | None, typer.Option(help="The only allotment it may spend from.")] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(help="A dataset that it may know of; repeat for more. Without it, all.")
    ] = None,
    expires: Annotated[str | None, _EXPIRES] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            envvar="DISCREET_LEDGER", help="A ledger that must have the allotment: a path or postgresql://..."
        ),
    ] = None,
    tokens: Store = TOKENS,
    as_json: AsJson = False,
) -> None:
    """Create a token. It is shown once; only its hash is stored. With --ledger the allotment is looked up there."""
    from discreet.apps.server.durations import read_lifetime
    from discreet.apps.server.tokens import Tokens, check_allotment

    lasts = None if expires is None else read_lifetime(expires, "--expires")
    if allotment is not None and ledger is not None:
        opened = open_ledger(ledger)
        there = (part.name for known in opened.datasets() for part in opened.account(known).budget.allotments)
        try:
            check_allotment(allotment, there)
        except InputError as problem:
            raise problem.about("--allotment") from None
    made = Tokens(tokens).create(name, role, allotment, datasets=dataset or None, expires=lasts, by=person(None))
    if as_json:
        show_json({**_listed_one(tokens, name), "token": made})
    else:
        say(made)


@token_app.command("rotate")
def rotate(
    name: Annotated[str, typer.Argument(help="Whose token gets a new secret.")],
    grace: Annotated[str, typer.Option(help="How long the old secret still works: 24h, 30m, 0.")] = "24h",
    expires: Annotated[str | None, _EXPIRES] = None,
    tokens: Store = TOKENS,
    as_json: AsJson = False,
) -> None:
    """A new secret for a token, shown once. Rights stay; the old secret works until the grace is over."""
    from discreet.apps.server.durations import read_lifetime
    from discreet.apps.server.tokens import Tokens

    kept = read_lifetime(grace, "--grace", nothing=True)
    lasts = None if expires is None else read_lifetime(expires, "--expires")
    _check_there(tokens)
    made = Tokens(tokens).rotate(name, grace=kept, expires=lasts, by=person(None))
    if as_json:
        show_json({**_listed_one(tokens, name), "token": made})
    else:
        say(made)


@token_app.command("list")
def listed(tokens: Store = TOKENS, as_json: AsJson = False) -> None:
    """Who has a token, what it may do, when it was last used and when it ends (UTC)."""
    from discreet.apps.server.tokens import Tokens

    found = Tokens(tokens).listed() if tokens.exists() else []  # looking makes no file
    if not found and not as_json:
        say(f"No tokens in {tokens}. Make one: discreet token create ann --role analyst --tokens {tokens}")
        return
    if as_json:
        show_json(found)
        return
    missing = {"allotment": "any", "used": "never", "expires": "never"}
    head = ["name", "role", "allotment", "datasets", "made", "used", "expires"]
    for one in found:
        one["datasets"] = "all" if one["datasets"] is None else ", ".join(one["datasets"])
    show_table("", head, [[one[column] or missing.get(column, "") for column in head] for one in found])


@token_app.command("cap")
def cap(
    name: Annotated[str, typer.Argument(help="Whose spending is limited; * for everyone without a cap of their own.")],
    epsilon: Annotated[str | None, typer.Option(help="At most so much: 0.5/day, 0.1/hour, 2/week.")] = None,
    rho: Annotated[str | None, typer.Option(help="The same for an allotment that counts rho.")] = None,
    none: Annotated[bool, typer.Option("--none", help="Take the cap away.")] = False,
    dataset: Annotated[str | None, typer.Option(help="Of one dataset only. Without it, of all on the ledger.")] = None,
    allotment: Annotated[str | None, typer.Option(help="Of this allotment; that of questions by default.")] = None,
    why: Annotated[str, typer.Option(help="The reason, for the record.")] = "",
    ledger: LedgerAddress = None,
    as_json: AsJson = False,
) -> None:
    """Limit how fast someone spends, on the ledger: for a server, a terminal and Python alike.

    It is policy inside the budget, which stays the guarantee. Without an amount the caps are shown.
    """
    from discreet.ledger.caps import Caps

    if sum((epsilon is not None, rho is not None, none)) > 1:
        raise InputError("--none" if none else "--rho", GIVEN, "left out: one of --epsilon, --rho and --none is enough")
    opened = open_ledger(ledger)
    caps = Caps(opened)
    names = [dataset] if dataset is not None else list(opened.datasets())
    if epsilon is not None or rho is not None or none:
        how = _rate(epsilon, rho)
        for one in names:
            caps.set(one, name, **how, allotment=allotment, who=person(None), why=why)
    found = [{"dataset": one, **standing} for one in names for standing in _standings(opened, one, name)]
    if as_json:
        show_json(found)
    elif found:
        head = ["dataset", "allotment", "caller", "cap", "used", "left"]
        show_table("", head, [[one[column] for column in head] for one in found])
    else:
        say(f"{name} has no cap.")


@token_app.command("revoke")
def revoke(name: Annotated[str, typer.Argument(help="Whose token ends.")], tokens: Store = TOKENS) -> None:
    """End a token at once."""
    from discreet.apps.server.tokens import Tokens

    _check_there(tokens)
    Tokens(tokens).revoke(name, by=person(None))
    say(f"The token of {name} no longer works.")


def _check_there(tokens: Path) -> None:
    """Looking for a token makes no file of tokens."""
    if not tokens.exists():
        hint = "A server with --config keeps them in its state folder: --tokens state/tokens.db."
        raise InputError("--tokens", str(tokens), "a file that token create made", hint)


def _listed_one(tokens: Path, name: str) -> dict[str, Any]:
    from discreet.apps.server.tokens import Tokens

    return next(one for one in Tokens(tokens).listed() if one["name"] == name)


def _rate(epsilon: str | None, rho: str | None) -> dict[str, Any]:
    from discreet.ledger.cap import read_rate

    for field, text in (("epsilon", epsilon), ("rho", rho)):
        if text is not None:
            amount, period = read_rate(text, f"--{field}")
            return {field: amount, "period": period}
    return {}


def _standings(ledger: Ledger, dataset: str, name: str) -> list[dict[str, Any]]:
    from discreet.accounting.words import readable
    from discreet.ledger.caps import Caps

    found = []
    for one in Caps(ledger).standing(dataset, name):
        words = f"{one.currency} = {readable(one.cap.amount, direction='down')} in any {one.cap.period}"
        shown = {"cap": words, "used": readable(one.used), "left": readable(one.left, direction="down")}
        found.append({**one.to_dict(), **shown})
    return found
