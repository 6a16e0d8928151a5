"""`discreet ledger open`, `raise`, `lower` and `close`: the budget of a dataset. Each goes on the record."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated

import typer

from discreet.apps.cli.completion import datasets
from discreet.apps.cli.decision import Who, Why, Yes, check_reason, confirm, head_values, person
from discreet.apps.cli.options import LedgerAddress, SchemaFile, open_ledger
from discreet.apps.cli.output import AsJson, say, show_json
from discreet.curator.setup import read_schema_and_budget, schema_path
from discreet.errors import InputError, Phrase
from discreet.ledger.account import Account, Standing
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.quote import price_text

__all__ = ["close_budget", "lower_budget", "open_budget", "raise_budget", "standing_values"]

Dataset = Annotated[str, typer.Argument(help="Name of the dataset on the ledger.", autocompletion=datasets)]
NewEpsilon = Annotated[str | None, typer.Option(help="The new whole, as epsilon.")]
NewRho = Annotated[str | None, typer.Option(help="The new whole, as zCDP rho.")]
NewDelta = Annotated[str | None, typer.Option(help="The new delta; the one there is by default.")]


def open_budget(
    schema: SchemaFile = None,
    ledger: LedgerAddress = None,
    who: Who = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Open the budget that a schema declares. Without this it is opened with the first charge.

    Needed for a dataset that is new to a ledger which has others: a misspelt name would begin a budget anew.
    """
    path = schema_path("", schema)
    budget, declared = read_schema_and_budget(path)
    if budget is None:
        raise InputError("--schema", str(path), "a schema with a [budget]", "Nothing was changed.")
    opened = open_ledger(ledger)
    known = opened.datasets()
    if declared.name not in known and not yes:
        lines = [f"Opens a budget for {declared.name!r}, which protects {declared.unit}:"]
        lines += [f"  {part.name}: {price_text(part, part.cap, 'down')}." for part in budget.allotments]
        if known:
            lines.append(f"This ledger has budgets for {', '.join(known)}. Is {declared.name!r} none of them?")
        confirm(lines, "Open it?")
    opened.create(declared.name, budget, unit=declared.unit, who=person(who))
    _show(opened, declared.name, "is open" if declared.name not in known else "was open already", as_json)


@dataclass(frozen=True)
class _Change:
    """A way to give a dataset another budget: what is checked, said, done."""

    help: str
    check: Callable[[Ledger, Account, Budget, list[str]], None]
    promise: tuple[str, ...]
    question: str
    make: Callable[..., Account]
    done: str

    def command(self) -> Callable[..., None]:
        """The command: both ways take the same options."""

        def change(
            context: typer.Context,
            dataset: Dataset,
            why: Why,
            epsilon: NewEpsilon = None,
            rho: NewRho = None,
            delta: NewDelta = None,
            schema: SchemaFile = None,
            ledger: LedgerAddress = None,
            who: Who = None,
            yes: Yes = False,
            as_json: AsJson = False,
        ) -> None:
            reason, opened = check_reason(why), open_ledger(ledger)
            account = _account(opened, dataset)
            budget, named = _new(context, account, (epsilon, rho, delta), schema)
            changes = list(_changes(account, budget))
            self.check(opened, account, budget, changes)
            if not yes:
                lines = [f"The budget of {dataset!r}, which protects {account.unit}:", *changes, *self.promise]
                confirm(lines, self.question)
            self.make(opened, dataset, budget, who=person(who), why=reason)
            _show(opened, dataset, self.done, as_json, changes, named=named)

        change.__doc__ = self.help
        return change


def _check_raise(opened: Ledger, account: Account, budget: Budget, changes: list[str]) -> None:
    account.check_raise(budget)
    if budget == account.budget:
        hint = "Nothing was changed. Write the larger budget into the schema, or name it with --epsilon or --rho."
        raise InputError("budget", Phrase("the same"), f"larger than {account.dataset!r} has already", hint)


def _check_lower(opened: Ledger, account: Account, budget: Budget, changes: list[str]) -> None:
    account.check_lower(budget, {one.allotment.name: one.spent for one in opened.standing(account.dataset)})


raise_budget = _Change(
    """Give a dataset a larger budget: the one its schema declares now, or the one that is named here.

    The promise is then the larger one, for everything released before as well.
    """,
    _check_raise,
    ("The promise becomes the larger one, for everything released before as well.",),
    "Raise it?",
    Ledger.raise_budget,
    "is raised",
).command()

lower_budget = _Change(
    """Give a dataset a smaller budget, down to what is spent: the one its schema declares, or the one named here.""",
    _check_lower,
    (),
    "Lower it?",
    Ledger.lower_budget,
    "is lowered",
).command()


