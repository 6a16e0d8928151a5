"""Jobs: what runs in the background, how far it is, what becomes of it when the server stops, and what came of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, HTTPException
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet.apps.server.jobs import Job
from discreet.apps.server.requests import REQUESTS, JobRequest
from discreet.apps.server.tokens import Caller
from discreet.apps.web.form import Form
from discreet.apps.web.frame import Frame
from discreet.apps.web.job_page import NEW
from discreet.apps.web.store import Store
from discreet.curator import KINDS
from discreet.errors import MissingError

__all__ = ["routes"]

_NOUNS = {**{kind.name: kind.noun for kind in KINDS.values()}, "audit": "self-audit"}
_PLACES = {"tree": "map", "synth": "synthetic"}


def routes(frame: Frame) -> APIRouter:
    """/d/{dataset}/jobs and what is under it"""
    pages = frame.router()
    frame.links.append(("jobs", "Jobs"))
    service, store = frame.service, Store(frame.service.jobs.path)
    anyone: Any = Depends(frame.caller)
    may_spend: Any = Depends(frame.spender)
    sent: Any = Depends(frame.form)

    def wanted(dataset: str, job: Job) -> JobRequest | None:
        """What a job was asked for, if it was asked for on these pages by the one whose job it is."""
        found = store.find("wanted", dataset, job.release)
        if found is None or found[0][0] != job.who or found[0][1] != job.kind:
            return None
        try:
            return REQUESTS[job.kind].model_validate(found[0][2])
        except ValidationError:  # put down by another version
            return None

    def result(dataset: str, job: Job) -> str:
        """Where the result is; "" if there is none, or it is on a page of its own."""
        if job.state != "done" or job.kind == "audit":
            return ""
        here, release = f"/d/{quote(dataset, safe='')}", quote(job.release, safe="")
        place = _PLACES.get(job.kind)
        return f"{here}/releases/{quote(job.release)}" if place is None else f"{here}/{place}?release={release}"

    @pages.get("/d/{dataset}/jobs")
    def listed(request: Request, dataset: str, release: str = "", caller: Caller = anyone) -> Response:
        if release:
            return one(request, dataset, release, caller)
        jobs = [(job, result(dataset, job)) for job in service.seen(dataset, caller)]
        running = any(not job.over for job, _ in jobs)
        subject = service.curator(dataset, caller).declared.subject
        new = {kind: title for kind, title in NEW.items() if KINDS[kind].ask().subject == subject}
        return frame.page(
            request, "jobs.html", caller, jobs=jobs, kinds=_NOUNS, running=running, new=new, subject=subject
        )

    @pages.get("/d/{dataset}/jobs/{release:path}")
    def one(request: Request, dataset: str, release: str, caller: Caller = anyone) -> Response:
        try:
            job = service.job(dataset, release, caller)
        except MissingError:
            raise HTTPException(404, "There is no job of yours of this id.") from None
        spent = service.curator(dataset, caller).ledger.find(release)
        again = job.state == "interrupted" and wanted(dataset, job) is not None
        return frame.page(
            request,
            "job.html",
            caller,
            job=job,
            kinds=_NOUNS,
            result=result(dataset, job),
            charged=spent is not None and spent.charged.dataset == dataset,
            again=again and caller.spends,
            release=release,
        )

    @pages.post("/d/{dataset}/jobs/{release:path}/again")
    def again(dataset: str, release: str, caller: Caller = may_spend, form: Form = sent) -> Response:
        """Go on with what was interrupted, under the same id and so under the same charge."""
        asked = wanted(dataset, service.job(dataset, release, caller))
        if asked is None:
            raise HTTPException(404, "What this job was asked for is not kept here. Nothing was spent.")
        asked.release = release = service.begin(dataset, asked, caller).release
        store.keep("wanted", dataset, release, [caller.name, asked.kind, asked.model_dump(exclude_none=True)])
        return RedirectResponse(f"/d/{quote(dataset, safe='')}/jobs/{quote(release, safe='')}", 303)

    return pages
