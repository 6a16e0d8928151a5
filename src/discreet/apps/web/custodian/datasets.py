"""Datasets: those that are served, checked against their schemas; and what is drafted here for new ones."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from discreet.apps.server.tokens import Caller
from discreet.apps.web.custodian import drafts, schema_editor
from discreet.apps.web.custodian.section import Section
from discreet.apps.web.form import Form
from discreet.curator import LocalDesk
from discreet.curator.inspection import NOTICE, inspect_data
from discreet.curator.setup import Setup
from discreet.errors import InputError
from discreet.query.ask import SUBJECTS

__all__ = ["add_pages"]

_DONE = {"removed": "The upload is removed."}


def add_pages(section: Section) -> None:
    """/custodian/datasets"""
    service = section.service
    drafts.add_pages(section)
    schema_editor.add_pages(section)

    @section.pages.get("/custodian/datasets")
    def datasets(request: Request, did: str = "", caller: Caller = section.owner) -> Response:
        return section.show(
            request,
            "datasets",
            "datasets",
            caller,
            served=[(name, one.declared, isinstance(one.local, LocalDesk)) for name, one in service.curators.items()],
            schemas=schema_editor.schemas_in(service.state),
            uploads=[] if service.state is None else service.uploads.listed(),
            most=service.limits.upload >> 20,
            state=service.state,
            trail=[] if service.state is None else service.trail.listed("schema"),
            did=_DONE.get(did, ""),
        )

    @section.pages.post("/custodian/datasets/served/{dataset}/check")
    def check(request: Request, dataset: str, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        desk = service.curator(dataset, caller).local
        if not isinstance(desk, LocalDesk):
            raise InputError("dataset", dataset, f"a table: this one declares {SUBJECTS[desk.declared.subject]}")
        source = replace(desk.source, view=None, others=())
        found = inspect_data(source, Setup(desk.schema, names=source.names))
        if service.state is not None:
            service.trail.add(caller.name, "schema", dataset, "data checked against its schema")
        return section.show(request, "datasets", "check", caller, name=dataset, found=found, notice=NOTICE)
