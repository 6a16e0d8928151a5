"""`discreet ledger raise`, `acknowledge` and `move`: what only a custodian decides. Each goes on the record."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from discreet.apps.cli.books import Place, books, number_of, standing_values
from discreet.apps.cli.completing import datasets, schema_path
from discreet.apps.cli.options import SchemaFile
from discreet.apps.cli.output import AsJson, say, show_json
from discreet.errors import InputError
from discreet.ledger.account import Account
from discreet.ledger.budget import Allotment, Budget, Charge
from discreet.ledger.doubt import Doubt
from discreet.ledger.ledger import Ledger
from discreet.ledger.record import Head
from discreet.query.explain import price_text
from discreet.query.opening import schema_and_budget

__all__ = ["acknowledge", "move", "raise_budget"]

Who = Annotated[
    str | None, typer.Option(envvar="DISCREET_WHO", help="Who decides; the user of this system by default.")
]
Why = Annotated[str, typer.Option(help="The reason; goes on the record.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before the change.")]


def raise_budget(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(help="Name of the dataset on the ledger.", autocompletion=datasets)],
    why: Why,
    epsilon: Annotated[str | None, typer.Option(help="The new whole, as epsilon.")] = None,
    rho: Annotated[str | None, typer.Option(help="The new whole, as zCDP rho.")] = None,
    delta: Annotated[str | None, typer.Option(help="The new delta; the one there is by default.")] = None,
    schema: SchemaFile = None,
    ledger: Place = "discreet.db",
    who: Who = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Give a dataset a larger budget: the one its schema declares now, or the one that is named here.

    The promise is then the larger one, for everything released before as well.
    """
    told = _said(why)
    opened = books(ledger)
    if dataset not in opened.datasets():
        known = ", ".join(opened.datasets()) or "none yet"
        raise InputError("dataset", dataset, f"one that has a budget on this ledger: {known}", "Nothing was changed.")
    account = opened.account(dataset)
    named = (epsilon, rho, delta) != (None, None, None)
    if named and getattr(context.get_parameter_source("schema"), "name", "") == "COMMANDLINE":
        hint = "Nothing was changed."
        raise InputError("--schema", schema, "a budget from a schema, or from the options, not both", hint)
    budget = _named(account, epsilon, rho, delta) if named else _declared(dataset, schema)
    account.check_raise(budget)
    changes = list(_changes(account, budget))
    if budget == account.budget:
        hint = "Nothing was changed. Write the larger budget into the schema, or name it with --epsilon or --rho."
        raise InputError("budget", changes[0], f"more than {dataset!r} has already", hint)
    if not yes:
        lines = [f"The budget of {dataset!r}, which protects {account.unit}:", *changes]
        lines.append("The promise becomes the larger one, for everything released before as well.")
        _confirm(lines, "Raise it?")
    opened.raise_budget(dataset, budget, who=_person(who), why=told)
    standings = opened.standing(dataset)
    if as_json:
        head = _head(opened.head())
        show_json({"dataset": dataset, "budgets": [standing_values(one) for one in standings], "head": head})
        return
    say(f"The budget of {dataset!r} is raised, and that is on record.")
    for line, standing in zip(changes, standings, strict=True):
        say(f"{line} Left: {price_text(standing.allotment, standing.left, 'down')}.")
    if named:
        say("Write the same into [budget] of the schema: a schema that declares another one is refused.")


