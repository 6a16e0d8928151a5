"""What the custodian's pages share: tabs, who may look, and a change that is shown before it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from discreet.apps.server.tokens import Caller
from discreet.apps.web.form import Form
from discreet.apps.web.frame import Frame
from discreet.core.digest import digest_of

__all__ = ["Change", "Section", "routes"]

TABS = {
    "": "Overview",
    "datasets": "Datasets",
    "budgets": "Budgets",
    "ledger": "Ledger",
    "tokens": "Tokens",
    "surveys": "Surveys",
    "registry": "Registry",
}
"""The end of each path, and what the page is called."""


def routes(frame: Frame) -> APIRouter:
    """/custodian and what is under it"""
    section = Section(frame)
    for name in TABS:
        import_module(f"{__package__}.{name or 'overview'}").add_pages(section)
    return section.pages


@dataclass(frozen=True, slots=True)
class Change:
    """What a form would do: shown first, done once the same is agreed to."""

    heading: str
    lines: Sequence[str]
    """What will happen."""
    yes: str
    """What the button says that agrees."""
    back: str
    fields: Mapping[str, str]
    """What the form said, to be sent again."""
    reasoned: bool = False
    """Whether a reason goes on record with it."""
    grave: bool = False
    """Whether it cannot be undone."""
    listed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Fields that were sent more than once, to be sent again."""
    amounts: Sequence[tuple[str, str, str]] = ()
    """Of each allotment its name, what it has and what it will have."""

    @property
    def seen(self) -> str:
        """A fingerprint of what is shown: agreeing to something that has changed since agrees to nothing."""
        return digest_of([self.heading, [*self.lines], [[*one] for one in self.amounts]])[:32]

    def agreed(self, form: Form) -> bool:
        """Whether a form agrees to this, as it was shown."""
        given = bool(form.text("why")) or not self.reasoned
        return form.text("agreed") == "yes" and form.text("seen") == self.seen and given

    def problem(self, form: Form) -> str:
        """Why a form that agrees does not agree to this; nothing for one that is sent for the first time."""
        if form.text("agreed") != "yes":
            return ""
        if form.text("seen") != self.seen:
            return "Something changed since this was shown, and nothing was done. Look at it again."
        return "A reason is needed: it goes on record. Nothing was changed."


class Section:
    """The pages and who may use them: a custodian, with forms that this browser was given."""

    def __init__(self, frame: Frame) -> None:
        self.frame, self.service = frame, frame.service
        self.pages = frame.router()
        self.owner: Any = Depends(frame.custodian)
        self.sent: Any = Depends(frame.form)

    def show(
        self, request: Request, tab: str, template: str, caller: Caller, status: int = 200, **values: Any
    ) -> Response:
        """A page of the section."""
        tabs = [(f"/custodian/{end}".rstrip("/"), text, end == tab) for end, text in TABS.items()]
        return self.frame.page(request, f"custodian/{template}.html", caller, status, tabs=tabs, **values)

    def ask(self, request: Request, tab: str, caller: Caller, form: Form, change: Change) -> Response:
        """What will happen, and a form that agrees to it."""
        problem = change.problem(form)
        status = 422 if problem else 200
        values = {"change": change, "problem": problem, "why": form.text("why"), "action": request.url.path}
        return self.show(request, tab, "confirm", caller, status, **values)
