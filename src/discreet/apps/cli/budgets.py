"""`discreet ledger open`, `raise`, `lower`, `divide` and `close`: a dataset's budget. Each goes on the record."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated

import typer

from discreet.apps.cli.completion import datasets
from discreet.apps.cli.decision import Who, Why, Yes, check_reason, confirm, head_values, person
from discreet.apps.cli.options import LedgerAddress, SchemaFile, open_ledger
from discreet.apps.cli.output import AsJson, say, show_json
from discreet.curator.setup import read_schema_and_budget, schema_path
from discreet.errors import InputError
from discreet.ledger.account import Account, Standing
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.custody import Change
from discreet.ledger.decision import decide_change, decide_closing, decide_opening, known_account
from discreet.ledger.ledger import Ledger
from discreet.ledger.quote import price_text

__all__ = ["close_budget", "divide_budget", "lower_budget", "open_budget", "raise_budget", "standing_values"]

Dataset = Annotated[str, typer.Argument(help="Name of the dataset on the ledger.", autocompletion=datasets)]
NewEpsilon = Annotated[str | None, typer.Option(help="The new budget, as epsilon.")]
NewRho = Annotated[str | None, typer.Option(help="The new budget, as zCDP rho.")]
NewDelta = Annotated[str | None, typer.Option(help="The new delta; the one there is by default.")]


def open_budget(
    schema: SchemaFile = None,
    ledger: LedgerAddress = None,
    who: Who = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Open the budget that a schema declares. Without this it is opened with the first charge.

    Needed for a new dataset on a ledger that has others: a misspelt name would start a new budget.
    """
    path = schema_path("", schema)
    budget, declared = read_schema_and_budget(path)
    if budget is None:
        raise InputError("--schema", str(path), "a schema with a [budget]", "Nothing was changed.")
    opened = open_ledger(ledger, schema)
    decision = decide_opening(opened, declared.name, budget, declared.unit)
    if declared.name not in opened.datasets() and not yes:
        confirm(decision.words, decision.question)
    decision.make(who=person(who))
    _show(opened, declared.name, decision.done, as_json)


def _command(way: Change, help: str) -> Callable[..., None]:
    """The command that changes a budget in one way: all take the same options."""

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
        budget, named = _new(context, known_account(opened, dataset), (epsilon, rho, delta), schema)
        decision = decide_change(opened, dataset, budget, way)
        if not yes:
            confirm(decision.words, decision.question)
        decision.make(who=person(who), why=reason)
        _show(opened, dataset, decision.done, as_json, decision.lines, named=named)

    change.__doc__ = help
    return change


raise_budget = _command(
    "raise",
    """Give a dataset a larger budget: the one its schema declares now, or the one that is named here.

    The larger budget then applies to everything released before as well.
    """,
)

lower_budget = _command(
    "lower",
    """Give a dataset a smaller budget, down to what is spent: the one its schema declares, or the one named here.""",
)

divide_budget = _command(
    "divide",
    """Divide the budget of a dataset into other allotments: those that its schema declares now.

    Their total is no larger than before, and each covers what was spent from it.
    """,
)


def close_budget(
    dataset: Dataset,
    why: Why,
    ledger: LedgerAddress = None,
    who: Who = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Release nothing more from a dataset, for good. Past releases can still be read for free."""
    reason, opened = check_reason(why), open_ledger(ledger)
    decision = decide_closing(opened, dataset)
    if not yes:
        confirm(decision.words, decision.question)
    decision.make(who=person(who), why=reason)
    _show(opened, dataset, decision.done, as_json)


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
        f"{s.allotment.name}: {price_text(s.allotment, s.allotment.cap, 'down')}." for s in standings
    ]
    for line, standing in zip(lines, standings, strict=False):  # what is divided may have had parts that are gone
        say(f"  {line} Left: {price_text(standing.allotment, standing.left, 'down')}.")
    for line in lines[len(standings) :]:
        say(f"  {line}")
    if named:
        say("Write the same into [budget] of the schema: a schema that declares another one is refused.")


def _declared(dataset: str, schema: str | None) -> Budget:
    """The budget in a schema, which must be the schema of this dataset."""
    path = schema_path(dataset, schema)
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
