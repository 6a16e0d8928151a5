"""The paths of jobs: `/{kind}/plan` and `/{kind}/release` for every kind. Planned for free, run in the background."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from discreet.apps.server.access import Access
from discreet.apps.server.jobs import Job
from discreet.apps.server.requests import REQUESTS, JobRequest
from discreet.apps.server.responses import Json, PlanResponse, answers, paths
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller
from discreet.curator import KINDS

__all__ = ["routes"]


def routes(service: Service, access: Access) -> APIRouter:
    """The job paths of a service."""
    api = paths("/api/datasets/{name}", "jobs")
    planned = answers(PlanResponse, "the plan")
    begun = answers(Job, "the job, which goes on in the background", 202)
    for kind, request in REQUESTS.items():
        noun = KINDS[kind].noun
        plan, release = _paths(service, access, request)
        plan.__name__, release.__name__ = f"plan_{kind}", f"release_{kind}"
        plan.__doc__ = f"The price and the expected error of a {noun}. Free."
        release.__doc__ = f"Release a {noun} in the background. The same `release` id again is charged once."
        api.post(f"/{kind}/plan", responses=planned)(plan)
        api.post(f"/{kind}/release", responses=begun, status_code=202)(release)

    @api.get("/jobs", responses=answers(list[Job], "the jobs, the newest first"))
    def jobs(name: str, caller: Caller = access.anyone) -> Json:
        """Your jobs; a custodian sees everyone's."""
        return Json([asdict(job) for job in service.seen(name, caller)])

    @api.post("/jobs/{release:path}/cancel", responses=answers(Job, "the job, which ends"))
    def cancel(name: str, release: str, caller: Caller = access.anyone) -> Json:
        """Cancel a job of yours; a custodian cancels anyone's. What it was charged stays spent."""
        return Json(asdict(service.cancel(name, release, caller)))

    @api.get("/jobs/{release:path}", responses=answers(Job, "the job"))
    def job(name: str, release: str, caller: Caller = access.anyone) -> Json:
        """How far a job is."""
        return Json(asdict(service.job(name, release, caller)))

    return api


def _paths(
    service: Service, access: Access, request: type[JobRequest]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def plan(name: str, asked: JobRequest, caller: Caller = access.anyone) -> Json:
        return Json(service.plan(name, asked, caller))

    def release(name: str, asked: JobRequest, caller: Caller = access.spends) -> Json:
        return Json(asdict(service.begin(name, asked, caller)), 202)

    plan.__annotations__["asked"] = release.__annotations__["asked"] = request
    return plan, release
