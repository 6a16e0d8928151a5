"""Surveys on the custodian's pages: built, planned, opened, answered, closed, opened again."""

import re
from typing import get_args

import pytest
from custodian_pages import agree, shared_fixture, signed, told  # noqa: F401
from small_survey import report
from visitor import served

from asgi_client import Client
from discreet.local.questionnaire.question import Kind

NIGHT = {
    "id": "night",
    "title": "Night & <day>",
    "intro": "",
    "minimum": "20",
    "count": "2",
    "q0_name": "pills",
    "q0_text": "Do you take pills?",
    "q0_kind": "binary",
    "q0_epsilon": "1",
    "q1_name": "fruit",
    "q1_text": "Which fruit?",
    "q1_kind": "choice",
    "q1_options": "Apple\nPear\n\nFig",
    "q1_epsilon": "0.5",
}
ORIGIN = {"origin": "http://localhost"}


def test_a_survey_is_built_opened_answered_and_closed(shared):
    carla = signed(shared, name="carla")
    carla.get("/custodian/surveys/new")
    page = carla.post("/custodian/surveys/new", {**NIGHT, "do": "look"})
    assert "together epsilon = 1.5 for one person" in told(page)
    assert 'options = ["Apple", "Pear", "Fig"]' in told(page)
    file = carla.post("/custodian/surveys/new", {**NIGHT, "do": "download"})
    assert file.text.startswith('id = "night"\n')
    anyone = Client(served(shared))
    assert anyone.get("/surveys/night/").status_code == 404
    opened = carla.follow(agree(carla, "/custodian/surveys/new", {**NIGHT, "do": "open"}))
    assert "The survey is open" in told(opened)
    assert "Night & <day>" in told(opened)
    survey = shared.surveys["night"].questionnaire
    assert "Do you take pills?" in anyone.get("/surveys/night/").text
    assert anyone.post("/surveys/night/report", json=report(survey, 1), headers=ORIGIN).json() == {"kept": True}
    assert "Reports 1 of 20" in told(carla.get("/custodian/surveys"))
    assert carla.get("/custodian/surveys/night/file").text == file.text
    table = carla.get("/custodian/surveys/night/reports.csv").text.splitlines()
    assert (table[0], len(table)) == ("survey,token,pills,fruit", 2)
    for path in ("night/reports.db", "nothing/reports.csv"):
        assert carla.get(f"/custodian/surveys/{path}").status_code == 404
    twice = carla.post("/custodian/surveys/new", {**NIGHT, "do": "open"})
    assert (twice.status_code, "a name that no survey has yet" in told(twice)) == (422, True)

    closed = carla.follow(agree(carla, "/custodian/surveys/night/close"))
    assert "no more answers are accepted" in told(closed)
    page = anyone.get("/surveys/night/")
    assert "This survey is closed" in page.text
    assert "set-cookie" not in page.headers
    assert anyone.post("/surveys/night/report", json=report(survey, 2), headers=ORIGIN).status_code == 410
    assert anyone.get("/surveys/night/results").status_code == 200
    token = {"authorization": "Bearer " + shared.tokens.create("viewer", "viewer")}
    assert Client(served(shared), token).get("/api/surveys").json() == []

    agree(carla, "/custodian/surveys/night/reopen")
    assert anyone.post("/surveys/night/report", json=report(survey, 2), headers=ORIGIN).json() == {"kept": True}
    assert [one.what for one in shared.trail.listed("survey")][:2] == ["opened again", "closed"]
    assert carla.post("/custodian/surveys/nothing/close", {}).status_code in (403, 404)


def test_questions_are_added_and_removed_and_nothing_typed_is_lost(shared):
    carla = signed(shared)
    carla.get("/custodian/surveys/new")
    more = carla.post("/custodian/surveys/new", {**NIGHT, "do": "add"})
    assert "Question 3" in told(more)
    assert 'value="Which fruit?"' in more.text
    less = carla.post("/custodian/surveys/new", {**NIGHT, "do": "remove0"})
    assert "Do you take pills?" not in less.text
    assert 'id="q0_text" name="q0_text" value="Which fruit?"' in less.text
    assert 'name="count" value="1"' in less.text
    assert carla.post("/custodian/surveys/new", {**NIGHT, "do": "remove" + "9" * 5000}).status_code == 200


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"id": "../evil"}, "`id`"),
        ({"title": ""}, "title"),
        ({"q0_epsilon": "-1"}, "epsilon"),
        ({"q1_options": "Apple"}, "options"),
        ({"q1_name": "pills"}, "different names"),
        ({"q0_kind": "number"}, "low"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_opened(shared, changes, says):
    carla = signed(shared)
    carla.get("/custodian/surveys/new")
    page = carla.post("/custodian/surveys/new", {**NIGHT, **changes, "do": "open"})
    assert (page.status_code, says.strip("`") in told(page)) == (422, True)
    assert not list(shared.state.rglob("*evil*"))


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("several", {"options": "Tea\nBeer"}),
        ("ranking", {"options": "Tea\nBeer\nMilk"}),
        ("number", {"low": "0", "high": "12", "step": "0.5", "unit": "hours"}),
        ("word", {"length": "5", "letters": "abcde"}),
        ("distribution", {"low": "0", "high": "12", "step": "1", "unit": "hours"}),
    ],
)
def test_every_kind_of_answer_is_built(shared, kind, parts):
    carla = signed(shared)
    carla.get("/custodian/surveys/new")
    typed = {
        "id": f"of-{kind}",
        "title": "Evenings",
        "minimum": "20",
        "count": "1",
        "q0_name": "one",
        "q0_text": "What?",
    }
    typed |= {"q0_kind": kind, "q0_epsilon": "1"} | {f"q0_{name}": text for name, text in parts.items()}
    opened = carla.follow(agree(carla, "/custodian/surveys/new", {**typed, "do": "open"}))
    assert "The survey is open" in told(opened)
    assert shared.surveys[f"of-{kind}"].questionnaire.questions[0].kind == kind


def test_the_builder_offers_every_kind_there_is(shared):
    carla = signed(shared)
    offered = set(re.findall(r'<option value="(\w+)"', carla.get("/custodian/surveys/new").text))
    assert offered == set(get_args(Kind))
