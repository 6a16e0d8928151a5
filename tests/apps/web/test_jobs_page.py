"""Jobs as pages: whose they are, how far they are, and going on after an interruption."""

import re
import sqlite3
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
from discreet.apps.server.tokens import Caller
from discreet.apps.web.site import application
from discreet.apps.web.store import Store

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


def test_a_job_that_runs_is_kept_up_to_date_with_a_script_and_without(service):
    ann = signed(service, name="ann")
    stuck = Jobs(service.jobs.path, most=0)  # nobody works here
    stuck.start(Caller("ann", "analyst"), "people", "tree", "x1", "", lambda report: None)
    page = ann.get("/d/people/jobs/x1")
    assert "Waiting for its turn" in page.text
    assert "Nothing was spent yet" in page.text
    assert re.search(r'<noscript><meta http-equiv="refresh"', page.text)
    assert "/static/job.js" in page.text
    assert "/static/job.js" in ann.get("/d/people/jobs").text
    with sqlite3.connect(service.jobs.path) as books:
        books.execute("UPDATE jobs SET state = 'running', stage = 'fitting', progress = 0.25")
    assert "Running: fitting, 25%" in ann.get("/d/people/jobs/x1").text
    with sqlite3.connect(service.jobs.path) as books:
        books.execute("UPDATE jobs SET state = 'failed', problem = 'no <i>way</i>', ended = 'now'")
    page = ann.get("/d/people/jobs/x1")
    assert "no &lt;i&gt;way&lt;/i&gt;. Nothing was spent." in page.text
    assert "refresh" not in page.text


def test_what_was_interrupted_goes_on_under_the_same_id_and_is_charged_once(service, tmp_path):
    service.jobs.most = 0  # a server that is stopped before it gets to it
    ann = signed(service, name="ann")
    address = begun(ann, "map", TREE, "for <b>us</b>")
    with sqlite3.connect(service.jobs.path) as books:
        books.execute("UPDATE jobs SET owner = 'gone', state = 'running'")
    page = ann.get(address)
    assert "Interrupted" in page.text
    assert "Nothing was spent yet; going on under the same id charges it once." in page.text
    assert "Go on with it" in page.text
    vera = signed(service, "viewer")
    assert vera.post(f"{address}/again", {}).status_code == 403
    later = Service(service.curators, service.tokens, service.limits, Jobs(service.jobs.path))
    again = Visitor(application(later))
    again.cookies = dict(ann.cookies)
    again.get(address)
    assert again.post(f"{address}/again", {}, csrf="1" * 64).status_code == 403
    again.get(address)
    assert again.post(f"{address}/again", {}).headers["location"] == address
    assert "<b>Done</b>" in waited(again, address).text
    assert spent(service) == Fraction(1, 2)
    (record,) = [one for one in service.curators["people"].ledger.records("people") if one.kind == "charge"]
    assert (record.who, record.why) == ("ann", "for <b>us</b>")
    # What someone else asked for under that id is not what is gone on with; nor what no version reads.
    for value in (["bob", "tree", {"levels": ["county"], "epsilon": "1"}], ["ann", "tree", {"moons": 1}]):
        Store(service.jobs.path).keep("wanted", "people", address.rpartition("/")[2], value)
        again.get("/d/people/jobs")
        assert again.post(f"{address}/again", {}).status_code == 404
    # Asked for by a program, it is not known here what it was.
    with sqlite3.connect(service.jobs.path) as books:
        books.execute("DELETE FROM kept")
    again.get("/d/people/jobs")
    assert again.post(f"{address}/again", {}).status_code == 404
