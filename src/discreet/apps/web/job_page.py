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
from discreet.core.glossary import TERMS
from discreet.curator import KINDS

__all__ = ["ABOUT", "NEW", "ONLY", "routes"]

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
    "hidden": "Hidden numbers",
    "loads": "Loads of a grid",
}
ABOUT = {
    "tree": "Counts for every region of every level, which add up: a country, its states, their counties.",
    "synth": "Rows with the structure of the table. None of them belongs to a person.",
    "choose": "The best of some options. Their scores are not published.",
    "batch": "Several questions under one price.",
    "stream": "A question that is answered again every day, month or year, all under one price.",
    "detail": "Population groups of every region, each in as much detail as its size allows.",
    "census": "Tables of persons and of households over one geography, whose numbers agree.",
    "flows": "Rows by origin, destination and time, with totals that agree.",
    "commute": "Synthetic rows of home and workplace, for places that are public.",
    "relations": "Two synthetic tables, parents and their child rows, with a key between them.",
    "train": "A model that predicts a column. Its weights may be published.",
    "search": "Models trained with several settings, and the best of them chosen privately.",
    "hidden": "Private numbers with noise that hides each up to a distance, moved to where constraints hold.",
    "loads": "Loads of a power grid, each hidden up to a distance, that the grid can still feed.",
}
"""What comes of each kind of job, in a line."""
_FIRST = {"train": ("examples",), "search": ("examples",)}  # what most people fill in, though it may be left out
_LABELS = {
    "query": "Question",
    "examples": "Number of examples",
    "lot": "Examples in a step",
    "probability": "Sampling probability",
    "hidden": "Hidden layers",
    "bound": "Clipping bound",
    "multiplier": "Noise multiplier",
    "rate": "Learning rate",
    "warmup": "Warm-up steps",
    "ema": "Average of weights",
    "report_loss": "Reported loss",
}
"""Fields whose name alone says too little."""
_OWN = ("tree", "synth")  # kinds with pages of their own
NEW = {
    name: _TITLES.get(name, kind.noun.capitalize()) for name, kind in KINDS.items() if kind.sent and name not in _OWN
}
"""Titles of the forms, by kind."""
ONLY = {"grid": "loads", "values": "hidden"}
"""The kind of job that there is about data that is no table."""


def routes(frame: Frame) -> APIRouter:
    """/d/{dataset}/new/{kind} and what is under it"""
    pages = frame.router()
    for kind, title in NEW.items():
        own = frame.router(KINDS[kind].ask())
        _form(frame, own, kind, title)
        pages.routes.extend(own.routes)
    return pages


def _form(frame: Frame, pages: APIRouter, kind: str, title: str) -> None:
    anyone: Any = Depends(frame.caller)
    listed = fields_of(kind).values()
    needed = [one for one in listed if one.required or one.name in _FIRST.get(kind, ())]
    others = [one for one in listed if one not in needed and not one.late]
    how = [one for one in listed if one.late and not one.required]
    groups = [("What to release", needed, False), ("More options", others, True), ("How it is released", how, True)]

    def more(dataset: str, caller: Caller) -> dict[str, Any]:
        return {
            "title": title,
            "about": ABOUT[kind],
            "groups": groups,
            "explained": frozenset(TERMS),
            "labels": _LABELS,
        }

    form = JobForm(frame, f"new/{kind}", "job_form.html", kind, more, lambda dataset, caller: {})
    form.add(pages)

    @pages.get(f"/d/{{dataset}}/new/{kind}")
    def page(request: Request, dataset: str, caller: Caller = anyone) -> Response:
        return form.begun(request, dataset, caller)
