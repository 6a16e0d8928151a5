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

from starlette.responses import RedirectResponse

from discreet.apps.survey.server import application
from discreet.apps.survey.store import Reports, open_reports
from discreet.errors import InputError
from discreet.local.questionnaire.questionnaire import Questionnaire

__all__ = ["Survey", "Surveys", "survey_at"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Survey:
    """A survey that is served: what is asked, and where randomised reports are kept."""

    name: str
    questionnaire: Questionnaire
    reports: Reports

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
    if not _NAME.fullmatch(name):
        raise InputError("--survey", name, "a file whose name can stand in an address: letters, digits, . _ -")
    kept = open_reports(store or str(Path(file).with_name(f"{name}-reports.db")), asked.digest)
    return Survey(name, asked, kept)


class Surveys:
    """ASGI middleware before all others: what belongs to a survey goes to its application and to nothing else."""

    def __init__(self, app: Any, *, surveys: Mapping[str, Survey], origin: str | None = None) -> None:
        self.app = app
        self.served = {one.path: application(one.questionnaire, one.reports, origin=origin) for one in surveys.values()}

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        path = scope.get("path", "")
        if scope["type"] == "http" and path.startswith("/surveys/"):
            first = f"/surveys/{path.removeprefix('/surveys/').partition('/')[0]}/"
            found = self.served.get(first)
            if found is not None and path == first.removesuffix("/"):
                await RedirectResponse(first, 308)(scope, receive, send)
                return
            if found is not None:
                root = scope.get("root_path", "") + first.removesuffix("/")
                await found({**scope, "root_path": root}, receive, send)
                return
        await self.app(scope, receive, send)
