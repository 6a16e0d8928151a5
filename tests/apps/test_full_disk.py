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


def test_a_question_that_finds_no_room_to_spill_stays_charged_and_harms_no_other(tmp_path, monkeypatch):
    """A limit of memory that the question does not fit in, and a disk on which no file may grow once it is charged."""
    pytest.importorskip("duckdb")
    import pyarrow.parquet as parquet

    from discreet.errors import RunError

    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("DISCREET_MEMORY", "60MB")
    rows = 400_000
    people = [f"person {number:07d} {'x' * 120}" for number in range(rows)]
    parquet.write_table(pa.table({"person": people, "age": [30] * rows}), tmp_path / "people.parquet")
    unit = discreet.Unit("person", groups=1, rows=1)
    schema = Schema("people", {"age": Integer(0, 120, nullable=False)}, unit)
    curator = discreet.open(
        tmp_path / "people.parquet", schema, ledger=tmp_path / "b.db", budget=Budget(2), create=True
    )
    offer = curator.table().agg(n=discreet.count()).plan(epsilon=1)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    whole = type(curator.local.data).open

    def opened(data):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
        return whole(data)

    monkeypatch.setattr(type(curator.local.data), "open", opened)
    try:
        with pytest.raises(RunError, match="stays spent"):
            offer.release(release="one")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    monkeypatch.setattr(type(curator.local.data), "open", whole)
    assert curator.standing()[0].spent.amount == 1
    assert curator.ledger.verify().ok
    assert not list((tmp_path / "state").rglob("*.tmp"))
    # With room on the disk it is answered in the same memory.
    assert curator.table().agg(n=discreet.count()).plan(epsilon=1).release(release="two").columns["n"][0] > 0
    assert curator.standing()[0].spent.amount == 2
