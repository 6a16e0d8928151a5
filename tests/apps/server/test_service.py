"""Whose a job is, and what a ledger in trouble says: nobody takes over an id, nobody is told what a database said."""

import json
import sqlite3
import threading

import pyarrow as pa
import pytest

import discreet
from discreet import Allotment, Budget, Category, Schema

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from job_server import waited
from visitor import Visitor

from asgi_client import Client
from discreet.apps.server.jobs import Jobs
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller, Tokens
from discreet.apps.web.site import application
from discreet.errors import InputError, LedgerError
from discreet.ledger.ledger import Ledger

SCHEMA = Schema("people", {"county": Category(["A1", "A2"], nullable=False), "state": Category(["A"], nullable=False)})
TABLE = pa.table({"county": ["A1", "A2"] * 50, "state": ["A"] * 100})
TREE = {"levels": {"state": 1, "county": 2}, "epsilon": "0.1", "allotment": "team"}
WHY = "a reason for custodians alone"
ANN, BOB, OWNER = Caller("ann", "analyst"), Caller("bob", "analyst"), Caller("eve", "custodian")


@pytest.fixture
def service(tmp_path):
    parts = [Allotment("team", "pure", epsilon=1), Allotment("guests", "pure", epsilon=1)]
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=Budget(2, allotments=parts), create=True)
    return Service({"people": curator}, Tokens(tmp_path / "tokens.db"), jobs=Jobs(tmp_path / "jobs.db"))


def client(service, name, role="analyst", allotment=None):
    token = service.tokens.create(name, role, allotment)
    return Client(application(service), {"authorization": f"Bearer {token}"})


def test_what_someone_made_is_for_everyone_but_not_who_and_why(service):
    ann, bob = client(service, "ann"), client(service, "bob")
    ann.post("/api/datasets/people/tree/release", json={**TREE, "release": "one", "why": WHY})
    waited(ann, "one")
    again = bob.post("/api/datasets/people/tree/release", json={**TREE, "release": "one", "why": "mine"})
    assert again.status_code == 202
    assert again.json()["state"] == "done"
    assert (again.json()["who"], again.json()["why"]) == ("", "")
    mine = ann.post("/api/datasets/people/tree/release", json={**TREE, "release": "one"}).json()
    assert (mine["who"], mine["why"]) == ("ann", WHY)
    other = bob.post("/api/datasets/people/tree/release", json={**TREE, "epsilon": "0.2", "release": "one"})
    assert other.status_code == 422
    assert sum(float(one.spent.amount) for one in service.curators["people"].standing()) == 0.1


@pytest.mark.parametrize("ends", [False, True], ids=["runs", "failed"])
def test_nobody_takes_over_a_job_of_someone_else(tmp_path, ends):
    jobs, go, done = Jobs(tmp_path / "jobs.db"), threading.Event(), threading.Event()

    def work(report):
        go.wait(20)
        done.set()
        raise InputError("county", "nothing", "something")

    jobs.start(ANN, "people", "tree", "one", WHY, work, digest="d")
    if ends:
        go.set()
        assert done.wait(20)
        while not jobs.find("people", "one").over:
            pass
    try:
        with pytest.raises(InputError, match="another person") as refused:
            jobs.start(BOB, "people", "tree", "one", "mine", work, digest="d")
        assert WHY not in str(refused.value)
        assert jobs.find("people", "one").who == "ann"
        jobs.start(OWNER, "people", "tree", "one", "to see it through", work, digest="d")
        assert jobs.find("people", "one").who == ("eve" if ends else "ann")
    finally:
        go.set()


def test_someone_else_waits_for_what_is_made_already(service, monkeypatch):
    from discreet.apps.client.transport import Transport

    client(service, "ann").post("/api/datasets/people/tree/release", json={**TREE, "release": "one"})
    bob = client(service, "bob")

    def sent(line, path, body=None):
        found = bob.get(path) if body is None else bob.post(path, json=json.loads(json.dumps(body, default=str)))
        if found.status_code >= 400:
            raise InputError("path", path, found.text)
        return found.json()

    monkeypatch.setattr(Transport, "send", sent)
    for _ in range(400):
        if service.queue("people").find("people", "one").over:
            break
        threading.Event().wait(0.05)
    there = discreet.connect("http://127.0.0.1:1", "x")
    work = there.tree({"state": 1, "county": 2}).plan(epsilon="0.1", allotment="team")
    assert work.release(release="one")["state"].rows()


