"""`discreet ledger` and `discreet releases`: what was spent, on what, and what came of it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from discreet.accounting.words import readable
from discreet.apps.cli import budgets, custody, decide, follow, publish, upkeep
from discreet.apps.cli.budgets import standing_values
from discreet.apps.cli.completion import choice, releases
from discreet.apps.cli.delivery import ShareOf, SumOf, figure_asked, say_figure
from discreet.apps.cli.options import Dataset, LedgerAddress, ledger_address, open_ledger
from discreet.apps.cli.output import AsJson, Shape, fit_to_write, number_of, say, show_json, show_table, show_whole
from discreet.core.metadata import ENDINGS
from discreet.curator import kind_of, read_release
from discreet.curator.kinds import table_of
from discreet.curator.release_id import short_ids
from discreet.curator.title import title_of
from discreet.errors import MISSING, InputError, LedgerError
from discreet.ledger.backup import is_backup, read_backup
from discreet.ledger.export import Format, export_parts
from discreet.ledger.export_file import is_export, read_export
from discreet.ledger.ledger import Ledger
from discreet.ledger.outcome import Outcome
from discreet.ledger.person_total import Accounts, person_total
from discreet.ledger.quote import price_text
from discreet.ledger.verification import verify as verify_records

__all__ = ["ledger_app", "releases_app", "show_ledger"]

# Columns of the tables; what is left out first where they do not fit stands where they are shown.
_BUDGETS = ("dataset", "allotment", "counted as", "budget", "spent", "left")
_CHARGES = ("time", "dataset", "allotment", "cost", "who", "why", "release", "outcome")
_RELEASES = ("id", "title", "kind", "time", "dataset", "who", "why")

ledger_app = typer.Typer(
    no_args_is_help=True,
    help="Budgets and charges: create, show, verify, export, open, raise, lower, divide, close; backup, restore, move.",
)
releases_app = typer.Typer(
    no_args_is_help=True, help="Stored releases, read again for free: list, show, publish, decide."
)


@ledger_app.command("show")
def show(ledger: LedgerAddress = None, dataset: Dataset = None, as_json: AsJson = False) -> None:
    """Every budget, what is left of it, and every charge."""
    show_ledger(open_ledger(ledger), dataset, as_json)


def show_ledger(opened: Ledger, dataset: str | None = None, as_json: bool = False) -> None:
    """Every budget of a ledger, or of one dataset, what is left of it, and every charge."""
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
    show_table("Budgets", _BUDGETS, rows, numbers=3, drop=("counted as", "spent", "budget"))
    lines, short = [], short_ids(outcome.charged.release for outcome in outcomes)
    for outcome in outcomes:
        paid = outcome.charged
        cost = readable(paid.charge.amount) if paid.charge is not None else ""
        lines.append(
            [
                paid.time[:19],
                paid.dataset,
                paid.allotment,
                cost,
                paid.who,
                paid.why,
                short[paid.release],
                _state(outcome),
            ]
        )
    show_table("Charges", _CHARGES, lines, drop=("allotment", "who", "why", "time", "outcome", "dataset"))


@ledger_app.command("total")
def total(
    ledgers: Annotated[
        list[str], typer.Argument(help="Ledgers that charge for the person: files, addresses, JSON exports, backups.")
    ],
    dataset: Annotated[list[str] | None, typer.Option(help="Datasets that hold the person; all, unless named.")] = None,
    rows: Annotated[
        list[str] | None, typer.Option(help="NAME=3: the person is 3 units of a dataset; may be repeated.")
    ] = None,
    delta: Annotated[str, typer.Option(help="Chance of failure of the whole, such as 1e-6.")] = "0",
    as_json: AsJson = False,
) -> None:
    """Total privacy loss of a person who is in several datasets, of one ledger or of several."""
    times = {}
    for text in rows or []:
        name, sign, many = text.rpartition("=")
        if not sign or not many.isdecimal():
            raise InputError("--rows", text, "NAME=NUMBER, such as visits=3")
        times[name] = int(many)
    with ExitStack() as held:
        opened = [_accounts(one, held) for one in ledgers]
        found = person_total(opened, datasets=dataset, rows=times, delta=delta)
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


def _accounts(address: str, held: ExitStack) -> Accounts:
    """The ledger at an address, a JSON export of one, or a backup."""
    if is_backup(address):
        return held.enter_context(read_backup(address))
    return read_export(address) if is_export(address) else open_ledger(address)


@ledger_app.command("verify")
def verify(
    ledger: LedgerAddress = None,
    incremental: Annotated[
        bool, typer.Option("--incremental", help="Only records after the last position verified on this machine.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check every record, sum and cap again, of a ledger or a backup; exit code 1 if anything is wrong."""
    if is_backup(ledger_address(ledger)):
        with read_backup(ledger_address(ledger), verified=False) as found:
            result = verify_records(found.reader, None)
    else:
        result = open_ledger(ledger).verify(incremental=incremental)
    if as_json:
        head = {"sequence": result.head.sequence, "hash": result.head.hash}
        told = {"ok": result.ok, "records": result.records, "after": result.after, "head": head}
        show_json({**told, "problems": list(result.problems)})
        if not result.ok:
            raise typer.Exit(1)
        return
    if not result.ok:
        raise LedgerError("The ledger does not verify: " + "; ".join(result.problems))
    counted = f"{number_of(result.records, 'record')}, {number_of(result.charges, 'charge')}"
    earlier = f" Records up to {result.after:,} were verified before and not read." if result.after else ""
    say(f"{counted}: every hash, sum and cap holds.{earlier}")
    say(f"Head: {result.head.sequence} {result.head.hash}")


