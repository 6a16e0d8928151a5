"""A curator over people with jobs."""

import pytest
from synth_desk import SCHEMA, table

import discreet
from discreet import Budget


@pytest.fixture
def curator(tmp_path):
    return discreet.open(table(), SCHEMA, ledger=tmp_path / "books.db", budget=Budget(10), who="ann", create=True)
