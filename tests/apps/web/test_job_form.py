"""The way from a form to a long job: filled in, priced, confirmed, begun or refused."""

import re

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
from job_pages import (
    ROWS,
    TREE,
    confirmation,
    service_fixture,  # noqa: F401
    signed,
    spent,
)
from visitor import Visitor

from discreet.apps.web.site import application


@pytest.mark.parametrize(
    ("place", "changes", "words"),
    [
        ("map", {"levels": ""}, "levels"),
        ("map", {"levels": "state=1, county"}, "NAME=VALUE"),
        ("map", {"levels": "<b>moon</b>"}, "&lt;b&gt;moon"),
        ("map", {"geography": "state,county\nA"}, "geography"),
        ("map", {"by": "pay"}, "pay"),
        ("map", {"epsilon": ""}, "epsilon"),
        ("map", {"epsilon": "-1"}, "epsilon"),
        ("map", {"way": "within", "within": "much"}, "within"),
        ("map", {"allotment": "moon"}, "allotment"),
        ("map", {"confidence": "2"}, "confidence"),
        ("synthetic", {"rows": "many"}, "rows"),
        ("synthetic", {"method": "magic"}, "method"),
        ("synthetic", {"columns": "pay"}, "pay"),
        ("synthetic", {"impossible": "age >"}, "impossible"),
    ],
)
def test_what_is_wrong_is_said_beside_the_form_which_is_kept(service, place, changes, words):
    vera = signed(service, "viewer")
    vera.get(f"/d/people/{place}")
    fields = {**(TREE if place == "map" else ROWS), **changes}
    found = vera.post(f"/d/people/{place}", fields)
    assert found.status_code == 422
    assert words in found.text.split('id="problem"')[1].split("</p>")[0]
    assert "<b>moon" not in found.text
    live = vera.post(f"/d/people/{place}/price", fields, csrf=vera.csrf)
    assert live.status_code == 200
    assert 'role="alert"' in live.text
    assert spent(service) == 0


# Who may


def test_a_viewer_prices_and_cannot_spend_and_no_form_of_elsewhere_is_taken(service):
    vera = signed(service, "viewer")
    vera.get("/d/people/map")
    priced = vera.post("/d/people/map", TREE)
    assert "may not spend" in priced.text
    assert "Spend and begin" not in priced.text
    for path in (
        "/d/people/map/release",
        "/d/people/synthetic/release",
        "/d/people/jobs/x/cancel",
        "/audit/run",
        "/attacks/averages",
    ):
        assert vera.post(path, {**TREE, "confirm": "0.5"}).status_code == 403
        ann = signed(service, "custodian", f"c{path}"[:60])
        assert ann.post(path, {**TREE, "confirm": "0.5"}, csrf="0" * 64).status_code == 403
    assert spent(service) == 0
    assert service.listed("people") == service.jobs.listed("") == []
    stranger = Visitor(application(service))
    for path in ("/d/people/map", "/d/people/synthetic", "/d/people/jobs", "/d/people/jobs/x", "/audit", "/surveys"):
        assert stranger.get(path).headers["location"].startswith("/login")


def test_more_than_is_left_is_refused_before_a_job_begins(service):
    ann = signed(service)
    ann.get("/d/people/map")
    dear = ann.post("/d/people/map", {**TREE, "epsilon": "3"})
    assert "More than the budget has left" in dear.text
    assert "Spend and begin" not in dear.text
    assert "/d/people/map?" in dear.text
    fine = ann.post("/d/people/map", {**TREE, "epsilon": "1.5"})
    sent = [*confirmation(fine), ("confirm", "1.5")]
    service.curators["people"].sql("SELECT COUNT(*) AS n FROM people").plan(epsilon=1).release()
    refused = ann.post("/d/people/map/release", sent)
    assert refused.status_code == 409
    assert "More than the budget has left" in refused.text
    assert spent(service) == 1
    assert service.listed("people") == []
    instead = re.search(r'href="(/d/people/map\?[^"]+)"', refused.text)[1].replace("&amp;", "&")
    assert "epsilon = 1 " in ann.get(instead).text.replace("</b>", " ")
