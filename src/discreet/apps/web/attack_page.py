"""Attacks: what goes wrong without a budget, run on made-up people, beside the same under one."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Depends, HTTPException
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet.apps.attacks.catalogue import ATTACKS, Attack, find_attack
from discreet.apps.server.jobs import Job, Jobs, Report
from discreet.apps.server.tokens import Caller
from discreet.apps.web.form import Form
from discreet.apps.web.frame import Frame
from discreet.apps.web.store import Store
from discreet.core.exact import as_written
from discreet.errors import InputError

__all__ = ["routes"]

_NOWHERE = ""  # an attack is on no dataset
_KIND = "attack"
_LEAST, _MOST = 0.01, 50.0


def routes(frame: Frame) -> APIRouter:
    """/attacks and /attacks/NAME"""
    pages = frame.router()
    frame.wide.append(("/attacks", "Attacks"))
    jobs, store = frame.service.jobs, Store(frame.service.jobs.path)
    anyone: Any = Depends(frame.caller)
    owner: Any = Depends(frame.custodian)
    sent: Any = Depends(frame.form)

    @pages.get("/attacks")
    def attacks(request: Request, caller: Caller = anyone) -> Response:
        stored = {attack.name: store.find(_KIND, _NOWHERE, attack.name) for attack in ATTACKS}
        return frame.page(request, "attacks.html", caller, attacks=ATTACKS, stored=stored)

    @pages.get("/attacks/{name}")
    def attack(request: Request, name: str, caller: Caller = anyone) -> Response:
        return _shown(frame, request, caller, _known(name), jobs, store)

    @pages.post("/attacks/{name}")
    def begin(request: Request, name: str, caller: Caller = owner, form: Form = sent) -> Response:
        """Attack in the background; one that runs already goes on."""
        chosen = _known(name)
        try:
            epsilon = _epsilon(form.text("epsilon"))
        except InputError as problem:
            return _shown(frame, request, caller, chosen, jobs, store, str(problem), form.text("epsilon"))
        # One id for all runs of an attack: two that are sent at once are one job.
        jobs.start(caller, _NOWHERE, _KIND, f"{_KIND} {name}", name, _work(store, chosen, epsilon, caller.name))
        return RedirectResponse(f"/attacks/{name}", 303)

    return pages


def _known(name: str) -> Attack:
    try:
        return find_attack(name)
    except InputError:
        raise HTTPException(404, "There is no such attack.") from None


def _last(jobs: Jobs, name: str) -> Job | None:
    """The last job that ran this attack."""
    return next((job for job in jobs.listed(_NOWHERE) if (job.kind, job.why) == (_KIND, name)), None)


def _shown(
    frame: Frame,
    request: Request,
    caller: Caller,
    attack: Attack,
    jobs: Jobs,
    store: Store,
    problem: str = "",
    typed: str | None = None,
) -> Response:
    stored, job = store.find(_KIND, _NOWHERE, attack.name), _last(jobs, attack.name)
    result, when = (None, "") if stored is None else stored
    running = job is not None and not job.over
    failed = job is not None and job.state in ("failed", "interrupted") and job.begun[:19] >= when[:19]
    return frame.page(
        request,
        "attack.html",
        caller,
        422 if problem else 200,
        attack=attack,
        result=result,
        figure=None if result is None else Markup(result["figure"]),
        when=when,
        job=job if running or failed else None,
        running=running,
        may_run=caller.role == "custodian",
        problem=problem,
        epsilon=f"{attack.epsilon:g}" if typed is None else typed,
    )


def _epsilon(text: str) -> float:
    allowed = f"a number from {_LEAST:g} to {_MOST:g}, or a logarithm, such as ln3"
    try:
        value = as_written(text, "epsilon")
    except InputError:
        raise InputError("epsilon", text, allowed) from None
    if not _LEAST <= value <= _MOST:
        raise InputError("epsilon", text, allowed)
    return float(value)


def _work(store: Store, attack: Attack, epsilon: float, who: str) -> Any:
    def work(report: Report) -> None:
        report("attacking", None)
        begun = time.monotonic()
        found = attack.run(epsilon)
        figure = str(found.picture().figure(table=True))
        seconds = round(time.monotonic() - begun, 1)
        result = {"words": found.explain(), "figure": figure, "epsilon": epsilon, "who": who, "seconds": seconds}
        store.keep(_KIND, _NOWHERE, attack.name, result)

    return work
