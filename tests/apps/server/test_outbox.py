"""What is changed on a server is on its ledgers: once, also when they did not answer at first."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from small_server import client, service_fixture  # noqa: F401

from discreet.apps.server.health import Health
from discreet.apps.server.outbox import deliver
from discreet.apps.server.tokens import Tokens
from discreet.apps.server.trail import Trail
from discreet.errors import LedgerError
from discreet.ledger.follow import events_after


def custody(service):
    (ledger,) = service.ledgers
    return [one for one in events_after(ledger, 0) if one["kind"] == "custody"]


def test_a_token_made_rotated_and_revoked_is_on_the_ledger_with_who_did_it(service):
    service.tokens.create("bob", "analyst", "team", by="carla")
    service.tokens.rotate("bob", by="carla")
    service.tokens.revoke("bob", by="dora")
    found = custody(service)
    assert [(one["who"], one["detail"]["subject"], one["detail"]["about"]) for one in found] == [
        ("carla", "bob", "token"),
        ("carla", "bob", "token"),
        ("dora", "bob", "token"),
    ]
    assert [one["detail"]["number"] for one in found] == [1, 2, 3]
    (ledger,) = service.ledgers
    assert ledger.verify().ok
    assert service.record_trail() == 0


def test_what_a_terminal_did_is_carried_when_the_server_is_looked_at(service):
    Tokens(service.tokens.path).create("eve", "viewer", by="root")
    assert custody(service) == []
    Health(service).look()
    (one,) = custody(service)
    assert (one["who"], one["detail"]["what"]) == ("root", "made, as viewer")


def test_a_token_is_revoked_though_the_ledger_does_not_answer_and_put_on_record_later(service, monkeypatch):
    service.tokens.create("bob", "analyst", by="carla")
    (ledger,) = service.ledgers

    def gone():
        raise LedgerError("The ledger cannot be used now.")

    with monkeypatch.context() as patch:
        patch.setattr(ledger, "_write", gone)
        service.tokens.revoke("bob", by="carla")
    assert len(service.tokens) == 0
    assert len(custody(service)) == 1
    assert service.record_trail() == 1
    assert custody(service)[-1]["detail"]["what"] == "revoked"


def test_every_ledger_has_every_entry(service, tmp_path):
    from discreet.ledger.ledger import Ledger

    other = Ledger.open(tmp_path / "other.db", create=True)
    trail = Trail(tmp_path / "trail.db")
    trail.add("carla", "schema", "people", "written")
    (ledger,) = service.ledgers
    assert deliver([trail], [ledger, other]) == 2
    assert deliver([trail], [ledger, other]) == 0
    for one in (ledger, other):
        assert [event["detail"]["subject"] for event in events_after(one, 0) if event["kind"] == "custody"] == [
            "people"
        ]


def test_who_removes_an_entry_from_the_file_removes_it_there_alone(service):
    import sqlite3

    service.tokens.create("bob", "custodian", by="mallory")
    with sqlite3.connect(service.tokens.path) as file:
        file.execute("DROP TRIGGER trail_whole")
        file.execute("DELETE FROM trail")
    (one,) = custody(service)
    assert one["who"] == "mallory"
    (ledger,) = service.ledgers
    assert ledger.verify().ok


def test_a_ledger_says_from_a_position_on_what_happened_and_no_answer(service):
    from small_server import ASK

    ann = client(service, "analyst", name="ann")
    assert ann.post("/api/datasets/people/release", json={**ASK, "release": "r1"}).status_code == 200
    refused = ann.get("/api/datasets/people/ledger/records")
    assert refused.status_code == 403
    siem = client(service, "auditor", name="siem")
    whole = siem.get("/api/datasets/people/ledger/records").json()
    kinds = [one["kind"] for one in whole["records"]]
    assert {"open", "charge", "answer", "custody"} <= set(kinds)
    assert "result" not in str(whole["records"])
    assert all(len(one["hash"]) == 64 for one in whole["records"])
    seen, position = [], 0
    while True:
        page = siem.get(f"/api/datasets/people/ledger/records?after={position}&limit=2").json()
        if not page["records"]:
            break
        seen += page["records"]
        position = page["next"]
    assert seen == whole["records"]
    assert page["next"] == position == whole["next"]
    for path in ("/api/datasets", "/api/datasets/people", "/api/datasets/people/ledger", "/api/tokens"):
        assert siem.get(path).status_code == 403
    assert siem.get("/metrics").status_code == 200
    assert siem.get("/api/datasets/people/ledger/records?limit=0").status_code == 422
