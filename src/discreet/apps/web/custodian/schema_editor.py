"""A schema in the browser: edited, checked as `discreet check` does, downloaded, or written to the folder for state.

What a check shows was read from the data, and is for the custodian alone: no other page shows it, and nothing keeps it.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet.apps.server.app import status_of
from discreet.apps.server.private_file import write_private
from discreet.apps.server.tokens import Caller
from discreet.apps.web.custodian.section import Change, Section
from discreet.apps.web.custodian.toml_text import check_nesting
from discreet.apps.web.files import attached
from discreet.apps.web.form import Form
from discreet.core.filename import file_name
from discreet.curator.inspection import NOTICE, inspect_data
from discreet.curator.setup import Setup, read_setup
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import GIVEN, DiscreetError, InputError, MissingError, Phrase
from discreet.ledger.decision import decide_opening
from discreet.ledger.ledger import Ledger
from discreet.query.ask import SUBJECTS

__all__ = ["add_pages", "edit", "schemas_in", "setup_in"]

_OPEN = '"?"'


def add_pages(section: Section) -> None:
    """/custodian/datasets/schema and /custodian/datasets/schemas"""
    service = section.service

    @section.pages.get("/custodian/datasets/schemas/{name}")
    def stored(request: Request, name: str, caller: Caller = section.owner) -> Response:
        text = _stored(service.state, name).read_text(encoding="utf-8")
        return edit(section, request, caller, text=text, draft=None, upload="", stored=name, was=_digest(text))

    @section.pages.post("/custodian/datasets/schemas/{name}/open")
    def opened(request: Request, name: str, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        text = _stored(service.state, name).read_text(encoding="utf-8")
        try:
            setup = setup_in(text)
            ledger = _only(service.ledgers)
            if setup.budget is None:
                raise InputError("schema", name, "a schema with a [budget]", "Nothing was changed.")
            decision = decide_opening(ledger, setup.schema.name, setup.budget, setup.schema.unit)
            if setup.schema.name in ledger.datasets():
                decision.make(who=caller.name)  # nothing changes, or another one is refused
        except DiscreetError as problem:
            return edit(
                section, request, caller, status_of(problem), text=text, upload="", stored=name, problem=problem
            )
        heading = f"Open the budget of {setup.schema.name}"
        lines = (decision.heading, *decision.promise)
        change = Change(heading, lines, "Yes, open it", "/custodian/datasets", {}, amounts=decision.changes)
        if not change.agreed(form):
            return section.ask(request, "datasets", caller, form, change)
        decision.make(who=caller.name)
        return RedirectResponse("/custodian/budgets", 303)

    @section.pages.post("/custodian/datasets/schema")
    def edited(request: Request, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        text = form.get("text", "")
        values: dict[str, Any] = {"text": text, **{name: form.text(name) for name in ("upload", "stored", "was")}}
        try:
            setup = setup_in(text)
            match form.text("do"):
                case "download":
                    return attached(text, setup.schema.name, "toml")
                case "write":
                    return written(request, caller, form, text, setup)
            found = None
            if values["upload"]:
                upload = service.uploads.find(values["upload"])
                found = inspect_data(source_of(str(upload.path)), setup)
                service.trail.add(caller.name, "schema", upload.name, "data checked against a schema")
        except DiscreetError as problem:
            return edit(section, request, caller, status_of(problem), problem=problem, **values)
        return edit(section, request, caller, setup=setup, found=found, **values)

    def written(request: Request, caller: Caller, form: Form, text: str, setup: Setup) -> Response:
        """Put a schema into the folder for state."""
        name = setup.schema.name
        path = _schema_file(service.state, name)
        old = path.exists()
        if old and form.text("stored") != path.stem:
            raise _taken(name)
        there = _digest(path.read_text(encoding="utf-8")) if old else ""
        if old and form.text("was") not in ("", there):
            hint = "Nothing was written. Somebody else wrote it meanwhile: open it again, and make your changes there."
            raise InputError("schema", name, "as it was when you opened it", hint)
        budget = setup.budget
        does = f"Replaces {path}, whose text has the digest {there[:12]}." if old else f"Writes {path}."
        lines = [does, f"It declares {name}, and protects {setup.schema.unit}."]
        if budget is None:
            lines.append("It declares no budget: without one nothing can be asked.")
        lines.append("What it holds is public from then on: bounds, categories and names of columns.")
        fields = {"text": text, "do": "write", **{name: form.text(name) for name in ("upload", "stored", "was")}}
        change = Change(f"Write the schema of {name}", lines, "Yes, write it", "/custodian/datasets", fields)
        if not change.agreed(form):
            return section.ask(request, "datasets", caller, form, change)
        try:
            write_private(path, text, new=not old)
        except FileExistsError:  # by another process, just now
            raise _taken(name) from None
        what = f"{'replaced' if old else 'written'}, digest {setup.schema.digest[:12]}"
        service.trail.add(caller.name, "schema", name, what)
        return RedirectResponse(f"/custodian/datasets/schemas/{quote(path.stem, safe='')}", 303)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _taken(name: str) -> InputError:
    hint = "Nothing was written. Open that one to change it, or give the dataset another name."
    return InputError("dataset.name", name, "a name that no schema in the folder has", hint)


def edit(section: Section, request: Request, caller: Caller, status: int = 200, **values: Any) -> Response:
    """A schema to be edited: as drafted or stored, with what is wrong with it and what does not fit the data."""
    service, text = section.service, values["text"]
    upload = next((one for one in service.uploads.listed() if one.identity == values["upload"]), None)
    stored = values["stored"]
    page: dict[str, Any] = {"was": "", "problem": None, "setup": None, "found": None, "draft": None, "notice": NOTICE}
    page |= values
    page |= {
        "one": upload,
        "uploads": service.uploads.listed(),
        "open": sum(line.partition("#")[0].count(_OPEN) for line in text.splitlines()),
        "file": _schema_file(service.state, stored) if stored else None,
    }
    return section.show(request, "datasets", "schema", caller, status, **page)


def _only(ledgers: list[Ledger]) -> Ledger:
    if len(ledgers) != 1:
        hint = "At a terminal: discreet ledger open --schema FILE --ledger PLACE. Nothing was changed."
        raise InputError("ledger", Phrase(f"{len(ledgers)} of them"), "one, to open a budget on it here", hint)
    return ledgers[0]


def setup_in(text: str) -> Setup:
    """What the text of a schema declares. It may name no other file of this machine."""
    check_nesting(text, "schema")
    try:
        entry = tomllib.loads(text)
    except ValueError as problem:  # of TOML; or of Python, which reads no number of thousands of digits
        raise InputError("schema", Phrase("the text above"), f"valid TOML ({problem})") from None
    _check_files(entry)
    setup = read_setup(entry)
    if not isinstance(setup.schema, Schema):
        subject = SUBJECTS[setup.schema.subject]
        raise InputError("schema", setup.schema.name, f"that of a table: this one declares {subject}")
    return setup


def _check_files(entry: Mapping[str, Any], where: str = "") -> None:
    """Refuse a schema that would have this server open a file it names: that is for a terminal."""
    for name, value in entry.items():
        here = f"{where}.{name}" if where else name
        if name in ("values_file", "grid") or (name == "file" and where.startswith("lookups.")):
            hint = "At a terminal such a schema is checked with: discreet check DATA SCHEMA."
            raise InputError(here, GIVEN, "left out on these pages, which open no other file of this machine", hint)
        if isinstance(value, Mapping):
            _check_files(value, here)


def schemas_in(state: Path | None) -> list[str]:
    """The names of the schemas in the folder for state."""
    folder = None if state is None else state / "schemas"
    return [] if folder is None or not folder.is_dir() else sorted(one.stem for one in folder.glob("*.toml"))


def _stored(state: Path | None, name: str) -> Path:
    if name not in schemas_in(state):  # only what the folder lists is ever opened
        raise MissingError("schema", name, "one in the folder for state", among=schemas_in(state))
    return _schema_file(state, name)


def _schema_file(state: Path | None, name: str) -> Path:
    if state is None:
        raise InputError("state", Phrase("none"), "a state folder, which this server does not have")
    return state / "schemas" / f"{file_name(name)[:150]}.toml"
