"""The page of a survey: what its file says is text on it, never markup or script."""

import pytest
from small_survey import Client, survey

from discreet.apps.survey.page import content
from discreet.apps.survey.server import application
from discreet.local.questionnaire.law import law_to_page

pytest.importorskip("fastapi", reason="needs discreet[server]")

pytest.importorskip("httpx", reason="needs httpx")

SURVEY = survey()


def test_a_title_is_text_and_nothing_is_inline(client):
    page = client.get("/").text
    assert "<title>Night &amp; &lt;day&gt;</title>" in page
    assert "<day>" not in page
    scripts = [part.partition(">")[0] for part in page.split("<script")[1:]]
    assert scripts == [' type="application/json" id="data"', ' type="module" src="page.js"']
    assert " style=" not in page
    assert "http" not in page.replace("http-equiv", "")
    marks = survey(title="@data@ </script><script>alert(1)</script>")
    text = Client(application(marks, None)).get("/").text
    assert "<script>alert" not in text
    assert text.count("@data@") == 2  # in the title and among the data, replaced in neither


def test_the_page_is_given_the_laws_and_sentences_of_its_questions():
    given = content(SURVEY)
    assert given["digest"] == SURVEY.digest
    for question, entry in zip(SURVEY.questions, given["questions"], strict=True):
        assert entry["law"] == law_to_page(question.law)
        assert entry["chance"] == question.chance()
        assert (entry["options"] is None) == (question.grid is not None) == (entry["number"] is not None)
    hours = given["questions"][4]["number"]
    assert (hours["low"], hours["by"], hours["points"]) == (["-1", "1"], ["1", "2"], 11)  # whole numbers only
    assert "epsilon" not in given  # it was turned into laws
