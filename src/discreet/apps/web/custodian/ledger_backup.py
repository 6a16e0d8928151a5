"""A backup of every ledger of a server, made from a browser: a folder on the server's machine, never a download."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet.apps.server.tokens import Caller
from discreet.apps.web.custodian.section import Change, Section
from discreet.apps.web.form import Form
from discreet.errors import InputError
from discreet.ledger.backup import back_up

__all__ = ["DONE", "add_backups"]

DONE = "The backup is written on the server's machine. Verify it there: discreet ledger verify FOLDER."
_NAME = re.compile(r"\d{4}-\d{2}-\d{2}-\d{6}")


def add_backups(section: Section) -> None:
    """/custodian/ledger/backup"""
    service = section.service

    @section.pages.post("/custodian/ledger/backup")
    def backup(request: Request, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        name = form.text("name") or datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
        if not _NAME.fullmatch(name):
            raise InputError("name", name, "a time, such as 2026-05-03-143000", "Nothing was written.")
        trail = service.trail  # refuses where there is no folder for state
        places = _places(section, name)
        change = Change(
            "Back up the ledger",
            (
                *(
                    f"Writes all records as they are now to {place}, which only the owner of this server can read."
                    for place in places
                ),
                "Nobody has to stop asking meanwhile, and nothing can be spent from a backup.",
                "It holds the secret of the ledger. Copy it to another machine, and let nobody else read it there.",
            ),
            "Yes, back it up",
            "/custodian/ledger",
            {"name": name},
        )
        if not change.agreed(form):
            return section.ask(request, "ledger", caller, form, change)
        for ledger, place in zip(service.ledgers, places, strict=True):
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            made = back_up(ledger, place)
            trail.add(caller.name, "ledger", place.name, f"backed up, {made.head.sequence:,} records")
        return RedirectResponse("/custodian/ledger?did=backup", 303)


def _places(section: Section, name: str) -> list[Path]:
    """A folder for the backup of each ledger."""
    state = section.service.state
    many = len(section.service.ledgers)
    folder = Path() if state is None else state / "backups"
    return [folder / (name if many == 1 else f"{name}-{number}") for number in range(1, many + 1)]
