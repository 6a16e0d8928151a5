"""Decisions over HTTP: of a plan that is not paid, and of a release; free, and bounded in work."""

import inspect

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from job_server import (
    client,
    service_fixture,  # noqa: F401
)

from discreet import count
from discreet.apps.server.decision_api import DecisionRequest
from discreet.query.plan import QueryPlan
from discreet.trees.plan import TreePlan

AT = "/api/datasets/people"


def test_a_release_is_decided_by_as_in_process(service):
    curator, ann = service.curators["people"], client(service)
    table = curator.table().group_by("county").agg(n=count()).plan(epsilon="0.5", allotment="team").release(release="t")
    tree = curator.tree(["county"]).plan(epsilon="0.5", allotment="team").release(release="tree")
    before = curator.ledger.head()
    for release, how in (
        (table, {"fund": 100, "by": "county"}),
        (table, {"threshold": 3, "output": "n", "by": "size"}),
        (tree, {"fund": 100, "by": "size", "blend": 0.5}),
        (tree, {"threshold": 3, "level": "county"}),
    ):
        assert ann.post(f"{AT}/decide", json={"release": release.id, **how}).json() == release.decide(**how).to_dict()
    assert curator.ledger.head() == before


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"release": "t"}, "fund"),
        ({"release": "t", "fund": "many"}, "fund"),
        ({"release": "t", "fund": 1, "level": "county"}, "level"),
        ({"release": "t", "fund": 1, "draws": 3}, "draws"),
        ({"release": "tree", "fund": 1, "output": "n"}, "output"),
        ({"release": "t", "fund": 1, "by": "shoe"}, "by"),
        ({"release": "t", "fund": 1, "sizes": {}}, "sizes"),
        ({"fund": 1}, "release"),
    ],
)
def test_what_a_release_does_not_take_is_refused_by_name(service, asked, field):
    curator = service.curators["people"]
    curator.table().group_by("county").agg(n=count()).plan(epsilon="0.1", allotment="team").release(release="t")
    curator.tree(["county"]).plan(epsilon="0.1", allotment="team").release(release="tree")
    answer = client(service).post(f"{AT}/decide", json=asked)
    assert (answer.status_code, answer.json()["field"]) == (422, field)


def test_only_a_stored_release_is_decided_by(service):
    ann = client(service)
    assert ann.post(f"{AT}/decide", json={"release": "none", "fund": 1}).status_code == 404
    assert ann.post("/api/datasets/other/decide", json={"release": "none", "fund": 1}).status_code == 404


def test_a_hierarchy_that_is_too_large_is_refused(service, monkeypatch):
    service.curators["people"].tree(["county"]).plan(epsilon="0.1", allotment="team").release(release="tree")
    monkeypatch.setattr("discreet.apps.server.limits._REPLICATED", 10)
    answer = client(service).post(f"{AT}/decide", json={"release": "tree", "fund": 1})
    assert (answer.status_code, answer.json()["field"]) == (422, "release")
    assert "discreet releases decide" in answer.json()["hint"]


def test_no_path_is_opened_for_sizes(service, tmp_path):
    (tmp_path / "sizes.csv").write_text("county,number\nA1,3\n")
    body, ann = {"levels": ["county"], "epsilon": "0.1", "allotment": "team"}, client(service)
    for sizes in (str(tmp_path / "sizes.csv"), {"county": str(tmp_path / "sizes.csv")}):
        answer = ann.post(f"{AT}/tree/plan/decide", json={**body, "decision": {"fund": 1, "sizes": sizes}})
        assert answer.status_code == 422


def test_every_way_that_plans_take_can_be_sent():
    for plan in (QueryPlan, TreePlan):
        named = {*inspect.signature(plan.decide).parameters} - {"self", "sizes"}
        assert named <= {*DecisionRequest.model_fields}
