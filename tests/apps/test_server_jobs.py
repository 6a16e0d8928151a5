"""Long jobs over HTTP: priced, refused or begun in the background, watched, and fetched when they are done."""

import asyncio
import io
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from importlib.resources import files
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from asgi_client import Client
from discreet.apps.server.jobs import Jobs
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller, Tokens
from discreet.apps.web.site import application
from discreet.errors import BusyError, InputError, RunError
from discreet.ledger.ledger import Ledger

SCHEMA = Schema(
    "people",
    {
        "age": Integer(0, 9, nullable=False),
        "county": Category(["A1", "A2", "B1"], nullable=False),
        "state": Category(["A", "B"], nullable=False),
        "works": discreet.Boolean(nullable=False),
    },
)
TABLE = pa.table(
    {
        "age": [n % 10 for n in range(300)],
        "county": [("A1", "A2", "B1")[n % 3] for n in range(300)],
        "state": [("A", "A", "B")[n % 3] for n in range(300)],
        "works": [n % 10 > 4 for n in range(300)],
    }
)
TREE = {"levels": {"state": 1, "county": 2}, "by": ["works"], "epsilon": "0.5", "allotment": "team"}
SYNTH = {"columns": ["age", "works"], "rows": 50, "epsilon": "0.5", "allotment": "team", "method": "independent"}
ANN = Caller("ann", "analyst")


@pytest.fixture
def service(tmp_path):
    parts = [
        Allotment("team", "pure", epsilon=2),
        Allotment("guests", "pure", epsilon=1),
        Allotment("models", "plan", epsilon=3, delta=1e-5),
    ]
    budget = Budget(6, delta=1e-5, allotments=parts)
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=budget, create=True)
    return Service({"people": curator}, Tokens(tmp_path / "tokens.db"), jobs=Jobs(tmp_path / "jobs.db"))


def client(service, role="analyst", allotment=None, name=None):
    token = service.tokens.create(name or role, role, allotment)
    return Client(application(service), {"authorization": f"Bearer {token}"})


def waited(ann, release, seconds=120):
    for _ in range(int(seconds / 0.05)):
        job = ann.get(f"/api/datasets/people/jobs/{release}").json()
        if job["state"] not in ("waiting", "running"):
            return job
        time.sleep(0.05)
    raise AssertionError(job)


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


