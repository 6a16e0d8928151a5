"""Tokens and caps over HTTP: for custodians, as at a terminal."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from small_server import ASK, client, service_fixture  # noqa: F401


def test_a_token_is_made_listed_rotated_and_revoked(service):
    carla = client(service, "custodian", name="carla")
    asked = {"name": "bob", "role": "analyst", "allotment": "team", "datasets": ["people"], "expires": "90d"}
    made = carla.post("/api/tokens", json=asked).json()
    assert (made["name"], made["datasets"]) == ("bob", ["people"])
    assert made["expires"] is not None
    assert "token" not in str(carla.get("/api/tokens").json())
    new = carla.post("/api/tokens/rotate", json={"name": "bob", "grace": "0"}).json()["token"]
    assert service.tokens.caller(made["token"]) is None
    assert service.tokens.caller(new).name == "bob"
    assert carla.post("/api/tokens/revoke", json={"name": "bob"}).status_code == 200
    assert service.tokens.caller(new) is None
    whos = {one.who for one in service.tokens.trail.listed("token") if one.subject == "bob"}
    assert whos == {"carla"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/tokens", {"name": "x", "role": "king"}),
        ("/api/tokens", {"name": "x", "expires": "soon"}),
        ("/api/tokens", {"name": "x", "datasets": ["nothing"]}),
        ("/api/tokens", {"name": "x", "allotment": "teem"}),
        ("/api/tokens", {"name": "x", "role": "custodian", "datasets": ["people"]}),
        ("/api/tokens/rotate", {"name": "nobody"}),
        ("/api/tokens/revoke", {"name": "nobody"}),
        ("/api/datasets/people/caps", {"caller": "bob", "epsilon": "1/month", "allotment": "team"}),
        ("/api/datasets/people/caps", {"caller": "bob", "rho": "1", "allotment": "team"}),
    ],
)
def test_what_is_not_allowed_is_refused_by_name_and_changes_nothing(service, path, body):
    carla = client(service, "custodian", name="carla")
    before = service.tokens.listed()
    refused = carla.post(path, json=body)
    assert (refused.status_code, refused.json()["error"]) == (422, "InputError")
    assert [one["name"] for one in service.tokens.listed()] == [one["name"] for one in before]


def test_nobody_else_does_any_of_it(service):
    for role in ("analyst", "viewer", "monitor", "auditor"):
        one = client(service, role)
        assert one.get("/api/tokens").status_code == 403
        assert one.post("/api/tokens", json={"name": "x", "role": "custodian"}).status_code == 403
        assert one.post("/api/tokens/rotate", json={"name": role}).status_code == 403
        assert one.post("/api/tokens/revoke", json={"name": role}).status_code == 403
        assert one.post("/api/datasets/people/caps", json={"caller": role}).status_code == 403


def test_a_cap_refuses_a_question_before_it_is_charged_and_says_when_it_fits(service):
    carla, bob = client(service, "custodian", name="carla"), client(service, "analyst", name="bob")
    cap = {"caller": "bob", "epsilon": "0.6/day", "allotment": "team"}
    assert carla.post("/api/datasets/people/caps", json=cap).json()[0]["amount"] == "3/5"
    assert bob.post("/api/datasets/people/release", json={**ASK, "release": "one"}).status_code == 200
    (told,) = bob.get("/api/datasets/people").json()["caps"]
    assert (told["used"], told["left"]) == ("1/2", "1/10")
    refused = bob.post("/api/datasets/people/release", json={**ASK, "release": "two"})
    assert (refused.status_code, refused.json()["error"]) == (409, "CapError")
    assert refused.json()["frees"].endswith(" UTC")
    assert refused.json()["left"]["amount"] == "1/10"
    # A job is refused before it exists, too.
    tree = {"levels": ["county"], "epsilon": "0.5", "allotment": "team", "release": "three"}
    assert bob.post("/api/datasets/people/tree/release", json=tree).json()["error"] == "CapError"
    assert bob.get("/api/datasets/people/jobs").json() == []
    assert bob.post("/api/datasets/people/release", json={**ASK, "release": "one"}).status_code == 200  # free
    lifted = carla.post("/api/datasets/people/caps", json={"caller": "bob", "allotment": "team"})
    assert lifted.json() == []
    assert bob.post("/api/datasets/people/release", json={**ASK, "release": "two"}).status_code == 200
