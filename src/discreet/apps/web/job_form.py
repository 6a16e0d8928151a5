"""The way from a form to a long job: filled in, priced, confirmed by typing the price, begun."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from discreet.accounting.words import readable
from discreet.apps.server.app import status_of
from discreet.apps.server.tokens import Caller
from discreet.apps.web.form import Form
from discreet.apps.web.frame import Frame
from discreet.apps.web.job_input import JobInput
from discreet.apps.web.plan_view import PlanView, check_confirmation, view_plan
from discreet.apps.web.store import Store
from discreet.errors import BudgetError, BusyError, DiscreetError, InputError, LossError, MissingExtraError, Phrase
from discreet.ledger.account import Standing

__all__ = ["TOLD", "JobForm"]

TOLD = (InputError, LossError, BudgetError, BusyError, MissingExtraError)
"""What is said beside a form. Others, such as what a database says, are for the frame to word."""


@dataclass(frozen=True)
class JobForm:
    """The form at /d/{dataset}/{place} for one kind of job."""

    frame: Frame
    store: Store
    place: str
    template: str
    kind: str
    """The kind of job."""
    more: Callable[[str, Caller], dict[str, Any]]
    """What else the template needs, for a dataset and a caller."""
    first: Callable[[str, Caller], dict[str, str]]
    """What the form holds at first."""

    def begun(self, request: Request, dataset: str, caller: Caller) -> HTMLResponse:
        """The form as it is first seen, or as an address fills it in; priced where that can be."""
        inputs = JobInput.read(self.kind, Form(list(request.query_params.multi_items())))
        asked = bool(inputs.pairs)
        if not asked:
            inputs = inputs.with_texts(**self.first(dataset, caller))
        if not inputs.text("way"):
            standing = self._payable(dataset, caller)
            if standing:
                part = standing[0].allotment
                amount = readable(part.cap.amount / 10, 3, "down")
                inputs = inputs.with_texts(**{"way": part.currency, part.currency: amount, "allotment": part.name})
        try:
            return self.shown(request, dataset, caller, inputs, plan=self.plan(dataset, caller, inputs)[0])
        except TOLD as problem:
            return self.shown(request, dataset, caller, inputs, problem if asked else None)

    def plan(self, dataset: str, caller: Caller, inputs: JobInput) -> tuple[PlanView, dict[str, Any]]:
        """Its price, and what a program would send for it. Free."""
        service = self.frame.service
        payable = self._payable(dataset, caller)
        only = payable[0].allotment.name if len(payable) == 1 else None
        allotment = service.allowed(caller, inputs.text("allotment") or only)
        with service.plans.turn(caller.name):
            offer, sent = inputs.offer(service.curator(dataset, caller), allotment)
            return view_plan(offer, JobInput.error(offer)), sent

    def shown(
        self,
        request: Request,
        dataset: str,
        caller: Caller,
        inputs: JobInput,
        problem: DiscreetError | None = None,
        plan: PlanView | None = None,
        status: int = 200,
        **panel: Any,
    ) -> HTMLResponse:
        """The page with the form, its texts kept, and the panel beside it."""
        standing = self._payable(dataset, caller)
        chosen = _chosen(standing, inputs)
        return self.frame.page(
            request,
            self.template,
            caller,
            status,
            inputs=inputs if plan is None else inputs.priced(plan.ways),
            standing=standing,
            currency=chosen.allotment.currency if chosen else "epsilon",
            problem=problem,
            wrong=problem.field.partition(".")[0] if isinstance(problem, InputError) else "",
            place=self.place,
            schema=self.frame.service.curator(dataset, caller).declared,
            **self._panel(inputs, plan, chosen, **panel),
            **self.more(dataset, caller),
        )

    def add(self, pages: APIRouter) -> None:
        """The paths that price and release."""
        frame, service = self.frame, self.frame.service
        anyone: Any = Depends(frame.caller)
        may_spend: Any = Depends(frame.spender)
        sent: Any = Depends(frame.form)
        place = f"/d/{{dataset}}/{self.place}"

        def price(request: Request, dataset: str, caller: Caller = anyone, form: Form = sent) -> Response:
            inputs = JobInput.read(self.kind, form)
            try:
                plan = self.plan(dataset, caller, inputs)[0]
            except TOLD as problem:
                return self.shown(request, dataset, caller, inputs, problem, status=status_of(problem))
            return self.shown(request, dataset, caller, inputs, plan=plan)

        def live(request: Request, dataset: str, caller: Caller = anyone, form: Form = sent) -> Response:
            """The panel alone, for the script that shows it while someone types."""
            service.curator(dataset, caller)
            inputs = JobInput.read(self.kind, form)
            plan, told = None, ""
            try:
                plan = self.plan(dataset, caller, inputs)[0]
            except TOLD as problem:
                told = str(problem)
            panel = self._panel(inputs, plan, _chosen(self._payable(dataset, caller), inputs))
            values = {"problem": told, "dataset": dataset, "caller": caller, "place": self.place, **panel}
            return frame.fragment("panel.html", csrf=frame.csrf(request), **values)

        def release(request: Request, dataset: str, caller: Caller = may_spend, form: Form = sent) -> Response:
            inputs = JobInput.read(self.kind, form)
            identity, why = form.text("release") or uuid.uuid4().hex, form.text("why")
            plan = None
            try:
                plan, body = self.plan(dataset, caller, inputs)
                if form.text("digest") != plan.digest:
                    hint = "Look at the price again, then confirm."
                    raise InputError("plan", Phrase("another one"), "the one that was shown", hint)
                check_confirmation(form.text("confirm"), plan.amount)
                asked = inputs.request({**body, "release": identity, "why": why})
                service.begin(dataset, asked, caller)
            except TOLD as problem:
                if plan is None:
                    return self.shown(request, dataset, caller, inputs, problem, status=status_of(problem))
                told: dict[str, Any] = {"identity": identity, "why": why, "unconfirmed": str(problem)}
                return self.shown(request, dataset, caller, inputs, plan=plan, status=status_of(problem), **told)
            # After the job has begun: until then an id may be someone else's.
            self.store.keep("wanted", dataset, identity, [caller.name, asked.kind, asked.model_dump(exclude_none=True)])
            return RedirectResponse(f"/d/{quote(dataset, safe='')}/jobs/{quote(identity, safe='')}", 303)

        pages.post(place)(price)
        pages.post(f"{place}/price")(live)
        pages.post(f"{place}/release")(release)

    def _panel(
        self,
        inputs: JobInput,
        plan: PlanView | None,
        chosen: Standing | None,
        identity: str = "",
        why: str = "",
        unconfirmed: str = "",
    ) -> dict[str, Any]:
        instead = ""
        if plan is not None and not plan.fits and chosen is not None and chosen.left.amount > 0:
            rest = readable(chosen.left.amount, direction="down")
            smaller = inputs.with_texts(**{"way": chosen.allotment.currency, chosen.allotment.currency: rest})
            instead = urlencode(smaller.fields())
        return {
            "plan": plan,
            "fields": inputs.fields(),
            "identity": identity or uuid.uuid4().hex,
            "why": why,
            "unconfirmed": unconfirmed,
            "instead": instead,
        }

    def _payable(self, dataset: str, caller: Caller) -> list[Standing]:
        """The allotments that can pay for such a job: models are charged as fixed plans, all else is not."""
        fixed = self.kind in ("train", "search")
        return [one for one in self.frame.budgets(caller, dataset) if (one.allotment.kind == "plan") == fixed]


def _chosen(standing: list[Standing], inputs: JobInput) -> Standing | None:
    named = [one for one in standing if one.allotment.name == inputs.text("allotment")]
    return next(iter(named or standing), None)
