"""The page a person fills in: the survey is put in as data, never as markup or script."""

from __future__ import annotations

from fractions import Fraction
from importlib.resources import files
from typing import Any

from discreet.local.questionnaire.grid import written
from discreet.local.questionnaire.law import law_to_page
from discreet.local.questionnaire.question import Question
from discreet.local.questionnaire.questionnaire import PRIOR, Questionnaire
from discreet.show import Markup, page

__all__ = ["content", "render"]


def render(survey: Questionnaire) -> str:
    """The HTML of a survey. Everything that came from its file is text when the page shows it."""
    body = Markup((files("discreet.apps.survey") / "page.html").read_text("utf-8"))
    own = {"linked": "style.css", "module": "page.js", "icon": "icon.svg"}
    return page(survey.title, [body], kind="survey", private=True, data=content(survey), **own)


def content(survey: Questionnaire) -> dict[str, Any]:
    """What the page's script is given: questions, laws in whole numbers, sentences made from exact numbers."""
    return {
        "digest": survey.digest,
        "title": survey.title,
        "intro": survey.intro,
        "about": survey.about(),
        "together": survey.reveals(),
        "published": survey.published(),
        "questions": [_question(question) for question in survey.questions],
    }


def _question(question: Question) -> dict[str, Any]:
    number = None
    if question.grid is not None:
        grid = question.grid
        number = {
            "low": _ratio(grid.low),
            "by": _ratio(grid.step),
            "points": grid.points,
            "least": grid.text(0),
            "most": grid.text(grid.points - 1),
            "step": written(grid.step),
            "unit": question.unit,
        }
    return {
        "text": question.text,
        "options": None if question.grid is not None else list(question.options),
        "number": number,
        "reports": question.report_labels(),
        "law": law_to_page(question.law),
        "chance": question.chance(),
        "reveal": question.reveals(PRIOR),
    }


def _ratio(value: Fraction) -> list[str]:
    return [str(value.numerator), str(value.denominator)]
