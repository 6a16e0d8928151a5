"""Jobs as pages: whose they are, how far they are, and what becomes of them when a server stops."""

import re
from fractions import Fraction

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
from job_pages import (
    TREE,
    WHY,
    begun,
    service_fixture,  # noqa: F401
    signed,
    spent,
    waited,
)
from visitor import Visitor

from discreet.apps.server.jobs import Jobs
from discreet.apps.server.service import Service
from discreet.apps.web.job_page import ABOUT, NEW
from discreet.apps.web.site import application

# Jobs


def test_jobs_are_seen_by_those_who_began_them_and_by_custodians(service):
    ann = signed(service)
    assert "No job yet" in ann.get("/d/people/jobs").text
    address = begun(ann, "map", TREE, WHY)
    waited(ann, address)
    assert "Look at it" in ann.get("/d/people/jobs").text
    bob, carla = signed(service, name="bob"), signed(service, "custodian")
    assert "No job yet" in bob.get("/d/people/jobs").text
    assert bob.get(address).status_code == 404
    assert "analyst" in carla.get("/d/people/jobs").text
    assert "<b>Done</b>" in carla.get(address).text
    assert WHY not in carla.page.text


def test_every_kind_of_job_is_offered_with_a_line_about_it(service):
    shown = signed(service).get("/d/people/jobs").text
    offered = re.findall(r'<li><a href="/d/people/([^"]*)">([^<]+)</a><p>([^<]+)</p></li>', shown)
    of_tables = [kind for kind in NEW if kind not in ("loads", "hidden")]  # the others are of grids and of numbers
    assert {path for path, _, _ in offered} == {"map", "synthetic", *(f"new/{kind}" for kind in of_tables)}
    assert set(ABOUT) == {"tree", "synth", *NEW}
    assert all(about.endswith(".") for _, _, about in offered)


def changed(service, **values):
    with service.curators["people"].ledger.beside() as execute:
        for name, value in values.items():
            execute(f"UPDATE discreet_job SET {name} = ?", (value,))


@pytest.fixture
def idle(service):
    """A server that works nothing off."""
    service.queue("people").pause()
    return service


def test_a_job_that_runs_is_kept_up_to_date_with_a_script_and_without(idle):
    ann = signed(idle, name="ann")
    address = begun(ann, "map", TREE, WHY)
    page = ann.get(address)
    assert "Waiting for its turn, number 1" in page.text
    assert "Nothing was spent yet" in page.text
    assert re.search(r'<noscript><meta http-equiv="refresh"', page.text)
    assert "/static/job.js" in page.text
    assert "/static/job.js" in ann.get("/d/people/jobs").text
    changed(idle, state="running", stage="fitting", progress=0.25)
    assert "Running: fitting, 25%" in ann.get(address).text
    changed(idle, state="failed", problem="no <i>way</i>", ended="now")
    page = ann.get(address)
    assert "no &lt;i&gt;way&lt;/i&gt;. Nothing was spent." in page.text
    assert "refresh" not in page.text


def test_what_waited_when_a_server_stopped_is_done_by_the_next_and_charged_once(idle):
    ann = signed(idle, name="ann")
    address = begun(ann, "map", TREE, "for <b>us</b>")
    later = Service(idle.curators, idle.tokens, idle.limits, Jobs(idle.jobs.path))
    later.queue("people").start()
    again = Visitor(application(later))
    again.cookies = dict(ann.cookies)
    assert "<b>Done</b>" in waited(again, address).text
    assert spent(later) == Fraction(1, 2)
    (record,) = [one for one in later.curators["people"].ledger.records("people") if one.kind == "charge"]
    assert (record.who, record.why) == ("ann", "for <b>us</b>")


def test_a_job_is_cancelled_on_its_page_by_its_owner_and_no_other_analyst(idle):
    ann, bob = signed(idle, name="ann"), signed(idle, name="bob")
    address = begun(ann, "map", TREE, WHY)
    assert "Cancel it" in ann.get(address).text
    bob.get("/d/people/jobs")
    assert bob.post(f"{address}/cancel", {}).status_code == 404
    ann.get(address)
    assert ann.post(f"{address}/cancel", {}, csrf="1" * 64).status_code == 403
    ann.get(address)
    assert ann.post(f"{address}/cancel", {}).headers["location"] == address
    page = ann.get(address)
    assert "Cancelled by ann. Nothing was spent." in page.text
    assert "Cancel it" not in page.text
    assert spent(idle) == 0
