"""When and in which words answers leave: after the tick, at the deadline in constant words, and never with a value."""

import re
import threading
import time
from types import SimpleNamespace

import pyarrow as pa
import pytest

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from asgi_client import Client
from discreet.apps.server.pacing import LATER
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web import burns
from discreet.apps.web.session import Sessions
from discreet.apps.web.site import application
from discreet.core import tick
from discreet.curator.offer import Offer
from discreet.data.source import Connection, Source
from discreet.ledger import door
from discreet.ledger.ledger import Ledger
from servers import serving

SCHEMA = Schema("people", {"age": Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"], nullable=False)})
SECRET = "Xyzzy-7431"
ASK = {"outputs": ["count"], "by": ["county"], "epsilon": "0.1", "allotment": "team"}


def service_of(folder, ages, **limits):
    folder.mkdir(exist_ok=True)
    table = pa.table({"age": ages, "county": ["Ash"] * len(ages)})
    parts = [Allotment("team", "pure", epsilon=1), Allotment("guests", "pure", epsilon=1)]
    curator = discreet.open(table, SCHEMA, ledger=folder / "b.db", budget=Budget(2, allotments=parts), create=True)
    return Service({"people": curator}, Tokens(folder / "t.db")).within(**limits)


def client(service, role="analyst", allotment=None, name="ann"):
    return Client(application(service), {"authorization": "Bearer " + service.tokens.create(name, role, allotment)})


def test_whoever_has_waited_long_enough_is_told_the_same(tmp_path, monkeypatch):
    gate, real = threading.Event(), Offer.release

    def slow(offer, **how):
        assert gate.wait(60)
        return real(offer, **how)

    monkeypatch.setattr(Offer, "release", slow)
    bodies, callers = [], []
    for place, ages in (("few", [30]), ("many", [20, 90, None])):
        ann = client(service_of(tmp_path / place, ages, wait=0.4))
        ann.post("/api/datasets/people/plan", json=ASK)  # the first plan of a process may take longer than that
        begun = time.monotonic()
        found = ann.post("/api/datasets/people/release", json={**ASK, "release": "slow"})
        assert time.monotonic() - begun >= 0.4
        assert found.status_code == 202
        bodies.append((found.content, sorted(found.headers.items())))
        callers.append(ann)
    assert bodies[0] == bodies[1]
    other = callers[0].post("/api/datasets/people/release", json={**ASK, "release": "other"}).content
    assert other == bodies[0][0].replace(b'"slow"', b'"other"')
    assert LATER.encode() in other
    gate.set()  # what was begun goes on, and is charged once
    for ann in callers:
        for _ in range(600):
            found = ann.get("/api/datasets/people/releases/slow")
            if found.status_code == 200:
                break
            time.sleep(0.05)
        assert found.json()["outputs"] == ["count"]


ENDLESS = "SELECT sum(a.range * b.range % 7) FROM range(10000000) a, range(10000000) b"


def test_at_the_deadline_the_run_is_stopped_and_everyone_is_told_the_same(tmp_path, monkeypatch):
    ended, real = [], Connection._integers

    def endless(connection, expression):
        try:
            connection._backend.raw_sql(ENDLESS).fetchall()
        finally:
            ended.append(True)
        return real(connection, expression)

    monkeypatch.setattr(Connection, "_integers", endless)
    bodies = []
    for place, ages in (("few", [30]), ("many", [20, 90, None])):
        service = service_of(tmp_path / place, ages, seconds=0.4, releases=1)
        ann = client(service)
        ann.post("/api/datasets/people/plan", json=ASK)
        bodies.append(ann.post("/api/datasets/people/release", json={**ASK, "release": "slow"}))
        assert [str(one.spent.amount) for one in service.curators["people"].standing()] == ["1/10", "0"]
        for again in (
            ann.post("/api/datasets/people/release", json={**ASK, "release": "slow"}),
            ann.get("/api/datasets/people/releases/slow"),
            ann.get("/api/datasets/people/record/slow"),
        ):
            assert (again.status_code, again.content) == (bodies[-1].status_code, bodies[-1].content)
        assert service.curators["people"].ledger.verify().ok
    assert ended == [True, True]
    assert bodies[0].status_code == 500
    assert bodies[0].content == bodies[1].content
    said = bodies[0].json()
    assert (said["error"], said["release"]) == ("RunError", "slow")
    assert "has no answer: it was stopped at the time limit. Its cost was recorded" in said["message"]
    assert "stays spent" in said["message"]


def test_a_run_has_its_turn_until_it_ends_whoever_waits_for_it(tmp_path, monkeypatch):
    gate, begun, real = threading.Event(), threading.Event(), Offer.release

    def slow(offer, **how):
        begun.set()
        assert gate.wait(60)
        return real(offer, **how)

    monkeypatch.setattr(Offer, "release", slow)
    service = service_of(tmp_path, [30], wait=0.3, releases=1)
    header = {"authorization": "Bearer " + service.tokens.create("ann", "analyst")}
    import httpx

    with serving(application(service)) as address, httpx.Client(base_url=address, headers=header) as ann:
        ann.post("/api/datasets/people/plan", json=ASK)
        assert ann.post("/api/datasets/people/release", json={**ASK, "release": "slow"}).status_code == 202
        assert begun.is_set()
        busy = ann.post("/api/datasets/people/release", json={**ASK, "release": "other"})
        assert (busy.status_code, busy.json()["error"]) == (429, "BusyError")
        assert "Nothing was spent." in busy.json()["message"]
        assert service.curators["people"].ledger.find("other") is None
        gate.set()
        for _ in range(600):
            found = ann.post("/api/datasets/people/release", json={**ASK, "release": "other"})
            if found.status_code == 200:
                break
            time.sleep(0.05)
        assert found.json()["id"] == "other"


# What is drawn anew for every page: ids of releases that are not asked for yet.
_RANDOM = re.compile(rb"[0-9a-f]{32}")


class Watcher:
    """Someone with every right who asks at every path, while a release runs and until its end may be seen."""

    def __init__(self, service):
        self.application, token = application(service), service.tokens.create("eve", "custodian")
        self.program = Client(self.application, {"authorization": "Bearer " + token})
        self.browser = Client(self.application, {"cookie": "discreet-session=" + Sessions(service.tokens).begin(token)})
        self.looks = []

    def look(self):
        """All that can be read: the status and the body of every path, about the release where it names one."""
        seen = {}
        for route in self.application.router.routes:
            if "GET" not in (getattr(route, "methods", None) or ()):
                continue
            path = re.sub(r"\{(name|dataset)\}", "people", route.path)
            path = re.sub(r"\{[^}]*\}", "slow", path)
            found = (self.program if path.startswith("/api/") else self.browser).get(path)
            seen[path] = (found.status_code, _RANDOM.sub(b"", found.content))
        self.looks.append(seen)


def watched(tmp_path, monkeypatch):
    """What a watcher sees while a release runs, after it has run and before the tick, and at the tick."""
    service = service_of(tmp_path, [30], rate=10_000, burst=10_000)
    watcher, slept, real = Watcher(service), [], Connection._integers

    def run(connection, expression):
        found = real(connection, expression)
        watcher.look()
        return found

    def sleep(seconds):
        watcher.look()
        slept.append(seconds)

    monkeypatch.setattr(Connection, "_integers", run)
    monkeypatch.setattr(tick, "time", lambda: 1000.03125)
    monkeypatch.setattr(tick, "sleep", sleep)
    monkeypatch.setattr(burns, "time", SimpleNamespace(time=lambda: 4e9))  # pictures that end now
    ann = client(service.within(pace=0.125))
    assert ann.post("/api/datasets/people/release", json={**ASK, "release": "slow"}).status_code == 200
    watcher.look()
    assert slept == [0.09375]
    return watcher.looks


def changed(one, other):
    return [path for path in one if one[path] != other[path]]


def test_nothing_that_anyone_can_read_tells_of_the_end_of_a_run_before_the_tick(tmp_path, monkeypatch):
    during, before, after = watched(tmp_path, monkeypatch)
    assert changed(during, before) == []
    assert len(during) > 60
    told = changed(before, after)  # or this would be no test
    for path in ("/api/datasets/people/releases", "/api/datasets/people/releases/slow", "/api/datasets/people/ledger"):
        assert path in told
    assert {"/d/people/releases", "/d/people/releases/slow"} <= set(told)


def test_a_release_that_is_recorded_before_the_tick_is_found(tmp_path, monkeypatch):
    real = Ledger.answered_by

    def early(ledger, *values, **how):
        found = real(ledger, *values, **how)
        tick.wait_for_tick()
        return found

    monkeypatch.setattr(door, "wait_for_tick", lambda: None)
    monkeypatch.setattr(Ledger, "answered_by", early)
    during, before, _ = watched(tmp_path, monkeypatch)
    assert "/api/datasets/people/releases/slow" in changed(during, before)


def test_a_run_that_fails_says_the_same_whatever_the_data(tmp_path, monkeypatch):
    def broken(source):
        raise ValueError(SECRET)

    bodies = []
    for place, ages in (("few", [30]), ("many", [20, 90])):
        service = service_of(tmp_path / place, ages)
        ann = client(service)
        with monkeypatch.context() as patch:
            patch.setattr(Source, "open", broken)
            bodies.append(ann.post("/api/datasets/people/release", json={**ASK, "release": "one"}))
        assert [str(one.spent.amount) for one in service.curators["people"].standing()] == ["1/10", "0"]
    assert [one.status_code for one in bodies] == [500, 500]
    assert bodies[0].content == bodies[1].content
    assert SECRET not in bodies[0].text
    assert "stays spent" in bodies[0].json()["message"]


def test_paths_that_are_not_there_are_refused_in_our_words(tmp_path):
    ann = client(service_of(tmp_path, [30]))
    for method, path, status in (
        ("GET", f"/api/{SECRET}", 404),
        ("GET", f"/api/datasets/{SECRET}", 404),
        ("DELETE", "/api/datasets", 405),
        ("PUT", "/api/datasets/people/plan", 405),
    ):
        found = ann.request(method, path)
        assert found.status_code == status
        assert set(found.json()) >= {"error", "message"}
        assert "detail" not in found.json()
    assert ann.get("/api/nowhere").json() == {"error": "HTTPError", "message": "there is nothing here"}
    refused = Client(application(service_of(tmp_path, [30]))).get("/api/datasets")
    assert refused.headers["www-authenticate"] == "Bearer"
    assert refused.json() == {"error": "HTTPError", "message": "a valid token is needed"}


def test_an_analyst_sees_and_spends_one_allotment_and_reads_every_release(tmp_path):
    service = service_of(tmp_path, [30, 40])
    ann, gus = client(service), client(service, allotment="guests", name="gus")
    nobody = client(service, allotment="nowhere", name="new")
    ann.post("/api/datasets/people/release", json={**ASK, "release": "one"})
    (seen,) = gus.get("/api/datasets").json()
    assert [one["allotment"] for one in seen["allotments"]] == ["guests"]
    assert gus.post("/api/datasets/people/plan", json=ASK).json()["field"] == "allotment"
    assert gus.post("/api/datasets/people/plan", json={**ASK, "allotment": None}).json()["allotment"] == "guests"
    assert gus.get("/api/datasets/people/releases/one").status_code == 200
    assert gus.get("/api/datasets/people/ledger").status_code == 403
    lost = nobody.post("/api/datasets/people/plan", json={**ASK, "allotment": None})  # made while the server ran
    assert (lost.status_code, lost.json()["field"]) == (422, "allotment")
    assert nobody.get("/api/datasets/people").json()["allotments"] == []


def test_a_browser_has_the_rate_of_its_caller(tmp_path):
    service = service_of(tmp_path, [30], rate=0.001, burst=3)
    served = application(service)
    cookies = [
        {"cookie": "discreet-session=" + Sessions(service.tokens).begin(service.tokens.create(name, "viewer"))}
        for name in ("ann", "bob")
    ]
    for cookie in cookies:  # each has three, and strangers have three of their own
        assert [Client(served, cookie).get("/").status_code for _ in range(4)] == [200, 200, 200, 429]
    assert [Client(served).get("/login").status_code for _ in range(4)] == [200, 200, 200, 429]


def test_the_description_names_everything(tmp_path):
    told = client(service_of(tmp_path, [30])).get("/api/openapi.json").json()
    operations = [(path, one) for path, methods in told["paths"].items() for one in methods.values()]
    names = [one["operationId"] for _, one in operations]
    assert len(set(names)) == len(names)
    assert {"plan", "release", "plan_tree", "release_train", "job", "synth_rows"} <= set(names)
    assert told["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
    for path, one in operations:
        assert path.startswith("/api/")
        assert one["description"]
        assert one["security"] == [{"HTTPBearer": []}]
        assert {"401", "403", "404", "409", "413", "422", "429", "500"} <= set(one["responses"])
        good = [one["responses"][status] for status in ("200", "202") if status in one["responses"]]
        assert good
        assert all("content" in answer for answer in good), path
