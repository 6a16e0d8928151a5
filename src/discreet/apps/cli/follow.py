"""`discreet ledger follow`: the records of a ledger as they come, a line each, for a log elsewhere."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from discreet.apps.cli.options import LedgerAddress, open_ledger
from discreet.apps.cli.output import AsJson, say
from discreet.core.wire import Json
from discreet.errors import InputError

__all__ = ["follow_ledger"]


def follow_ledger(
    ledger: LedgerAddress = None,
    after: Annotated[int, typer.Option(help="Begin after the record of this number.", min=0)] = 0,
    position: Annotated[
        Path | None, typer.Option(help="File that remembers how far it came: the next run goes on from there.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="End with the last record instead of waiting for more.")] = False,
    every: Annotated[float, typer.Option(help="Look for more every so many seconds.", min=0.1)] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Charges, outcomes, budgets, caps and changes of tokens and schemas, a line each as they come; no answers.

    With --position a run that was killed goes on where it stopped: lines are printed at least once.
    """
    from discreet.ledger.follow import follow

    opened = open_ledger(ledger)
    begin = max(after, _read(position))
    with suppress(KeyboardInterrupt, BrokenPipeError):
        for event in follow(opened, begin, every=every, once=once):
            say(json.dumps(event) if as_json else _line(event))
            sys.stdout.flush()
            if position is not None:
                _write(position, int(str(event["sequence"])))


def _line(event: dict[str, Json]) -> str:
    """One line, whatever anyone wrote into a reason: a line break in one would begin what looks like a record."""
    parts = [str(event["sequence"]), str(event["time"])[:19] + "Z", str(event["kind"])]
    parts += [str(event[name]) for name in ("dataset", "allotment", "amount", "release") if event.get(name)]
    detail = event.get("detail")
    if event["kind"] == "custody" and isinstance(detail, dict):
        parts += [str(detail[name]) for name in ("about", "subject", "what") if detail.get(name)]
    parts += [f"by {event['who']}"] if event.get("who") else []
    whole = " ".join(parts) + (f": {event['why']}" if event.get("why") else "")
    return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in whole)


def _read(position: Path | None) -> int:
    if position is None or not position.exists():
        return 0
    text = position.read_text(encoding="utf-8").strip()
    if not text.isdecimal():
        raise InputError("--position", str(position), "a file that holds the number of a record, or none yet")
    return int(text)


def _write(position: Path, sequence: int) -> None:
    draft = position.with_name(position.name + ".new")
    draft.write_text(f"{sequence}\n", encoding="utf-8")
    draft.replace(position)
