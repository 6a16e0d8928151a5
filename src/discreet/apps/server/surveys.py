"""Surveys beside the curator: each under /surveys/NAME/, for anyone, without a log.

They pass none of what callers pass: no token is asked for, no cookie is read, nothing is written about a request. Each
has the limits and headers of its own application.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.responses import RedirectResponse

from discreet.apps.survey.server import application
from discreet.apps.survey.store import Reports, open_reports
from discreet.errors import InputError
from discreet.local.questionnaire.questionnaire import Questionnaire

__all__ = ["Survey", "Surveys", "check_once", "check_survey_name", "survey_at"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Survey:
    """A survey that is served: what is asked, and where randomised reports are kept."""

    name: str
    questionnaire: Questionnaire
    reports: Reports
    open: bool = True
    """Whether it takes answers; one that is over still shows what was answered."""

    @property
    def path(self) -> str:
        """Where its page is."""
        return f"/surveys/{self.name}/"

    def described(self) -> dict[str, Any]:
        """What is public of it."""
        asked = self.questionnaire
        return {
            "survey": self.name,
            "title": asked.title,
            "digest": asked.digest,
            "path": self.path,
            "results": f"{self.path}results.json",
            "questions": [question.text for question in asked.questions],
        }


def survey_at(place: str) -> Survey:
    """A survey as named on the command line: FILE, or FILE=STORE; reports go to FILE's name with .db by default."""
    file, _, store = place.partition("=")
    asked = Questionnaire.load(Path(file))
    name = Path(file).stem
    check_survey_name(name, "--survey")
    check_once(asked)
    kept = open_reports(store or str(Path(file).with_name(f"{name}-reports.db")), asked.digest)
    return Survey(name, asked, kept)


def check_survey_name(name: str, field: str) -> None:
    """`InputError` unless it can stand in an address."""
    if not _NAME.fullmatch(name):
        raise InputError(field, name, "a name that can stand in an address: letters, digits, . _ -")


def check_once(asked: Questionnaire) -> None:
    """`InputError` for a survey of several rounds: somebody has to say when the next one begins."""
    if asked.rounds:
        hint = "Serve it alone: discreet survey serve --round 1."
        raise InputError("survey", asked.id, "a survey without [repeat]", hint)


class Surveys:
    """ASGI middleware before all others: what belongs to a survey goes to its application and to nothing else."""

    def __init__(self, app: Any, *, surveys: Mapping[str, Survey], origin: str | None = None) -> None:
        self.app, self.surveys, self.origin = app, surveys, origin
        self.served: dict[str, tuple[Survey, Any]] = {}

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        path = scope.get("path", "")
        if scope["type"] == "http" and path.startswith("/surveys/"):
            name = path.removeprefix("/surveys/").partition("/")[0]
            first = f"/surveys/{name}/"
            # It may have been opened or closed by another process a moment ago: that is looked up in a file.
            found = await anyio.to_thread.run_sync(self._application, name)
            if found is not None and path == first.removesuffix("/"):
                await RedirectResponse(first, 308)(scope, receive, send)
                return
            if found is not None:
                root = scope.get("root_path", "") + first.removesuffix("/")
                await found({**scope, "root_path": root}, receive, send)
                return
        await self.app(scope, receive, send)

    def _application(self, name: str) -> Any:
        survey = self.surveys.get(name)
        if survey is None:
            return None
        known = self.served.get(name)
        if known is None or known[0] is not survey:
            made = application(survey.questionnaire, survey.reports, origin=self.origin, accepting=survey.open)
            known = self.served[name] = (survey, made)
        return known[1]
