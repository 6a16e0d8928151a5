"""What pages say of columns and of the unit."""

import pyarrow as pa
import pyarrow.parquet
import pytest

import discreet
from discreet import Budget, Date, Schema, Text, Unit

pytest.importorskip("fastapi")
pytest.importorskip("jinja2")
pytest.importorskip("httpx")

from people_pages import (
    made,
    service_fixture,  # noqa: F401
    signed,
    told,
)

from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Tokens


def test_a_row_as_unit_and_replacement_are_said(tmp_path):
    unit = Unit(neighbours="replace")
    text = told(signed(made(tmp_path, unit=unit)).get("/d/people"))
    assert "One row is protected" in text
    assert "How many there are is public" in text


def test_numbers_declared_as_text_are_told_what_they_lack(tmp_path):
    schema = Schema("people", {"pay": Text(), "day": Date("2024-01-01", "2024-12-31", nullable=False)})
    table = pa.table({"pay": [1.5], "day": ["2024-03-01"]})
    curator = discreet.open(table, schema, ledger=tmp_path / "b.db", budget=Budget(1), create=True)
    text = told(signed(Service({"people": curator}, Tokens(tmp_path / "t.db"))).get("/d/people"))
    assert "pay is declared as text, so it has no lower and no upper bound: sums, means and quantiles" in text
    assert 'set type = "real", lower = ... and upper = ... under [columns.pay]' in text
    assert "2024-01-01 to 2024-12-31" in text
