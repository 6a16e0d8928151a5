"""A server that has no tokens: other users of the machine are kept out by the token of its run."""

import http.client
import json
import os
import re
import stat

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Integer, Schema
from discreet.ledger.ledger import Ledger

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
from visitor import Visitor

from asgi_client import Client
from discreet.apps.server.launch import launched
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.site import application
from serving import Server


@pytest.fixture
def curator(tmp_path):
    schema = Schema("people", {"age": Integer(0, 120, nullable=False)})
    return discreet.open(pa.table({"age": [30]}), schema, ledger=tmp_path / "b.db", budget=Budget(2), create=True)


def test_its_store_is_for_its_owner_and_ends_with_the_run():
    with launched() as launch:
        assert stat.S_IMODE(launch.store.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(launch.store.stat().st_mode) == 0o600
        caller = Tokens(launch.store).caller(launch.token)
        assert (caller.name, caller.role) == ("local", "custodian")
        assert launch.token.encode() not in launch.store.read_bytes()
        assert launch.token not in repr(launch)
    assert not launch.store.parent.exists()


def test_the_address_is_exchanged_for_a_session_and_nothing_opens_without_it(curator):
    with launched() as launch:
        served = application(Service({"people": curator}, Tokens(launch.store), linked=True))
        stranger = Visitor(served)
        assert stranger.get("/").headers["location"].startswith("/login")
        assert "printed when this server was started" in stranger.get("/login").text
        wrong = stranger.get("/login?token=dsc_00_x")
        assert wrong.status_code == 403
        assert "earlier run" in wrong.text
        assert stranger.get("/").status_code == 303
        assert Client(served).get("/api/datasets").status_code == 401
        owner = Visitor(served)
        link = launch.link("")
        assert owner.get(link + "&then=//evil.example/").headers["location"] == "/"
        assert owner.get("/").status_code == 200
        bearer = Client(served, {"authorization": f"Bearer {launch.token}"})
        assert bearer.get("/api/datasets").status_code == 200


def test_a_lasting_token_is_not_taken_from_an_address(curator, tmp_path):
    tokens = Tokens(tmp_path / "t.db")
    token = tokens.create("ann", "custodian")
    visitor = Visitor(application(Service({"people": curator}, tokens)))
    assert visitor.get(f"/login?token={token}").status_code == 200
    assert visitor.get("/").status_code == 303


SCHEMA = """[dataset]
name = "people"
[unit]
neighbours = "add-remove"
[budget]
epsilon = 2
[columns.age]
type = "integer"
lower = 0
upper = 120
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_served_without_tokens_it_refuses_whoever_was_not_given_the_address(tmp_path, workers):
    (tmp_path / "people.csv").write_text("age\n30\n")
    (tmp_path / "discreet.toml").write_text(SCHEMA)
    Ledger.open(tmp_path / "l.db", create=True).close()
    words = [tmp_path / "people.csv", "--schema", tmp_path / "discreet.toml", "--ledger", tmp_path / "l.db"]
    words += ["--tokens", tmp_path / "none.db", "--workers", workers]
    with Server(tmp_path, *words) as server:
        said = server.said("for you alone")
        token = re.search(r"/login\?token=(\S+)", said)[1]

        def status(headers):
            line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            line.request("GET", "/api/datasets", headers=headers)
            answer = line.getresponse()
            body = answer.read()
            line.close()
            return answer.status, body

        for _ in range(3):
            assert status({})[0] == 401
            assert status({"authorization": "Bearer dsc_00_x"})[0] == 401
        code, body = status({"authorization": f"Bearer {token}"})
        assert code == 200
        assert json.loads(body)[0]["dataset"] == "people"
    assert not (tmp_path / "none.db").exists()
    assert not any(token in (tmp_path / name).read_text(errors="replace") for name in ("l.db", "people.csv"))
    assert os.environ.get("DISCREET_SERVING") is None
