"""Jobs: what runs in the background, how far it is, what becomes of it when the server stops, and what came of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet.apps.server.jobs import Job
from discreet.apps.server.tokens import Caller
from discreet.apps.web.form import Form
from discreet.apps.web.frame import Frame
from discreet.apps.web.job_page import ABOUT, NEW
from discreet.curator import KINDS
from discreet.curator.title import title_of
from discreet.errors import MissingError

__all__ = ["routes"]

_NOUNS = {**{kind.name: kind.noun for kind in KINDS.values()}, "audit": "self-audit"}
_PLACES = {"tree": "map", "synth": "synthetic"}


def routes(frame: Frame) -> APIRouter:
    """/d/{dataset}/jobs and what is under it"""
    pages = frame.router()
    frame.links.append(("jobs", "Jobs"))
    service = frame.service
    anyone: Any = Depends(frame.caller)
    may_spend: Any = Depends(frame.spender)
    sent: Any = Depends(frame.form)

    def result(dataset: str, job: Job) -> str:
        """Where the result is; "" if there is none, or it is on a page of its own."""
        if job.state != "done" or job.kind == "audit":
            return ""
        here, release = f"/d/{quote(dataset, safe='')}", quote(job.release, safe="")
        place = _PLACES.get(job.kind)
        return f"{here}/releases/{quote(job.release)}" if place is None else f"{here}/{place}?release={release}"

    def title(dataset: str, job: Job) -> str:
        """What a job is about, from its charge; its kind, where there is none."""
        spent = service.curators[dataset].ledger.find(job.release)
        known = spent is not None and spent.charged.dataset == dataset
        words = title_of(spent.charged.query, spent.kind) if spent is not None and known else ""
        noun = _NOUNS.get(job.kind, job.kind)
        return words or noun[:1].upper() + noun[1:]

    @pages.get("/d/{dataset}/jobs")
    def listed(request: Request, dataset: str, release: str = "", caller: Caller = anyone) -> Response:
        if release:
            return one(request, dataset, release, caller)
        jobs = [(job, result(dataset, job), title(dataset, job)) for job in service.seen(dataset, caller)]
        running = any(not job.over for job, *_ in jobs)
        subject = service.curator(dataset, caller).declared.subject
        own = [("map", "Map", ABOUT["tree"]), ("synthetic", "Synthetic data", ABOUT["synth"])]
        fits = [kind for kind in NEW if KINDS[kind].ask().subject == subject]
        new = [*(own if subject == "table" else []), *((f"new/{kind}", NEW[kind], ABOUT[kind]) for kind in fits)]
        return frame.page(request, "jobs.html", caller, jobs=jobs, running=running, new=new, subject=subject)

    @pages.get("/d/{dataset}/jobs/{release:path}")
    def one(request: Request, dataset: str, release: str, caller: Caller = anyone) -> Response:
        try:
            job = service.job(dataset, release, caller)
        except MissingError:
            raise HTTPException(404, "There is no job of yours of this id.") from None
        spent = service.curator(dataset, caller).ledger.find(release)
        return frame.page(
            request,
            "job.html",
            caller,
            job=job,
            title=title(dataset, job),
            result=result(dataset, job),
            charged=spent is not None and spent.charged.dataset == dataset,
            release=release,
        )

    @pages.post("/d/{dataset}/jobs/{release:path}/cancel")
    def cancel(dataset: str, release: str, caller: Caller = may_spend, form: Form = sent) -> Response:
        """Cancel a job. What it was charged stays spent."""
        service.cancel(dataset, release, caller)
        return RedirectResponse(f"/d/{quote(dataset, safe='')}/jobs/{quote(release, safe='')}", 303)

    return pages
