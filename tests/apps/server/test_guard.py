"""What every request passes first: rates that made-up tokens do not escape, and a machine that serves itself alone."""

import asyncio

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import discreet
from discreet import Budget, Category, Integer, Schema

pytest.importorskip("fastapi")
httpx = pytest.importorskip("httpx")
from asgi_client import Client  # noqa: E402
from discreet.apps.cli import app  # noqa: E402
from discreet.apps.server.service import Service  # noqa: E402
from discreet.apps.server.tokens import Tokens  # noqa: E402
from discreet.apps.web.session import Sessions  # noqa: E402
from discreet.apps.web.site import application  # noqa: E402

SCHEMA = Schema("people", {"age": Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"], nullable=False)})
TABLE = pa.table({"age": [30, 40, 50], "county": ["Ash", "Elm", "Ash"]})
ASK = {"outputs": ["count"], "epsilon": "0.5"}


@pytest.fixture
def curator(tmp_path):
    return discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=Budget(2), create=True)


def test_made_up_tokens_share_one_rate_and_take_nothing_from_callers(curator, tmp_path):
    service = Service({"people": curator}, Tokens(tmp_path / "t.db")).within(rate=0.001, burst=3)
    served = application(service)
    ann = Client(served, {"authorization": "Bearer " + service.tokens.create("ann", "analyst")})
    seen = [Client(served, {"authorization": f"Bearer dsc_{n}_x"}).get("/api/datasets").status_code for n in range(6)]
    assert seen == [401, 401, 401, 429, 429, 429]
    assert [ann.get("/api/datasets").status_code for _ in range(4)] == [200, 200, 200, 429]


def test_a_second_header_buys_no_second_rate(curator, tmp_path):
    service = Service({"people": curator}, Tokens(tmp_path / "t.db")).within(rate=0.001, burst=3)
    good, served = "Bearer " + service.tokens.create("ann", "analyst"), application(service)

    def asked(number):
        async def sent():
            twice = [("authorization", good), ("authorization", f"Bearer dsc_{number}_x")]
            async with httpx.AsyncClient(transport=httpx.ASGITransport(served), base_url="http://localhost") as client:
                return (await client.get("/api/datasets", headers=twice)).status_code

        return asyncio.run(sent())

    assert [asked(number) for number in range(5)] == [200, 200, 200, 429, 429]


def test_without_tokens_pages_of_other_sites_spend_nothing(curator):
    here = Client(application(Service({"people": curator}, None)))
    spend = {"json": ASK}
    path = "/api/datasets/people/release"
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"host": "evil.example"},  # a name that was made to point here
        {"host": "localhost.evil.example"},
        {"host": "[::1"},
        {"host": ""},
    ):
        assert here.post(path, headers=headers, **spend).status_code == 403, headers
    assert here.get("/api/datasets", headers={"host": "evil.example:8000"}).status_code == 403
    assert here.get("/api/datasets/people/releases").json() == []
    for headers in ({}, {"origin": "http://localhost"}, {"host": "[::1]:8000"}, {"host": "127.0.0.1:8000"}):
        assert here.post("/api/datasets/people/plan", json=ASK, headers=headers).status_code == 200, headers
    assert here.post(path, **spend).status_code == 200  # the same request, from here


def test_a_release_is_found_whatever_its_id_holds(curator):
    here = Client(application(Service({"people": curator}, None)))
    made = here.post("/api/datasets/people/release", json={**ASK, "release": "2026/q1 ?#%"})
    again = here.get("/api/datasets/people/releases/2026%2Fq1%20%3F%23%25")
    assert again.json()["columns"] == made.json()["columns"]


def test_a_server_behind_a_proxy_wants_tokens(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["serve", "people.csv", "--behind-proxy"])
    assert found.exit_code != 0
    assert "tokens" in str(found.exception) + found.output


def test_a_path_does_not_write_lines_of_the_log(curator, monkeypatch, caplog):
    def broken(*args, **kwargs):
        raise ValueError("secret")

    monkeypatch.setattr(Service, "described", broken)
    here = Client(application(Service({"people": curator}, None)))
    assert here.get("/api/datasets/a%0AERROR%20forged").status_code == 500
    told = [record.getMessage() for record in caplog.records if record.name == "discreet.server"]
    assert len(told) == 1
    assert "\n" not in told[0]
    assert "secret" not in told[0]


def test_a_header_that_all_browsers_send_names_none_of_them(curator, tmp_path):
    service = Service({"people": curator}, Tokens(tmp_path / "t.db")).within(rate=0.001, burst=3)
    lines, sessions = [], Sessions(service.tokens)
    served = application(service, log=lines.append)
    for name in ("ann", "bob"):  # a proxy in front asks everybody for the same password
        secret = sessions.begin(service.tokens.create(name, "analyst"))
        browser = Client(served, {"authorization": "Basic c2hhcmVk", "cookie": f"discreet-session={secret}"})
        assert [browser.get("/").status_code for _ in range(4)] == [200, 200, 200, 429]
    assert [line.split()[-1] for line in lines] == ["ann"] * 4 + ["bob"] * 4
