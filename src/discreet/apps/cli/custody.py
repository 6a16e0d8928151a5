"""`discreet ledger create`, `acknowledge` and `move`: the ledger itself. Each goes on the record."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from discreet.apps.cli.decision import Who, Why, Yes, check_reason, confirm, head_values, person
from discreet.apps.cli.options import LedgerAddress, ledger_address, open_ledger
from discreet.apps.cli.output import AsJson, number_of, say, show_json
from discreet.core.exact import as_written
from discreet.curator.setup import STATE
from discreet.errors import MISSING, InputError, MissingLedgerError
from discreet.ledger.budget import Charge
from discreet.ledger.custody import WriteOff
from discreet.ledger.discrepancy import Discrepancy
from discreet.ledger.ledger import Ledger
from discreet.ledger.location import public_address
from discreet.ledger.quote import price_text

__all__ = ["acknowledge", "create", "losses", "move"]

# The guard saw what was spent, and not what a budget was lowered to, or that it was closed.
_BUDGETS = "Budgets are as this ledger records them: lower or close again what was lowered or closed since."


def create(
    ledger: LedgerAddress = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Even if an earlier ledger was lost: its budgets start anew.")
    ] = False,
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Create a ledger, once. No other command creates one: a missing ledger is an error, not a new budget."""
    place = ledger_address(ledger)
    try:
        Ledger.open(place)
    except MissingLedgerError:
        made = Ledger.open(place, create=True, anew=anew, who=person(who))
    else:
        raise InputError("--ledger", public_address(place), "a place without a ledger", "Nothing was changed.")
    if as_json:
        show_json({"ledger": public_address(place), "head": head_values(made.head())})
        return
    say(f"A new ledger: {public_address(place)}. A schema's [budget] is opened there with the first charge.")


