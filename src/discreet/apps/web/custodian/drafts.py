"""`discreet init` in a browser: a table is brought, its custodian says what it is and whom to protect, a draft follows.

The file stays on this machine. Names of columns are taken from it once somebody said that its first line holds names;
no value is looked at, unless types are to be guessed, and no bound or value is ever taken from it.
"""

from __future__ import annotations

from typing import Any

from fastapi import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet.apps.server.app import status_of
from discreet.apps.server.tokens import Caller
from discreet.apps.server.uploads import PATH, Upload
from discreet.apps.web.custodian.schema_editor import edit
from discreet.apps.web.custodian.section import Change, Section
from discreet.apps.web.form import Form
from discreet.apps.web.multipart import FileForm
from discreet.curator.schema_draft import (
    ROW,
    SchemaDraft,
    draft_schema,
    header_doubt,
    other_delimiter,
    unit_of,
    with_delimiter,
    with_names,
)
from discreet.data.source import Source, source_of
from discreet.errors import MISSING, FormError, InputError

__all__ = ["add_pages"]

_LAYOUT = ("delimiter", "header", "names")


def add_pages(section: Section) -> None:
    """/custodian/datasets/upload and the steps that follow it"""
    service = section.service

    @section.pages.post(PATH)
    async def upload(request: Request, caller: Caller = section.owner) -> Response:
        try:
            sent = FileForm(request)
            await sent.begin()
            section.frame.check_form(request, sent.fields.get("csrf", ""))
            with service.uploads.receive(sent.name) as incoming:
                async for part in sent.parts():
                    incoming.write(part)
        except FormError:
            raise HTTPException(400, "This request is not a form of these pages. Nothing was stored.") from None
        kept = service.uploads.find(incoming.identity)
        service.trail.add(caller.name, "schema", kept.name, f"uploaded, {kept.bytes:,} bytes")
        return RedirectResponse(f"/custodian/datasets/uploads/{incoming.identity}", 303)

    @section.pages.get("/custodian/datasets/uploads/{identity}")
    def begun(request: Request, identity: str, caller: Caller = section.owner) -> Response:
        return layout(request, caller, service.uploads.find(identity), Form([]))

    @section.pages.post("/custodian/datasets/uploads/{identity}")
    def said(request: Request, identity: str, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        one = service.uploads.find(identity)
        try:
            source = _described(one, form)
            columns = list(source.columns())
        except InputError as problem:
            return layout(request, caller, one, form, problem)
        if form.text("stage") != "unit":
            return unit(request, caller, one, form, columns)
        try:
            draft = _draft(source, columns, form)
        except InputError as problem:
            return unit(request, caller, one, form, columns, problem)
        return edit(section, request, caller, text=draft.text, draft=draft, upload=one.identity, stored="")

    def layout(
        request: Request, caller: Caller, one: Upload, form: Form, problem: InputError | None = None
    ) -> Response:
        """What the file is: how its values are divided, and what its first line holds."""
        source = source_of(str(one.path))
        csv = source.kind == "csv"
        values: dict[str, Any] = {"other": None, "doubt": None}
        if csv:
            values = {"other": other_delimiter(source), "doubt": header_doubt(source)}
        status = 200 if problem is None else status_of(problem)
        page = {"one": one, "csv": csv, "typed": form, "problem": problem, **values}
        return section.show(request, "datasets", "layout", caller, status, **page)

    def unit(
        request: Request,
        caller: Caller,
        one: Upload,
        form: Form,
        columns: list[str],
        problem: InputError | None = None,
    ) -> Response:
        """Whom to protect, and how much of one person counts."""
        kept = {name: form.text(name) for name in _LAYOUT if form.text(name)}
        status = 200 if problem is None else status_of(problem)
        page = {"one": one, "columns": columns, "kept": kept, "typed": form, "problem": problem, "row": ROW}
        return section.show(request, "datasets", "unit", caller, status, **page)

    @section.pages.post("/custodian/datasets/uploads/{identity}/remove")
    def remove(request: Request, identity: str, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        one = service.uploads.find(identity)
        change = Change(
            f"Remove {one.name}",
            ("The uploaded file is deleted from this machine. Schemas that were written stay.",),
            "Yes, remove it",
            "/custodian/datasets",
            {},
        )
        if not change.agreed(form):
            return section.ask(request, "datasets", caller, form, change)
        service.uploads.remove(identity)
        service.trail.add(caller.name, "schema", one.name, "upload removed")
        return RedirectResponse("/custodian/datasets?did=removed", 303)


def _described(one: Upload, form: Form) -> Source:
    """The uploaded table, read as its custodian says."""
    source = source_of(str(one.path))
    if source.kind != "csv":
        return source
    delimiter, header = form.text("delimiter"), form.text("header")
    if delimiter:
        source = with_delimiter(source, delimiter)
    elif (other := other_delimiter(source)) is not None:
        allowed = f"given: the first line is one value, unless {other!r} divides it"
        raise InputError("delimiter", MISSING, allowed, "Choose it, or the comma if it is one column.")
    if header not in ("names", "values", "given"):
        allowed = "given: the first line of the file would be written into the schema, which is public"
        raise InputError("header", MISSING, allowed, "Say whether it holds names or somebody's values.")
    return with_names(source, header=header == "names", names=form.text("names") if header == "given" else None)


def _draft(source: Source, columns: list[str], form: Form) -> SchemaDraft:
    name, who = form.text("name"), form.text("unit")
    if not name:
        raise InputError("name", MISSING, "given: it is what the ledger calls the dataset")
    if not who:
        raise InputError("unit", MISSING, "given: it says who is protected")
    person = who != ROW
    groups = _whole(form, "groups") if person else None
    rows = _whole(form, "rows") if person or form.text("rows") else None
    return draft_schema(source, name, unit_of(columns, who, groups, rows), types=form.text("types") == "yes")


def _whole(form: Form, field: str) -> int:
    text = form.text(field)
    if not text.isascii() or not text.isdigit() or len(text) > 7:
        raise InputError(field, text or MISSING, "a whole number from 1")
    return int(text)
