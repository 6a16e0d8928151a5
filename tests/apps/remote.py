"""Servers on a socket, and curators connected to them."""

import pyarrow as pa
import pytest

import discreet
from discreet import Allotment, Boolean, Budget, Category, Integer, Schema
from servers import serving

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens
from discreet.apps.web.site import application

SCHEMA = Schema("people", {"age": Integer(0, 120, nullable=False), "county": Category(["Ash", "Elm"], nullable=False)})
TABLE = pa.table({"age": [30, 40, 50], "county": ["Ash", "Elm", "Ash"]})


@pytest.fixture(name="served")
def served_fixture(tmp_path):
    curator = discreet.open(TABLE, SCHEMA, ledger=tmp_path / "b.db", budget=Budget(2), create=True)
    service = Service({"people": curator}, Tokens(tmp_path / "tokens.db"))
    with serving(application(service)) as url:
        yield url, service, curator


@pytest.fixture(name="wide")
def wide_fixture(tmp_path):
    """A served table to make hierarchies, rows and models of, and a curator of the same books."""
    schema = Schema(
        "people",
        {
            "age": Integer(0, 9, nullable=False),
            "county": Category(["A1", "A2", "B1"], nullable=False),
            "works": Boolean(nullable=False),
        },
    )
    many = range(300)
    table = pa.table(
        {
            "age": [n % 10 for n in many],
            "county": [("A1", "A2", "B1")[n % 3] for n in many],
            "works": [n % 10 > 4 for n in many],
        }
    )
    parts = [Allotment("team", "pure", epsilon=4), Allotment("models", "plan", epsilon=3, delta=1e-5)]
    budget = Budget(7, delta=1e-5, allotments=parts)
    curator = discreet.open(table, schema, ledger=tmp_path / "b.db", budget=budget, create=True)
    service = Service({"people": curator}, Tokens(tmp_path / "tokens.db"))
    with serving(application(service)) as url:
        yield discreet.connect(url, service.tokens.create("ann", "analyst")), curator
