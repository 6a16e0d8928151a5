"""A small server in this process, and programs that ask it."""

import pyarrow as pa
import pytest

import discreet
from discreet import Allotment, Budget, Category, Integer, Schema

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
from asgi_client import Client
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.site import application

SCHEMA = Schema("people", {"age": Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"], nullable=False)})
SECRET = "Xyzzy-7431"
TABLE = pa.table({"age": [30, 40, 50], "county": ["Ash", "Elm", SECRET]})


@pytest.fixture(name="service")
def service_fixture(tmp_path):
    parts = [Allotment("team", "pure", epsilon=1), Allotment("guests", "pure", epsilon=1)]
    budget = Budget(2, allotments=parts)
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=budget, create=True)
    return Service({"people": curator}, Tokens(tmp_path / "tokens.db"))


def client(service, role=None, allotment=None, name=None):
    headers = {}
    if role is not None:
        headers["authorization"] = "Bearer " + service.tokens.create(name or role, role, allotment)
    return Client(application(service), headers)


ASK = {"outputs": ["count", "mean(age)"], "by": ["county"], "epsilon": "0.5", "allotment": "team"}
