"""The frame of the pages: who is let in, whose forms are taken, what is said of what nobody foresaw."""

import threading

import pytest

import discreet
from discreet import Budget

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
from visitor import Visitor
from visits import (
    ASK,
    SCHEMA,
    TABLE,
    served,
    service_fixture,  # noqa: F401
    signed,
)

from discreet.apps.server.service import Service
from discreet.apps.web.site import application


@pytest.fixture
def alone(tmp_path):
    return Service(
        {"people": discreet.open(TABLE, SCHEMA, ledger=tmp_path / "a.db", budget=Budget(2), create=True)}, None
    )


def test_cookies_are_strict_and_bound_to_the_host_under_tls(service):
    token = service.tokens.create("ann", "analyst")
    for base, name, secure in (
        ("http://localhost", "discreet-session", False),
        ("https://localhost", "__Host-discreet-session", True),
        ("http://data.example", "__Host-discreet-session", True),  # a proxy in front ends the TLS
    ):
        found = Visitor(application(service), base).sign_in(token)
        cookie = found.headers["set-cookie"]
        assert cookie.startswith(f"{name}=")
        assert ("Secure" in cookie) is secure
        for part in ("HttpOnly", "SameSite=strict", "Path=/"):
            assert part in cookie
        assert "Domain" not in cookie


def test_a_token_is_no_cookie_and_a_cookie_is_no_token(service):
    ann = signed(service)
    assert (
        ann.client.get(
            "/api/datasets", headers={"cookie": f"discreet-session={ann.cookies['discreet-session']}"}
        ).status_code
        == 401
    )
    token = service.tokens.create("bob", "custodian")
    assert ann.client.get("/", headers={"authorization": f"Bearer {token}"}).status_code == 303


def test_what_is_not_there_and_what_nobody_foresaw(service, monkeypatch):
    ann = signed(service)
    missing = ann.get("/d/nobody")
    assert missing.status_code == 404
    nowhere = ann.get("/nowhere")
    assert nowhere.status_code == 404
    assert "Nothing is at this address" in nowhere.text
    assert ann.get("/static/../session.py").status_code == 404
    assert ann.get("/static/nothing.css").status_code == 404
    assert ann.client.get("/api/nowhere").headers["content-type"].startswith("application/json")

    def broken(*given):
        raise ZeroDivisionError("Xyzzy-7431")

    monkeypatch.setattr("discreet.apps.web.data.columns_table", broken)
    found = ann.get("/d/people")
    assert found.status_code == 500
    assert "Xyzzy" not in found.text
    assert "ZeroDivision" not in found.text


def test_without_tokens_this_machine_is_its_custodian(alone):
    visitor = Visitor(application(alone))
    page = visitor.get("/d/people/ledger")
    assert "This machine, no sign-in" in page.text
    found = visitor.post("/d/people/ledger/verify", {})
    assert "Ledger verified" in found.text
    assert visitor.post("/d/people/ledger/verify", {}, csrf="0" * 64).status_code == 403
    elsewhere = visitor.post("/d/people/ledger/verify", {}, origin="https://evil.example")
    assert elsewhere.status_code == 403
    assert Visitor(application(alone), "http://evil.example").client.get("http://evil.example/").status_code == 403


def test_a_page_names_its_origin_when_it_sends_a_form(alone):
    """With "no-referrer" a browser would send "null", and the guard of a server without tokens would refuse it."""
    assert Visitor(application(alone)).get("/d/people/ask").headers["referrer-policy"] == "same-origin"


def test_behind_a_proxy_cookies_are_for_tls_whatever_name_it_asks_by(service):
    """Proxies often ask for 127.0.0.1 and say nothing of the scheme."""
    token = service.tokens.create("ann", "analyst")
    cookie = Visitor(application(service, https=True), "http://127.0.0.1").sign_in(token).headers["set-cookie"]
    assert cookie.startswith("__Host-discreet-session=")
    assert "Secure" in cookie


@pytest.mark.parametrize("path", ["/d/people/", "/login/", "/api/datasets/"])
def test_nobody_is_sent_to_where_the_host_header_says(service, path):
    found = Visitor(served(service), "http://evil.example").get(path)
    assert "evil.example" not in found.headers.get("location", "")
    assert found.status_code == 404


def test_pages_after_a_refusal_are_made_aside(service, monkeypatch):
    """What takes long does not hold up the requests of others."""
    ann = signed(service)
    seen = []

    def chosen(standing, name):
        seen.append(threading.current_thread() is threading.main_thread())
        return standing[0]

    ann.get("/d/people/ask")
    monkeypatch.setattr("discreet.apps.web.ask.choose_allotment", chosen)
    assert ann.post("/d/people/ask/release", {**ASK, "digest": "another"}).status_code == 422
    assert ann.post("/d/people/ask/release", {**ASK, "epsilon": "nothing"}).status_code == 422
    assert len(seen) == 2
    assert not any(seen)
