"""People without a token: what rules make of them, whose headers are believed, and what a right to a dataset shows."""

import re
from dataclasses import replace

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("jwt")
from local_issuer import AUDIENCE, CLIENT, local_issuer
from two_datasets import COLUMN, HIDDEN, pair_fixture  # noqa: F401
from visitor import Visitor

from asgi_client import Client
from discreet.apps.server.identity import Identity, Person, Provider, Proxy, Rule
from discreet.apps.server.issuer import Issuer
from discreet.apps.server.tokens import Caller
from discreet.apps.web.site import application

RULES = (
    Rule("none", user="eve@agency.example"),
    Rule("custodian", group="custodians"),
    Rule("analyst", group="stats", allotment="team", datasets=("visits",)),
    Rule("viewer", user="bob@agency.example"),
)


def test_the_first_rule_that_fits_decides():
    identity = Identity(RULES)
    ann = Person("ann@agency.example", ("stats", "choir"))
    assert identity.caller(ann) == Caller(ann.name, "analyst", "team", frozenset(["visits"]))
    assert identity.caller(Person("x", ("stats", "custodians"))).role == "custodian"
    assert identity.caller(Person("bob@agency.example")).role == "viewer"
    assert identity.caller(Person("eve@agency.example", ("custodians",))) is None
    assert identity.caller(Person("zoe", ("choir",))) is None
    assert Identity((Rule("viewer", group="a", user="b"),)).caller(Person("b", ("c",))) is None


def test_values_survive_the_way_to_a_worker():
    import json
    from dataclasses import asdict

    whole = Identity(RULES, Proxy(("10.0.0.0/8",)), Provider("https://i.example", CLIENT))
    assert Identity.from_values(json.loads(json.dumps(asdict(whole)))) == whole


def scope(client=("127.0.0.1", 5), method="GET", **headers):
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"client": client, "method": method, "headers": pairs}


def test_headers_are_believed_from_listed_peers_alone():
    proxy = Proxy(("127.0.0.1", "10.1.0.0/16"))
    said = {"x_forwarded_user": "ann", "x_forwarded_groups": "stats, choir,,stats"}
    assert proxy.person(scope(**said)) == Person("ann", ("stats", "choir"))
    assert proxy.person(scope(("10.1.2.3", 1), **said)) is not None
    assert proxy.person(scope(("::ffff:10.1.2.3", 1), **said)) is not None
    for client in (("10.2.0.1", 1), ("::1", 1), None, ("", 0), ("testclient", 1)):
        assert proxy.person(scope(client, **said)) is None


def test_a_header_that_says_two_names_or_none_names_nobody():
    proxy = Proxy(("127.0.0.1",))
    twice = scope(x_forwarded_user="ann")
    twice["headers"].append((b"X-Forwarded-User", b"carla"))
    assert proxy.person(twice) is None
    for name in ("", " ann", "a" * 101, "a\x00b"):
        assert proxy.person(scope(x_forwarded_user=name)) is None


def test_groups_that_somebody_put_before_those_of_the_proxy_are_not_believed():
    proxy = Proxy(("127.0.0.1",))
    added = scope(x_forwarded_groups="custodians", x_forwarded_user="mallory")
    assert proxy.person(added) == Person("mallory", ("custodians",))
    added["headers"].append((b"x-forwarded-groups", b"choir"))
    assert proxy.person(added) is None


def test_bytes_that_are_no_text_are_nobodys_name():
    proxy = Proxy(("127.0.0.1",))
    jan, jon = (scope(x_forwarded_groups="stats") for _ in range(2))
    jan["headers"].append((b"x-forwarded-user", "Jän".encode()))
    assert proxy.person(jan) == Person("Jän", ("stats",))
    for name in ("Jän", "Jön"):  # both would be J\N{REPLACEMENT CHARACTER}n
        jon["headers"][1:] = [(b"x-forwarded-user", name.encode("latin-1"))]
        assert proxy.person(jon) is None
    odd = scope(x_forwarded_user="ann")
    odd["headers"].append((b"x-forwarded-groups", b"caf\xe9"))
    assert proxy.person(odd) is None


def test_a_page_of_another_site_spends_in_nobodys_name():
    proxy = Proxy(("127.0.0.1",))

    def sent(**headers):
        return proxy.person(scope(method="POST", x_forwarded_user="ann", host="c.example", **headers))

    assert sent() is not None  # a program
    assert sent(origin="https://c.example") is not None
    assert sent(origin="https://c.example", sec_fetch_site="same-origin") is not None
    assert sent(origin="https://evil.example") is None
    assert sent(origin="null") is None
    assert sent(sec_fetch_site="cross-site") is None
    assert sent(sec_fetch_site="same-site") is None


def proxied(pair, peers=("127.0.0.1",)):
    return replace(pair, identity=Identity(RULES, Proxy(peers)))


def test_a_proxy_vouches_for_pages_and_programs(pair):
    app = application(proxied(pair))
    ann = {"x-forwarded-user": "ann", "x-forwarded-groups": "stats"}
    found = Client(app, ann).get("/api/datasets").json()
    assert [one["dataset"] for one in found] == ["visits"]
    assert [one["allotment"] for one in found[0]["allotments"]] == ["team"]
    visitor = Visitor(app)
    assert visitor.get("/d/visits", **ann).status_code == 200
    assert visitor.get(f"/d/{HIDDEN}", **ann).status_code == 404
    # Forms are tied to the browser by a cookie of their own.
    page = visitor.get("/d/visits/ask", **ann)
    assert visitor.post("/tour", {"step": "1", "dataset": "visits"}, **ann).status_code == 303
    assert visitor.post("/tour", {"step": "1"}, csrf="0" * 64, **ann).status_code == 403
    assert page.status_code == 200


