"""The access log: a line for every request, and no value of any."""

import re

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Category, Integer, Schema

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from asgi_client import Client
from discreet.apps.server.access_log import writer
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.site import application
from discreet.errors import InputError

SCHEMA = Schema("people", {"age": Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"], nullable=False)})
TABLE = pa.table({"age": [30, 40, 50], "county": ["Ash", "Elm", "Ash"]})
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ [A-Z]+ (-|/[a-z/{}:_]*) (\d{3}|-) (-|[a-z ]+)")
VALUES = ("Zq1", "Zq2", "Zq3", "Zq4", "Zq5", "Zq6", "Zq7", "Zq8", "people", "dsc_")


@pytest.fixture
def service(tmp_path):
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=Budget(2), create=True)
    return Service({"people": curator}, Tokens(tmp_path / "tokens.db"))


def asked(service, log, monkeypatch=None):
    served = application(service, log=log)
    ann = Client(served, {"authorization": "Bearer " + service.tokens.create("ann of elm", "custodian")})
    ask = {"outputs": ["Zq1=count"], "where": "age > 31", "epsilon": "0.1", "release": "Zq2", "why": "Zq3"}
    seen = [
        ann.post("/api/datasets/people/release", json=ask),
        ann.get("/api/datasets/people/releases/Zq2?part=&Zq4=1"),
        ann.get("/api/datasets/people/releases/Zq5/other?part=Zq4"),
        ann.get("/api/datasets/people/jobs/Zq6"),
        ann.get("/Zq7%0Aforged"),
        ann.request("Zq8", "/api/datasets"),
        ann.post("/api/datasets/people/plan", content=b"Zq1" * 500_000),
        Client(served).get("/api/datasets/people?token=Zq4"),
        Client(served, {"authorization": "Bearer dsc_Zq5_x"}).get("/api/ledger/verify"),
    ]
    return [one.status_code for one in seen]


def test_every_request_has_a_line_and_no_line_has_a_value(service, tmp_path):
    statuses = asked(service, writer(str(tmp_path / "access.log")))
    text = (tmp_path / "access.log").read_text()
    lines = text.splitlines()
    assert statuses == [200, 200, 404, 404, 404, 405, 413, 401, 401]
    assert [int(one.split()[3]) for one in lines] == statuses
    assert all(LINE.fullmatch(one) for one in lines), text
    assert not [value for value in VALUES if value in text]
    assert "POST /api/datasets/{name}/release 200 ann of elm" in lines[0]
    assert " GET /api/datasets/{name}/jobs/{release:path} 404 " in lines[3]
    assert lines[7].endswith(" /api/datasets/{name} 401 -")
    assert (tmp_path / "access.log").stat().st_mode & 0o077 == 0


def test_a_log_of_raw_paths_would_be_caught(service, monkeypatch):
    from discreet.apps.server import access_log

    monkeypatch.setattr(access_log, "template", lambda scope: scope["path"])
    kept = []
    asked(service, kept.append)
    assert [value for value in VALUES if value in "".join(kept)]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(InputError, match="access-log"):
        writer(str(tmp_path / "nowhere" / "x.log"))


def test_on_standard_error(service, capfd):
    asked(service, writer("-"))
    assert len(capfd.readouterr().err.splitlines()) == 9
