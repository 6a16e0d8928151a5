"""Ask: a question, its price and its errors both ways, what it means; then a confirmation that must be typed."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

import anyio.to_thread
from fastapi import APIRouter, Depends, HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from discreet.accounting.words import readable
from discreet.apps.server.app import status_of
from discreet.apps.server.jobs import public_words
from discreet.apps.server.pacing import Pacer
from discreet.apps.server.tokens import Caller
from discreet.apps.web.choices import conditions, groupable, measures, summable, words
from discreet.apps.web.form import Form
from discreet.apps.web.frame import Frame
from discreet.apps.web.panel import affordable, check_confirmation, choose_allotment, panel_values
from discreet.apps.web.question_input import LIMITS, SIZES, TABS, Output, QuestionInput
from discreet.apps.web.question_reading import as_form, as_sql, from_release, from_saved, saved_text
from discreet.curator.plan_view import PlanView, view_plan
from discreet.curator.saved_questions import SavedQuestions, described
from discreet.data.schema import Schema
from discreet.data.text import DIALECTS
from discreet.errors import BudgetError, DiscreetError, InputError
from discreet.ledger.account import Standing
from discreet.query.ask import Ask

__all__ = ["routes"]


def routes(frame: Frame) -> APIRouter:
    """/d/{dataset}/ask and what is under it"""
    pages = frame.router(Ask)
    frame.links.append(("ask", "Ask"))
    frame.tables.add("ask")
    service, pacer = frame.service, Pacer(frame.service)
    anyone: Any = Depends(frame.caller)
    may_spend: Any = Depends(frame.spender)
    sent: Any = Depends(frame.form)

    def shown(
        request: Request,
        dataset: str,
        caller: Caller,
        question: QuestionInput,
        problem: DiscreetError | None = None,
        plan: PlanView | None = None,
        status: int = 200,
        said: str = "",
        stuck: bool = False,
        **more: Any,
    ) -> HTMLResponse:
        curator = service.curator(dataset, caller)
        schema = curator.schema
        standing = frame.budgets(caller, dataset)
        chosen = choose_allotment(standing, question.allotment)
        return frame.page(
            request,
            "ask.html",
            caller,
            status,
            question=question if plan is None else question.priced(plan.ways),
            measures=measures(),
            dialects=DIALECTS,
            summable=summable(schema),
            groupable=groupable(schema),
            words=list(words(schema)),
            conditions=list(conditions(schema)),
            sizes=SIZES,
            free=any(key.bins == "?" for key in question.keys),
            said=said,
            stuck=stuck,
            saved=[one.name for one in curator.saved.listed()],
            limits={} if schema.unit.column is None else LIMITS,
            unit=schema.unit,
            standing=standing,
            currency=chosen.allotment.currency if chosen else "epsilon",
            problem=None if problem is None else _worded(problem, question, schema),
            wrong=_control(problem),
            **panel_values(question, plan, chosen, **more),
        )

    def plan_for(dataset: str, caller: Caller, question: QuestionInput) -> PlanView:
        return service.planned(dataset, question.request(), caller, view_plan)

    def priced(request: Request, dataset: str, caller: Caller, question: QuestionInput, **more: Any) -> HTMLResponse:
        """The page with a question and its price; of a question that has none, why."""
        try:
            return shown(request, dataset, caller, question, plan=plan_for(dataset, caller, question), **more)
        except DiscreetError as problem:
            status = more.pop("status", 200 if request.method == "GET" else status_of(problem))
            return shown(request, dataset, caller, question, problem, status=status, **more)

    @pages.get("/d/{dataset}/ask")
    def ask(request: Request, dataset: str, caller: Caller = anyone) -> Response:
        curator = service.curator(dataset, caller)
        form = Form(list(request.query_params.multi_items()))
        question, said = QuestionInput.read(form), ""
        try:
            if name := form.text("saved"):
                question = from_saved(curator.saved.find(name), curator)
                said = f"The saved question {name}. Nothing is spent until you confirm its price."
            elif identity := form.text("from"):
                known = curator.ledger.find(identity)
                if known is None or known.charged.dataset != dataset:
                    raise InputError("from", identity, "the id of a release of this dataset")
                question = from_release(known, curator)
                said = "The question of an earlier release. Change what you like; nothing is spent until you confirm."
        except DiscreetError as problem:
            return shown(request, dataset, caller, question, problem, status=status_of(problem))
        if question.tab == "sql" and not question.sql.strip():
            question = replace(question, sql=f"SELECT COUNT(*) AS n FROM {curator.schema.name}")
        if not any(question.amounts.values()):
            question = _begun(question, frame.budgets(caller, dataset))
        return priced(request, dataset, caller, question, said=said)

    @pages.post("/d/{dataset}/ask")
    def price(request: Request, dataset: str, caller: Caller = anyone, form: Form = sent) -> Response:
        question, go = QuestionInput.read(form), form.text("go")
        if go in (*TABS, "anyway"):
            return turned(request, dataset, caller, question, go)
        if go == "save":
            return save(request, dataset, caller, question, form.text("save_as"))
        if go.startswith(("add-", "drop-")):
            try:
                plan = plan_for(dataset, caller, question)
            except DiscreetError:  # what is half filled in is no mistake yet
                plan = None
            return shown(request, dataset, caller, question, plan=plan)
        return priced(request, dataset, caller, question)

    def turned(request: Request, dataset: str, caller: Caller, question: QuestionInput, to: str) -> Response:
        """The same question on another tab; where it cannot be said there, why, and nothing is lost."""
        curator = service.curator(dataset, caller)
        if to == "anyway":
            return priced(request, dataset, caller, replace(question, tab="form"), status=200)
        try:
            if (question.tab, to) == ("form", "sql"):
                question = as_sql(question, curator)
            elif (question.tab, to) == ("sql", "form") and question.sql.strip():
                question = as_form(question, curator)
        except DiscreetError as problem:
            stuck = question.tab == "sql"
            return shown(request, dataset, caller, question, problem, status=status_of(problem), stuck=stuck)
        return priced(request, dataset, caller, replace(question, tab=to), status=200)

    def save(request: Request, dataset: str, caller: Caller, question: QuestionInput, name: str) -> Response:
        """Keep a question under a name, once it is known to have a price."""
        if not caller.spends:
            raise HTTPException(403, "This token may look but not save questions.")
        try:
            asked = question.request()
            plan = plan_for(dataset, caller, question)
            curator = service.curator(dataset, caller)
            _check_owner(curator.saved, name, caller)
            statement = (question.sql, asked.dialect) if question.tab == "sql" else ()
            kept = described(asked.question(curator).query, *statement)
            price = asked.model_dump(exclude_none=True)
            if asked.at_rows is not None:  # what that came to
                currency = "rho" if "rho" in plan.ways else "epsilon"
                price |= {"within": None, currency: plan.ways[currency]}
            saved = curator.saved.save(name, kept, price, who=caller.name)
        except DiscreetError as problem:
            return shown(request, dataset, caller, question, problem, status=status_of(problem))
        said = f"Saved as {saved.name}. It can be asked again, about later data too."
        return shown(request, dataset, caller, question, plan=plan, said=said)

    @pages.post("/d/{dataset}/ask/forget")
    def forget(dataset: str, caller: Caller = may_spend, form: Form = sent) -> Response:
        curator = service.curator(dataset, caller)
        _check_owner(curator.saved, form.text("saved"), caller)
        curator.saved.remove(form.text("saved"))
        return RedirectResponse(f"/d/{quote(dataset, safe='')}/ask/saved", 303)

    @pages.get("/d/{dataset}/ask/saved")
    def saved(request: Request, dataset: str, caller: Caller = anyone) -> Response:
        curator = service.curator(dataset, caller)
        listed = curator.saved.listed()
        shown = [(one, saved_text(one, curator)) for one in listed]
        return frame.page(request, "saved.html", caller, listed=shown)

    @pages.post("/d/{dataset}/ask/price")
    def live(dataset: str, request: Request, caller: Caller = anyone, form: Form = sent) -> Response:
        """The panel alone, for the script that shows it while someone types."""
        schema = service.curator(dataset, caller).schema
        question = QuestionInput.read(form)
        chosen = choose_allotment(frame.budgets(caller, dataset), question.allotment)
        try:
            plan, message = plan_for(dataset, caller, question), ""
        except DiscreetError as problem:
            plan, message = None, _worded(problem, question, schema)
        more = panel_values(question, plan, chosen)
        values = {"problem": message, "dataset": dataset, "caller": caller, **more}
        return frame.fragment("panel.html", csrf=frame.csrf(request), **values)

    @pages.post("/d/{dataset}/ask/release")
    async def release(request: Request, dataset: str, caller: Caller = may_spend, form: Form = sent) -> Response:
        question = QuestionInput.read(form)
        identity, why = form.text("release") or uuid.uuid4().hex, form.text("why")
        try:
            asked = question.request(identity, why)
            plan = await anyio.to_thread.run_sync(plan_for, dataset, caller, question)
        except DiscreetError as problem:
            return await _aside(shown, request, dataset, caller, question, problem, status=status_of(problem))
        try:
            check_confirmation(form, plan)
            found = await pacer.answer(dataset, asked, caller, request.scope.get("discreet.begun"))
        except BudgetError as refusal:
            return await _aside(_refused, frame, request, dataset, caller, question, refusal)
        except InputError as problem:
            panel: dict[str, Any] = {"identity": identity, "why": why, "unconfirmed": str(problem)}
            return await _aside(shown, request, dataset, caller, question, plan=plan, status=422, **panel)
        place = quote(str(found.get("id", identity)), safe="")
        return RedirectResponse(f"/d/{quote(dataset, safe='')}/releases/{place}?new=1", 303)

    return pages


def _check_owner(saved: SavedQuestions, name: str, caller: Caller) -> None:
    """Refuse to replace or remove what somebody else saved; custodians may."""
    if saved.owner(name) not in (None, caller.name) and caller.role != "custodian":
        hint = "Nothing was changed. Somebody else saved it: they may replace or remove it, and so may a custodian."
        raise InputError("name", name, "a name that no question of somebody else has", hint)


async def _aside(page: Callable[..., HTMLResponse], *values: Any, **more: Any) -> HTMLResponse:
    """A page made in a thread of its own: pricing takes a while, and others are not to wait for it."""
    return await anyio.to_thread.run_sync(functools.partial(page, *values, **more))


def _refused(
    frame: Frame, request: Request, dataset: str, caller: Caller, question: QuestionInput, refusal: BudgetError
) -> HTMLResponse:
    """The page after a refusal: what is left, and what could be asked with it."""
    standing = frame.budgets(caller, dataset)
    chosen = next((one for one in standing if one.allotment.name == refusal.allotment), None)
    values: dict[str, Any] = {"message": str(refusal), "chosen": chosen, "instead": "", "plan": None}
    if chosen is not None and chosen.left.amount > 0:
        smaller = affordable(question, chosen)
        values["instead"] = urlencode(smaller.fields())
        try:
            values["plan"] = frame.service.planned(dataset, smaller.request(), caller, view_plan)
        except DiscreetError:
            values["instead"] = ""  # what is left buys no noise that can be made
    return frame.page(request, "refused.html", caller, 409, **values)


def _begun(question: QuestionInput, standing: list[Standing]) -> QuestionInput:
    """What the form holds at first: a count, for a tenth of the first allotment."""
    chosen = choose_allotment(standing, question.allotment)
    if chosen is None:
        return question
    part = chosen.allotment
    return replace(
        question,
        outputs=question.outputs or (Output("count"),),
        way="epsilon" if part.currency == "epsilon" else "percent",
        amounts={"epsilon": readable(part.cap.amount / 10, 3, "down"), "percent": "10"},
        allotment=part.name if len(standing) > 1 else question.allotment,
    )


def _worded(problem: DiscreetError, question: QuestionInput, schema: Schema) -> str:
    """What is wrong, in words of the form: a key that needs bins has a field for them."""
    if isinstance(problem, InputError) and problem.field == "group_by" and question.tab == "form":
        name = next((key.column for key in question.keys if key.column == problem.got and not key.bins), None)
        ways = dict(groupable(schema)).get(name or "", "")
        if ways:
            return f"Fill in the bins of `{name}`, so that its groups are known beforehand: {ways}."
    return public_words(problem)


def _control(problem: DiscreetError | None) -> str:
    """Which field of the form a problem is about, as far as its name says."""
    name = problem.field if isinstance(problem, InputError) else ""
    for begin, control in _CONTROLS.items():
        if name.startswith(begin):
            return control
    return ""


_CONTROLS = {
    "epsilon": "epsilon",
    "rho": "rho",
    "share": "percent",
    "percent": "percent",
    "at_rows": "at_rows",
    "name": "save_as",
    "within": "within",
    "confidence": "confidence",
    "delta": "delta",
    "where": "where",
    "sql": "sql",
    "dialect": "dialect",
    "--by": "by0",
    "by": "by0",
    "group_by": "by0",
    "bins": "by0",
    "groups": "groups",
    "most": "most",
    "per_person": "count_by",
    "output": "of0",
    "limits.groups": "limit_groups",
    "limits.rows_total": "limit_rows_total",
    "limits.rows": "limit_rows",
    "allotment": "allotment",
}
