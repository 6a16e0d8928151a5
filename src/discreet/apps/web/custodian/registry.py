"""What the world may know of the deployment: entries for a registry, and the ledger as files."""

from __future__ import annotations

from typing import cast

from fastapi import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from discreet.apps.server.tokens import Caller
from discreet.apps.web.custodian.section import Section
from discreet.apps.web.files import attached
from discreet.errors import MissingError
from discreet.ledger.export import Format, export
from discreet.ledger.ledger import Ledger

__all__ = ["add_pages"]

_ENDINGS = {"registry": "yaml", "json": "json", "csv": "csv"}


def add_pages(section: Section) -> None:
    """/custodian/registry"""
    ledgers = section.service.ledgers

    def books(dataset: str) -> Ledger:
        found = next((one for one in ledgers if dataset in one.datasets()), None)
        if found is None:
            raise MissingError("dataset", dataset, among=[name for one in ledgers for name in one.datasets()])
        return found

    @section.pages.get("/custodian/registry")
    def registry(request: Request, caller: Caller = section.owner) -> Response:
        entries = [
            (dataset, export(ledger, "registry", dataset=dataset))
            for ledger in ledgers
            for dataset in ledger.datasets()
        ]
        waiting = [name for name in section.service.curators if name not in dict(entries)]
        return section.show(request, "registry", "registry", caller, entries=entries, waiting=waiting)

    @section.pages.get("/custodian/registry/{dataset}/{kind}")
    def file(dataset: str, kind: str, caller: Caller = section.owner) -> Response:
        if kind not in _ENDINGS:
            raise HTTPException(404, "Nothing is at this address.")
        text = export(books(dataset), cast("Format", kind), dataset=dataset)
        return attached(text, f"{dataset}-{kind}", _ENDINGS[kind])
