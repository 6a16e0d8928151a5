"""Who may do what over HTTP: by role and by allotment."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from small_server import (
    ASK,
    client,
    service_fixture,  # noqa: F401
)

from asgi_client import Client
from discreet.apps.web.site import application


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
