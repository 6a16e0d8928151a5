"""What jobs made, over HTTP: tables, rows, models, and their files."""

import io
from fractions import Fraction

import pyarrow.parquet
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


def spent(service):
    return {one.allotment.name: one.spent.amount for one in service.curators["people"].standing()}


def test_a_hierarchy_from_plan_to_tables(service):
    ann = client(service)
    plan = ann.post("/api/datasets/people/tree/plan", json=TREE).json()
    assert plan["cost"] == 0.5
    assert [one["level"] for one in plan["levels"]] == ["all", "state", "county"]
    assert "Cost: epsilon = 0.5" in plan["text"]
    assert spent(service)["team"] == 0
    begun = ann.post("/api/datasets/people/tree/release", json={**TREE, "release": "census", "why": "a test"})
    assert begun.status_code == 202
    assert (begun.json()["kind"], begun.json()["who"], begun.json()["why"]) == ("tree", "analyst", "a test")
    done = waited(ann, "census")
    assert (done["state"], done["progress"], done["problem"]) == ("done", 1.0, "")
    assert ann.get("/api/datasets/people/tree/census").json()["levels"] == {"all": 1, "state": 2, "county": 3}
    table = ann.get("/api/datasets/people/tree/census/table?level=county").json()
    assert table["keys"] == ["state", "county", "works"]
    lines = ann.get("/api/datasets/people/tree/census/table?level=county&format=csv").text.splitlines()
    assert len(lines) == 7
    stored = ann.get("/api/datasets/people/tree/census/table?level=state&format=parquet&totals=true")
    assert pyarrow.parquet.read_table(io.BytesIO(stored.content)).column_names[0] == "state"
    assert 'filename="state.parquet"' in stored.headers["content-disposition"]
    again = ann.post("/api/datasets/people/tree/release", json={**TREE, "release": "census"})
    assert again.json()["state"] == "done"
    assert str(spent(service)["team"]) == "1/2"
    other = ann.post("/api/datasets/people/tree/release", json={**TREE, "release": "census", "epsilon": 1})
    assert other.status_code == 422
    assert [one["release"] for one in ann.get("/api/datasets/people/jobs").json()] == ["census"]
    assert ann.get("/api/datasets/people/synth/census").status_code == 404
    assert ann.get("/api/datasets/people/tree/census/table?level=town").status_code == 422


def test_synthetic_rows_and_their_files(service):
    ann = client(service)
    plan = ann.post("/api/datasets/people/synth/plan", json=SYNTH).json()
    assert plan["columns"] == {"age": 10, "works": 2}
    identity = ann.post("/api/datasets/people/synth/release", json=SYNTH).json()["release"]
    assert waited(ann, identity)["state"] == "done"
    assert ann.get(f"/api/datasets/people/synth/{identity}").json()["rows"] == 50
    rows = ann.get(f"/api/datasets/people/synth/{identity}/rows")
    assert rows.headers["content-type"] == "text/csv; charset=utf-8"
    assert len(rows.text.splitlines()) == 51
    packed = ann.get(f"/api/datasets/people/synth/{identity}/rows?format=parquet").content
    assert pyarrow.parquet.read_table(io.BytesIO(packed)).num_rows == 50


def test_a_model_with_its_card_and_weights(service):
    np = pytest.importorskip("numpy")
    pytest.importorskip("jax")
    asked = {"target": "works", "features": ["age"], "examples": 300, "lot": 100, "steps": 5, "epsilon": 1}
    ann = client(service)
    assert ann.post("/api/datasets/people/train/plan", json=asked).json()["epsilon"] <= 1
    ann.post("/api/datasets/people/train/release", json={**asked, "release": "m"})
    assert waited(ann, "m", 300)["state"] == "done"
    assert ann.get("/api/datasets/people/train/m").json()["card"]["steps"] == 5
    assert "Model card" in ann.get("/api/datasets/people/train/m/card?format=md").text
    weights = np.load(io.BytesIO(ann.get("/api/datasets/people/train/m/weights").content))
    assert sorted(weights) == ["0/b", "0/w"]
    for bad in ({"model": "pickle"}, {"hidden": [4096]}, {"steps": 0}, {"code": "import os"}):
        found = ann.post("/api/datasets/people/train/plan", json={**asked, **bad})
        assert found.status_code == 422, bad


def test_what_was_measured_is_published_again_over_http(service):
    ann, people = client(service), "/api/datasets/people"
    identity = ann.post(f"{people}/tree/release", json=TREE).json()["release"]
    assert waited(ann, identity)["state"] == "done"
    sent = {"release": identity, "how": {"method": "topdown", "rules": {"totals": {"state": [200, 100]}}}}
    again = ann.post(f"{people}/publish", json=sent).json()
    assert (again["release"], again["kind"]) == (identity, "tree")
    assert again["result"] != ann.get(f"{people}/record/{identity}").json()["result"]
    for how, field in (({"otherwise": 1}, "otherwise"), ({"rules": 3}, "rules"), ({"method": "none"}, "method")):
        found = ann.post(f"{people}/publish", json={"release": identity, "how": how})
        assert (found.status_code, found.json()["field"]) == (422, field)
    assert ann.post(f"{people}/publish", json={"release": "none"}).status_code == 422
    assert client(service, "viewer").post(f"{people}/publish", json={"release": identity}).status_code == 403
    assert spent(service)["team"] == Fraction(1, 2)


def test_rows_that_would_fill_the_machine_are_not_drawn(service):
    ann, people = client(service), "/api/datasets/people"
    identity = ann.post(f"{people}/synth/release", json=SYNTH).json()["release"]
    assert waited(ann, identity)["state"] == "done"
    found = ann.post(f"{people}/publish", json={"release": identity, "how": {"rows": 10**12}})
    assert (found.status_code, found.json()["field"]) == (422, "rows")
    assert ann.post(f"{people}/publish", json={"release": identity, "how": {"rows": 7}}).status_code == 200
