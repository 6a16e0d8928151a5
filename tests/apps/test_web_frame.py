"""The frame of the pages: who is signed in, for how long, and whose forms are taken."""

import json
import sqlite3
import threading

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Category, Integer, Schema

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
from visitor import Visitor

from asgi_client import Client
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web import session
from discreet.apps.web.frame import local
from discreet.apps.web.site import application

SCHEMA = Schema("people", {"age": Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"], nullable=False)})
TABLE = pa.table({"age": [30, 40, 50], "county": ["Ash", "Elm", "Elm"]})


@pytest.fixture
def service(tmp_path):
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=Budget(2), create=True)
    return Service({"people": curator}, Tokens(tmp_path / "tokens.db"))


@pytest.fixture
def alone(tmp_path):
    return Service(
        {"people": discreet.open(TABLE, SCHEMA, ledger=tmp_path / "a.db", budget=Budget(2), create=True)}, None
    )


APPLICATIONS = {}


def served(service):
    """The application of a service: made once, for making one takes longer than a request."""
    if id(service) not in APPLICATIONS:
        APPLICATIONS[id(service)] = (
            service,
            application(service),
        )  # an id is its own as long as the service lives
    return APPLICATIONS[id(service)][1]


def signed(service, name="ann", role="analyst", allotment=None, base="http://localhost"):
    visitor = Visitor(served(service), base)
    assert visitor.sign_in(service.tokens.create(name, role, allotment)).status_code == 303
    return visitor


ASK = {"of0": "count", "way": "epsilon", "epsilon": "0.1"}


def test_a_page_sends_strangers_to_sign_in_and_back(service):
    visitor = Visitor(served(service))
    sent = visitor.get("/d/people/ledger")
    assert sent.status_code == 303
    assert sent.headers["location"] == "/login?then=%2Fd%2Fpeople%2Fledger"
    visitor.follow(sent)
    token = service.tokens.create("ann", "analyst")
    then = visitor.post("/login", {"token": token, "then": "/d/people/ledger"})
    assert then.headers["location"] == "/d/people/ledger"
    assert "Ledger</h1>" in visitor.follow(then).text
    assert visitor.get("/login?then=/d/people").headers["location"] == "/d/people"


def test_a_wrong_token_signs_nobody_in_and_is_not_repeated(service):
    visitor = Visitor(served(service))
    found = visitor.sign_in("dsc_0123456789ab_not-a-token")
    assert found.status_code == 403
    assert "no token of this server" in found.text
    assert "not-a-token" not in found.text
    assert visitor.get("/").status_code == 303


def test_signing_out_and_revoking_end_a_session_at_once(service):
    ann = signed(service)
    assert ann.get("/").status_code == 200
    kept = dict(ann.cookies)
    assert ann.post("/logout", {}).headers["location"] == "/login"
    ann.cookies = kept  # what the browser forgot, the server forgot too
    assert ann.get("/").status_code == 303
    bob = signed(service, "bob")
    service.tokens.revoke("bob")
    assert bob.get("/").status_code == 303
    assert bob.post("/d/people/ask", ASK).status_code == 303


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


@pytest.mark.parametrize(
    "path", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "", "/a\nb", "x"]
)
def test_signing_in_leads_nowhere_else(service, path):
    assert local(path) == "/"
    visitor = Visitor(served(service))
    visitor.get("/login", **{})
    found = visitor.post("/login", {"token": service.tokens.create("ann", "analyst"), "then": path})
    assert found.headers["location"] == "/"


def test_a_form_that_is_not_of_this_session_is_refused(service):
    ann, bob = signed(service), signed(service, "bob")
    ann.get("/d/people/ask")
    bob.get("/d/people/ask")
    for wrong in ("0" * 64, bob.csrf, "x", ""):
        assert wrong != ann.csrf
        for path in ("/d/people/ask", "/d/people/ask/price", "/d/people/ask/release", "/logout"):
            ann.get("/d/people/ask")
            found = ann.post(path, ASK, csrf=wrong or "-")
            assert found.status_code == 403
            assert "not of this session" in found.text
    assert ann.get("/").status_code == 200  # nobody was signed out
    assert service.curators["people"].standing()[0].spent.amount == 0


def test_a_value_of_an_earlier_session_is_worth_nothing(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    old = ann.csrf
    ann.post("/logout", {})
    ann.sign_in(service.tokens.create("ann2", "analyst"))
    ann.get("/d/people/ask")
    assert old != ann.csrf
    assert ann.post("/d/people/ask", ASK, csrf=old).status_code == 403


def test_the_form_to_sign_in_is_ours_too(service):
    visitor = Visitor(served(service))
    token = service.tokens.create("ann", "analyst")
    bare = Client(application(service))
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert bare.post("/login", content=f"token={token}", headers=form).status_code == 403
    visitor.get("/login")
    assert visitor.post("/login", {"token": token}, csrf="0" * 64).status_code == 403


def test_other_bodies_are_no_forms(service):
    ann = signed(service)
    ann.get("/d/people/ask")
    csrf = ann.csrf
    body = json.dumps({"csrf": csrf, **ASK}).encode()
    found = ann._sent("POST", "/d/people/ask", body, {"content-type": "application/json"})
    assert found.status_code == 400
    long = ann.post("/d/people/ask", {**ASK, "where": "x" * 300_000}, csrf=csrf)
    assert long.status_code == 400
    many = ann.post("/d/people/ask", [(f"n{i}", "") for i in range(1000)], csrf=csrf)
    assert many.status_code == 400
    bad = ann._sent("POST", "/d/people/ask", b"csrf=%ff%fe", {"content-type": "application/x-www-form-urlencoded"})
    assert bad.status_code == 400


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

    monkeypatch.setattr("discreet.apps.web.data.described", broken)
    found = ann.get("/d/people")
    assert found.status_code == 500
    assert "Xyzzy" not in found.text
    assert "ZeroDivision" not in found.text


def test_files_are_ours_and_may_be_kept(service):
    ann = signed(service)
    page = ann.get("/d/people/ask").text
    paths = [part.split('"')[0] for part in page.split('="') if part.startswith("/static/")]
    assert {path.partition("?")[0] for path in paths} >= {"/static/style.css", "/static/mark.svg", "/static/ask.js"}
    for path in paths:
        found = ann.client.get(path)
        assert found.status_code == 200
        assert "immutable" in found.headers["cache-control"]
        assert found.headers["content-type"].partition(";")[0] in ("text/css", "text/javascript", "image/svg+xml")
        assert b"http" not in found.content.replace(b"http://www.w3.org/2000/svg", b"")
    assert ann.get("/d/people").headers["cache-control"] == "no-store"


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

    def chosen(standing, question):
        seen.append(threading.current_thread() is threading.main_thread())
        return standing[0]

    ann.get("/d/people/ask")
    monkeypatch.setattr("discreet.apps.web.ask._chosen", chosen)
    assert ann.post("/d/people/ask/release", {**ASK, "digest": "another"}).status_code == 422
    assert ann.post("/d/people/ask/release", {**ASK, "epsilon": "nothing"}).status_code == 422
    assert len(seen) == 2
    assert not any(seen)
