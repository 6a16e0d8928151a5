"""A town with a ledger, where any row or a household is the unit."""

from __future__ import annotations

import pyarrow
import pytest
from homes import COLUMNS, HOME, ROW, town

import discreet
from discreet import Budget, Schema


@pytest.fixture(params=[ROW, HOME], ids=str)
def curator(request, tmp_path):
    table = pyarrow.Table.from_pylist(town(600))
    schema = Schema("t", COLUMNS, request.param)
    return discreet.open(table, schema, ledger=tmp_path / "l.db", budget=Budget(epsilon=100), create=True)
