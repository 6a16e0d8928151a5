"""A small drill of what `bench/agency.py` does at large: nothing overspent, lost or doubled, and every refusal true."""

import sys
from fractions import Fraction

import pytest

from servers import NEEDED, missing

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
from drill import PRICE, Drill


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_workers_die_the_database_restarts_and_the_ledger_is_what_everybody_was_told(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    try:
        drill = Drill(analysts=10, actions=6, cap=Fraction(24) * PRICE)
    except ImportError:
        missing(NEEDED)
    try:
        found = drill.run().findings()
    finally:
        drill.close()
    assert {what: count for what, count in found.items() if count} == {}, drill.seen.untrue
    assert drill.events == {"kill": 3, "reload": 1, "refresh": 1, "restart": 1, "rotate": 1}
    assert drill.seen.answers
    assert drill.seen.jobs
    assert drill.seen.budget
