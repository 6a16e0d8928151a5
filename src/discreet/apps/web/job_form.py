"""The way from a form to a long job: filled in, priced, confirmed by typing the price, begun."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from discreet.accounting.words import readable
from discreet.apps.server.app import status_of
from discreet.apps.server.tokens import Caller
from discreet.apps.web.form import Form
from discreet.apps.web.frame import Frame
from discreet.apps.web.job_input import JobInput
from discreet.apps.web.panel import check_confirmation, choose_allotment, panel_values
from discreet.curator.plan_view import PlanView, view_plan
from discreet.errors import BudgetError, BusyError, DiscreetError, InputError, LossError, MissingExtraError
from discreet.ledger.account import Standing

__all__ = ["SHOWN", "JobForm"]

SHOWN = (InputError, LossError, BudgetError, BusyError, MissingExtraError)
"""What is said beside a form. Others, such as what a database says, are for the frame to word."""


@dataclass(frozen=True)
class JobForm:
    """The form at /d/{dataset}/{place} for one kind of job."""

    frame: Frame
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
                amounts = {"epsilon": readable(part.cap.amount / 10, 3, "down"), "percent": "10"}
                way = "epsilon" if part.currency == "epsilon" else "percent"
                inputs = inputs.with_texts(**{"way": way, way: amounts[way], "allotment": part.name})
        try:
            return self.shown(request, dataset, caller, inputs, plan=self.plan(dataset, caller, inputs)[0])
        except SHOWN as problem:
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
        chosen = choose_allotment(standing, inputs.text("allotment"))
        return self.frame.page(
            request,
            self.template,
            caller,
            status,
            inputs=inputs if plan is None else inputs.priced(plan.ways),
            standing=standing,
            currency=chosen.allotment.currency if chosen else "epsilon",
            problem=problem,
            wrong=_control(problem),
            place=self.place,
            schema=self.frame.service.curator(dataset, caller).declared,
            **panel_values(inputs, plan, chosen, **panel),
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
            except SHOWN as problem:
                return self.shown(request, dataset, caller, inputs, problem, status=status_of(problem))
            return self.shown(request, dataset, caller, inputs, plan=plan)

        def live(request: Request, dataset: str, caller: Caller = anyone, form: Form = sent) -> Response:
            """The panel alone, for the script that shows it while someone types."""
            service.curator(dataset, caller)
            inputs = JobInput.read(self.kind, form)
            plan, message = None, ""
            try:
                plan = self.plan(dataset, caller, inputs)[0]
            except SHOWN as problem:
                message = str(problem)
            panel = panel_values(
                inputs, plan, choose_allotment(self._payable(dataset, caller), inputs.text("allotment"))
            )
            values = {"problem": message, "dataset": dataset, "caller": caller, "place": self.place, **panel}
            return frame.fragment("panel.html", csrf=frame.csrf(request), **values)

        def release(request: Request, dataset: str, caller: Caller = may_spend, form: Form = sent) -> Response:
            inputs = JobInput.read(self.kind, form)
            identity, why = form.text("release") or uuid.uuid4().hex, form.text("why")
            plan = None
            try:
                plan, body = self.plan(dataset, caller, inputs)
                check_confirmation(form, plan)
                asked = inputs.request({**body, "release": identity, "why": why})
                # The id of a stream's job is that of the period, under which asking again releases no other.
                asked.release = identity = service.begin(dataset, asked, caller).release
            except SHOWN as problem:
                if plan is None:
                    return self.shown(request, dataset, caller, inputs, problem, status=status_of(problem))
                panel: dict[str, Any] = {"identity": identity, "why": why, "unconfirmed": str(problem)}
                return self.shown(request, dataset, caller, inputs, plan=plan, status=status_of(problem), **panel)
            return RedirectResponse(f"/d/{quote(dataset, safe='')}/jobs/{quote(identity, safe='')}", 303)

        pages.post(place)(price)
        pages.post(f"{place}/price")(live)
        pages.post(f"{place}/release")(release)

    def _payable(self, dataset: str, caller: Caller) -> list[Standing]:
        """The allotments that can pay for such a job: models are charged as fixed plans, all else is not."""
        fixed = self.kind in ("train", "search")
        return [one for one in self.frame.budgets(caller, dataset) if (one.allotment.kind == "plan") == fixed]


def _control(problem: DiscreetError | None) -> str:
    """Which field of the form a problem is about; a share is given as a percentage."""
    name = problem.field.partition(".")[0] if isinstance(problem, InputError) else ""
    return "percent" if name == "share" else name