def acknowledge(
    why: Why,
    reopen: Annotated[
        bool, typer.Option("--reopen", help="Open books again whose move to another ledger failed.")
    ] = False,
    ledger: Place = "discreet.db",
    who: Who = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Take a ledger that is not the one last seen, such as one restored from a copy.

    What its guard knows to be spent and the copy does not is charged now: a restored copy gives no budget back.
    """
    told = _said(why)
    opened = books(ledger)
    doubt = opened.doubt()
    if doubt is None:
        if as_json:
            show_json({"problem": None, "charged": [], "head": _head(opened.head())})
        else:
            say("Nothing to acknowledge: no guard says that these are not the books last seen here.")
        return
    if doubt.moved and not reopen:
        allowed = f"given for books that were moved: {doubt.problem}"
        hint = "Only where that move failed and the other ledger is empty. Nothing was changed."
        raise InputError("--reopen", "absent", allowed, hint)
    if not yes:
        problem = f"This ledger is not the one last seen here: {doubt.problem}."
        _confirm([problem, *_losses(opened, doubt, doubt.lost)], "Take it?")
    added = [record for record in opened.acknowledge(who=_person(who), why=told) if record.kind == "charge"]
    if as_json:
        charged = [
            {
                "release": record.release,
                "dataset": record.dataset,
                "allotment": record.allotment,
                "amount": str(record.charge.amount),
                "delta": str(record.charge.delta),
            }
            for record in added
        ]
        show_json({"problem": doubt.problem, "charged": charged, "head": _head(opened.head())})
        return
    say("Acknowledged, and that is on record.")
    for line in _losses(opened, doubt, [(record.dataset, record.allotment, record.charge) for record in added]):
        say(line)
    say(f"Head: {opened.head().sequence} {opened.head().hash}")


def move(
    to: Annotated[str, typer.Argument(help="Where the books go on: a new path, or postgresql://... (empty).")],
    why: Why,
    ledger: Place = "discreet.db",
    who: Who = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Carry a ledger over to an empty one, and close it: at no moment can both be spent from.

    Records, hashes, release ids and answers stay what they are. The old ledger can still be read.
    """
    told = _said(why)
    opened = books(ledger)
    head = opened.head()
    if head.sequence == 0:
        raise InputError("--ledger", _place(ledger), "a ledger with records", "There is nothing to move.")
    if ledger == to or ("://" not in ledger + to and Path(ledger).resolve() == Path(to).resolve()):
        raise InputError("to", _place(to), "another place than where the ledger is", "Nothing was changed.")
    if not yes:
        lines = [f"Moves {number_of(head.sequence, 'record')} from {_place(ledger)} to {_place(to)}."]
        lines.append(f"{_place(ledger)} can then be read, and nothing can be spent from it any more.")
        _confirm(lines, "Move it?")
    end = opened.move(Ledger.open(to), who=_person(who), why=told)
    if as_json:
        show_json({"from": _place(ledger), "to": _place(to), "head": _head(end)})
        return
    say(f"Moved: {_place(to)} has {number_of(end.sequence, 'record')}, a note on the move the last of them.")
    say(f"{_place(ledger)} is closed: it can be read. From now on name the new one, with --ledger or DISCREET_LEDGER.")
    say(f"Head: {end.sequence} {end.hash}")


def _declared(dataset: str, schema: str | None) -> Budget:
    """The budget in a schema, which must be the schema of this dataset."""
    path = schema_path("", schema)
    if not path.exists():
        hint = "Nothing was changed. Name the new budget with --epsilon or --rho, or a schema that declares it."
        raise InputError("--schema", str(path), "a schema with the new [budget]", hint)
    budget, found = schema_and_budget(path)
    if found.name != dataset:
        raise InputError("--schema", str(path), f"the schema of {dataset!r}, not of {found.name!r}")
    if budget is None:
        raise InputError("--schema", str(path), "a schema with a [budget]", "Nothing was changed.")
    return budget


def _named(account: Account, epsilon: str | None, rho: str | None, delta: str | None) -> Budget:
    """The budget in the options: for one that is not divided."""
    old = account.budget
    if len(old.allotments) > 1:
        hint = "Nothing was changed. Write the larger parts into [budget.allotments] of the schema, then name it."
        raise InputError("--epsilon", epsilon or rho, "absent where the budget is divided, with --schema instead", hint)
    if epsilon is None and rho is None:
        raise InputError("--delta", delta, "given beside the new --epsilon or --rho", "Nothing was changed.")
    part, missed = old.allotments[0], old.delta if delta is None else delta
    new = Allotment(part.name, part.kind, epsilon=epsilon, rho=rho, delta=missed)
    return Budget(epsilon, rho=rho, delta=missed, allotments=[new])


def _changes(account: Account, budget: Budget) -> Iterable[str]:
    """What was and what will be, a line for each part of the new budget."""
    old = {part.name: part for part in account.budget.allotments}
    for part in budget.allotments:
        now = f"{price_text(old[part.name], old[part.name].cap, 'down')} -> " if part.name in old else "new: "
        yield f"  {part.name}: {now}{price_text(part, part.cap, 'down')}."


def _losses(opened: Ledger, doubt: Doubt, lost: Sequence[tuple[str, str, Charge]]) -> list[str]:
    """What acknowledging charges, or that nobody knows."""
    if doubt.mark is None:
        return [
            "What was spent and is not on these books, nobody knows: nothing is charged for it. Look at what was "
            "published, and think of the rest of the budget as spent unless you know better."
        ]
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


def _confirm(lines: Iterable[str], question: str) -> None:
    for line in lines:
        typer.echo(line, err=True)
    if not sys.stdin.isatty():
        hint = "Add --yes to agree beforehand. Nothing was changed."
        raise InputError("--yes", "absent", "given where nobody can be asked", hint)
    typer.confirm(question, abort=True, err=True)


def _said(why: str) -> str:
    if not why.strip():
        raise InputError("--why", why, "a reason, in words: it goes on the record", "Nothing was changed.")
    return why


def _person(who: str | None) -> str:
    return who or getpass.getuser()


def _place(place: str) -> str:
    """An address without the password that may be in it."""
    kind, mark, rest = place.partition("://")
    return f"{kind}://{rest.rpartition('@')[2].partition('?')[0]}" if mark else place


def _head(head: Head) -> dict[str, object]:
    return {"sequence": head.sequence, "hash": head.hash}