def acknowledge(
    why: Why,
    reopen: Annotated[bool, typer.Option("--reopen", help="Reopen a ledger whose move to another one failed.")] = False,
    write_off: Annotated[
        list[str] | None,
        typer.Option(
            help="Where the guard is lost: everything, nothing, or DATASET/ALLOTMENT=AMOUNT[,DELTA] for each allotment."
        ),
    ] = None,
    ledger: LedgerAddress = None,
    who: Who = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Accept a ledger that is not the one last seen, such as one restored from a copy.

    What its guard saw spent beyond the last record they have in common is charged now: a restored copy gives no budget
    back. Where the guard is lost, say what to write off. What is open ends, for its answers may have been seen:
    releases without an outcome are closed as failed, and streams go no further.
    """
    told = check_reason(why)
    opened = open_ledger(ledger)
    discrepancy = opened.discrepancy()
    if discrepancy is None:
        if as_json:
            show_json({"problem": None, "charged": [], "closed": [], "head": head_values(opened.head())})
        else:
            say("Nothing to acknowledge: this is the ledger last seen here.")
        return
    if discrepancy.moved and not reopen:
        allowed = f"given for a ledger that was moved: {discrepancy.problem}"
        hint = "Only where that move failed and the other ledger is empty. Nothing was changed."
        raise InputError("--reopen", MISSING, allowed, hint)
    amounts = _amounts(opened, discrepancy, write_off)
    if not yes:
        problem = f"This ledger is not the one last seen here: {discrepancy.problem}."
        lines = losses(opened, discrepancy, discrepancy.lost) if discrepancy.mark is not None else []
        ends = "Releases without an outcome are closed; streams go no further."
        confirm([problem, *lines, ends, _BUDGETS], "Accept this ledger?")
    added = opened.acknowledge(who=person(who), why=told, write_off=amounts)
    charges = [record for record in added if record.kind == "charge"]
    closed = [record.release for record in added if record.kind == "failure"]
    if as_json:
        charged = [
            {
                "release": record.release,
                "dataset": record.dataset,
                "allotment": record.allotment,
                "amount": str(record.charge.amount),
                "delta": str(record.charge.delta),
            }
            for record in charges
        ]
        head = head_values(opened.head())
        show_json({"problem": discrepancy.problem, "charged": charged, "closed": closed, "head": head})
        return
    say("Acknowledged, and that is on record.")
    for line in losses(opened, discrepancy, [(record.dataset, record.allotment, record.charge) for record in charges]):
        say(line)
    if closed:
        say("Closed, for their answers may have been seen: " + ", ".join(closed) + ".")
    say(_BUDGETS)
    say(f"Head: {opened.head().sequence} {opened.head().hash}")


def _amounts(opened: Ledger, discrepancy: Discrepancy, named: list[str] | None) -> WriteOff | None:
    """What the custodian writes off where the guard is lost: as named, or asked for on a terminal."""
    if discrepancy.mark is not None:
        if named:
            raise InputError("--write-off", named, "left out: the guard knows what is missing", "Nothing was changed.")
        return None
    if named in (["everything"], ["nothing"]):
        return "everything" if named == ["everything"] else "nothing"
    amounts: dict[tuple[str, str], Charge] = {}
    for text in named or ():
        place, equals, amount = text.rpartition("=")
        dataset, slash, allotment = place.rpartition("/")
        if not equals or not slash:
            allowed = "everything, nothing or DATASET/ALLOTMENT=AMOUNT[,DELTA]"
            raise InputError("--write-off", text, allowed, "Nothing was changed.")
        amounts[dataset, allotment] = _charge(amount)
    if named or not sys.stdin.isatty():
        if not named:
            allowed = "everything, nothing or DATASET/ALLOTMENT=AMOUNT[,DELTA] for each allotment"
            hint = f"{discrepancy.problem}: what was spent and is not recorded here is unknown. Nothing was changed."
            raise InputError("--write-off", MISSING, allowed, hint[0].upper() + hint[1:])
        return amounts
    typer.echo(f"This ledger is not the one last seen here: {discrepancy.problem}.", err=True)
    typer.echo("What was spent and is not recorded here is unknown. How much is to be written off?", err=True)
    for name in opened.datasets():
        for one in opened.standing(name):
            if one.left.amount or one.left.delta:
                left = price_text(one.allotment, one.left, "down")
                asked = f"  {name}, {one.allotment.name} ({left} left): everything, or AMOUNT[,DELTA]"
                answer = str(typer.prompt(asked, err=True)).strip()
                amounts[name, one.allotment.name] = one.left if answer == "everything" else _charge(answer)
    return amounts


def _charge(text: str) -> Charge:
    amount, _, delta = text.partition(",")
    missed = as_written(delta.strip(), "--write-off") if delta.strip() else Fraction(0)
    return Charge(as_written(amount.strip(), "--write-off"), missed)


def move(
    why: Why,
    to: Annotated[
        str, typer.Argument(help="Where it goes on: a new path, or postgresql://... (empty).")
    ] = f"{STATE}/ledger.db",
    ledger: LedgerAddress = None,
    who: Who = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Move a ledger to an empty one, and close it: at no moment can both be spent from.

    Records, hashes, release ids and answers stay what they are. The old ledger can still be read.
    """
    reason, ledger = check_reason(why), ledger_address(ledger)
    opened = open_ledger(ledger)
    head = opened.head()
    if head.sequence == 0:
        raise InputError("--ledger", public_address(ledger), "a ledger with records", "There is nothing to move.")
    if ledger == to or ("://" not in ledger + to and Path(ledger).resolve() == Path(to).resolve()):
        raise InputError("to", public_address(to), "a place other than where the ledger is", "Nothing was changed.")
    if not yes:
        lines = [f"Moves {number_of(head.sequence, 'record')} from {public_address(ledger)} to {public_address(to)}."]
        lines.append(f"{public_address(ledger)} can then be read, and nothing can be spent from it any more.")
        confirm(lines, "Move it?")
    end = opened.move(to, who=person(who), why=reason).head()
    if as_json:
        show_json({"from": public_address(ledger), "to": public_address(to), "head": head_values(end)})
        return
    say(f"Moved: {public_address(to)} has {number_of(end.sequence, 'record')}, a note on the move the last of them.")
    say(
        f"{public_address(ledger)} is closed: it can be read. From now on name the new one, with --ledger or "
        "DISCREET_LEDGER."
    )
    say(f"Head: {end.sequence} {end.hash}")


def losses(opened: Ledger, discrepancy: Discrepancy, lost: Sequence[tuple[str, str, Charge]]) -> list[str]:
    """What acknowledging charges, or that nobody knows."""
    if discrepancy.mark is None and not lost:
        return ["What was spent and is not recorded on this ledger is unknown. Nothing is charged for it."]
    if not lost:
        return ["Nothing that was spent is missing: nothing is charged."]
    return ["Charged for what is missing:"] + [
        f"  {dataset}, {allotment}: {_amount(opened, dataset, allotment, amount)}."
        for dataset, allotment, amount in lost
    ]


def _amount(opened: Ledger, dataset: str, allotment: str, lost: Charge) -> str:
    try:
        return price_text(opened.account(dataset).budget.allotment(allotment), lost)
    except InputError:  # a dataset that these books never had
        return f"{lost.amount}" + (f", delta = {lost.delta}" if lost.delta else "")
