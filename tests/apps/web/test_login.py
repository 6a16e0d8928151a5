"""Signing in and out, and the files that pages are made of."""

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
from visitor import Visitor
from visits import (
    ASK,
    served,
    service_fixture,  # noqa: F401
    signed,
)

from asgi_client import Client
from discreet.apps.web.frame import local
from discreet.apps.web.site import application


def test_a_page_sends_strangers_to_sign_in_and_back(service):
    visitor = Visitor(served(service))
    sent = visitor.get("/d/people/ledger")
    assert sent.status_code == 303
    assert sent.headers["location"] == "/login?then=%2Fd%2Fpeople%2Fledger"
    visitor.follow(sent)
    token = service.tokens.create("ann", "analyst")
    then = visitor.post("/login", {"token": token, "then": "/d/people/ledger"})
    assert then.headers["location"] == "/d/people/ledger"
    assert "<h1>Ledger" in visitor.follow(then).text
    assert visitor.get("/login?then=/d/people").headers["location"] == "/d/people"


def test_a_wrong_token_signs_nobody_in_and_is_not_repeated(service):
    visitor = Visitor(served(service))
    found = visitor.sign_in("dsc_0123456789ab_not-a-token")
    assert found.status_code == 403
    assert "not a token of this server" in found.text
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


@pytest.mark.parametrize(
    "path", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "", "/a\nb", "x"]
)
def test_signing_in_leads_nowhere_else(service, path):
    assert local(path) == "/"
    visitor = Visitor(served(service))
    visitor.get("/login", **{})
    found = visitor.post("/login", {"token": service.tokens.create("ann", "analyst"), "then": path})
    assert found.headers["location"] == "/"


def test_the_form_to_sign_in_is_ours_too(service):
    visitor = Visitor(served(service))
    token = service.tokens.create("ann", "analyst")
    bare = Client(application(service))
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert bare.post("/login", content=f"token={token}", headers=form).status_code == 403
    visitor.get("/login")
    assert visitor.post("/login", {"token": token}, csrf="0" * 64).status_code == 403


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
