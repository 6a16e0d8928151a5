"""Signing in by an issuer: through the redirect and back, for the browser that began it, to a path of ours."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

pytest.importorskip("fastapi")
pytest.importorskip("jwt")
from local_issuer import CLIENT, SECRET, local_issuer
from two_datasets import HIDDEN, pair_fixture  # noqa: F401
from visitor import Visitor

from discreet.apps.server.identity import Identity, Provider, Rule
from discreet.apps.server.issuer import Issuer
from discreet.apps.web.site import application

RULES = (
    Rule("none", user="eve@agency.example"),
    Rule("monitor", group="watchers"),
    Rule("analyst", group="stats", allotment="team", datasets=("visits",)),
)
HOME = "http://localhost"


@pytest.fixture(name="there")
def there_fixture():
    with local_issuer() as issuer:
        yield issuer


@pytest.fixture(name="service")
def service_fixture(pair, there, tmp_path):
    (tmp_path / "secret").write_text(SECRET)
    provider = Provider(there.url, CLIENT, secret=str(tmp_path / "secret"), home=HOME)
    return replace(pair, identity=Identity(RULES, None, provider), issuer=Issuer(provider))


def back_of(visitor, then="/d/visits"):
    """Where the issuer sends the browser back to, once it was sent there."""
    sent = visitor.get(f"/login/oidc?then={then}")
    assert sent.status_code == 303
    answer = httpx.get(sent.headers["location"])
    assert answer.status_code == 302
    return answer.headers["location"].removeprefix(HOME)


def test_someone_signs_in_asks_and_signs_out(service):
    visitor = Visitor(application(service))
    assert "/login/oidc?then=/d/visits" in visitor.get("/login?then=/d/visits").text
    page = visitor.get(back_of(visitor))
    assert page.status_code == 200
    assert "As ann@agency.example, who is analyst here" in page.text
    assert 'http-equiv="refresh" content="0;url=/d/visits"' in page.text
    assert visitor.get("/d/visits").status_code == 200
    assert visitor.get(f"/d/{HIDDEN}").status_code == 404
    kept = dict(visitor.cookies)
    assert visitor.post("/logout", {}).headers["location"] == "/login"
    visitor.cookies = kept
    assert visitor.get("/d/visits").status_code == 303


def test_cookies_are_for_this_host_http_alone_and_tls(service):
    for base, prefix, secure in ((HOME, "", False), ("https://curator.example", "__Host-", True)):
        visitor = Visitor(application(service), base)
        sent = visitor.get("/login/oidc")
        (trip,) = [one for one in sent.headers.get_list("set-cookie") if "trip" in one]
        back = httpx.get(sent.headers["location"]).headers["location"].removeprefix(HOME)
        page = visitor.get(back)
        (begun,) = [one for one in page.headers.get_list("set-cookie") if "-session=" in one]
        for cookie, site in ((trip, "lax"), (begun, "strict")):
            assert cookie.startswith(f"{prefix}discreet-")
            parts = [part.strip().lower() for part in cookie.split(";")]
            assert {"httponly", "path=/", f"samesite={site}"} <= set(parts)
            assert ("secure" in parts) == secure
            assert not any(part.startswith("domain") for part in parts)
        (gone,) = [one for one in page.headers.get_list("set-cookie") if "-trip=" in one]
        assert "max-age=0" in gone.lower()


def test_a_session_is_new_with_each_sign_in_and_none_that_was_planted_is_used(service):
    app = application(service)
    planted = "A" * 43
    visitor = Visitor(app)
    visitor.cookies["discreet-session"] = planted
    visitor.get(back_of(visitor))
    first = visitor.cookies["discreet-session"]
    assert first != planted
    assert visitor.get("/").status_code == 200
    visitor.get(back_of(visitor))
    second = visitor.cookies["discreet-session"]
    assert second != first
    visitor.cookies["discreet-session"] = first  # it ended with the second
    assert visitor.get("/").status_code == 303
    other = Visitor(app)
    other.cookies["discreet-session"] = planted
    assert other.get("/").status_code == 303


def test_an_answer_is_for_the_browser_that_asked(service):
    """Nobody is signed in by an address that somebody else made: without the cookie, with another, or with no state."""
    app = application(service)
    one, two = Visitor(app), Visitor(app)
    address = back_of(one)
    two.get("/login/oidc")
    for visitor in (two, Visitor(app)):
        refused = visitor.get(address)
        assert refused.status_code == 403
        assert "did not begin to sign in here" in refused.text
        assert not any("session" in name for name in visitor.cookies)
    code = parse_qs(urlsplit(address).query)["code"][0]
    assert one.get(f"/login/oidc/callback?code={code}").status_code == 403
    assert one.get(f"/login/oidc/callback?code={code}&state=x").status_code == 403
    assert one.get(address.replace("iss=http", "iss=https")).status_code == 403
    assert one.get(address).status_code == 200
    assert one.get(address).status_code == 403  # an address works once


@pytest.mark.parametrize("then", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"])
def test_signing_in_leads_nowhere_else(service, then):
    visitor = Visitor(application(service))
    page = visitor.get(back_of(visitor, then))
    assert 'content="0;url=/"' in page.text
    assert "evil" not in page.text
    visitor.get("/login/oidc")
    (name,) = [name for name in visitor.cookies if "trip" in name]
    secret = visitor.cookies[name].partition(".")[0]
    address = back_of(visitor)
    secret = visitor.cookies[name].partition(".")[0]
    visitor.cookies[name] = f"{secret}.%2F%2Fevil.example"  # a cookie that was changed leads home
    assert 'content="0;url=/"' in visitor.get(address).text


def test_whom_no_rule_fits_is_told_so_and_has_no_session(service, there):
    for claims, says in (
        ({"groups": ["choir"]}, "known as ann@agency.example, in the groups choir"),
        ({"email": "eve@agency.example"}, "No rule of this server gives you access"),
        ({"groups": ["watchers"]}, "not for your role"),
        ({"email_verified": False}, "nobody verified the address"),
    ):
        there.claims = {
            "sub": "7",
            "email": "ann@agency.example",
            "email_verified": True,
            "groups": ["stats"],
            **claims,
        }
        visitor = Visitor(application(service))
        refused = visitor.get(back_of(visitor))
        assert refused.status_code == 403
        assert says in refused.text.replace("&#39;", "'")
        assert visitor.get("/").status_code == 303


def test_a_rule_that_is_taken_away_ends_what_it_gave(service):
    visitor = Visitor(application(service))
    visitor.get(back_of(visitor))
    assert visitor.get("/d/visits").status_code == 200
    narrower = replace(service, identity=replace(service.identity, rules=RULES[:2]))
    after = Visitor(application(narrower))
    after.cookies = visitor.cookies
    refused = after.get("/d/visits")
    assert refused.status_code == 403
    assert "No rule of this server" in refused.text


def test_an_issuer_that_refuses_or_is_gone_is_named(service, there):
    visitor = Visitor(application(service))
    visitor.get("/login/oidc")
    state = parse_qs(urlsplit(visitor.get("/login/oidc").headers["location"]).query)["state"][0]
    refused = visitor.get(f"/login/oidc/callback?error=access_denied&state={state}")
    assert refused.status_code == 403
    assert "did not say who you are" in refused.text
    provider = replace(service.issuer.provider, issuer="http://127.0.0.1:9")
    gone = Visitor(application(replace(service, issuer=Issuer(provider))))
    assert gone.get("/login/oidc").status_code == 503
    assert "does not answer" in gone.page.text
