"""The page a person fills in: the survey is put in as data, never as markup or script."""

from __future__ import annotations

from fractions import Fraction
from importlib.resources import files
from typing import Any

from discreet.apps.survey.blind import PublicKey
from discreet.local.heavy_hitters import HeavyHitters
from discreet.local.questionnaire.entry import LETTERS
from discreet.local.questionnaire.form import Scale
from discreet.local.questionnaire.grid import written
from discreet.local.questionnaire.law import Choice, law_to_page
from discreet.local.questionnaire.question import Question
from discreet.local.questionnaire.questionnaire import PRIOR, Questionnaire
from discreet.local.questionnaire.words import folds
from discreet.show import Markup, element, page

__all__ = ["content", "render", "render_closed"]


def render(survey: Questionnaire, key: PublicKey | None = None) -> str:
    """The HTML of a survey. Everything that came from its file is text when the page shows it.

    With a `key` it asks for an invitation, and has its token signed.
    """
    body = Markup((files("discreet.apps.survey") / "page.html").read_text("utf-8"))
    own = {"linked": "style.css", "module": "page.js", "icon": "icon.svg"}
    return page(survey.title, [body], kind="survey", private=True, data=content(survey, key), **own)


def render_closed(survey: Questionnaire, results: bool) -> str:
    """The page of a survey that is over."""
    said = "This survey is closed: no more answers are accepted. Thank you to everyone who took part."
    parts = [element("h1", None, survey.title), element("p", {"class": "notice"}, said)]
    if results:
        parts.append(element("p", None, element("a", {"href": "results"}, "See the estimates")))
    return page(survey.title, parts, kind="survey", private=True, linked="style.css", icon="icon.svg")


def content(survey: Questionnaire, key: PublicKey | None = None) -> dict[str, Any]:
    """What the page's script is given: questions, laws in whole numbers, sentences made from exact numbers."""
    return {
        "digest": survey.digest,
        "title": survey.title,
        "intro": survey.intro,
        "about": survey.about(),
        "together": survey.reveals(),
        "published": survey.published(),
        "repeat": _repeat(survey),
        "key": None if key is None else key.to_page(),
        "fingerprint": "" if key is None else key.fingerprint,
        "questions": [_question(question) for question in survey.questions],
    }


def _repeat(survey: Questionnaire) -> dict[str, Any] | None:
    """What the script needs of a survey of several rounds, and what the page says of them."""
    loss = survey.series_loss()
    if loss is None:
        return None
    return {"series": survey.series, "title": f"Round {survey.round} of {survey.rounds}", "loss": loss.words()}


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
            "blocks": list(question.form.blocks) if isinstance(question.form, Scale) else None,
        }
    word = None
    if isinstance(question.mechanism, HeavyHitters):
        word = {"letters": question.mechanism.alphabet, "folds": folds(question.mechanism), "shown": _letters(question)}
    law, permanent = law_to_page(question.law), None
    if question.repeated is not None and question.repeated.instant is not None:
        permanent, law = (
            law_to_page(Choice(part.categories, part.hit))
            for part in (question.repeated.permanent, question.repeated.instant)
        )
    return {
        "text": question.text,
        "kind": question.kind,
        "options": list(question.options) if question.options else None,
        "word": word,
        "number": number,
        "reports": question.report_labels(),
        "law": law,
        "permanent": permanent,
        "chance": question.chance(),
        "reveal": question.reveals(PRIOR),
    }


def _letters(question: Question) -> str:
    """The letters of a word, as people read them: a to z, where they are those."""
    letters = question.mechanism.alphabet if isinstance(question.mechanism, HeavyHitters) else ""
    return "a to z" if letters == LETTERS else letters.replace(" ", "\u2423")


def _ratio(value: Fraction) -> list[str]:
    return [str(value.numerator), str(value.denominator)]
