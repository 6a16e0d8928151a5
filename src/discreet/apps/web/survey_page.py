"""Surveys: those open here, what they reveal, how many people they need, and what the reports say so far.

What respondents see is another application under /surveys/NAME/: it knows no session, and nothing here is put into it.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from discreet.accounting.words import readable
from discreet.apps.server.app import status_of
from discreet.apps.server.surveys import Survey
from discreet.apps.server.tokens import Caller
from discreet.apps.survey.plan import SurveyPlan
from discreet.apps.survey.results import figure, results_of
from discreet.apps.web.form import Form
from discreet.apps.web.frame import Frame
from discreet.core.exact import as_written
from discreet.core.release import percent
from discreet.errors import DiscreetError, InputError
from discreet.local.questionnaire.estimate import QuestionEstimate
from discreet.mechanisms.inputs import read_confidence, read_count
from discreet.show import Markup

__all__ = ["routes"]

_FIRST = {"people": "1000", "confidence": "0.95", "within": "0.05", "prior": "0.5"}


def routes(frame: Frame) -> APIRouter:
    """/surveys"""
    pages = frame.router()
    frame.wide.append(("/surveys", "Surveys"))
    surveys = frame.service.surveys
    anyone: Any = Depends(frame.caller)

    @pages.get("/surveys")
    def page(request: Request, survey: str = "", caller: Caller = anyone) -> Response:
        chosen = surveys.get(survey) or next(iter(surveys.values()), None)
        texts = _FIRST | {
            name: value for name, value in Form(list(request.query_params.multi_items())).items() if value
        }
        texts = {name: texts[name].strip() for name in _FIRST}
        values: dict[str, Any] = {"plan": None, "problem": None, "wrong": "", "found": None, "away": ""}
        status = 200
        if chosen is not None:
            try:
                values["plan"] = _plan(chosen, texts)
            except DiscreetError as problem:
                wrong = problem.field if isinstance(problem, InputError) else ""
                values |= {"problem": problem, "wrong": wrong}
                status = status_of(problem)
            try:
                values["found"] = _found(chosen, caller)
            except InputError as problem:  # reports of another survey
                values["away"] = str(problem)
            except DiscreetError:  # what a database says is not for everyone
                values["away"] = "The reports cannot be read now."
        every = list(surveys.values())
        return frame.page(request, "surveys.html", caller, status, every=every, chosen=chosen, texts=texts, **values)

    return pages


def _plan(survey: Survey, texts: dict[str, str]) -> SurveyPlan:
    """The survey with so many people in mind; what is wrong with a field is said by its name."""
    people = texts["people"].replace(",", "")
    if not people.isdecimal() or len(people) > 12:
        raise InputError("people", texts["people"], "a whole number of people, such as 1000")
    read_count(int(people), "people")
    sure = float(as_written(texts["confidence"], "confidence"))
    read_confidence(sure)
    plan = SurveyPlan(survey.questionnaire, int(people), sure, texts["prior"], texts["within"])
    plan.rows()  # errors in the other fields show here
    return plan


def _found(survey: Survey, caller: Caller) -> dict[str, Any]:
    """What the reports say: free, since each was randomised by whoever sent it. Below the minimum, for custodians."""
    results = results_of(survey.questionnaire, survey.reports)
    shown = results.public or caller.role == "custodian"
    return {
        "shown": shown,
        "reports": results.reports,
        "note": results.note() if shown else results.withheld(),
        "confidence": results.confidence,
        "questions": [(one.largest(), _drawn(one)) for one in results.estimates],
        "epsilon": readable(survey.questionnaire.epsilon, 4),
    }


def _drawn(estimated: QuestionEstimate) -> Markup | None:
    """A question as a picture, once there are reports."""
    caption = f"{estimated.caption()}, with {percent(estimated.confidence)} intervals"
    return figure(estimated).figure(caption, table=False) if estimated.reports else None