@ledger_app.command("export")
def export(
    ledger: LedgerAddress = None,
    kind: Annotated[
        str,
        choice("json", "csv", "registry", flags=("--format",), help="registry: YAML for a deployments registry."),
    ] = "json",
) -> None:
    """The whole ledger as text."""
    for part in export_parts(open_ledger(ledger), cast("Format", kind)):
        typer.echo(part, nl=False)


ledger_app.command("create")(custody.create)
ledger_app.command("open")(budgets.open_budget)
ledger_app.command("raise")(budgets.raise_budget)
ledger_app.command("lower")(budgets.lower_budget)
ledger_app.command("divide")(budgets.divide_budget)
ledger_app.command("close")(budgets.close_budget)
ledger_app.command("follow")(follow.follow_ledger)
ledger_app.command("acknowledge")(custody.acknowledge)
ledger_app.command("move")(custody.move)
ledger_app.command("backup")(upkeep.backup)
ledger_app.command("restore")(upkeep.restore)
ledger_app.command("upgrade")(upkeep.upgrade)
ledger_app.command("merge")(upkeep.merge)


@releases_app.command("list")
def list_releases(ledger: LedgerAddress = None, dataset: Dataset = None, as_json: AsJson = False) -> None:
    """The releases that have an answer."""
    outcomes = [outcome for outcome in open_ledger(ledger).releases(dataset) if outcome.answer is not None]
    if as_json:
        show_json([_charge(outcome) for outcome in outcomes])
        return
    rows, short = [], short_ids(outcome.charged.release for outcome in outcomes)
    for outcome in outcomes:
        paid, kind = outcome.charged, kind_of(outcome.charged.query, outcome.kind)
        what = [title_of(paid.query, outcome.kind), "" if kind is None else kind.noun]
        rows.append([short[paid.release], *what, paid.time[:19], paid.dataset, paid.who, paid.why])
    show_table("Releases", _RELEASES, rows, drop=("who", "kind", "time", "dataset", "why"))


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
    to: Annotated[
        list[Path] | None,
        typer.Option(help=f"Write it to a file that says what it is ({', '.join(ENDINGS)}); may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """A stored release of any kind, at no cost."""
    whole = read_release(open_ledger(ledger), release)
    if sum_of is None:
        if share_of is not None:
            raise InputError("--sum", MISSING, "given with --share-of")
        if to:
            _write(whole, part, to, as_json)
            return
        show_whole(whole, shape, part, as_json)
        return
    figure = figure_asked(whole, sum_of, share_of)
    if as_json or shape == "json":
        show_json(figure.to_dict())
    else:
        say_figure(figure, sum_of, share_of)


releases_app.command("publish")(publish.publish)
releases_app.command("decide")(decide.decide)


def _write(whole: Any, part: str, to: list[Path], as_json: bool) -> None:
    """Write the table of a release to files by their endings."""
    from discreet.core.release_file import save  # other commands draw nothing

    tables = whole.tables()
    if part or "" in tables:  # the one without a name is what was released; others stand beside it
        tables = {part: table_of(whole, part, "--part") if part else tables[""]}
    if not tables:
        raise InputError("--to", str(to[0]), "left out: this release is no table")
    if len(tables) > 1:
        raise InputError("--part", MISSING, "given for --to, which writes one table", among=tables)
    (table,) = tables.values()
    for path in to:
        fit_to_write(path, "--to", [f".{ending}" for ending in ENDINGS])
    try:
        written = [str(file) for path in to for file in save(table, path)]
    except InputError as problem:
        raise problem.about("--to") from None
    if as_json:
        show_json({"files": written})
    for name in () if as_json else written:
        say(f"Wrote {name}")


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
        "title": title_of(paid.query, outcome.kind),
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
