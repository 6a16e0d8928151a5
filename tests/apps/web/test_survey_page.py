"""Surveys as pages beside the curator."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
from job_pages import (
    service_fixture,  # noqa: F401
    signed,
)
from small_survey import report, survey

from discreet.apps.server.service import Service
from discreet.apps.server.surveys import Survey
from discreet.apps.survey.store import open_reports

# Surveys


def test_surveys_are_planned_and_read_and_their_own_pages_know_no_session(service, tmp_path):
    ann = signed(service)
    assert "No survey is open on this server" in ann.get("/surveys").text
    asked = survey()
    kept = open_reports(str(tmp_path / "r.db"), asked.digest)
    service = Service(
        service.curators,
        service.tokens,
        service.limits,
        service.jobs,
        surveys={"night": Survey("night", asked, kept)},
    )
    carla = signed(service, "custodian")
    page = carla.get("/surveys")
    assert "No report yet" in page.text
    assert "Night &amp; &lt;day&gt;" in page.text
    assert 'href="/surveys/night/"' in page.text
    assert "people for ±0.05" in page.text
    for number in range(30):
        sent = report(asked, number)
        kept.keep(sent["token"], asked.digest, asked.written(sent["answers"]))
    page = carla.get("/surveys?people=250&within=0.1")
    assert "30 reports" in page.text
    assert "± with 250" in page.text
    assert page.text.count('class="bar s0"') >= 6
    wrong = carla.get("/surveys?people=few")
    assert wrong.status_code == 422
    assert 'value="few"' in wrong.text
    assert "people" in wrong.text.split('id="problem"')[1].split("</p>")[0]
    for bad in ("confidence=2", "within=0", "prior=x"):
        assert carla.get(f"/surveys?{bad}").status_code == 422
    own = carla.client.get("/surveys/night/", headers={"cookie": "discreet-session=" + "x" * 43})
    bare = carla.client.get("/surveys/night/")
    assert own.content == bare.content
    assert "set-cookie" not in own.headers
    assert "csrf" not in own.text
