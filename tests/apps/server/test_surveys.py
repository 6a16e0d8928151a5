"""Surveys beside a curator: their page and reports under a path of their own, open to anyone, known to no log."""

import json
import re
from importlib.resources import files

import pyarrow as pa
import pytest
from small_survey import report

import discreet
from discreet import Budget, Integer, Schema

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from asgi_client import Client
from discreet.apps.server.service import Service
from discreet.apps.server.surveys import survey_at
from discreet.apps.server.tokens import Tokens
from discreet.apps.survey.server import HEADERS
from discreet.apps.web.site import application
from discreet.errors import InputError

ORIGIN = {"origin": "http://localhost"}


@pytest.fixture
def file(tmp_path):
    text = (files("discreet.apps.survey") / "survey.toml").read_text("utf-8")
    (tmp_path / "night.toml").write_text(text)
    return tmp_path / "night.toml"


@pytest.fixture
def service(tmp_path, file):
    schema = Schema("people", {"age": Integer(0, 120, nullable=False)})
    curator = discreet.open(pa.table({"age": [30]}), schema, ledger=tmp_path / "b.db", budget=Budget(2), create=True)
    asked = survey_at(str(file))
    yield Service({"people": curator}, Tokens(tmp_path / "t.db"), surveys={asked.name: asked})
    asked.reports.close()


def test_the_page_its_files_and_reports_need_no_token(service):
    kept = []
    anyone = Client(application(service.within(rate=0.001, burst=1), log=kept.append))
    asked = service.surveys["night"]
    page = anyone.get("/surveys/night/")
    assert page.status_code == 200
    for link in re.findall(r'(?:href|src)="([^"]+)"', page.text):  # all are relative, so they lie below the survey
        assert anyone.get(f"/surveys/night/{link}").status_code == 200, link
    mine = report(asked.questionnaire, 1)
    assert anyone.post("/surveys/night/report", json=mine, headers=ORIGIN).json() == {"kept": True}
    assert (
        anyone.post("/surveys/night/report", json=mine, headers={"origin": "https://evil.example"}).status_code == 403
    )
    assert [row[0] for row in asked.reports.rows()] == [mine["token"]]
    assert json.loads(anyone.get("/surveys/night/results.json").text)["reports"] is None
    assert anyone.get("/surveys/night").headers["location"] == "/surveys/night/"
    gone = anyone.get("/surveys/night/nothing")
    assert (gone.status_code, gone.content) == (404, b'{"error":"refused"}')
    for name, value in HEADERS.items():
        assert page.headers[name] == value
    assert kept == []  # nothing of all this is written down


def test_callers_see_which_are_open_and_others_do_not(service):
    served = application(service)
    assert Client(served).get("/api/surveys").status_code == 401
    ann = Client(served, {"authorization": "Bearer " + service.tokens.create("ann", "viewer")})
    (found,) = ann.get("/api/surveys").json()
    assert (found["survey"], found["path"]) == ("night", "/surveys/night/")
    assert found["digest"] == service.surveys["night"].questionnaire.digest
    assert ann.get("/surveys/other/").status_code == 404


def test_a_survey_of_the_command_line(tmp_path, file):
    named = survey_at(f"{file}={tmp_path / 'kept.db'}")
    named.reports.close()
    assert (tmp_path / "kept.db").exists()
    file.rename(tmp_path / "no night.toml")
    with pytest.raises(InputError, match="address"):
        survey_at(str(tmp_path / "no night.toml"))


def test_the_worker_of_a_survey_keeps_to_its_folder():
    text = (files("discreet.apps.survey") / "sw.js").read_text("utf-8")
    assert 'new URL("./", self.location.href).pathname' in text
    assert "name.startsWith(MINE) && name !== CACHE" in text
