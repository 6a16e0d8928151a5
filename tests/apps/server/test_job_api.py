"""Jobs over HTTP: priced, refused or begun in the background."""

import json
import threading
from fractions import Fraction

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from job_server import (
    SYNTH,
    TREE,
    client,
    service_fixture,  # noqa: F401
    waited,
)

from discreet.core import tick

SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}
ELSEWHERE = {"type": "Feature", "id": "X9", "geometry": SQUARE}


@pytest.mark.parametrize(
    ("kind", "body", "field"),
    [
        ("tree", {**TREE, "epsilon": None}, "epsilon"),
        ("tree", {**TREE, "levels": {}}, "levels"),
        ("tree", {**TREE, "geography": "/etc/passwd"}, "geography"),
        ("tree", {**TREE, "geography": {"state": ["A"], "county": []}}, "codes"),
        ("tree", {**TREE, "geometry": {"county": "/etc/passwd"}}, "with its type"),
        ("tree", {**TREE, "geometry": ELSEWHERE}, "such as 'X9'"),
        ("tree", {**TREE, "code_property": "GEOID"}, "geometry"),
        ("tree", {**TREE, "by": [{"column": "shoe"}]}, "by"),
        ("tree", {**TREE, "measure": "county"}, "measure"),
        ("tree", {**TREE, "measure": "age", "bounds": [0]}, "bounds"),
        ("tree", {**TREE, "weight": "age", "bounds": ["0", "nan"]}, "bounds"),
        ("tree", {**TREE, "release": "a/b"}, "release"),
        ("tree", {**TREE, "release": ".."}, "release"),
        ("tree", {**TREE, "release": "a\nb"}, "release"),
        ("tree", {**TREE, "surprise": 1}, "surprise"),
        ("tree", {**TREE, "\ud800": 1}, "whole characters"),
        ("synth", {**SYNTH, "keys": {"\ud800": "P{}"}}, "whole characters"),
        ("synth", {**SYNTH, "keys": {"id": "{:999999999d}"}}, "keys.id"),
        ("synth", {**SYNTH, "keys": {"id": "{0.__class__}"}}, "keys.id"),
        ("synth", {**SYNTH, "rows": 10**12}, "rows"),
        ("synth", {**SYNTH, "where": {"op": "no such"}}, "where"),
        ("synth", {**SYNTH, "weights": [1.0]}, "weights"),
    ],
)
def test_what_is_not_allowed_begins_no_job(service, kind, body, field):
    ann = client(service)
    sent = {"content": json.dumps(body).encode(), "headers": {"content-type": "application/json"}}
    found = ann.post(f"/api/datasets/people/{kind}/release", **sent)
    assert found.status_code == 422
    assert field in found.json()["field"] or field in found.json()["message"], found.json()
    assert service.listed("people") == []


def test_the_end_of_a_job_is_on_the_books_after_a_tick(service, monkeypatch):
    seen = []
    monkeypatch.setattr(tick, "sleep", lambda seconds: seen.append(service.stored("people", "counts")))
    ann = client(service)
    assert ann.post("/api/datasets/people/tree/release", json={**TREE, "release": "counts"}).status_code == 202
    assert waited(ann, "counts")["state"] == "done"
    assert seen == [None]
    assert service.stored("people", "counts") is not None


def test_a_plan_says_which_regions_have_shapes(service):
    shapes = {**ELSEWHERE, "id": "A1"}
    plan = client(service).post("/api/datasets/people/tree/plan", json={**TREE, "geometry": shapes}).json()
    (note,) = [one for one in plan["notes"] if one.startswith("Shapes for the map")]
    assert "1 of" in note
    assert note in plan["text"]


def test_too_dear_is_said_at_once(service):
    ann = client(service)
    for kind, body in (("tree", TREE), ("synth", SYNTH)):
        found = ann.post(f"/api/datasets/people/{kind}/release", json={**body, "epsilon": 5})
        assert found.status_code == 409
        assert "Nothing was spent" in found.json()["message"]
    assert service.listed("people") == []


def test_jobs_are_for_who_asked_and_for_custodians(service):
    ann, bob = client(service, name="ann"), client(service, name="bob")
    viewer, owner = client(service, "viewer"), client(service, "custodian")
    assert viewer.post("/api/datasets/people/tree/plan", json=TREE).status_code == 200
    assert viewer.post("/api/datasets/people/tree/release", json=TREE).status_code == 403
    ann.post("/api/datasets/people/tree/release", json={**TREE, "release": "census"})
    waited(ann, "census")
    assert bob.get("/api/datasets/people/jobs").json() == []
    assert bob.get("/api/datasets/people/jobs/census").status_code == 404
    assert owner.get("/api/datasets/people/jobs").json()[0]["who"] == "ann"
    assert bob.get("/api/datasets/people/tree/census").status_code == 200  # what was released is for everyone here
    gus = client(service, allotment="guests", name="gus")
    assert gus.post("/api/datasets/people/tree/plan", json=TREE).status_code == 422
    assert gus.post("/api/datasets/people/tree/plan", json={**TREE, "allotment": None}).status_code == 200
    assert gus.get("/api/datasets/nowhere/jobs").status_code == 404


