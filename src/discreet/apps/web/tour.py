"""A tour of the pages in six steps: a bar above each page says what to look at, without a script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet.apps.web.form import Form

if TYPE_CHECKING:
    from discreet.apps.web.frame import Frame

__all__ = ["STEPS", "Step", "Tour", "routes", "tour_at"]

COOKIE = "discreet-tour"


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its title, what there is to see, the page it is on, and what is marked there."""

    title: str
    text: str
    page: str
    """The end of the path under the dataset."""
    mark: str


STEPS = (
    Step(
        "what is left",
        "The bar in the header is the privacy budget: the most that all answers together may ever cost. Every "
        "answer takes a part of it. When it is empty, there are no more answers.",
        "",
        "budgets",
    ),
    Step(
        "who is protected",
        "This page says whose data is protected as a whole, and what is declared about each column. Nothing on it was "
        "read off the data, so it may be public.",
        "",
        "main",
    ),
    Step(
        "ask, and see the price first",
        "Choose what to compute and for which groups. The price, the errors to expect and what they mean are shown "
        "beside the form before anything is spent. Set a price and the accuracy follows, or the other way round.",
        "ask?of0=count&by0={key}&way=percent&percent=10",
        "panel",
    ),
    Step(
        "confirm, and get the answer",
        "Type the price to spend it. That is the only way to spend: the charge is on the ledger before the data is "
        "read. Ask the same again and the page says that you have the answer already, for free.",
        "ask?of0=count&by0={key}&way=percent&percent=10",
        "confirm",
    ),
    Step(
        "read it as often as you like",
        "Published answers, each number with its confidence interval. Reading, sorting and downloading them is free, "
        "for everyone who has a token.",
        "releases",
        "main",
    ),
    Step(
        "the ledger",
        "Every charge: who, when, why and how much. A custodian can have it verified at any time, and nobody can spend "
        "past the budget, not even with two browsers at once.",
        "ledger",
        "main",
    ),
)


@dataclass(frozen=True, slots=True)
class Tour:
    """Where someone is on the tour."""

    number: int
    dataset: str
    path: str
    here: bool

    @property
    def step(self) -> Step:
        """The step."""
        return STEPS[self.number - 1]

    @property
    def total(self) -> int:
        """How many steps there are."""
        return len(STEPS)

    @property
    def next(self) -> str:
        """The title of the step after it."""
        return STEPS[self.number].title if self.number < len(STEPS) else ""


def tour_at(request: Request, dataset: str) -> Tour | None:
    """The tour of whoever looks; None if they are on none."""
    text, _, named = request.cookies.get(COOKIE, "").partition("/")
    if not text.isdecimal() or len(text) > 2 or not 1 <= int(text) <= len(STEPS) or not dataset:
        return None
    number = int(text)
    path = _path(dataset, number, named)
    return Tour(number, dataset, path, request.url.path.rstrip("/") == path.partition("?")[0])


def _path(dataset: str, number: int, key: str) -> str:
    """The page of a step; `key` is a column to group by, if the table has one."""
    end = STEPS[number - 1].page.format(key=quote(key, safe=""))
    return f"/d/{quote(dataset, safe='')}/{end}".rstrip("/")


def routes(frame: Frame) -> APIRouter:
    """/tour"""
    pages = frame.router()
    anyone: Any = Depends(frame.caller)
    sent: Any = Depends(frame.form)

    @pages.post("/tour")
    def tour(request: Request, caller: Any = anyone, form: Form = sent) -> Response:
        """Go to a step, or end the tour with step 0."""
        dataset, step = form.text("dataset"), form.text("step")
        known = frame.service.datasets(caller)
        if dataset not in known:
            dataset = next(iter(known), "")
        number = int(step) if step.isdecimal() and len(step) < 3 else 0
        if not 1 <= number <= len(STEPS) or not dataset:
            back = RedirectResponse(f"/d/{quote(dataset, safe='')}" if dataset else "/", 303)
            back.delete_cookie(COOKIE, path="/")
            return back
        key = _key(frame.service.curator(dataset, caller).declared)
        there = RedirectResponse(_path(dataset, number, key), 303)
        secure = request.url.scheme == "https"
        there.set_cookie(COOKIE, f"{number}/{key}", path="/", httponly=True, samesite="strict", secure=secure)
        return there

    return pages


def _key(declared: Any) -> str:
    """A column to group by in the tour: the first whose few values are declared, under a plain name."""
    columns = getattr(declared, "columns", {})
    few = [name for name, column in columns.items() if 2 <= len(getattr(column, "values", ())) <= 12]
    return next((name for name in few if name.isidentifier() and name.isascii()), "")
