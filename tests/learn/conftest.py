"""What tests of learning share: a curator over a table of people with a budget for models."""

import pytest
from train_people import BUDGET, SCHEMA, table

import discreet


@pytest.fixture
def curator(tmp_path):
    return discreet.open(table(), SCHEMA, ledger=tmp_path / "ledger.db", budget=BUDGET, who="someone", create=True)
