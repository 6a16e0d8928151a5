"""A curator over a table of people in counties."""

import pytest
from tree_desk import SCHEMA, table

import discreet
from discreet import Budget


@pytest.fixture
def curator(tmp_path):
    return discreet.open(table(), SCHEMA, ledger=tmp_path / "books.db", budget=Budget(10), who="ann", create=True)
