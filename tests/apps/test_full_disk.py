"""A full disk: what cannot be recorded is not read, and is charged once when there is room again."""

import sys

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Integer, Schema
from discreet.errors import LedgerError

if sys.platform == "win32":
    pytest.skip("limits of file sizes", allow_module_level=True)
import resource


def test_nothing_is_read_and_nothing_spent_while_the_disk_is_full(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    schema = Schema("people", {"age": Integer(0, 120, nullable=False)})
    curator = discreet.open(pa.table({"age": [30]}), schema, ledger=tmp_path / "b.db", budget=Budget(2), create=True)
    offer = curator.table().agg(n=discreet.count()).plan(epsilon=1)
    opened = []
    whole = type(curator.local.data).open
    monkeypatch.setattr(type(curator.local.data), "open", lambda data: opened.append(1) or whole(data))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))  # every file is as large as it may be
    try:
        with pytest.raises(LedgerError, match=r"ask again|cannot|Nothing was spent"):
            offer.release(release="one")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert opened == []
    assert curator.standing()[0].spent.amount == 0
    offer.release(release="one")
    assert curator.standing()[0].spent.amount == 1
    assert curator.ledger.verify().ok