@pytest.mark.parametrize(
    ("kind", "body", "field"),
    [
        ("tree", {**TREE, "epsilon": None}, "epsilon"),
        ("tree", {**TREE, "levels": {}}, "levels"),
        ("tree", {**TREE, "geography": "/etc/passwd"}, "geography"),
        ("tree", {**TREE, "geography": {"state": ["A"], "county": []}}, "codes"),
        ("tree", {**TREE, "by": [{"column": "shoe"}]}, "by"),
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


def test_only_so_many_run_and_so_many_wait(tmp_path):
    jobs = Jobs(tmp_path / "jobs.db", most=1, waiting=2)
    gate, running = threading.Event(), threading.Semaphore(0)

    def work(report):
        report("measuring", 0.25)
        running.release()
        assert gate.wait(600)

    jobs.start(ANN, "d", "tree", "one", "", work, digest="x")
    assert running.acquire(timeout=600)
    assert (jobs.find("d", "one").state, jobs.find("d", "one").stage, jobs.find("d", "one").progress) == (
        "running",
        "measuring",
        0.25,
    )
    assert jobs.start(ANN, "d", "tree", "one", "", work, digest="x").state == "running"
    with pytest.raises(InputError, match="is running"):
        jobs.start(ANN, "d", "tree", "one", "", work, digest="y")
    for name in ("two", "three"):
        assert jobs.start(ANN, "d", "tree", name, "", work).state == "waiting"
    with pytest.raises(BusyError, match="Nothing was spent"):
        jobs.start(ANN, "d", "tree", "four", "", work)
    gate.set()
    for name in ("two", "three"):
        until(lambda name=name: jobs.find("d", name).state == "done")
    assert [job.release for job in jobs.listed("d")] == ["three", "two", "one"]


def test_a_new_stage_is_told_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.apps.server.jobs._PAUSE", 1e9)  # within a stage, notes may wait
    jobs = Jobs(tmp_path / "jobs.db")
    gate, running = threading.Event(), threading.Semaphore(0)

    def work(report):
        for stage, done in (("measuring", 0.1), ("measuring", 0.2), ("fitting", 0.5), ("fitting", 0.6)):
            report(stage, done)
        running.release()
        assert gate.wait(600)

    jobs.start(ANN, "d", "tree", "one", "", work)
    assert running.acquire(timeout=600)
    assert (jobs.find("d", "one").stage, jobs.find("d", "one").progress) == ("fitting", 0.5)
    gate.set()
    until(lambda: jobs.find("d", "one").over)


def until(true, seconds=600):
    for _ in range(int(seconds / 0.02)):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("not in time")


def test_what_goes_wrong_in_a_job_is_not_told(tmp_path):
    jobs = Jobs(tmp_path / "jobs.db")

    def broken(report):
        raise ValueError("Xyzzy-7431")

    def failed(report):
        raise RunError("Its cost stays spent.", release="two")

    jobs.start(ANN, "d", "tree", "one", "", broken)
    jobs.start(ANN, "d", "tree", "two", "", failed)
    until(lambda: all(job.state == "failed" for job in jobs.listed("d")))
    assert jobs.find("d", "one").problem == "something went wrong"
    assert jobs.find("d", "two").problem == "Its cost stays spent."
    assert b"Xyzzy" not in (tmp_path / "jobs.db").read_bytes()


_KILLED = """
import sys, threading, os
from discreet.apps.server.jobs import Jobs
from discreet.apps.server.tokens import Caller
jobs, begun = Jobs(sys.argv[1]), threading.Event()
def work(report):
    report("measuring", None)
    begun.set()
    threading.Event().wait()
for name in ("lost", "kept"):
    begun.clear()
    jobs.start(Caller("ann", "analyst"), "d", "tree", name, "", work)
    begun.wait()
print("ready", flush=True)
sys.stdin.read()
os._exit(9)
"""


def test_the_jobs_of_a_process_that_died_are_interrupted(tmp_path):
    path = tmp_path / "jobs.db"
    child = subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    jobs = Jobs(path)
    jobs.settled = lambda dataset, release: release == "kept"  # its answer was on the books when it died
    assert [job.state for job in jobs.listed("d")] == ["running", "running"]
    os.kill(child.pid, 9)
    child.communicate()
    assert (jobs.find("d", "lost").state, jobs.find("d", "kept").state) == ("interrupted", "done")
    assert "charged once" in jobs.find("d", "lost").problem
    jobs.start(ANN, "d", "tree", "lost", "", lambda report: None)
    until(lambda: jobs.find("d", "lost").state == "done")
    held = f"jobs.db.{jobs._alive.name}"  # the lock of a process that died is cleared away
    assert [one.name for one in tmp_path.glob("jobs.db.*") if one.name != held] == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_server_killed_in_the_middle_of_a_job_charges_once(tmp_path):
    """kill -9 as soon as the job is begun; the same id again on the next server is the same charge."""
    import serving

    shipped = Path(str(files("discreet.apps.demo")))
    for name in ("people.csv", "discreet.toml"):
        shutil.copy(shipped / name, tmp_path / name)
    Ledger.open(tmp_path / ".discreet" / "ledger.db", create=True).close()
    token = Tokens(tmp_path / "discreet-tokens.db").create("ann", "analyst")
    body = {"columns": ["age", "sex"], "epsilon": "1/2", "release": "rows"}
    words = [tmp_path / "people.csv", "--schema", tmp_path / "discreet.toml"]
    words += ["--ledger", tmp_path / ".discreet" / "ledger.db", "--tokens", tmp_path / "discreet-tokens.db"]
    with serving.Server(tmp_path, *words) as server:

        def asked(path, body=None):
            async def once():
                caller = serving.Client(server.port, token)
                try:
                    return await caller.ask(f"/api/datasets/people/{path}", body)
                finally:
                    caller.close()

            return asyncio.run(once())

        status, job = asked("synth/release", body)
        assert (status, job["state"]) == (202, "waiting")
        server.kill()
        server.start()
        assert asked("jobs/rows")[1]["state"] in ("interrupted", "done")
        assert asked("synth/release", body)[0] == 202
        until(lambda: asked("jobs/rows")[1]["state"] == "done", 120)
        assert asked("synth/rows")[1]["columns"] == ["age", "sex"]
    books = Ledger.open(tmp_path / ".discreet" / "ledger.db")
    assert [str(one.spent.amount) for one in books.standing("people")] == ["1/2"]
    assert books.verify().ok
