"""`discreet ledger backup`, `restore`, `upgrade` and `merge`: a ledger over the years."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.apps.cli.custody import losses
from discreet.apps.cli.decision import Who, Why, Yes, check_reason, confirm, head_values, person
from discreet.apps.cli.options import LedgerAddress, ledger_address, open_ledger
from discreet.apps.cli.output import AsJson, number_of, say, show_json
from discreet.errors import MISSING, InputError
from discreet.ledger.backup import Manifest, back_up
from discreet.ledger.location import public_address
from discreet.ledger.merge import merge_ledgers
from discreet.ledger.restoration import Restored, restore_backup
from discreet.ledger.tables import FORMAT
from discreet.ledger.upgrade import format_of, upgrade_ledger

__all__ = ["backup", "merge", "restore", "upgrade"]


def backup(
    folder: Annotated[Path, typer.Argument(help="A new folder for the backup.")],
    ledger: LedgerAddress = None,
    streams: Annotated[
        bool, typer.Option("--streams", help="With what streams remember of people: as private as the data.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Copy a ledger as it is at one moment, while people spend from it, with a manifest of what is in it.

    Nothing can be spent from a backup. It holds the secret of the ledger, so only its owner can read the folder.
    """
    made = back_up(open_ledger(ledger), folder, streams=streams)
    if as_json:
        show_json({"backup": str(folder), "made": made.made, "head": head_values(made.head), "files": made.files})
        return
    say(f"Backup of {number_of(made.head.sequence, 'record')}: {folder}")
    say(f"Head: {made.head.sequence} {made.head.hash}")


def restore(
    folder: Annotated[Path, typer.Argument(help="The folder of the backup.")],
    ledger: LedgerAddress = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Even if there is a ledger, which is set aside and not removed.")
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Verify a backup and put it in place. What was spent since is not forgotten: the guard has seen it.

    Stop the server first. If anything was spent after the backup, nothing can be spent until the custodian acknowledges
    the restored ledger, which charges it.
    """
    place = ledger_address(ledger)
    known = Manifest.read(folder)
    if not yes:
        lines = [f"Puts {number_of(known.head.sequence, 'record')}, as of {known.made}, to {public_address(place)}."]
        confirm(lines, "Restore it?")
    done = restore_backup(folder, place, replace=replace)
    discrepancy = done.ledger.discrepancy()
    if as_json:
        lost = [] if discrepancy is None else discrepancy.lost
        charges = [
            {"dataset": dataset, "allotment": name, "amount": str(charge.amount), "delta": str(charge.delta)}
            for dataset, name, charge in lost
        ]
        problem = None if discrepancy is None else discrepancy.problem
        told = {"ledger": public_address(place), "head": head_values(known.head), "aside": done.aside}
        show_json({**told, "problem": problem, "missing": charges})
        return
    _say_restored(done, public_address(place))


def _say_restored(done: Restored, place: str) -> None:
    head = done.manifest.head
    say(f"Restored: {place} has {number_of(head.sequence, 'record')}, as of {done.manifest.made}.")
    if done.aside is not None:
        say(f"The ledger that was there is set aside: {done.aside}")
    say(f"Head: {head.sequence} {head.hash}")
    discrepancy = done.ledger.discrepancy()
    if discrepancy is None:
        say("Nothing was spent since: the guard has seen no more, and the ledger can be used.")
        return
    say(f"Not the ledger last seen here: {discrepancy.problem}.")
    if discrepancy.mark is not None:
        for line in losses(done.ledger, discrepancy, discrepancy.lost):
            say(line.replace("Charged for what is missing", "Missing, and charged when it is acknowledged"))
    asked = "" if discrepancy.mark is not None else " --write-off ..."
    say(f"Nothing can be spent before the custodian says so: discreet ledger acknowledge{asked} --why ...")


def upgrade(
    ledger: LedgerAddress = None,
    backup: Annotated[
        Path | None, typer.Option(help="A new folder for the backup that is made first; beside the file by default.")
    ] = None,
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Bring the tables of an older ledger to the present format, after a backup. Records stay what they are.

    A ledger that needs nothing is left alone. Versions of discreet before 0.2 cannot use it afterwards.
    """
    place = ledger_address(ledger)
    opened = open_ledger(ledger)
    if backup is None:
        if "://" in place:
            raise InputError("--backup", MISSING, "given for a database: a new folder", "Nothing was changed.")
        backup = Path(f"{place}.format-{format_of(opened)}")
    former = upgrade_ledger(opened, backup, who=person(who))
    if as_json:
        told = {"from": former, "to": FORMAT, "backup": None if former is None else str(backup)}
        show_json({**told, "head": head_values(opened.head())})
        return
    if former is None:
        say(f"Nothing to do: {public_address(place)} has format {FORMAT}.")
        return
    say(f"Upgraded: {public_address(place)} has format {FORMAT}, before {former}. The backup from before: {backup}")
    say(f"Head: {opened.head().sequence} {opened.head().hash}")


def merge(
    other: Annotated[str, typer.Argument(help="The ledger that ends: a path or postgresql://...")],
    why: Why,
    ledger: LedgerAddress = None,
    who: Who = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Write all records of another ledger at the end of this one, and close the other.

    Datasets of the other come with their budgets. Of a dataset that both have, the charges of both must fit the budget
    here. Release ids must differ. What is open on the other ledger ends: releases without an outcome are closed as
    failed, and streams go no further.
    """
    reason, place = check_reason(why), ledger_address(ledger)
    if not yes:
        lines = [f"Writes the records of {public_address(other)} at the end of {public_address(place)}."]
        lines.append(f"{public_address(other)} can then be read, and nothing can be spent from it any more.")
        lines.append("Its releases without an outcome are closed; its streams go no further.")
        confirm(lines, "Merge them?")
    opened = open_ledger(ledger)
    done = merge_ledgers(opened, open_ledger(other), who=person(who), why=reason)
    head = opened.head()
    if as_json:
        told = {"ledger": public_address(place), "merged": public_address(other), "records": done.records}
        show_json({**told, "datasets": done.datasets, "closed": done.closed, "head": head_values(head)})
        return
    say(f"Merged: {number_of(done.records, 'record')} of {public_address(other)} are on {public_address(place)}.")
    if done.datasets:
        say("Datasets: " + ", ".join(done.datasets) + ".")
    if done.shared:
        say("Of both, under the budget here: " + ", ".join(done.shared) + ".")
    if done.closed:
        say("Closed, for they had no outcome: " + ", ".join(done.closed) + ".")
    say(f"{public_address(other)} is closed: it can be read.")
    say(f"Head: {head.sequence} {head.hash}")
