"""Where ledgers and their state lie: addresses without passwords, folders for their owner alone."""

import os
import sys
from pathlib import Path

import pytest

from discreet.errors import LedgerError
from discreet.ledger.location import (
    address_key,
    guards_folder,
    missing_ledger,
    private_folder,
    public_address,
    state_folder,
    workspace,
)

ADDRESS = "postgresql://ann:geheim@host:5/books?options=-csearch_path%3Dx&password=geheim"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (ADDRESS, "postgresql://host:5/books"),
        ("postgresql:///books", "postgresql:///books"),
        ("postgres://a:b@c:d@host/x", "postgres://host/x"),
        (Path("a@b") / "books.db", str(Path("a@b") / "books.db")),
    ],
)
def test_an_address_is_shown_without_user_password_and_options(address, shown):
    assert public_address(address) == shown


def test_a_database_is_known_by_user_and_options_but_not_by_its_password():
    assert address_key(ADDRESS) == address_key(ADDRESS.replace("geheim", "neu"))
    others = [ADDRESS.replace("ann", "bob"), ADDRESS.replace("3Dx", "3Dy"), ADDRESS.replace("/books", "/book")]
    assert len({address_key(address) for address in (ADDRESS, *others)}) == 4


def test_a_file_is_known_by_where_its_path_leads(tmp_path):
    (tmp_path / "real.db").touch()
    (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
    assert address_key(tmp_path / "link.db") == address_key(tmp_path / "sub" / ".." / "real.db")
    assert address_key(tmp_path / "real.db") != address_key(tmp_path / "other.db")


def test_a_missing_ledger_is_answered_with_the_command_that_makes_one():
    text = str(missing_ledger(ADDRESS))
    assert "discreet ledger create --ledger postgresql://host:5/books" in text
    assert "geheim" not in text


def test_the_state_folder_is_the_one_named_then_that_of_the_platform(monkeypatch, tmp_path):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "mine"))
    assert state_folder() == tmp_path / "mine"
    assert guards_folder() == tmp_path / "mine" / "guards"
    monkeypatch.delenv("DISCREET_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    if sys.platform != "win32":
        assert state_folder() == tmp_path / "xdg" / "discreet"


def test_state_of_a_file_lies_beside_it_and_of_a_database_under_its_identity(tmp_path, state):
    assert workspace(tmp_path / "books.db", "id", "private") == tmp_path / "books.db.private"
    assert workspace(None, "id", "private") == state / "ledgers" / "id" / "private"


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_a_private_folder_is_made_for_its_owner_and_one_that_cannot_be_is_said(tmp_path):
    made = private_folder(tmp_path / "a" / "b")
    assert [folder.stat().st_mode & 0o777 for folder in (made, made.parent)] == [0o700, 0o700]
    assert private_folder(made) == made
    (tmp_path / "file").touch()
    with pytest.raises(LedgerError, match="DISCREET_STATE"):
        private_folder(tmp_path / "file" / "below")