def test_a_job_that_waits_is_cancelled_for_nothing_by_its_owner_or_a_custodian(service):
    service.queue("people").pause()
    ann, bob, owner = client(service, name="ann"), client(service, name="bob"), client(service, "custodian")
    for name in ("one", "two"):
        found = ann.post("/api/datasets/people/tree/release", json={**TREE, "release": name}).json()
    assert found["position"] == 2
    assert bob.post("/api/datasets/people/jobs/one/cancel", json={}).status_code == 404
    mine = ann.post("/api/datasets/people/jobs/one/cancel", json={}).json()
    assert (mine["state"], mine["problem"]) == ("cancelled", "Cancelled by ann. Nothing was spent.")
    assert owner.post("/api/datasets/people/jobs/two/cancel", json={}).json()["state"] == "cancelled"
    assert ann.post("/api/datasets/people/jobs/one/cancel", json={}).status_code == 422  # it is over
    assert not any(one.spent.amount for one in service.curators["people"].standing())


def test_a_job_that_is_cancelled_after_its_charge_has_no_answer_and_its_charge_stays(service, monkeypatch):
    measured, go = threading.Event(), threading.Event()
    monkeypatch.setattr("discreet.ledger.door.wait_for_tick", lambda: (measured.set(), go.wait(60)))
    ann = client(service, name="ann")
    ann.post("/api/datasets/people/tree/release", json={**TREE, "release": "counts"})
    assert measured.wait(60)
    assert ann.post("/api/datasets/people/jobs/counts/cancel", json={}).json()["stage"] == "stopping"
    go.set()
    job = waited(ann, "counts")
    assert job["state"] == "cancelled"
    assert "the charge stays spent" in job["problem"]
    known = service.curators["people"].ledger.find("counts")
    assert (known.answer, known.failure) == (None, "it was cancelled")
    assert sum(one.spent.amount for one in service.curators["people"].standing()) == Fraction(1, 2)
    again = ann.post("/api/datasets/people/tree/release", json={**TREE, "release": "counts"})
    assert again.status_code == 202
    assert "it was cancelled" in waited(ann, "counts")["problem"]  # never another draw under this charge


def test_only_custodians_give_the_highest_priority(service):
    service.queue("people").pause()
    ann, owner = client(service, name="ann"), client(service, "custodian")
    refused = ann.post("/api/datasets/people/tree/release", json={**TREE, "priority": "high"})
    assert (refused.status_code, refused.json()["field"]) == (422, "priority")
    ann.post("/api/datasets/people/tree/release", json={**TREE, "release": "a"})
    ann.post("/api/datasets/people/tree/release", json={**TREE, "release": "low", "priority": "low"})
    first = owner.post("/api/datasets/people/tree/release", json={**TREE, "release": "now", "priority": "high"}).json()
    assert (first["priority"], first["position"]) == ("high", 1)
    assert ann.get("/api/datasets/people/jobs/low").json()["position"] == 3


STREAM = {"query": "SELECT COUNT(*) AS n FROM people", "period": "age/4", "epsilon": "0.1", "allotment": "team"}


def test_a_stream_goes_on_when_who_paid_for_it_says_so(service):
    ann, bob, eve = client(service, name="ann"), client(service, name="bob"), client(service, "custodian")
    path = "/api/datasets/people/stream/release"
    early = bob.post(path, json={**STREAM, "release": "ages/2"})
    assert "in order" in early.json()["message"]  # no job of his is in the way of who pays later
    assert ann.post(path, json={**STREAM, "release": "ages"}).json()["release"] == "ages/1"
    assert waited(ann, "ages/1")["state"] == "done"
    for name in ("ages", "ages/2"):
        refused = bob.post(path, json={**STREAM, "release": name})
        assert refused.status_code == 422
        assert "another person paid" in refused.json()["message"]
    assert service.listed("people")[0].release == "ages/1"
    # What became of a job of somebody else's keeps nobody from what they paid for.
    service.queue("people").pause()
    assert eve.post(path, json={**STREAM, "release": "ages"}).json()["release"] == "ages/2"
    assert ann.post(path, json={**STREAM, "release": "ages/2"}).status_code == 422
    assert eve.post("/api/datasets/people/jobs/ages/2/cancel").json()["state"] == "cancelled"
    mine = ann.post(path, json={**STREAM, "release": "ages"})
    assert (mine.status_code, mine.json()["release"], mine.json()["who"]) == (202, "ages/2", "ann")
    assert bob.post(path, json={**STREAM, "release": "ages/1"}).json()["state"] == "done"  # published: for everyone