def test_whom_no_rule_fits_is_told_so_and_gets_nothing(pair):
    app = application(proxied(pair))
    zoe = {"x-forwarded-user": "zoe", "x-forwarded-groups": "choir"}
    refused = Client(app, zoe).get("/api/datasets")
    assert refused.status_code == 403
    assert "known as zoe, in the groups choir" in refused.json()["message"]
    page = Visitor(app).get("/d/visits", **zoe)
    assert page.status_code == 403
    assert "No rule of this server gives you access" in page.text
    assert "visits" not in page.text.replace("/d/visits", "")


def test_headers_from_an_unlisted_peer_are_nothing(pair):
    app = application(proxied(pair, ("10.0.0.1",)))  # httpx is 127.0.0.1
    carla = {"x-forwarded-user": "carla", "x-forwarded-groups": "custodians"}
    assert Client(app, carla).get("/api/datasets").status_code == 401
    assert Client(app, carla).get("/metrics").status_code == 401
    assert Visitor(app).get("/", **carla).status_code == 303
    listed = application(proxied(pair))
    assert Client(listed, carla).get("/api/datasets/visits/ledger").status_code == 200


def test_an_access_token_of_the_issuer_is_mapped_by_the_same_rules(pair):
    with local_issuer() as there:
        identity = Identity(RULES, None, Provider(there.url, CLIENT, audience=AUDIENCE))
        app = application(replace(pair, identity=identity, issuer=Issuer(identity.provider)))

        def ask(**claims):
            return Client(app, {"authorization": f"Bearer {there.access_token(**claims)}"}).get("/api/datasets")

        assert [one["dataset"] for one in ask().json()] == ["visits"]
        assert len(ask(groups=["custodians"]).json()) == 2
        assert ask(groups=["choir"]).status_code == 403
        assert ask(email="eve@agency.example", groups=["custodians"]).status_code == 403
        assert ask(exp=1).status_code == 401
        assert ask(audience=CLIENT).status_code == 401


def paths(app):
    """Every path and method of an application, once with the hidden dataset and its release where it takes them."""
    for route in app.routes:
        path = getattr(route, "path", "")
        filled = path.replace("{dataset}", HIDDEN)
        if path.startswith("/api/datasets"):
            filled = filled.replace("{name}", HIDDEN)
        filled = re.sub(r"\{(identity|release)(:path)?\}", f"{HIDDEN}-counts", filled)
        filled = re.sub(r"\{\w+(:path)?\}", "x", filled)
        for method in sorted(getattr(route, "methods", None) or {"GET"}):
            yield method, path, filled


def test_a_right_to_one_dataset_shows_nothing_of_another_on_any_path(pair):
    """Not its name, its columns, its releases or its jobs: over all paths that there are."""
    app = application(pair.within(rate=1e6, burst=1e6))
    token = pair.tokens.create("ann", "analyst", datasets=["visits"])
    programs = Client(app, {"authorization": f"Bearer {token}"})
    visitor = Visitor(app)
    visitor.sign_in(token)
    visitor.get("/")
    mark = visitor.csrf

    def ask(method, path, filled):
        safe = method in ("GET", "HEAD")
        if path.startswith(("/api", "/metrics", "/livez", "/readyz")):
            return programs.request(method, filled, **({} if safe else {"json": {}}))
        form = {} if safe else {"content-type": "application/x-www-form-urlencoded"}
        body = None if safe else f"csrf={mark}&dataset={HIDDEN}&step=1".encode()
        return visitor._sent(method, filled, body, form)

    looked = compared = 0
    for method, path, filled in paths(app):
        if path in ("/logout", "/login"):
            continue
        looked += 1
        found = ask(method, path, filled)
        said = found.text + str(found.headers)
        if HIDDEN in filled:  # exactly as a dataset that is not there: only its name is repeated
            other = ask(method, path, filled.replace(HIDDEN, "absents"))
            assert found.status_code == other.status_code, (method, path)
            assert found.status_code in (403, 404, 405), (method, path, found.text[:300])
            assert found.text.replace(HIDDEN, "absents") == other.text, (method, path)
            compared += 1
        else:
            assert HIDDEN not in said, (method, path, found.status_code)
        assert COLUMN not in said, (method, path)
    assert looked > 100
    assert compared > 60


def test_the_same_paths_show_it_to_who_may_see_it(pair):
    """The other half: the test above would pass on a server that shows nothing to anybody."""
    app = application(pair)
    programs = Client(app, {"authorization": "Bearer " + pair.tokens.create("bob", "analyst")})
    assert COLUMN in programs.get(f"/api/datasets/{HIDDEN}").text
    assert f"{HIDDEN}-counts" in programs.get(f"/api/datasets/{HIDDEN}/releases").text
    assert programs.get(f"/api/datasets/{HIDDEN}/releases/{HIDDEN}-counts").status_code == 200


def test_a_right_to_one_dataset_does_not_read_another_by_the_id_of_a_release(pair):
    app = application(pair)
    token = pair.tokens.create("ann", "analyst", datasets=["visits"])
    ann = Client(app, {"authorization": f"Bearer {token}"})
    for path in ("releases/arrests-counts", "record/arrests-counts", "jobs/arrests-counts", "tree/arrests-counts"):
        found = ann.get(f"/api/datasets/visits/{path}")
        assert found.status_code == 404
        assert COLUMN not in found.text
    assert ann.post("/api/datasets/visits/publish", json={"release": "arrests-counts"}).status_code in (404, 422)
    assert (
        ann.post("/api/datasets/visits/decide", json={"release": "arrests-counts", "threshold": 1}).status_code == 404
    )