def test_a_job_that_was_paid_by_a_plan_of_before_is_not_taken_for_another(service, monkeypatch):
    from discreet.trees.plan import TreePlan

    ann = client(service, "ann")
    ann.post("/api/datasets/people/tree/release", json={**TREE, "release": "old"})
    assert waited(ann, "old")["state"] == "done"
    another = {**TREE, "release": "old", "epsilon": "0.2"}
    assert "another question" in ann.post("/api/datasets/people/tree/release", json=another).text
    paid = service.curator("people", ANN).tree({"state": 1, "county": 2}).plan(epsilon="0.1", allotment="team").plan
    monkeypatch.setattr(TreePlan, "former", (paid,))
    assert ann.post("/api/datasets/people/tree/release", json=another).json()["state"] == "done"


def test_an_unfinished_release_of_someone_else_is_neither_gone_on_with_nor_cancelled(service, monkeypatch):
    from discreet.ledger import door

    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    mine = service.curator("people", ANN).tree({"state": 1, "county": 2}).plan(epsilon="0.1", allotment="team")
    with monkeypatch.context() as patch:
        patch.setattr(door, "_attempt", killed)
        with pytest.raises(Killed):
            mine.release(release="anns")
    service.queue("people").pause()
    bob, eve = client(service, "bob"), client(service, "eve", "custodian")
    refused = bob.post("/api/datasets/people/tree/release", json={**TREE, "release": "anns"})
    assert refused.status_code == 422
    assert "another person" in refused.json()["message"]
    assert bob.post("/api/datasets/people/jobs/anns/cancel").status_code == 404
    assert service.curators["people"].ledger.find("anns").open
    assert eve.post("/api/datasets/people/tree/release", json={**TREE, "release": "anns"}).status_code == 202
    assert mine.release(release="anns")["state"].rows()
    assert sum(float(one.spent.amount) for one in service.curators["people"].standing()) == 0.1


def test_a_job_that_waited_before_somebody_paid_for_its_id_ends_nothing_of_theirs(service, monkeypatch):
    from discreet.ledger import door

    def killed(*_):
        raise KeyboardInterrupt

    service.queue("people").pause()
    bob = client(service, "bob")
    assert bob.post("/api/datasets/people/tree/release", json={**TREE, "release": "anns"}).status_code == 202
    mine = service.curator("people", ANN).tree({"state": 1, "county": 2}).plan(epsilon="0.1", allotment="team")
    with monkeypatch.context() as patch:
        patch.setattr(door, "_attempt", killed)
        with pytest.raises(KeyboardInterrupt):
            mine.release(release="anns")
    assert service.curators["people"].ledger.find("anns").open
    with pytest.raises(InputError, match="another person paid"):  # nor is it gone on with
        service._perform(service.queue("people").request("people", "anns"), lambda stage, done: None)
    assert bob.post("/api/datasets/people/jobs/anns/cancel").json()["state"] == "cancelled"
    assert service.curators["people"].ledger.find("anns").open
    assert mine.release(release="anns")["state"].rows()


TOLD = 'connection to "10.1.2.3", user "books" failed: DETAIL: Failing row contains (7, answer, Xyzzy)'


def test_what_a_database_said_is_told_to_nobody(service, monkeypatch):
    ann = client(service, "ann")
    page = Visitor(application(service))
    page.sign_in(service.tokens.create("pat", "analyst"))

    def broken(*_, **__):
        raise LedgerError(f"The ledger in PostgreSQL cannot be used now ({TOLD}).")

    asked = {"outputs": ["count"], "epsilon": "0.1", "allotment": "team"}
    monkeypatch.setattr(Ledger, "spend", broken)
    found = ann.post("/api/datasets/people/release", json=asked)
    assert found.status_code == 503
    assert "not charged twice" in found.json()["message"]
    ann.post("/api/datasets/people/tree/release", json={**TREE, "release": "two"})
    job = waited(ann, "two")
    assert (job["state"], job["error"]) == ("failed", "LedgerError")
    monkeypatch.setattr(Ledger, "remaining", broken)
    shown = [page.get("/d/people/ask"), page.get("/d/people/ledger")]
    monkeypatch.setattr(Ledger, "releases", broken)
    shown.append(page.get("/d/people/releases"))
    shown.append(ann.get("/api/datasets/people/releases"))
    assert shown[-1].status_code == 503
    monkeypatch.setattr(Ledger, "standing", broken)
    shown += [page.get("/d/people"), ann.get("/api/datasets")]
    for body in (found.text, json.dumps(job), *(one.text for one in shown)):
        for word in ("10.1.2.3", "Xyzzy", "PostgreSQL"):
            assert word not in body


def test_tokens_that_cannot_be_looked_up_are_told_like_anything_unforeseen(service, monkeypatch):
    ann = client(service, "ann")

    def locked(*_):
        raise sqlite3.OperationalError("disk I/O error at /srv/secret")

    monkeypatch.setattr(Tokens, "caller", locked)
    found = ann.get("/api/datasets")
    assert found.status_code == 500
    assert found.json() == {"error": "ServerError", "message": "something went wrong"}
    assert found.headers["cache-control"] == "no-store"
