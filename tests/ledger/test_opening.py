"""Opening a ledger: none is made silently, none is begun anew where one was lost."""

import pytest

from discreet.errors import InputError, LedgerError, MissingLedgerError
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from ledger_copies import open_ledger, spend
from servers import fresh_schema


@pytest.fixture
def ledger(tmp_path):
    ledger = open_ledger(tmp_path)
    ledger.create("visits", Budget(epsilon=10), who="ann")
    spend(ledger, "r1")
    return ledger


def test_a_ledger_that_is_gone_is_not_made_again_without_a_word(ledger, tmp_path):
    ledger.close()
    for path in tmp_path.glob("discreet.db*"):
        path.unlink()
    with pytest.raises(LedgerError, match="is gone"):
        open_ledger(tmp_path)
    anew = Ledger.open(tmp_path / "discreet.db", create=True, anew=True)
    anew.create("visits", Budget(epsilon=10), who="ann")
    spend(anew, "r1")
    assert anew.verify().ok


def test_only_paths_and_postgresql_addresses_are_opened():
    with pytest.raises(InputError, match="postgresql://") as caught:
        Ledger.open("mysql://user:secret@host/db", create=True)
    assert "secret" not in str(caught.value)


def test_a_missing_folder_and_a_file_that_is_no_ledger_are_said(tmp_path):
    with pytest.raises(LedgerError, match="does not exist"):
        Ledger.open(tmp_path / "nowhere" / "discreet.db", create=True)
    (tmp_path / "text.db").write_text("not a database, but long enough to be read as one" * 20)
    with pytest.raises(LedgerError, match="This file is no ledger, or its beginning is damaged"):
        Ledger.open(tmp_path / "text.db", create=True)


def test_an_empty_file_is_no_ledger_and_stays_empty(tmp_path):
    (tmp_path / "empty.csv").touch()
    with pytest.raises(MissingLedgerError):
        Ledger.open(tmp_path / "empty.csv")
    assert (tmp_path / "empty.csv").read_bytes() == b""
    Ledger.open(tmp_path / "empty.csv", create=True)
    assert (tmp_path / "empty.csv").stat().st_size > 0


def test_the_environment_may_name_the_anchor(place, tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_ANCHOR", str(tmp_path / "ledger.head"))
    ledger = Ledger.open(place, create=True)
    ledger.create("visits", Budget(epsilon=1), who="ann")
    spend(ledger, "s", 0.1)
    assert ledger.verify().anchored
    assert len((tmp_path / "ledger.head").read_text().splitlines()) == 3
    with pytest.raises(LedgerError, match="was stored"):  # a file watches one ledger
        Ledger.open(fresh_schema(), create=True)
