"""Visits to pages of a small server."""

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Category, Integer, Schema

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")
from visitor import Visitor, served

from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens

SCHEMA = Schema("people", {"age": Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"], nullable=False)})
TABLE = pa.table({"age": [30, 40, 50], "county": ["Ash", "Elm", "Elm"]})


@pytest.fixture(name="service")
def service_fixture(tmp_path):
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=Budget(2), create=True)
    return Service({"people": curator}, Tokens(tmp_path / "tokens.db"))


def signed(service, name="ann", role="analyst", allotment=None, base="http://localhost"):
    visitor = Visitor(served(service), base)
    assert visitor.sign_in(service.tokens.create(name, role, allotment)).status_code == 303
    return visitor


ASK = {"of0": "count", "way": "epsilon", "epsilon": "0.1"}
