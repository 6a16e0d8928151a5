"""Jobs over HTTP: priced, refused or begun in the background."""

import json

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
    assert service.jobs.listed("people") == []


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
    assert service.jobs.listed("people") == []


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
