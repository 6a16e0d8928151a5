"""The front page: every dataset, whom it protects, what is left, and what was released last."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller
from discreet.apps.web.frame import Frame
from discreet.apps.web.job_page import ONLY
from discreet.apps.web.release_list import Line
from discreet.curator import Curator
from discreet.ledger.conclusion import outcomes_of
from discreet.ledger.ledger import Ledger
from discreet.ledger.outcome import Outcome

__all__ = ["routes"]

_LATEST = 5
_RECORDS = 200  # of the end of a ledger: however long it is, the page takes as long


def _contents(curator: Curator) -> str:
    """How much there is, as declared."""
    declared = curator.declared
    if declared.subject == "table":
        return f"{len(curator.schema.columns):,} columns"
    if declared.subject == "values":
        return f"{len(declared.to_dict()['values']['names']):,} private numbers"
    return f"{declared.to_dict()['grid']['public']['loads']:,} loads of a power grid"


def _latest(service: Service, names: list[str], caller: Caller) -> list[tuple[str, Line]]:
    """The last answers, of whichever of these datasets, each as much as a caller may see of it."""
    found = []
    for name in names:
        ledger = service.curator(name, caller).ledger
        budget = ledger.account(name).budget
        for outcome in _ended(ledger, name):
            if outcome.answer is not None:
                allotment = budget.allotment(outcome.charged.allotment)
                found.append((name, Line.of(outcome, allotment, caller)))
    return sorted(found, key=lambda one: one[1].time, reverse=True)[:_LATEST]


def _ended(ledger: Ledger, dataset: str) -> tuple[Outcome, ...]:
    return outcomes_of(ledger.records(dataset, after=max(0, ledger.head().sequence - _RECORDS)))


def routes(frame: Frame) -> APIRouter:
    """/"""
    pages = frame.router()
    anyone: Any = Depends(frame.caller)

    @pages.get("/")
    def home(request: Request, caller: Caller = anyone) -> Response:
        shown, absent = [], frame.service.absent(caller)
        names = [name for name in frame.service.datasets(caller) if name not in absent]
        for name in names:
            curator = frame.service.curator(name, caller)
            only = ONLY.get(curator.declared.subject)
            shown.append((name, curator.declared, _contents(curator), only, frame.budgets(caller, name)))
        latest = _latest(frame.service, names, caller)
        return frame.page(request, "home.html", caller, shown=shown, absent=absent, latest=latest)

    return pages
