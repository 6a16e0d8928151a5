"""New jobs: a form for every kind that has no page of its own, made from the fields of its ask."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from discreet.apps.server.tokens import Caller
from discreet.apps.web.frame import Frame
from discreet.apps.web.job_form import JobForm
from discreet.apps.web.job_input import fields_of
from discreet.apps.web.store import Store
from discreet.curator import KINDS

__all__ = ["NEW", "routes"]

_TITLES = {
    "choose": "Choice of an option",
    "batch": "Batch of questions",
    "stream": "Stream",
    "detail": "Groups in adaptive detail",
    "census": "Census of persons and households",
    "flows": "Flows",
    "commute": "Synthetic commuters",
    "relations": "Synthetic parents and child rows",
    "search": "Search for a model",
    "loads": "Loads of a grid",
}
_OWN = ("tree", "synth")  # kinds with pages of their own
NEW = {
    name: _TITLES.get(name, kind.noun.capitalize()) for name, kind in KINDS.items() if kind.sent and name not in _OWN
}
"""Titles of the forms, by kind."""


def routes(frame: Frame) -> APIRouter:
    """/d/{dataset}/new/{kind} and what is under it"""
    pages = frame.router()
    store = Store(frame.service.jobs.path)
    for kind, title in NEW.items():
        own = frame.router(KINDS[kind].ask())
        _form(frame, own, store, kind, title)
        pages.routes.extend(own.routes)
    return pages


def _form(frame: Frame, pages: APIRouter, store: Store, kind: str, title: str) -> None:
    anyone: Any = Depends(frame.caller)
    listed = fields_of(kind).values()
    needed = [one for one in listed if one.required]
    others = [one for one in listed if not one.required and not one.late]
    how = [one for one in listed if one.late and not one.required]
    groups = [("What", needed, False), ("More about it", others, True), ("How it is released", how, True)]

    def more(dataset: str, caller: Caller) -> dict[str, Any]:
        about = (KINDS[kind].ask().__doc__ or "").partition("\n")[0].replace("`", "")
        return {"title": title, "about": about, "groups": groups}

    form = JobForm(frame, store, f"new/{kind}", "job_form.html", kind, more, lambda dataset, caller: {})
    form.add(pages)

    @pages.get(f"/d/{{dataset}}/new/{kind}")
    def page(request: Request, dataset: str, caller: Caller = anyone) -> Response:
        return form.begun(request, dataset, caller)
