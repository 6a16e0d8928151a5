"""What jobs made, over HTTP: tables, rows, models, and their files."""

import io
import json
import sys
import zipfile
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

from discreet.apps.server.tokens import Caller


def spent(service):
    return {one.allotment.name: one.spent.amount for one in service.curators["people"].standing()}


def test_sums_by_region_from_plan_to_tables(service):
    ann, asked = client(service), {**TREE, "measure": "age", "bounds": [0, 8]}
    plan = ann.post("/api/datasets/people/tree/plan", json=asked).json()
    assert plan["measure"] == "sum of age"
    ann.post("/api/datasets/people/tree/release", json={**asked, "release": "ages"})
    waited(ann, "ages")
    assert ann.get("/api/datasets/people/tree/ages").json()["numbers"] == "sum of age"
    assert ann.get("/api/datasets/people/tree/ages/simulation").json()["field"] == "simulation"  # of counts only
    table = ann.get("/api/datasets/people/tree/ages/table?level=county").json()
    assert table["outputs"] == ["sum_age"]


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
    read = pyarrow.parquet.read_table(io.BytesIO(stored.content))
    assert (read.column_names[0], read.schema.metadata[b"discreet.cost"]) == ("state", b"epsilon = 0.5")
    assert 'filename="state-totals.parquet"' in stored.headers["content-disposition"]
    square = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}
    shapes = {"type": "Feature", "id": "A1", "geometry": square}
    at = "/api/datasets/people/tree/census/map"
    drawn = ann.post(at, json={"geometry": shapes, "label": "now", "compare": {"then": "census"}})
    assert '"editions":["now","then"]' in drawn.text
    assert drawn.text.count('"mapped":true') == 1
    assert 'filename="map.html"' in drawn.headers["content-disposition"]
    assert "counts by state and county" in ann.post(at, json={}).text
    for wrong in ({"geometry": {"county": "/etc/hostname"}}, {"geometry": {"type": "Point"}}, {"compare": {"b": "no"}}):
        assert ann.post(at, json=wrong).status_code in (404, 422)
    tried = ann.get("/api/datasets/people/tree/census/simulation").json()
    assert tried == service.curators["people"].release("census").simulation.to_dict()
    files_and_sums(ann, service.curators["people"].release("census"))
    again = ann.post("/api/datasets/people/tree/release", json={**TREE, "release": "census"})
    assert again.json()["state"] == "done"
    assert str(spent(service)["team"]) == "1/2"
    other = ann.post("/api/datasets/people/tree/release", json={**TREE, "release": "census", "epsilon": 1})
    assert other.status_code == 422
    assert [one["release"] for one in ann.get("/api/datasets/people/jobs").json()] == ["census"]
    assert ann.get("/api/datasets/people/synth/census").status_code == 404
    assert ann.get("/api/datasets/people/tree/census/table?level=town").status_code == 422


def files_and_sums(ann, release):
    """All files of a hierarchy, its noisy counts, and sums of one's own, over HTTP."""
    path = "/api/datasets/people/tree/census"
    packed = ann.get(f"{path}/files?format=csv")
    assert (packed.status_code, packed.headers["content-type"]) == (200, "application/zip")
    names = zipfile.ZipFile(io.BytesIO(packed.content)).namelist()
    assert {"county.csv", "county.csv-metadata.json", "county-totals.csv", "dictionary.md"} <= set(names)
    noisy = zipfile.ZipFile(io.BytesIO(ann.get(f"{path}/measurements").content))
    assert sorted(noisy.namelist()) == ["measurements.json", "measurements.parquet", "regions.parquet"]
    copies = zipfile.ZipFile(io.BytesIO(ann.get(f"{path}/replicates?many=10&format=csv").content))
    assert "count_replicate_10" in copies.read("county-replicates.csv").decode()
    assert ann.get(f"{path}/replicates?many=9").json()["field"] == "many"
    for name, table in release.tables().items():
        assert ann.get(f"/api/datasets/people/releases/census?part={name}").json()["columns"] == dict(table.columns)
        assert ann.get(f"{path}/table?level={name}&format=csv").text == table.to_csv()
    county = release.tree.codes[-1][0]
    asked = release.sum({"county": [county]})
    assert ann.get(f"{path}/sum", params={"of": f"county={county}"}).json() == asked.to_dict()
    share = ann.get(f"{path}/sum", params={"of": f"county={county}", "share_of": ""}).json()
    assert share == (asked / release.sum()).to_dict()
    for wrong, field in (({"of": "town=3"}, "of"), ({"share_of": "county"}, "share_of")):
        found = ann.get(f"{path}/sum", params=wrong)
        assert (found.status_code, found.json()["field"]) == (422, field)
    assert ann.get("/api/datasets/people/tree/none/sum").status_code == 404


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
    content = ann.get("/api/datasets/people/train/m/weights?format=safetensors").content
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert header["__metadata__"]["release"] == "m"
    assert weights["0/w"].tobytes() in content
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
    refused = {"how.otherwise": 1, "how.geography": 3, "rules": 3, "method": "none"}
    for field, value in refused.items():
        how = {field.removeprefix("how."): value}
        found = ann.post(f"{people}/publish", json={"release": identity, "how": how})
        assert (found.status_code, found.json()["field"]) == (422, field)
    for name in ("self", "who", "release", "plan", "ledger", "known", "measured", "wait"):
        found = ann.post(f"{people}/publish", json={"release": identity, "how": {name: 1}})
        assert (found.status_code, found.json()["field"]) == (422, f"how.{name}")
        assert found.json()["message"].startswith(f"`how.{name}` must be left out: only method, rules, confidence")
    assert ann.post(f"{people}/publish", json={"release": "none"}).status_code == 404
    assert client(service, "viewer").post(f"{people}/publish", json={"release": identity}).status_code == 403
    assert spent(service)["team"] == Fraction(1, 2)


