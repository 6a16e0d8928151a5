"""The secret of a ledger: made once, whole, for its owner only."""

import threading

import pytest

from discreet.errors import LedgerError
from discreet.ledger.secret import SIZE, secret_at, secret_path


def test_a_secret_is_made_once_and_only_its_owner_reads_it(tmp_path):
    path = tmp_path / "state" / "books.db.key"
    secret = secret_at(path)
    assert (len(secret), path.stat().st_mode & 0o777) == (SIZE, 0o600)
    assert secret_at(path, b"x" * SIZE) == secret
    assert [file.name for file in path.parent.iterdir()] == ["books.db.key"]


def test_all_who_come_first_get_the_same_secret(tmp_path):
    found = []
    crowd = [threading.Thread(target=lambda: found.append(secret_at(tmp_path / "key"))) for _ in range(16)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert len(set(found)) == 1


def test_half_a_secret_is_refused(tmp_path):
    (tmp_path / "key").write_bytes(b"short")
    with pytest.raises(LedgerError, match="Nothing was spent"):
        secret_at(tmp_path / "key")


def test_the_password_of_a_database_is_no_part_of_where_its_secret_lies(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("DISCREET_STATE", raising=False)
    one = secret_path("postgresql://ann:old@host/books")
    assert one == secret_path("postgresql://ann:new@host/books")
    assert one != secret_path("postgresql://ann:new@host/other")
    monkeypatch.setenv("DISCREET_KEY", str(tmp_path / "shared.key"))
    assert secret_path("postgresql://ann:new@host/other") == tmp_path / "shared.key"
