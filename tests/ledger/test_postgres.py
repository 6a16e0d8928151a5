"""A ledger in PostgreSQL: passwords are never shown, and a file may watch it."""

import sys

import pytest

from discreet.core.loss import Pure
from discreet.errors import LedgerError, MissingExtraError
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from ledger_copies import spend
from servers import fresh_schema, postgres


def test_an_unreachable_server_is_said_without_the_password():
    postgres()
    with pytest.raises(LedgerError, match="PostgreSQL") as caught:
        Ledger.open("postgresql://ann:s3cret@127.0.0.1:1/none", create=True)
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in repr(caught.value)


def test_a_missing_library_names_the_exact_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'discreet\[postgres\]'"):
        Ledger.open("postgresql:///x", create=True)


def test_postgres_may_be_anchored_in_a_file_too(tmp_path):
    place = fresh_schema()
    ledger = Ledger.open(place, anchor=tmp_path / "ledger.head", create=True)
    ledger.create("visits", Budget(epsilon=1), who="ann")
    assert ledger.verify().anchored
    elsewhere = Ledger.open(place, anchor=tmp_path / "second.head")  # a machine that has never seen this ledger
    with pytest.raises(LedgerError, match="missing"):
        elsewhere.spend("visits", Pure(0.1), release="r", who="bob", digest="d")
    elsewhere.acknowledge(who="ann", why="a second machine", write_off="nothing")
    elsewhere.spend("visits", Pure(0.1), release="r", who="bob", digest="d")
    spend(ledger, "s", 0.1)
    assert ledger.verify().ok
