"""The ledger: a budget burning down, every charge with who and why, and the books checked again."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from discreet.apps.server.tokens import Caller
from discreet.apps.web.burns import WINDOW, burns_of
from discreet.apps.web.form import Form
from discreet.apps.web.frame import Frame
from discreet.ledger.quote import price_text
from discreet.ledger.verification import Verification
from discreet.ledger.window import newest

__all__ = ["routes"]

_SHOWN = 500


def routes(frame: Frame) -> APIRouter:
    """/d/{dataset}/ledger"""
    pages = frame.router()
    frame.links.append(("ledger", "Ledger"))
    anyone: Any = Depends(frame.caller)
    owner: Any = Depends(frame.custodian)
    sent: Any = Depends(frame.form)

    def shown(request: Request, dataset: str, caller: Caller, result: Verification | None = None) -> Response:
        books = frame.service.curator(dataset, caller).ledger
        standing = frame.budgets(caller, dataset)
        whole = caller.role == "custodian"
        # Of books that do not verify only the problems are shown: nothing else in them is to be believed.
        records = [] if result is not None and not result.ok else newest(books, dataset, limit=WINDOW)
        charges = [one for one in records if one.kind == "charge"]
        visible = {one.allotment.name: one for one in standing}
        charges = [one for one in charges if one.allotment in visible]
        lines = [
            (one, price_text(visible[one.allotment].allotment, one.charge), whole or one.who == caller.name)
            for one in reversed(charges)
        ]
        others = [one for one in records if one.kind in ("open", "cap", "failure", "note")] if whole else []
        return frame.page(
            request,
            "ledger.html",
            caller,
            whole=whole,
            standing=standing,
            burns=burns_of(records, standing, told=lambda one: whole or one.who == caller.name),
            lines=lines[:_SHOWN],
            more=len(lines) - _SHOWN,
            cut=len(records) >= WINDOW,
            others=others[-50:],
            head=books.head() if whole else None,
            result=result,
        )

    @pages.get("/d/{dataset}/ledger")
    def ledger(request: Request, dataset: str, caller: Caller = anyone) -> Response:
        return shown(request, dataset, caller)

    @pages.post("/d/{dataset}/ledger/verify")
    def verify(request: Request, dataset: str, caller: Caller = owner, form: Form = sent) -> Response:
        return shown(request, dataset, caller, frame.service.curator(dataset, caller).ledger.verify())

    return pages
