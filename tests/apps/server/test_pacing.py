"""When and in which words answers leave: at whole ticks, at the deadline in the same bytes, and never with a value."""

import threading
import time

import anyio
import pyarrow as pa
import pytest

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema
from discreet.errors import BudgetError

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from asgi_client import Client
from discreet.apps.server import pacing
from discreet.apps.server.pacing import LATER, Pacer
from discreet.apps.server.requests import ReleaseRequest
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller, Tokens
from discreet.apps.web.site import application
from discreet.curator.offer import Offer
from discreet.data.source import Source

SCHEMA = Schema("people", {"age": Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"], nullable=False)})
SECRET = "Xyzzy-7431"
ASK = {"outputs": ["count"], "by": ["county"], "epsilon": "0.1", "allotment": "team"}
ANN = Caller("ann", "analyst")


def service_of(folder, ages, **limits):
    folder.mkdir(exist_ok=True)
    table = pa.table({"age": ages, "county": ["Ash"] * len(ages)})
    parts = [Allotment("team", "pure", epsilon=1), Allotment("guests", "pure", epsilon=1)]
    curator = discreet.open(table, SCHEMA, ledger=folder / "b.db", budget=Budget(2, allotments=parts), create=True)
    return Service({"people": curator}, Tokens(folder / "t.db")).within(**limits)


def client(service, role="analyst", allotment=None, name="ann"):
    return Client(application(service), {"authorization": "Bearer " + service.tokens.create(name, role, allotment)})


@pytest.mark.parametrize(
    ("gone", "pace", "most", "wait"),
    [(0.03125, 0.125, 60, 0.09375), (0.125, 0.125, 60, 0.0), (0.25, 0.5, 0.375, 0.125), (3, 0.5, 1, 0)],
)
def test_answers_leave_at_whole_ticks(monkeypatch, gone, pace, most, wait):
    monkeypatch.setattr(pacing.time, "monotonic", lambda: 1000 + gone)
    assert pacing._until(1000, pace, most) == pytest.approx(wait, abs=1e-9)
    assert pacing._until(1000, 0, most) == 0


class Quick:
    """An offer that answers at once, or is refused at once."""

    def __init__(self, problem=None):
        self.problem = problem

    def release(self, **how):
        if self.problem is not None:
            raise self.problem
        return self

    def to_dict(self):
        return {"columns": {}}


def took(service, problem, monkeypatch):
    monkeypatch.setattr(ReleaseRequest, "offer", lambda asked, curator: Quick(problem))

    async def timed():
        begun = time.monotonic()
        try:
            await Pacer(service).answer("people", ReleaseRequest(**ASK), ANN)
        except BudgetError:
            assert problem is not None
        return time.monotonic() - begun

    return anyio.run(timed)


@pytest.mark.parametrize("problem", [None, BudgetError("no", asked=1, left=0, allotment="team")])
def test_what_is_quick_waits_for_the_tick(tmp_path, monkeypatch, problem):
    service = service_of(tmp_path, [30])
    assert took(service.within(pace=1.0), problem, monkeypatch) >= 1.0
    # A server without a pace would be caught; a busy machine has several tries.
    assert any(took(service.within(pace=0.0), problem, monkeypatch) < 1.0 for _ in range(20))


def test_at_the_deadline_everyone_is_told_the_same(tmp_path, monkeypatch):
    gate, real = threading.Event(), Offer.release

    def slow(offer, **how):
        assert gate.wait(60)
        return real(offer, **how)

    monkeypatch.setattr(Offer, "release", slow)
    bodies, callers = [], []
    for place, ages in (("few", [30]), ("many", [20, 90, None])):
        ann = client(service_of(tmp_path / place, ages, seconds=0.4))
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
    from discreet.apps.web.session import Sessions

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
