"""Audit: attacks on our own mechanisms, what they found against what is claimed, and planted bugs to be caught."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet import __version__
from discreet.accounting.words import readable
from discreet.apps.audits import MODULES
from discreet.apps.server.jobs import Job, Jobs, Report
from discreet.apps.server.tokens import Caller
from discreet.apps.web.form import Form
from discreet.apps.web.frame import Frame
from discreet.apps.web.store import Store
from discreet.audit.finding import Finding
from discreet.audit.gate import Gate, list_subjects, run_gate
from discreet.audit.report import say_caught
from discreet.show import Reach

__all__ = ["Mark", "marks", "routes", "run"]

_NOWHERE = ""  # an audit is of no dataset
_WORKERS = 2  # processes of their own, so that pages are answered meanwhile


@dataclass(frozen=True, slots=True)
class Mark:
    """One claim: what was found against it, and the picture of that."""

    name: str
    kind: str
    planted: str
    claim: str
    claimed: str
    found: str
    caught: str
    """The smallest epsilon that would have been refuted, and how many times the claim that is."""
    runs: str
    outcome: str
    bad: bool
    """Whether this is not as it should be."""
    reach: Reach
    words: str


def routes(frame: Frame) -> APIRouter:
    """/audit"""
    pages = frame.router()
    frame.wide.append(("/audit", "Audit"))
    jobs, store = frame.service.jobs, Store(frame.service.jobs.path)
    anyone: Any = Depends(frame.caller)
    owner: Any = Depends(frame.custodian)
    sent: Any = Depends(frame.form)

    @pages.get("/audit")
    def audit(request: Request, caller: Caller = anyone) -> Response:
        found = store.find("audit", _NOWHERE, "last")
        job = _last(jobs)
        result, when = (None, "") if found is None else found
        return frame.page(
            request,
            "audit.html",
            caller,
            result=result,
            when=when,
            claims=[] if result is None else marks(result["findings"]),
            planted=[] if result is None else marks(result["planted"]),
            job=job if _told(job, when) else None,
            running=job is not None and not job.over,
            may_run=caller.role == "custodian",
        )

    @pages.post("/audit/run")
    def begin(caller: Caller = owner, form: Form = sent) -> Response:
        """Attack in the background; one that runs already goes on."""
        # One id for all audits: two that are sent at once are one job.
        jobs.start(caller, _NOWHERE, "audit", "audit", "self-audit, tier 1", _work(store, caller.name))
        return RedirectResponse("/audit", 303)

    return pages


def _last(jobs: Jobs) -> Job | None:
    """The last audit; attacks are jobs about no dataset, too."""
    return next((job for job in jobs.listed(_NOWHERE) if job.kind == "audit"), None)


def _told(job: Job | None, when: str) -> bool:
    """Whether the last job is worth a word: it runs, or it ended without a result that is shown."""
    return job is not None and (not job.over or (job.state != "done" and job.begun[:19] >= when[:19]))


def _work(store: Store, who: str) -> Any:
    def work(report: Report) -> None:
        found = run(report)
        store.keep("audit", _NOWHERE, "last", {**found.to_dict(), "who": who, "version": __version__})

    return work


def run(report: Report, *, only: str = "") -> Gate:
    """The self-audit of tier 1. No dataset is opened: it attacks mechanisms on made-up neighbours."""
    places, _ = list_subjects(MODULES, 1, only)
    done = 0

    def on_finding(finding: Finding) -> None:
        nonlocal done
        done += 1
        report("attacking", done / max(1, len(places)))

    report("attacking", None)
    return run_gate(MODULES, tier=1, only=only, workers=_WORKERS, on_finding=on_finding)


def marks(findings: list[dict[str, Any]]) -> list[Mark]:
    """What was found against what is claimed, each on an axis of its own claim."""
    return [_mark(one) for one in findings]


def _mark(one: dict[str, Any]) -> Mark:
    claimed, found = one["claimed_epsilon"], one["found_epsilon"]
    endless = found is None  # no epsilon allows what was seen
    share = None
    if claimed:
        share = math.inf if endless else max(found, 0.0) / claimed
    elif endless or one["violated"]:
        share = math.inf
    at = f" at delta {readable(one['delta'])}" if one["delta"] else ""
    said = readable(claimed, 4) + at if claimed is not None else "none"
    shown = "no epsilon is enough" if endless else readable(found, 3, "down")
    outcome = ("caught" if one["violated"] else "NOT CAUGHT") if one["planted"] else ""
    return Mark(
        name=one["name"],
        kind=one["kind"],
        planted=one["planted"],
        claim=one["claim"],
        claimed=said,
        found=shown,
        caught=_caught(one),
        runs=f"{one['runs']:,}",
        outcome=outcome or ("VIOLATED" if one["violated"] else "no violation"),
        bad=one["violated"] != bool(one["planted"]),
        reach=Reach(share, f"{one['name']}: found {shown}, claimed {said}", one["violated"]),
        words=one["words"],
    )


def _caught(one: dict[str, Any]) -> str:
    if one["violated"]:
        return ""
    if (times := one.get("would_catch_times")) is not None:  # a result that an earlier version stored has less
        return say_caught(times, one.get("would_catch_epsilon"))
    if not one.get("could_refute", True):
        return "nothing"
    best = one.get("would_catch_at_best_times")
    return "" if best is None else say_caught(best, one.get("would_catch_at_best_epsilon"), at_best=True)
