"""Sessions: how long they last, what is stored of them, how many there are."""

import sqlite3

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
from visitor import Visitor
from visits import (
    ASK,
    service_fixture,  # noqa: F401
    signed,
)

from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web import session
from discreet.apps.web.site import application


def test_a_session_lasts_some_hours(service, monkeypatch):
    ann = signed(service)
    now = session.time.time()
    monkeypatch.setattr(session.time, "time", lambda: now + session.HOURS * 3600 - 60)
    assert ann.get("/").status_code == 200
    monkeypatch.setattr(session.time, "time", lambda: now + session.HOURS * 3600 + 1)
    assert ann.get("/").status_code == 303


def test_only_hashes_of_sessions_are_kept_and_every_process_knows_them(service):
    ann = signed(service)
    secret = ann.cookies["discreet-session"]
    text = service.tokens.path.read_bytes()
    assert secret.encode() not in text
    other = Visitor(application(Service(service.curators, Tokens(service.tokens.path))))
    other.cookies = dict(ann.cookies)
    assert other.get("/").status_code == 200


def test_a_value_of_an_earlier_session_is_worth_nothing(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    old = ann.csrf
    ann.post("/logout", {})
    ann.sign_in(service.tokens.create("ann2", "analyst"))
    ann.get("/d/people/ask")
    assert old != ann.csrf
    assert ann.post("/d/people/ask", ASK, csrf=old).status_code == 403


def test_sessions_that_are_over_are_forgotten(service, monkeypatch):
    signed(service)
    now = session.time.time()
    monkeypatch.setattr(session.time, "time", lambda: now + session.HOURS * 3600 + 1)
    signed(service, "bob")
    with sqlite3.connect(service.tokens.path) as books:
        assert books.execute("SELECT COUNT(*) FROM sessions").fetchone() == (1,)
    books.close()


def test_one_token_has_only_so_many_sessions(service, monkeypatch):
    monkeypatch.setattr(session, "_MOST", 3)
    sessions = session.Sessions(service.tokens)
    ann, bob = (service.tokens.create(name, "analyst") for name in ("ann", "bob"))
    other = sessions.begin(bob)
    secrets = [sessions.begin(ann) for _ in range(5)]
    assert [sessions.caller(one) is not None for one in secrets] == [False, False, True, True, True]
    assert sessions.caller(other).name == "bob"