def close_budget(
    dataset: Dataset,
    why: Why,
    ledger: LedgerAddress = None,
    who: Who = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Release nothing more from a dataset, for good. What was released is still read for free."""
    reason, opened = check_reason(why), open_ledger(ledger)
    _account(opened, dataset)
    if not yes:
        confirm([f"Nothing more will be released from {dataset!r}. This cannot be undone."], "Close it?")
    opened.close_budget(dataset, who=person(who), why=reason)
    _show(opened, dataset, "is closed", as_json)


def _account(opened: Ledger, dataset: str) -> Account:
    if dataset not in opened.datasets():
        allowed = "a dataset with a budget on this ledger"
        raise InputError("dataset", dataset, allowed, "Nothing was changed.", among=opened.datasets())
    return opened.account(dataset)


def _new(
    context: typer.Context, account: Account, amounts: tuple[str | None, str | None, str | None], schema: str | None
) -> tuple[Budget, bool]:
    """The new budget, and whether the options name it rather than a schema."""
    named = amounts != (None, None, None)
    if named and getattr(context.get_parameter_source("schema"), "name", "") == "COMMANDLINE":
        hint = "Nothing was changed."
        raise InputError("--schema", schema, "left out where options name the budget", hint)
    return _named(account, *amounts) if named else _declared(account.dataset, schema), named


def _show(
    opened: Ledger, dataset: str, what: str, as_json: bool, changes: Iterable[str] = (), *, named: bool = False
) -> None:
    """What became of a budget."""
    standings = opened.standing(dataset)
    if as_json:
        head = head_values(opened.head())
        show_json({"dataset": dataset, "budgets": [standing_values(one) for one in standings], "head": head})
        return
    say(f"The budget of {dataset!r} {what}, and that is on record.")
    lines = list(changes) or [
        f"  {s.allotment.name}: {price_text(s.allotment, s.allotment.cap, 'down')}." for s in standings
    ]
    for line, standing in zip(lines, standings, strict=True):
        say(f"{line} Left: {price_text(standing.allotment, standing.left, 'down')}.")
    if named:
        say("Write the same into [budget] of the schema: a schema that declares another one is refused.")


def _declared(dataset: str, schema: str | None) -> Budget:
    """The budget in a schema, which must be the schema of this dataset."""
    path = schema_path("", schema)
    if not path.exists():
        hint = "Nothing was changed. Name the new budget with --epsilon or --rho, or a schema that declares it."
        raise InputError("--schema", str(path), "a schema with the new [budget]", hint)
    budget, found = read_schema_and_budget(path)
    if found.name != dataset:
        raise InputError("--schema", str(path), f"the schema of {dataset!r}: this one is of {found.name!r}")
    if budget is None:
        raise InputError("--schema", str(path), "a schema with a [budget]", "Nothing was changed.")
    return budget


def _named(account: Account, epsilon: str | None, rho: str | None, delta: str | None) -> Budget:
    """The budget in the options: for one that is not divided."""
    old = account.budget
    if len(old.allotments) > 1:
        hint = "Nothing was changed. Write the new parts into [budget.allotments] of the schema, and give --schema."
        raise InputError("--epsilon", epsilon or rho, "left out where the budget is divided", hint)
    if epsilon is None and rho is None:
        raise InputError("--delta", delta, "left out unless --epsilon or --rho is given", "Nothing was changed.")
    part, missed = old.allotments[0], old.delta if delta is None else delta
    new = Allotment(part.name, part.kind, epsilon=epsilon, rho=rho, delta=missed)
    return Budget(epsilon, rho=rho, delta=missed, allotments=[new])


def _changes(account: Account, budget: Budget) -> Iterable[str]:
    """What was and what will be, a line for each part of the new budget."""
    old = {part.name: part for part in account.budget.allotments}
    for part in budget.allotments:
        now = f"{price_text(old[part.name], old[part.name].cap, 'down')} -> " if part.name in old else "new: "
        yield f"  {part.name}: {now}{price_text(part, part.cap, 'down')}."


def standing_values(standing: Standing) -> dict[str, object]:
    """Where an allotment stands, as plain values."""
    part = standing.allotment
    amounts = {"budget": part.cap, "spent": standing.spent, "left": standing.left}
    numbers = {name: {"amount": str(charge.amount), "delta": str(charge.delta)} for name, charge in amounts.items()}
    return {
        "dataset": standing.dataset,
        "allotment": part.name,
        "kind": part.kind,
        "currency": part.currency,
        **numbers,
    }
