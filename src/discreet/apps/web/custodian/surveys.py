"""Surveys: built in a form, planned, opened to anyone at an address, and closed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet.accounting.words import readable
from discreet.apps.server.app import status_of
from discreet.apps.server.survey_folder import SurveyFolder
from discreet.apps.server.surveys import Survey
from discreet.apps.server.tokens import Caller
from discreet.apps.survey.files import write_reports
from discreet.apps.survey.plan import SurveyPlan
from discreet.apps.survey.text import survey_toml
from discreet.apps.web.custodian.section import Change, Section
from discreet.apps.web.custodian.toml_text import check_nesting
from discreet.apps.web.files import attached
from discreet.apps.web.form import Form
from discreet.errors import DiscreetError
from discreet.local.questionnaire.questionnaire import Questionnaire

__all__ = ["add_pages"]

_MOST = 30
_PEOPLE = 1000
_DONE = {"opened": "The survey is open.", "closed": "The survey is closed: no more answers are accepted."}
_WHOLE = ("id", "title", "intro", "minimum")
_GRID = ("low", "high", "step", "unit")
_OF_KIND = {
    "binary": (),
    "choice": ("options",),
    "several": ("options",),
    "ranking": ("options",),
    "number": _GRID,
    "distribution": _GRID,
    "word": ("length", "letters"),
}
_PARTS = ("name", "text", "kind", "options", "low", "high", "step", "unit", "length", "letters", "epsilon")


def add_pages(section: Section) -> None:
    """/custodian/surveys"""
    service = section.service

    def folder() -> SurveyFolder:
        found = service.surveys_here
        if found is None:
            raise HTTPException(409, "This server has no folder for state: surveys are opened with --survey.")
        return found

    @section.pages.get("/custodian/surveys")
    def surveys(request: Request, did: str = "", caller: Caller = section.owner) -> Response:
        here = service.surveys_here
        return section.show(
            request,
            "surveys",
            "surveys",
            caller,
            surveys=[(one, *_received(one)) for one in service.surveys.values()],
            fixed=set(service.surveys if here is None else here.fixed),
            builds=here is not None,
            broken=[] if here is None else here.unreadable(),
            trail=[] if here is None else here.trail.listed("survey"),
            did=_DONE.get(did, ""),
        )

    @section.pages.get("/custodian/surveys/new")
    def new(request: Request, caller: Caller = section.owner) -> Response:
        folder()
        return builder(request, caller, Form([("count", "1"), ("q0_kind", "binary"), ("q0_epsilon", "1")]))

    def builder(
        request: Request, caller: Caller, form: Form, status: int = 200, count: int | None = None, **more: Any
    ) -> Response:
        number = _count(form) if count is None else count
        page: dict[str, Any] = {"problem": None, "plan": None, "text": "", "people": _PEOPLE}
        return section.show(request, "surveys", "builder", caller, status, typed=form, count=number, **(page | more))

    @section.pages.post("/custodian/surveys/new")
    def built(request: Request, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        asked, count = form.text("do"), _count(form)
        if asked == "add":
            return builder(request, caller, form, count=min(count + 1, _MOST))
        if asked.startswith("remove") and asked[6:].isdecimal() and len(asked) < 10 and count > 1:
            return builder(request, caller, _without(form, int(asked[6:]), count), count=count - 1)
        text = form.get("text") or _text(form, count)
        try:
            check_nesting(text, "survey")
            survey = Questionnaire.from_text(text)
            if asked == "open":
                return opened(request, caller, form, survey, text)
            plan = SurveyPlan(survey, _PEOPLE, 0.95, "0.02", None)
            plan.rows()
        except DiscreetError as problem:
            return builder(request, caller, form, status_of(problem), problem=problem)
        if asked == "download":
            return attached(text, survey.id, "toml")
        return builder(request, caller, form, plan=plan, text=text)

    def opened(request: Request, caller: Caller, form: Form, survey: Questionnaire, text: str) -> Response:
        folder().check(survey.id)
        many = len(survey.questions)
        lines = [
            f"Anyone who has the address /surveys/{survey.id}/ can answer, without signing in.",
            "Answers are randomised on the respondent's device: one person reveals at most epsilon = "
            f"{readable(survey.epsilon, 4)}.",
            f"{'Its question stays' if many == 1 else f'Its {many} questions stay'} as written: other words or another "
            "epsilon make another survey.",
            survey.published(),
        ]
        change = Change(
            f"Open the survey {survey.title}", lines, "Yes, open it", "/custodian/surveys", {"text": text, "do": "open"}
        )
        if not change.agreed(form):
            return section.ask(request, "surveys", caller, form, change)
        folder().open(survey.id, text, who=caller.name)
        return RedirectResponse("/custodian/surveys?did=opened", 303)

    @section.pages.post("/custodian/surveys/{name}/close")
    def close(request: Request, name: str, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        folder().text(name)  # only those of the folder are closed here
        lines = (
            "No more answers are accepted: its page says that it is closed.",
            "The answers so far stay, and are shown.",
        )
        change = Change(f"Close the survey {name}", lines, "Yes, close it", "/custodian/surveys", {})
        if not change.agreed(form):
            return section.ask(request, "surveys", caller, form, change)
        folder().close(name, who=caller.name)
        return RedirectResponse("/custodian/surveys?did=closed", 303)

    @section.pages.post("/custodian/surveys/{name}/reopen")
    def reopen(request: Request, name: str, caller: Caller = section.owner, form: Form = section.sent) -> Response:
        folder().text(name)
        lines = (f"Anyone who has the address /surveys/{name}/ can answer again.",)
        change = Change(f"Open the survey {name} again", lines, "Yes, open it", "/custodian/surveys", {})
        if not change.agreed(form):
            return section.ask(request, "surveys", caller, form, change)
        folder().reopen(name, who=caller.name)
        return RedirectResponse("/custodian/surveys?did=opened", 303)

    @section.pages.get("/custodian/surveys/{name}/file")
    def file(name: str, caller: Caller = section.owner) -> Response:
        return attached(folder().text(name), quote(name, safe=""), "toml")

    @section.pages.get("/custodian/surveys/{name}/reports.{kind}")
    def reports(name: str, kind: str, caller: Caller = section.owner) -> Response:
        survey = service.surveys.get(name)
        if survey is None or kind not in ("csv", "parquet"):
            raise HTTPException(404, "Nothing is at this address.")
        with tempfile.TemporaryDirectory() as place:
            out = Path(place) / f"reports.{kind}"
            write_reports(survey.questionnaire, survey.reports, out)
            return attached(out.read_bytes(), f"{name}-reports", kind)


def _received(survey: Survey) -> tuple[int | None, str]:
    """How many reports arrived, or why nobody can tell now."""
    try:
        return sum(count for _, _, count in survey.reports.tally()), ""
    except DiscreetError:
        return None, "The reports cannot be read now."


def _count(form: Form) -> int:
    text = form.text("count")
    return min(max(int(text), 1), _MOST) if text.isascii() and text.isdigit() and len(text) < 4 else 1


def _without(form: Form, gone: int, count: int) -> Form:
    """The form with one question less, and the others moved up."""
    pairs = [(name, form.get(name, "")) for name in _WHOLE]
    left = [number for number in range(count) if number != gone]
    for place, number in enumerate(left):
        pairs += [(f"q{place}_{part}", form.get(f"q{number}_{part}", "")) for part in _PARTS]
    return Form(pairs)


def _text(form: Form, count: int) -> str:
    """The survey that a form describes, as its file."""
    questions = []
    for number in range(count):
        said = {part: form.text(f"q{number}_{part}") for part in _PARTS}
        kind = said["kind"] if said["kind"] in _OF_KIND else "binary"
        entry: dict[str, Any] = {"name": said["name"], "text": said["text"], "kind": kind}
        entry |= {part: said[part] for part in _OF_KIND[kind]}
        if "options" in entry:
            entry["options"] = [line.strip() for line in said["options"].splitlines() if line.strip()]
        questions.append({**entry, "epsilon": said["epsilon"]})
    return survey_toml({name: form.text(name) for name in _WHOLE}, questions)
