"""`discreet ledger` and `discreet releases`: what was spent, on what, and what came of it."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from discreet.accounting.words import readable
from discreet.apps.cli import budgets, custody, decide, publish
from discreet.apps.cli.budgets import standing_values
from discreet.apps.cli.completion import offered, releases
from discreet.apps.cli.delivery import ShareOf, SumOf, figure_asked, say_figure
from discreet.apps.cli.options import Dataset, LedgerAddress, open_ledger
from discreet.apps.cli.output import AsJson, Shape, number_of, say, show_json, show_table, show_whole
from discreet.curator import kind_of, read_release
from discreet.errors import MISSING, InputError, LedgerError
from discreet.ledger.export import Format
from discreet.ledger.export import export as export_ledger
from discreet.ledger.outcome import Outcome
from discreet.ledger.person_total import person_total
from discreet.ledger.quote import price_text

__all__ = ["ledger_app", "releases_app"]

ledger_app = typer.Typer(
    no_args_is_help=True,
    help="Budgets and charges: create, show, verify, export, open, raise, lower, close, acknowledge, move.",
)
releases_app = typer.Typer(
    no_args_is_help=True, help="Stored releases, read again for free: list, show, publish, decide."
)


@ledger_app.command("show")
def show(ledger: LedgerAddress = None, dataset: Dataset = None, as_json: AsJson = False) -> None:
    """Every budget, what is left of it, and every charge."""
    opened = open_ledger(ledger)
    names = [dataset] if dataset else list(opened.datasets())
    standings = [standing for name in names for standing in opened.standing(name)]
    outcomes = [outcome for name in names for outcome in opened.releases(name)]
    if as_json:
        show_json({"budgets": [standing_values(s) for s in standings], "charges": [_charge(o) for o in outcomes]})
        return
    rows = [
        [
            s.dataset,
            s.allotment.name,
            s.allotment.kind,
            price_text(s.allotment, s.allotment.cap, "down"),
            price_text(s.allotment, s.spent),
            price_text(s.allotment, s.left, "down"),
        ]
        for s in standings
    ]
    show_table("Budgets", ["dataset", "allotment", "counted as", "budget", "spent", "left"], rows, numbers=3)
    lines = []
    for outcome in outcomes:
        paid = outcome.charged
        cost = readable(paid.charge.amount) if paid.charge is not None else ""
        lines.append(
            [paid.time[:19], paid.dataset, paid.allotment, cost, paid.who, paid.why, paid.release, _state(outcome)]
        )
    show_table("Charges", ["time", "dataset", "allotment", "cost", "who", "why", "release", "outcome"], lines)


@ledger_app.command("total")
def total(
    ledgers: Annotated[list[str], typer.Argument(help="Ledgers that a person is on: files or addresses.")],
    dataset: Annotated[list[str] | None, typer.Option(help="Datasets that hold the person; all, unless named.")] = None,
    rows: Annotated[
        list[str] | None, typer.Option(help="NAME=3: the person is so many units of a dataset; may be repeated.")
    ] = None,
    delta: Annotated[str, typer.Option(help="Chance of failure of the whole, such as 1e-6.")] = "0",
    as_json: AsJson = False,
) -> None:
    """What a person gives away who is in several datasets, of one ledger or of many."""
    times = {}
    for text in rows or []:
        name, sign, many = text.rpartition("=")
        if not sign or not many.isdecimal():
            raise InputError("--rows", text, "NAME=NUMBER, such as visits=3")
        times[name] = int(many)
    found = person_total(map(open_ledger, ledgers), datasets=dataset, rows=times, delta=delta)
    if as_json:
        show_json(found.to_dict())
        return
    lines = [[one.dataset, one.unit, f"{one.rows:,}"] for one in found.datasets]
    show_table("A person in all of these", ["dataset", "protected", "counts as"], lines)
    claims = [
        ("added up", found.basic),
        ("added up as zCDP", found.zcdp),
        ("if no question depended on an answer", found.fixed),
        ("all that budgets allow", found.promised),
    ]
    shown = [
        [words, "", ""] if one is None else [words, readable(one.epsilon), readable(one.delta)] for words, one in claims
    ]
    show_table("Total", ["so far", "epsilon", "delta"], shown, numbers=1)


@ledger_app.command("verify")
def verify(ledger: LedgerAddress = None, as_json: AsJson = False) -> None:
    """Check every record, sum and cap again; exit code 1 if anything is wrong."""
    result = open_ledger(ledger).verify()
    if as_json:
        head = {"sequence": result.head.sequence, "hash": result.head.hash}
        show_json({"ok": result.ok, "records": result.records, "head": head, "problems": list(result.problems)})
        if not result.ok:
            raise typer.Exit(1)
        return
    if not result.ok:
        raise LedgerError("The ledger does not add up: " + "; ".join(result.problems))
    counted = f"{number_of(result.records, 'record')}, {number_of(result.charges, 'charge')}"
    say(f"{counted}: every hash, sum and cap holds.")
    say(f"Head: {result.head.sequence} {result.head.hash}")


@ledger_app.command("export")
def export(
    ledger: LedgerAddress = None,
    kind: Annotated[
        str,
        typer.Option(
            "--format",
            help="json, csv or registry (YAML for a deployments registry).",
            autocompletion=offered("json", "csv", "registry"),
        ),
    ] = "json",
) -> None:
    """The whole ledger as text."""
    typer.echo(export_ledger(open_ledger(ledger), cast("Format", kind)), nl=False)


ledger_app.command("create")(custody.create)
ledger_app.command("open")(budgets.open_budget)
ledger_app.command("raise")(budgets.raise_budget)
ledger_app.command("lower")(budgets.lower_budget)
ledger_app.command("close")(budgets.close_budget)
ledger_app.command("acknowledge")(custody.acknowledge)
ledger_app.command("move")(custody.move)


@releases_app.command("list")
def list_releases(ledger: LedgerAddress = None, dataset: Dataset = None, as_json: AsJson = False) -> None:
    """The releases that have an answer."""
    outcomes = [outcome for outcome in open_ledger(ledger).releases(dataset) if outcome.answer is not None]
    if as_json:
        show_json([_charge(outcome) for outcome in outcomes])
        return
    rows = []
    for outcome in outcomes:
        paid, kind = outcome.charged, kind_of(outcome.charged.query, outcome.kind)
        rows.append([paid.release, "" if kind is None else kind.noun, paid.time[:19], paid.dataset, paid.who, paid.why])
    show_table("Releases", ["id", "kind", "time", "dataset", "who", "why"], rows)


@releases_app.command("show")
def show_one(
    release: Annotated[str, typer.Argument(help="Release id (see: discreet releases list).", autocompletion=releases)],
    ledger: LedgerAddress = None,
    shape: Shape = "table",
    part: Annotated[
        str, typer.Option(help="Only the table of this name: a part of a batch, a level, LEVEL-totals.")
    ] = "",
    sum_of: SumOf = None,
    share_of: ShareOf = None,
    as_json: AsJson = False,
) -> None:
    """A stored release of any kind, at no cost."""
    whole = read_release(open_ledger(ledger), release)
    if sum_of is None:
        if share_of is not None:
            raise InputError("--sum", MISSING, "given with --share-of")
        show_whole(whole, shape, part, as_json)
        return
    figure = figure_asked(whole, sum_of, share_of)
    if as_json or shape == "json":
        show_json(figure.to_dict())
    else:
        say_figure(figure, sum_of, share_of)


releases_app.command("publish")(publish.publish)
releases_app.command("decide")(decide.decide)


def _state(outcome: Outcome) -> str:
    if outcome.answer is not None:
        return "answered"
    if outcome.failure:
        return f"failed: {outcome.failure}"
    return "no answer yet" if outcome.charged.digest else "written off"  # see `Ledger.acknowledge`


def _charge(outcome: Outcome) -> dict[str, object]:
    paid = outcome.charged
    return {
        "release": paid.release,
        "time": paid.time,
        "dataset": paid.dataset,
        "allotment": paid.allotment,
        "amount": None if paid.charge is None else str(paid.charge.amount),
        "delta": None if paid.charge is None else str(paid.charge.delta),
        "who": paid.who,
        "why": paid.why,
        "mechanism": paid.mechanism,
        "digest": paid.digest,
        "query": paid.query,
        "data": None if outcome.data is None else outcome.data.to_json(),
        "answered": outcome.answer is not None,
        "failure": outcome.failure,
    }
