"""The curator over HTTP: roles, prices, refusals, limits, and errors that say nothing of the data."""

import pyarrow as pa
import pytest

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from asgi_client import Client
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.site import application
from discreet.errors import InputError

SCHEMA = Schema("people", {"age": Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"], nullable=False)})
SECRET = "Xyzzy-7431"
TABLE = pa.table({"age": [30, 40, 50], "county": ["Ash", "Elm", SECRET]})


@pytest.fixture
def service(tmp_path):
    parts = [Allotment("team", "pure", epsilon=1), Allotment("guests", "pure", epsilon=1)]
    budget = Budget(2, allotments=parts)
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=budget, create=True)
    return Service({"people": curator}, Tokens(tmp_path / "tokens.db"))


def client(service, role=None, allotment=None, name=None):
    headers = {}
    if role is not None:
        headers["authorization"] = "Bearer " + service.tokens.create(name or role, role, allotment)
    return Client(application(service), headers)


ASK = {"outputs": ["count", "mean(age)"], "by": ["county"], "epsilon": "0.5", "allotment": "team"}


def test_a_plan_is_free_and_a_release_spends_once(service):
    ann = client(service, "analyst", name="ann")
    plan = ann.post("/api/datasets/people/plan", json=ASK).json()
    assert plan["cost"] == 0.5
    assert "Nothing" not in plan["text"]
    assert ann.get("/api/datasets/people").json()["allotments"][0]["spent"] == 0
    first = ann.post("/api/datasets/people/release", json={**ASK, "release": "one", "why": "a test"})
    assert first.status_code == 200
    assert first.json()["columns"]["county"] == ["Ash", "Elm"]
    again = ann.post("/api/datasets/people/release", json={**ASK, "release": "one"})
    assert again.json()["columns"] == first.json()["columns"]
    assert ann.get("/api/datasets/people/releases").json() == ["one"]
    assert ann.get("/api/datasets/people/releases/one").json()["columns"] == first.json()["columns"]
    assert ann.get("/api/datasets/people").json()["allotments"][0]["exact"]["spent"] == "1/2"


@pytest.mark.parametrize(
    ("sent", "field", "says"),
    [
        ({"content": b"{", "headers": {"content-type": "application/json"}}, "body", "`body` must be valid JSON."),
        ({"content": b'{"epsilon": "1"}'}, "body", "content-type: application/json"),
        ({"json": {**ASK, "epsilonn": 1}}, "epsilonn", "`epsilonn` is not known here. Did you mean `epsilon`?"),
        ({"json": {**ASK, "epsilon": "1e400"}}, "epsilon", "`epsilon` must be at most 1e18."),
    ],
)
def test_a_body_that_cannot_be_read_is_answered_in_words(service, sent, field, says):
    told = client(service, "analyst").post("/api/datasets/people/plan", **sent)
    assert told.status_code == 422
    assert told.json()["field"] == field
    assert says in told.json()["message"]


def test_sql_and_accuracy_are_understood_too(service):
    ann = client(service, "analyst")
    asked = {"sql": "SELECT county, COUNT(*) AS n FROM people GROUP BY county", "within": 25, "allotment": "team"}
    assert ann.post("/api/datasets/people/plan", json=asked).json()["expected"][0]["half_width"] <= 25
    mixed = ann.post("/api/datasets/people/plan", json={**asked, "outputs": ["count"]})
    assert mixed.status_code == 422


def test_more_than_is_left_is_refused_with_what_is_left(service):
    ann = client(service, "analyst")
    found = ann.post("/api/datasets/people/release", json={**ASK, "epsilon": 3})
    assert found.status_code == 409
    assert "Nothing was spent" in found.json()["message"]


def test_a_token_spends_from_its_own_allotment_only(service):
    guest = client(service, "analyst", "guests", name="gus")
    assert guest.post("/api/datasets/people/release", json=ASK).status_code == 422
    spent = guest.post("/api/datasets/people/release", json={**ASK, "allotment": None})
    assert spent.status_code == 200
    shown = guest.get("/api/datasets/people").json()["allotments"]
    assert [one["allotment"] for one in shown] == ["guests"]


def test_where_another_allotment_stands_is_not_told_with_a_release_from_it(service):
    ann, guest = client(service, "custodian"), client(service, "analyst", "guests", name="gus")
    ann.post("/api/datasets/people/release", json={**ASK, "release": "theirs"})
    guest.post("/api/datasets/people/release", json={**ASK, "allotment": None, "release": "mine"})
    for path in ("releases", "record"):
        theirs, mine = (guest.get(f"/api/datasets/people/{path}/{name}").json() for name in ("theirs", "mine"))
        assert (theirs["remaining"], theirs["cost"] != "") == ("", True)
        assert mine["remaining"] != ""
        assert ann.get(f"/api/datasets/people/{path}/theirs").json()["remaining"] != ""


def test_roles_are_kept(service):
    viewer, analyst = client(service, "viewer"), client(service, "analyst")
    custodian, stranger = client(service, "custodian"), client(service)
    assert viewer.post("/api/datasets/people/plan", json=ASK).status_code == 200
    assert viewer.post("/api/datasets/people/release", json=ASK).status_code == 403
    assert analyst.get("/api/datasets/people/ledger").status_code == 403
    assert custodian.get("/api/datasets/people/ledger").json()["records"] == []  # opened with the first charge
    assert custodian.get("/api/ledger/verify").json()["ok"] is True
    for path in ("/api/datasets", "/api/datasets/people/releases", "/api/ledger/verify"):
        assert stranger.get(path).status_code == 401
    wrong = Client(application(service), {"authorization": "Bearer dsc_000_x"})
    assert wrong.get("/api/datasets").status_code == 401


def test_the_books_name_who_spent(service):
    client(service, "analyst", name="ann").post("/api/datasets/people/release", json={**ASK, "why": "census"})
    records = client(service, "custodian").get("/api/datasets/people/ledger").json()["records"]
    charge = next(one for one in records if one["kind"] == "charge")
    assert (charge["who"], charge["why"], charge["amount"]) == ("ann", "census", "1/2")


def test_tokens_are_hashed_and_end_when_revoked(service, tmp_path):
    made = service.tokens.create("bob", "analyst")
    assert made.split("_", 2)[2].encode() not in (tmp_path / "tokens.db").read_bytes()
    assert service.tokens.caller(made).name == "bob"
    assert (tmp_path / "tokens.db").stat().st_mode & 0o077 == 0
    with pytest.raises(InputError, match="no token yet"):
        service.tokens.create("bob", "viewer")
    service.tokens.revoke("bob")
    assert service.tokens.caller(made) is None
    for name, role in (("", "viewer"), ("x", "king")):
        with pytest.raises(InputError):
            service.tokens.create(name, role)


def test_bodies_and_rates_are_limited_and_headers_are_set(service):
    small = service.within(body=200, rate=0.001, burst=3)
    ann = client(small, "analyst")
    assert ann.post("/api/datasets/people/plan", json={**ASK, "where": "x" * 500}).status_code == 413
    found = ann.get("/api/datasets")
    assert found.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in found.headers["content-security-policy"]
    assert [ann.get("/api/datasets").status_code for _ in range(3)][-1] == 429


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b'{"epsilon": {"$gt": 0}}',
        b'{"outputs": ["count"], "epsilon": "nan"}',
        b'{"outputs": ["count"], "epsilon": true}',
        b'{"outputs": ["count"], "epsilon": "1e999999999"}',
        b'{"sql": "SELECT COUNT(*) FROM people WHERE age > 1e999999999", "epsilon": 1}',
        b'{"outputs": ["sum(shoe)"], "epsilon": 1}',
        b'{"sql": "DROP TABLE people", "epsilon": 1}',
        b'{"surprise": 1}',
    ],
)
def test_bad_requests_are_named_and_spend_nothing(service, body):
    ann = client(service, "analyst")
    found = ann.post("/api/datasets/people/release", content=body, headers={"content-type": "application/json"})
    assert found.status_code == 422
    assert found.json()["error"] == "InputError"
    assert SECRET not in found.text
    assert ann.get("/api/datasets/people/releases").json() == []


def test_what_goes_wrong_inside_is_not_told(service, monkeypatch):
    def broken(*args, **kwargs):
        raise ValueError(SECRET)

    monkeypatch.setattr(Service, "described", broken)
    found = client(service, "viewer").get("/api/datasets")
    assert found.status_code == 500
    assert found.json() == {"error": "ServerError", "message": "something went wrong"}


def test_an_answer_that_takes_long_is_fetched_later(service):
    ann = client(service.within(seconds=0.0), "analyst")
    found = ann.post("/api/datasets/people/release", json={**ASK, "release": "slow"})
    assert found.status_code == 202
    assert found.json()["release"] == "slow"
