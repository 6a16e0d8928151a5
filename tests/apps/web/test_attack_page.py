"""Attacks as pages: listed, run by a custodian, stored, seen by all."""

import threading
import time

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")

from job_pages import (
    service_fixture,  # noqa: F401
    signed,
    waited,
)
from visitor import Visitor

from discreet.apps.attacks.catalogue import ATTACKS
from discreet.apps.server.jobs import Jobs
from discreet.apps.server.service import Service
from discreet.apps.web.site import application
from discreet.apps.web.store import Store


def test_all_attacks_are_listed_and_lead_to_their_page(service):
    ann = signed(service, "viewer", "ann")
    page = ann.get("/attacks").text
    for attack in ATTACKS:
        assert f'href="/attacks/{attack.name}"' in page
        assert attack.command in page
        assert ann.get(f"/attacks/{attack.name}").status_code == 200
    assert ann.get("/attacks/shoulder").status_code == 404


def test_an_attack_is_run_by_a_custodian_kept_and_seen_by_all(service):
    ann, carla = signed(service, name="ann"), signed(service, "custodian", "carla")
    none = ann.get("/attacks/averages").text
    assert "has not been run on this server yet" in none
    assert "Run the attack" not in none
    assert ann.post("/attacks/averages", {"epsilon": "1"}).status_code == 403
    carla.get("/attacks/averages")
    assert carla.post("/attacks/averages", {"epsilon": "0.5"}).headers["location"] == "/attacks/averages"
    page = waited(carla, "/attacks/averages").text
    assert "Ann is 40" in page
    assert "<figure>" in page
    assert "by carla with epsilon 0.5" in page
    # It is kept for all processes and after a restart, and is no audit.
    later = Service(service.curators, service.tokens, service.limits, Jobs(service.jobs.path))
    bob = signed(later, "viewer", "bob")
    assert "Ann is 40" in bob.get("/attacks/averages").text
    assert "epsilon 0.5" in bob.get("/attacks").text
    assert "No audit has been run on this server yet" in bob.get("/audit").text


def test_who_is_not_signed_in_sees_none_and_starts_none(service):
    stranger = Visitor(application(service))
    for place in ("/attacks", "/attacks/averages"):
        answer = stranger.get(place)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/login")
    assert stranger.post("/attacks/averages", {"epsilon": "1"}).status_code in (303, 403)
    viewer = signed(service, "viewer", "eve")
    viewer.get("/attacks/averages")  # with a session of her own, and its mark
    assert viewer.post("/attacks/averages", {"epsilon": "1"}).status_code == 403
    assert service.jobs.listed("") == []


@pytest.mark.parametrize("typed", ["", "0", "1000", "nan", "<b>", "1e400", "lnx"])
def test_an_epsilon_that_makes_no_sense_is_refused_and_nothing_runs(service, typed):
    carla = signed(service, "custodian", "carla")
    carla.get("/attacks/heatmap")
    answer = carla.post("/attacks/heatmap", {"epsilon": typed})
    assert answer.status_code == 422
    assert "from 0.01 to 50" in answer.text
    assert "<b>" not in answer.text.split("<form")[-1]
    assert service.jobs.listed("") == []


def test_words_of_an_attack_are_text(service):
    kept = {"words": "<i>x</i>\nsecond", "figure": "<figure></figure>", "epsilon": 1, "who": "<u>c</u>", "seconds": 1}
    Store(service.jobs.path).keep("attack", "", "ratings", kept)
    page = signed(service).get("/attacks/ratings").text
    assert "<i>x</i>" not in page
    assert "<u>c</u>" not in page
    assert "<p>second</p>" in page


@pytest.mark.parametrize(("path", "sent"), [("/attacks/averages", {"epsilon": "1"}), ("/audit/run", {})])
def test_two_that_are_sent_at_once_are_one_job(service, monkeypatch, path, sent):
    """Neither sees the other among the jobs that run: each asked before the other was written down."""
    held, runs = threading.Event(), []

    def wait(report):
        runs.append(path)
        held.wait(60)

    monkeypatch.setattr("discreet.apps.web.attack_page._work", lambda *what: wait)
    monkeypatch.setattr("discreet.apps.web.audit_page._work", lambda *what: wait)
    carla = signed(service, "custodian", "carla")
    carla.get("/attacks/averages")
    with monkeypatch.context() as blind:
        blind.setattr(Jobs, "listed", lambda self, dataset: [])
        for _ in range(3):
            assert carla.post(path, sent).status_code == 303
    assert len(service.jobs.listed("")) == 1
    held.set()
    while not service.jobs.listed("")[0].over:
        time.sleep(0.01)
    assert runs == [path]
    assert carla.post(path, sent).status_code == 303  # when it is over, it may run again
    assert len(service.jobs.listed("")) == 1
