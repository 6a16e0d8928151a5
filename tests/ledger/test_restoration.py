"""A backup that is put back gives no budget back, and nothing that was there is lost."""

import shutil
from pathlib import Path

import pytest

from discreet.core.loss import Pure
from discreet.errors import InputError, LedgerError
from discreet.ledger import restoration
from discreet.ledger.backup import back_up
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.restoration import restore_backup
from servers import fresh_schema


def spend(ledger, release, epsilon=1):
    return ledger.spend("visits", Pure(epsilon), release=release, who="ann", digest="d")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    return tmp_path / "books.db" if request.param == "sqlite" else fresh_schema()


@pytest.fixture
def ledger(place, tmp_path):
    opened = Ledger.open(place, create=True)
    opened.create("visits", Budget(epsilon=5), who="ann")
    spend(opened, "r1")
    opened.answer("r1", '{"n": 7}', who="ann")
    opened.version_of(object())
    back_up(opened, tmp_path / "copy")
    return opened


def test_what_was_spent_since_is_charged_when_it_is_acknowledged(ledger, place, tmp_path):
    spend(ledger, "r2", 2)
    head = ledger.head()
    with pytest.raises(InputError, match="--replace"):
        restore_backup(tmp_path / "copy", place)
    assert ledger.head() == head
    ledger.close()
    done = restore_backup(tmp_path / "copy", place, replace=True)
    assert done.aside is not None
    assert [lost[2].amount for lost in done.ledger.discrepancy().lost] == [2]
    with pytest.raises(LedgerError, match="restored from an old copy"):
        spend(done.ledger, "r3")
    done.ledger.acknowledge(who="ann", why="the disk died")
    assert done.ledger.remaining("visits").amount == 2
    assert done.ledger.find("r1").answer == '{"n": 7}'
    assert done.ledger.verify().ok
    spend(done.ledger, "r3", 2)


def test_nobody_else_reads_a_ledger_while_it_is_put_back(tmp_path, monkeypatch):
    opened = Ledger.open(tmp_path / "books.db", create=True)
    back_up(opened, tmp_path / "copy")
    opened.close()
    (tmp_path / "books.db.restoring").write_text("left by one that was killed")
    (tmp_path / "books.db.restoring").chmod(0o644)
    seen, copied = [], shutil.copyfile

    def copy(source, target):
        seen.append(Path(target).stat().st_mode & 0o777)
        copied(source, target)

    monkeypatch.setattr(shutil, "copyfile", copy)
    restore_backup(tmp_path / "copy", tmp_path / "books.db", replace=True).ledger.close()
    assert seen == [0o600]
    assert (tmp_path / "books.db").stat().st_mode & 0o777 == 0o600


def test_where_nothing_was_spent_since_it_goes_on(ledger, place, tmp_path):
    ledger.close()
    done = restore_backup(tmp_path / "copy", place, replace=True)
    assert done.ledger.discrepancy() is None
    assert done.ledger.remaining("visits").amount == 4
    spend(done.ledger, "r2")


def test_what_was_there_is_set_aside(ledger, place, tmp_path):
    spend(ledger, "r2")
    ledger.close()
    done = restore_backup(tmp_path / "copy", place, replace=True)
    again = restore_backup(tmp_path / "copy", place, replace=True)
    assert done.aside != again.aside
    if isinstance(place, str):
        import psycopg

        with psycopg.connect(place) as connection:
            query = f'SELECT COUNT(*) FROM "{done.aside}".discreet_record'
            assert connection.execute(query).fetchall() == [(5,)]
            connection.execute(f'DROP SCHEMA "{done.aside}" CASCADE')
            connection.execute(f'DROP SCHEMA "{again.aside}" CASCADE')
    else:
        with restoration.store_at(done.aside, None, create=False)[0].read() as reader:
            assert reader.head().sequence == 5


def test_another_store_takes_it_as_well(ledger, place, tmp_path):
    other = fresh_schema() if not isinstance(place, str) else tmp_path / "other.db"
    done = restore_backup(tmp_path / "copy", other)
    assert [each.body() for each in done.ledger.records()] == [each.body() for each in ledger.records()]
    assert done.ledger.discrepancy() is None
    assert done.ledger.verify().ok
    spend(done.ledger, "r2")  # and now that one is the ledger, and the first a copy
    with pytest.raises(LedgerError, match="not the one last seen"):
        spend(ledger, "r3")


def test_a_secret_that_is_gone_comes_back(tmp_path):
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    ledger.create("visits", Budget(epsilon=5), who="ann")
    secret = tmp_path / "books.db.key"
    secret.write_bytes(b"k" * 32)
    back_up(ledger, tmp_path / "copy")
    ledger.close()
    secret.unlink()
    restore_backup(tmp_path / "copy", tmp_path / "books.db", replace=True)
    assert secret.read_bytes() == b"k" * 32


def test_half_a_backup_is_not_put_in_place(ledger, place, tmp_path):
    (tmp_path / "copy" / "manifest.json").unlink()
    with pytest.raises(LedgerError, match="not a complete backup"):
        restore_backup(tmp_path / "copy", place, replace=True)
    spend(ledger, "r2")
