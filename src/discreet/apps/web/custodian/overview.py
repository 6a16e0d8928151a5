"""Where a custodian begins: what is left, what is open, what happened last."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from discreet.apps.server.tokens import Caller
from discreet.apps.web.custodian.ledger import entries_of
from discreet.apps.web.custodian.section import Section

__all__ = ["add_pages"]

_LATEST = 8


def add_pages(section: Section) -> None:
    """/custodian"""
    service, frame = section.service, section.frame

    @section.pages.get("/custodian")
    def overview(request: Request, caller: Caller = section.owner) -> Response:
        entries, _ = entries_of(service)
        tokens = [] if service.tokens is None else service.tokens.listed()
        return section.show(
            request,
            "",
            "overview",
            caller,
            standing=frame.budgets(caller),
            questions=sum(entry.kind != "budget" for entry in entries),
            people=len({entry.who for entry in entries if entry.kind != "budget"}),
            latest=entries[:_LATEST],
            tokens=len(tokens),
            unused=sum(one["used"] is None for one in tokens),
            surveys=[one for one in service.surveys.values() if one.open],
        )
