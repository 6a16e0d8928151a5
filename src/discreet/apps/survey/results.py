"""What a survey says so far: estimates with error bars as text, JSON, a page or a picture.

One function makes them for the command line and for the server, so that both say the same. The reports were
randomised before they were sent, so this can be looked at as often as one likes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.apps.survey.store import Reports
from discreet.core.release import percent
from discreet.errors import InputError, Phrase
from discreet.local.questionnaire.estimate import QuestionEstimate, estimates
from discreet.local.questionnaire.questionnaire import Questionnaire
from discreet.show import Bar, Markup, Picture, Scale, Table, bars, element, page, stack
from discreet.show.scale import round_up

__all__ = ["Results", "figure", "figures", "results_from", "results_of", "results_page", "save"]

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Results:
    """Estimates for every question of a survey from so many reports."""

    survey: Questionnaire
    reports: int
    confidence: float
    estimates: tuple[QuestionEstimate, ...]

    @property
    def public(self) -> bool:
        """Whether there are as many reports as the survey declares that the public is shown estimates of."""
        return self.reports >= self.survey.minimum

    def to_dict(self, *, owner: bool = False) -> dict[str, Any]:
        """Plain values, the same on the command line and from the server.

        Below the survey's minimum they hold neither estimates nor the number of reports, except for its `owner`.
        """
        shown = owner or self.public
        return {
            "survey": self.survey.id,
            "digest": self.survey.digest,
            "title": self.survey.title,
            "minimum": self.survey.minimum,
            "public": self.public,
            "reports": self.reports if shown else None,
            "confidence": self.confidence,
            "epsilon": float(self.survey.epsilon),
            "questions": [one.to_dict() for one in self.estimates] if shown else [],
        }

    def note(self) -> str:
        """How the numbers are to be read."""
        early = "" if self.public else f" Not public: this survey shows nothing below {self.survey.minimum:,} reports."
        return (
            f"{self.reports:,} reports, every one randomised by the person who sent it.{early} "
            f"{percent(self.confidence)} confidence intervals (not simultaneous). Estimates are unbiased, so a small "
            "one may come out below zero."
        )

    def withheld(self) -> str:
        """What the public reads below the minimum: not how many reports there are."""
        return f"Fewer than {self.survey.minimum:,} reports have arrived. Estimates are shown from then on."


def results_from(survey: Questionnaire, columns: Sequence[Mapping[Any, int]], *, confidence: float) -> Results:
    """The estimates, from how often each report came to each question."""
    made = estimates(survey, columns, confidence=confidence)
    return Results(survey, made[0].reports, confidence, made)


def results_of(survey: Questionnaire, reports: Reports, *, confidence: float = CONFIDENCE) -> Results:
    """The estimates from a store. Reports of another survey and broken ones are refused."""
    columns: list[Counter[Any]] = [Counter() for _ in survey.questions]
    for digest, answers, count in reports.tally():
        if digest != survey.digest:
            raise InputError(
                "reports",
                Phrase(f"survey {digest[:12]}"),
                f"reports of this survey only, {survey.digest[:12]}",
                "Reports of another survey, or of another epsilon, are mixed in.",
            )
        for column, report in zip(columns, _read(survey, answers), strict=True):
            column[report] += count
    return results_from(survey, columns, confidence=confidence)


def _read(survey: Questionnaire, answers: str) -> tuple[Any, ...]:
    try:
        return survey.read(json.loads(answers))
    except (ValueError, RecursionError):  # InputError is a ValueError; what is broken is not repeated
        pass
    raise InputError("reports", Phrase("a broken report"), "answers as the page of this survey writes them")


def results_page(found: Results, *, alone: bool = False, owner: bool = False) -> str:
    """A page with a plot and a table for each question; `alone` carries its style and needs no server.

    Below the survey's minimum it says only that, except to its `owner`.
    """
    shown = owner or found.public
    body = [
        element("h1", None, found.survey.title),
        element("p", None, found.note() if shown else found.withheld()),
        *([] if alone else [element("p", None, element("a", {"href": "results"}, "Look again"))]),
        *(map(_section, found.estimates) if shown else ()),
        element("footer", None, element("p", {"class": "quiet"}, found.survey.about())),
    ]
    linked, icon = ("", "") if alone else ("style.css", "icon.svg")
    title = f"{found.survey.title}: results"
    return page(title, body, kind="survey", private=True, linked=linked, icon=icon)


def _section(estimated: QuestionEstimate) -> Markup:
    heading = element("h2", None, estimated.question.text)
    if estimated.reports == 0:
        return element("section", None, heading, element("p", None, "No report yet."))
    table = Table.of(["", "estimate", "from", "to"], estimated.rows(), estimated.caption())
    return element("section", {"class": "card"}, heading, figure(estimated).figure(table=False), table)


def save(found: Results, path: Path, *, owner: bool = False) -> Path:
    """Write a plot: .svg, .png (the `charts` extra) or .html. Below the survey's minimum, for its `owner` only."""
    kind = path.suffix.lower()
    if kind not in (".svg", ".png", ".html") or not path.absolute().parent.is_dir():
        raise InputError("--plot", str(path), "a file that ends in .svg, .png or .html, in a folder that exists")
    if found.reports == 0:
        raise InputError("--plot", str(path), "left out: there is no report yet")
    if not (owner or found.public):
        hint = "As its owner, add --below-minimum; do not pass such a plot on."
        raise InputError("--plot", str(path), f"left out below {found.survey.minimum:,} reports", hint)
    if kind == ".html":
        path.write_text(results_page(found, alone=True, owner=owner), encoding="utf-8")
        return path
    title = found.survey.title if found.public else f"{found.survey.title} (not public)"
    return figures(title, found.estimates).save(path)


def figure(estimated: QuestionEstimate) -> Picture:
    """One question: bars for shares, a point for a mean, on an axis that holds every answer that can be."""
    every = zip(estimated.labels, estimated.value, estimated.lower, estimated.upper, strict=True)
    data = [Bar(label, float(value), float(lower), float(upper)) for label, value, lower, upper in every]
    low = min(float(estimated.lower.min()), estimated.floor)
    high = max(float(estimated.upper.max()), estimated.ceiling)
    number = estimated.number
    return bars(
        estimated.question.text,
        data,
        format=number,
        ticks=number,
        scale=_axis(low, high),
        points=not estimated.shares,
        description=estimated.words(),
        heads=("", "estimate", "from", "to"),
    )


def figures(title: str, every: Sequence[QuestionEstimate]) -> Picture:
    """Every question in one picture."""
    return stack(title, [figure(estimated) for estimated in every])


def _axis(low: float, high: float) -> Scale:
    """From a round number to a round number, around a range."""
    step = round_up((high - low) / 5 or 1)
    return Scale(step * (low // step), step * -(-high // step) if high > low else low + step)
