"""The ledger: a budget burning down, every charge with who and why, and the books checked again."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from discreet.accounting.words import readable
from discreet.apps.server.tokens import Caller
from discreet.apps.web.form import Form
from discreet.apps.web.frame import Frame
from discreet.apps.web.pictures import burn
from discreet.ledger.account import Standing
from discreet.ledger.quote import price_text
from discreet.ledger.record import Record
from discreet.ledger.verification import Verification
from discreet.show import Markup

__all__ = ["routes"]

_SHOWN = 500
_KINDS = {"open": "budget", "charge": "charge", "answer": "answer", "failure": "failure", "note": "note"}


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
        records = [] if result is not None and not result.ok else list(books.records(dataset))
        charges = [one for one in records if one.kind == "charge"]
        visible = {one.allotment.name: one for one in standing}
        charges = [one for one in charges if one.allotment in visible]
        lines = [
            (one, price_text(visible[one.allotment].allotment, one.charge), whole or one.who == caller.name)
            for one in reversed(charges)
        ]
        others = [one for one in records if one.kind in ("open", "failure", "note")] if whole else []
        return frame.page(
            request,
            "ledger.html",
            caller,
            whole=whole,
            standing=standing,
            burns=_burns(standing, charges, caller),
            lines=lines[:_SHOWN],
            more=len(lines) - _SHOWN,
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


def _burns(standing: list[Standing], charges: list[Record], caller: Caller) -> list[Markup]:
    """A burn-down for each allotment. What others did it for is not told to those who are no custodians."""
    paid: dict[str, list[tuple[Fraction, str, str]]] = defaultdict(list)
    left = {one.allotment.name: one.allotment.cap.amount for one in standing}
    for one in charges:
        left[one.allotment] -= one.charge.amount
        mine = caller.role == "custodian" or one.who == caller.name
        who = f"{one.who}: {one.why}" if mine and one.why else one.who if mine else "someone"
        rest = readable(max(left[one.allotment], Fraction(0)), direction="down")
        words = f"{who}; {readable(one.charge.amount)} spent, {rest} left"
        paid[one.allotment].append((one.charge.amount, one.time, words))
    parts = [one.allotment for one in standing]
    drawn = [burn(part.name, part.cap.amount, paid[part.name], part.currency) for part in parts]
    return [picture.figure(picture.title, table=False) for picture in drawn]
