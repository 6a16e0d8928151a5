"""Tokens: shown once, hashed, ended when revoked."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from small_server import service_fixture  # noqa: F401

from discreet.apps.server.tokens import Caller, Tokens
from discreet.errors import InputError


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


def test_a_token_may_be_made_before_the_server_made_its_state_folder(tmp_path):
    made = Tokens(tmp_path / "state" / "tokens.db").create("bob", "analyst")
    assert Tokens(tmp_path / "state" / "tokens.db").caller(made).name == "bob"
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0


def test_the_last_use_is_known_to_the_minute(service):
    made = service.tokens.create("bob", "analyst", by="carla")
    (bob,) = service.tokens.listed()
    assert bob["used"] is None
    service.tokens.caller(made + "x")
    assert service.tokens.listed()[0]["used"] is None
    service.tokens.caller(made)
    used = service.tokens.listed()[0]["used"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", used)


def test_what_was_made_and_revoked_is_on_a_trail(service):
    service.tokens.create("bob", "analyst", "team", by="carla")
    service.tokens.revoke("bob", by="dora")
    assert [(one.who, one.subject, one.what) for one in service.tokens.trail.listed("token")] == [
        ("dora", "bob", "revoked"),
        ("carla", "bob", "made, as analyst, for team"),
    ]


def test_a_file_of_tokens_from_before_is_read(tmp_path):
    import sqlite3

    old = sqlite3.connect(tmp_path / "old.db")
    old.execute(
        "CREATE TABLE tokens (id TEXT PRIMARY KEY, hash BLOB NOT NULL, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, "
        "allotment TEXT, made TEXT NOT NULL DEFAULT (datetime('now')))"
    )
    old.execute("INSERT INTO tokens (id, hash, name, role) VALUES ('a', x'00', 'bob', 'viewer')")
    old.commit()
    old.close()
    (bob,) = Tokens(tmp_path / "old.db").listed()
    assert (bob["name"], bob["used"]) == ("bob", None)


def test_no_token_is_made_or_revoked_without_its_line_on_the_trail(tmp_path, monkeypatch):
    tokens = Tokens(tmp_path / "t.db")
    tokens.create("ann", "analyst", by="carla")

    def stopped(*entry):
        raise KeyboardInterrupt

    monkeypatch.setattr(tokens.trail, "add_with", stopped)
    with pytest.raises(KeyboardInterrupt):
        tokens.create("eve", "custodian", by="carla")
    with pytest.raises(KeyboardInterrupt):
        tokens.revoke("ann", by="carla")
    assert [one["name"] for one in tokens.listed()] == ["ann"]
    assert [one.subject for one in tokens.trail.listed("token")] == ["ann"]


def test_a_token_that_another_process_made_or_revoked_is_known_at_once(tmp_path):
    here, there = Tokens(tmp_path / "t.db"), Tokens(tmp_path / "t.db")
    assert here.caller(there.create("ann", "analyst")).name == "ann"
    token = there.create("bob", "viewer")
    assert here.caller(token).role == "viewer"
    there.revoke("bob")
    assert here.caller(token) is None


def test_a_file_that_took_the_place_of_another_is_read(tmp_path):
    path = tmp_path / "t.db"
    here = Tokens(path)
    old = here.create("ann", "analyst")
    assert here.caller(old).name == "ann"
    new = Tokens(tmp_path / "new.db").create("cyd", "custodian")
    (tmp_path / "new.db").replace(path)
    assert here.caller(old) is None
    assert here.caller(new).name == "cyd"


def later(monkeypatch, delta):
    from datetime import UTC, datetime

    from discreet.apps.server import tokens

    monkeypatch.setattr(tokens, "_now", lambda: datetime.now(UTC) + delta)


def test_a_token_ends_when_it_expires_and_who_shows_it_is_told(service, monkeypatch):
    from small_server import client

    made = service.tokens.create("bob", "analyst", expires=timedelta(days=90))
    ann = client(service)
    ann.headers = {"authorization": f"Bearer {made}"}
    assert ann.get("/api/datasets").status_code == 200
    later(monkeypatch, timedelta(days=91))
    refused = ann.get("/api/datasets")
    assert refused.status_code == 401
    assert refused.json()["message"].startswith("this token ended at ")
    assert service.tokens.ended(made + "x") is None  # nobody else is told
    ann.headers = {"authorization": "Bearer " + made[:-1] + ("A" if made[-1] != "A" else "B")}
    assert ann.get("/api/datasets").json()["message"] == "a valid token is needed"


def test_a_rotated_token_has_a_new_secret_and_the_old_one_a_grace(service, monkeypatch):
    tokens = service.tokens
    old = tokens.create("bob", "analyst", "team", datasets=["people"])
    new = tokens.rotate("bob", grace=timedelta(hours=24), by="carla")
    assert tokens.caller(old) == tokens.caller(new) == Caller("bob", "analyst", "team", frozenset(["people"]))
    assert tokens.listed()[0]["former_until"] is not None
    later(monkeypatch, timedelta(hours=25))
    assert tokens.caller(old) is None
    assert tokens.caller(new) is not None
    assert tokens.listed()[0]["former_until"] is None
    newest = tokens.rotate("bob")
    assert [tokens.caller(one) is not None for one in (old, new, newest)] == [False, False, True]
    assert "rotated; the old secret ended at once" in tokens.trail.listed("token")[0].what
    with pytest.raises(InputError, match="the name of a token"):
        tokens.rotate("nobody")


def test_a_session_ends_with_the_secret_or_the_token_it_was_begun_with(service, monkeypatch):
    from visitor import Visitor

    from discreet.apps.web import session
    from discreet.apps.web.site import application

    app = application(service)
    old = service.tokens.create("bob", "analyst", expires=timedelta(hours=1))
    before, during = Visitor(app), Visitor(app)
    before.sign_in(old)
    service.tokens.rotate("bob", grace=timedelta(minutes=10))
    during.sign_in(old)
    assert (before.get("/").status_code, during.get("/").status_code) == (200, 200)
    now = session.time.time()
    monkeypatch.setattr(session.time, "time", lambda: now + 601)
    assert (before.get("/").status_code, during.get("/").status_code) == (303, 303)


def test_rights_to_datasets_are_for_those_who_ask_and_read(service):
    for role in ("custodian", "monitor", "auditor"):
        with pytest.raises(InputError, match=f"left out for a {role}"):
            service.tokens.create("x", role, datasets=["people"])
    with pytest.raises(InputError, match="at least one"):
        service.tokens.create("x", "viewer", datasets=[])
    made = service.tokens.create("x", "viewer", datasets=["people"])
    assert service.tokens.caller(made).knows("people")
    assert not service.tokens.caller(made).knows("visits")


GOLDEN = Path(__file__).parents[2] / "golden" / "tokens"


@pytest.mark.parametrize("name", sorted(one.name for one in GOLDEN.glob("*.sql")))
def test_what_earlier_versions_stored_is_read_used_and_rotated(name, tmp_path):
    """Files as they were written, with tokens that open them still."""
    import sqlite3

    text = (GOLDEN / name).read_text()
    with sqlite3.connect(tmp_path / "t.db") as file:
        file.executescript(text)
    secrets = dict(line[3:].split(" ") for line in text.splitlines() if line.startswith("-- "))
    tokens = Tokens(tmp_path / "t.db")
    assert {one["name"] for one in tokens.listed()} == set(secrets)
    ann = tokens.caller(secrets["ann"])
    assert (ann.name, ann.role, ann.allotment, ann.datasets) == ("ann", "analyst", "team", None)
    assert tokens.caller(secrets["carla"]).role == "custodian"
    assert all(one["expires"] is None for one in tokens.listed())
    new = tokens.rotate("ann", grace=timedelta(hours=1))
    assert tokens.caller(new) == tokens.caller(secrets["ann"]) == ann
