"""Who may do what: tokens made, shown once, rotated and revoked; when each was last used; how fast people spend."""

from __future__ import annotations

from typing import Any

from fastapi import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet.apps.server.app import status_of
from discreet.apps.server.durations import read_lifetime
from discreet.apps.server.tokens import ROLES, Caller, Tokens, check_allotment, check_datasets
from discreet.apps.web.custodian.section import Change, Section
from discreet.apps.web.form import Form
from discreet.errors import InputError
from discreet.ledger.cap import read_rate
from discreet.ledger.caps import Caps

__all__ = ["add_pages"]

MAY = {
    "analyst": "may plan, ask and spend, and read releases",
    "viewer": "may read releases and look at prices, and spends nothing",
    "monitor": "reads the server's figures at /metrics, and nothing else",
    "auditor": "reads the records of ledgers and the server's figures, and nothing else",
    "custodian": "may do everything, on these pages too: raise budgets, and make and revoke tokens",
}

_DID = {"revoked": "The token is revoked and no longer works.", "capped": "The cap is on the ledger, from now on."}
_POLICY = "A cap is policy inside the budget, which stays the guarantee. It goes on the ledger."


def add_pages(section: Section) -> None:
    """/custodian/tokens"""
    service = section.service

    def known() -> Tokens:
        if service.tokens is None:
            raise HTTPException(409, "This server has no tokens: whoever reaches it is its custodian.")
        return service.tokens

    def allotments() -> list[str]:
        return sorted({part.allotment.name for one in service.curators.values() for part in one.standing()})

    def caps_of(dataset: str) -> Caps:
        return Caps(service.curators[dataset].ledger)

    def shown(
        request: Request,
        caller: Caller,
        status: int = 200,
        problem: InputError | None = None,
        form: Form | None = None,
        did: str = "",
    ) -> Response:
        return section.show(
            request,
            "tokens",
            "tokens",
            caller,
            status,
            tokens=None if service.tokens is None else service.tokens.listed(),
            trail=[] if service.tokens is None else service.tokens.trail.listed("token"),
            roles={role: MAY[role] for role in MAY if role in ROLES},
            allotments=allotments(),
            served=list(service.curators),
            caps=[(name, one) for name in service.curators for one in caps_of(name).listed(name)],
            lasting=not service.linked,
            problem=problem,
            typed=form or Form([]),
            did=did,
        )

    @section.pages.get("/custodian/tokens")
    def tokens(request: Request, caller: Caller = section.owner, did: str = "") -> Response:
        return shown(request, caller, did=_DID.get(did, ""))

    @section.pages.post("/custodian/tokens/create")
    def create(request: Request, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        name, role, allotment = form.text("name"), form.text("role"), form.text("allotment") or None
        only = [one for one in form.all("datasets") if one] or None
        lasts = form.text("expires")
        try:
            known().check(name, role, only)
            expires = read_lifetime(lasts, "expires") if lasts else None
            check_datasets(only or (), service.curators)
            if allotment is not None:
                check_allotment(allotment, allotments())
        except InputError as problem:
            return shown(request, caller, status_of(problem), problem, form)
        spends = (
            ""
            if role in ("viewer", "monitor")
            else f" It spends from {'any allotment' if allotment is None else allotment}."
        )
        change = Change(
            f"A token for {name}",
            (
                f"Makes a token for {name}, who {MAY[role]}.{spends}",
                *([] if only is None else [f"It gives access to {', '.join(only)} and to no other dataset."]),
                *([] if not lasts else [f"It ends after {lasts}."]),
                f"What it is used for is recorded under the name {name}.",
                "It is shown once, on the next page. This server stores only its hash.",
            ),
            "Yes, create it",
            "/custodian/tokens",
            {"name": name, "role": role, "allotment": allotment or "", "expires": lasts},
            listed={"datasets": only or []},
        )
        if not change.agreed(form):
            return section.ask(request, "tokens", caller, form, change)
        made = known().create(name, role, allotment, datasets=only, expires=expires, by=caller.name)
        return section.show(request, "tokens", "token", caller, name=name, role=role, token=made)

    @section.pages.post("/custodian/tokens/rotate")
    def rotate(request: Request, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        name, text = form.text("name"), form.text("grace") or "24h"
        listed = {one["name"]: one for one in known().listed()}
        try:
            grace = read_lifetime(text, "grace", nothing=True)
            if name not in listed:
                raise InputError("name", name, "the name of a token", among=list(listed))
        except InputError as problem:
            return shown(request, caller, status_of(problem), problem)
        old = f"The old secret works for {text} more, and then no longer." if grace else "The old secret ends at once."
        change = Change(
            f"A new secret for {name}",
            (old, "Sessions in browsers end with it. Rights stay as they are.", "The new one is shown once."),
            "Yes, rotate it",
            "/custodian/tokens",
            {"name": name, "grace": text},
        )
        if not change.agreed(form):
            return section.ask(request, "tokens", caller, form, change)
        made = known().rotate(name, grace=grace, by=caller.name)
        return section.show(request, "tokens", "token", caller, name=name, role=listed[name]["role"], token=made)

    @section.pages.post("/custodian/tokens/cap")
    def cap(request: Request, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        who, dataset, rate = form.text("caller"), form.text("dataset"), form.text("rate")
        part = form.text("part") or None
        try:
            if dataset not in service.curators:
                raise InputError("dataset", dataset, among=list(service.curators))
            allotment = service.curators[dataset].ledger.account(dataset).budget.allotment(part)
            amount, period = read_rate(rate, "rate") if rate else (None, "day")
            how: dict[str, Any] = {} if amount is None else {allotment.currency: amount, "period": period}
            if not who:
                raise InputError("caller", who, "a name, or * for everyone without a cap of their own")
            if amount is not None and amount < 0:
                raise InputError("rate", rate, "0 or more")
        except InputError as problem:
            return shown(request, caller, status_of(problem), problem)
        people = "Each person without a cap of their own" if who == "*" else who
        limit = f"may spend {allotment.currency} = {rate} from {allotment.name} of {dataset} at most"
        change = Change(
            f"A cap for {who}" if rate else f"No cap for {who}",
            (f"{people} {limit if rate else f'has no cap on {allotment.name} of {dataset} any more'}.", _POLICY),
            "Yes, set it" if rate else "Yes, remove it",
            "/custodian/tokens",
            {"caller": who, "dataset": dataset, "part": allotment.name, "rate": rate},
        )
        if not change.agreed(form):
            return section.ask(request, "tokens", caller, form, change)
        caps_of(dataset).set(dataset, who, **how, allotment=allotment.name, who=caller.name, why=form.text("why"))
        return RedirectResponse("/custodian/tokens?did=capped", 303)

    @section.pages.post("/custodian/tokens/revoke")
    def revoke(request: Request, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        name = form.text("name")
        listed = {one["name"]: one for one in known().listed()}
        if name not in listed:
            problem = InputError("name", name, "the name of a token", among=[one or "" for one in listed])
            return shown(request, caller, status_of(problem), problem)
        lines = [f"The token of {name} no longer works, and their sessions end at once."]
        lines.append("What they released stays. A new token for the same name can be made afterwards.")
        if name == caller.name:
            lines.append("This is your own token: you are signed out.")
        custodians = [one for one in listed.values() if one["role"] == "custodian"]
        if listed[name]["role"] == "custodian" and len(custodians) == 1:
            lines.append("It is the last custodian's: after that, tokens are made at a terminal only.")
        change = Change(
            f"Revoke the token of {name}", lines, "Yes, revoke it", "/custodian/tokens", {"name": name}, grave=True
        )
        if not change.agreed(form):
            return section.ask(request, "tokens", caller, form, change)
        known().revoke(name, by=caller.name)
        return RedirectResponse("/custodian/tokens?did=revoked", 303)
