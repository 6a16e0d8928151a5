"""The audit as a page: run by a custodian, stored, seen by all."""

from functools import partial

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")

from job_pages import (
    service_fixture,  # noqa: F401
    signed,
    waited,
)

from discreet.apps.server.jobs import Jobs
from discreet.apps.server.service import Service
from discreet.apps.web import audit_page
from discreet.apps.web.store import Store

# The audit


def test_an_audit_is_run_by_a_custodian_kept_and_seen_by_all(service, monkeypatch):
    monkeypatch.setattr(audit_page, "_WORKERS", 1)
    monkeypatch.setattr(audit_page, "run", partial(audit_page.run, only="reused seed"))
    ann, carla = signed(service, name="ann"), signed(service, "custodian", "carla")
    none = ann.get("/audit")
    assert "No audit has been run on this server yet" in none.text
    assert "discreet audit self" in none.text
    assert "Start the self-audit" not in none.text
    assert ann.post("/audit/run", {}).status_code == 403
    carla.get("/audit")
    assert carla.post("/audit/run", {}).headers["location"] == "/audit"
    page = waited(carla, "/audit")
    assert "1 of 1 planted bugs were caught" in page.text
    assert "by carla" in page.text
    assert "caught</td>" in page.text
    # It is kept for all processes and after a restart.
    later = Service(service.curators, service.tokens, service.limits, Jobs(service.jobs.path))
    bob = signed(later, "viewer", "bob")
    assert "1 of 1 planted bugs were caught" in bob.get("/audit").text


def test_a_claim_that_is_wrong_and_a_bug_that_escaped_stand_out(service):
    one = {"name": "<b>n</b>", "kind": "", "claim": "epsilon 1", "delta": 0.0, "claimed_epsilon": 1.0, "runs": 10}
    wrong = {**one, "planted": "", "found_epsilon": 1.2, "violated": True, "words": ""}
    missed = {**one, "planted": "half noise", "found_epsilon": None, "violated": False, "words": ""}
    told = {"passed": False, "words": "1 of 1 claims were refuted.", "tier": 1, "seconds": 1.0, "skipped": ["x: none"]}
    told |= {"findings": [wrong], "planted": [missed], "who": "carla", "version": "1"}
    Store(service.jobs.path).keep("audit", "", "last", told)
    page = signed(service).get("/audit").text
    assert 'class="alert" role="alert">1 of 1 claims' in page
    assert page.count("VIOLATED") == 2  # in the picture and in the table
    assert page.count("NOT CAUGHT") == 2
    assert "<b>n</b>" not in page
    (mark,) = audit_page.marks([wrong])
    assert mark.reach.share == 1.2
    assert mark.bad