def test_rows_that_would_fill_the_machine_are_not_drawn(service):
    ann, people = client(service), "/api/datasets/people"
    identity = ann.post(f"{people}/synth/release", json=SYNTH).json()["release"]
    assert waited(ann, identity)["state"] == "done"
    for rows in (10**12, 501, 0, -1, True, 2.5, "7"):  # ten times those of the release, which has 50
        found = ann.post(f"{people}/publish", json={"release": identity, "how": {"rows": rows}})
        assert (found.status_code, found.json()["field"]) == (422, "rows"), rows
    for rows in (7, 500):
        assert ann.post(f"{people}/publish", json={"release": identity, "how": {"rows": rows}}).status_code == 200


def cut_short(service, monkeypatch, who, allotment="team"):
    """The id of a hierarchy that was measured for somebody, and whose run was stopped before it was published."""
    curator = service.curator("people", Caller(who, "analyst"))
    plan = curator.tree(TREE["levels"], by=TREE["by"]).plan(epsilon="0.5", allotment=allotment)
    with monkeypatch.context() as patch:
        patch.setattr(type(plan.plan), "publish", lambda self, measured: sys.exit(1))
        with pytest.raises(SystemExit):
            plan.release(release=f"{who}s")
    return f"{who}s"


def published(visitor, identity, **how):
    return visitor.post("/api/datasets/people/publish", json={"release": identity, "how": how})


def test_an_answer_is_recorded_as_it_was_asked_for_whoever_publishes_it(service, monkeypatch):
    identity = cut_short(service, monkeypatch, "ann")
    other = published(client(service, name="bob"), identity, method="exact", confidence=0.01)
    assert (other.status_code, other.json()["result"]["tree"]["confidence"]) == (200, 0.01)
    kept = client(service, name="ann").get(f"/api/datasets/people/record/{identity}").json()
    assert kept["result"]["tree"]["confidence"] == 0.95
    assert kept["result"]["tree"]["published"] != other.json()["result"]["tree"]["published"]


def test_only_who_paid_or_may_pay_publishes(service, monkeypatch):
    """Others are refused in the words for an id that is not there, and nothing is recorded for them."""
    identity = cut_short(service, monkeypatch, "ann")
    guest = client(service, name="bob", allotment="guests")
    refused, missing = published(guest, identity), published(guest, "nothing")
    assert refused.status_code == missing.status_code == 404
    assert refused.json()["message"].replace(identity, "nothing") == missing.json()["message"]
    assert service.curators["people"].ledger.find(identity).open
    allowed = [
        client(service, name="ann", allotment="guests"),
        client(service, name="cyd", allotment="team"),
        client(service, "custodian", name="eve"),
    ]
    for visitor in allowed:
        assert published(visitor, identity).status_code == 200
    left = [published(visitor, identity, confidence=0.5).json()["remaining"] for visitor in allowed]
    assert [bool(one) for one in left] == [False, True, True]  # where another allotment stands is not theirs to see


def test_nobody_waits_in_a_turn_at_planning_for_a_release_that_runs(service, monkeypatch):
    identity, ann = cut_short(service, monkeypatch, "ann"), client(service, name="ann")
    with service.curators["people"].ledger.running(identity):
        busy = published(ann, identity)
        assert (busy.status_code, busy.json()["error"]) == (429, "BusyError")
    assert published(ann, identity).status_code == 200
