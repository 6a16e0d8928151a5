"""A backup of a ledger: a folder with all records as they were at one moment, and a manifest of what is in it.

Nobody has to stop spending while it is made. The database in it is marked as a backup, so that it is never taken for
the ledger: nothing can be spent from it where it lies. The guard is not in it, for it must not be restored.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError, LedgerError, Phrase
from discreet.ledger.chain import check_chain
from discreet.ledger.guard import identity_of
from discreet.ledger.location import private_folder, settle, workspace
from discreet.ledger.record import GENESIS, Head
from discreet.ledger.snapshot import Snapshot
from discreet.ledger.sqlite import SqliteStore
from discreet.ledger.store import Reader
from discreet.ledger.stream_state import copy_states
from discreet.ledger.tables import Transaction
from discreet.ledger.transfer import copy_records
from discreet.ledger.verification import verify
from discreet.ledger.witness import witness

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger

__all__ = ["DATABASE", "SECRET", "STREAMS", "Manifest", "back_up", "is_backup", "read_backup"]

DATABASE, MANIFEST, SECRET, STREAMS = "ledger.db", "manifest.json", "secret.key", "private"
_NAMES = {DATABASE, MANIFEST, SECRET, STREAMS}
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in a backup."""

    made: str
    identity: str
    head: Head
    files: dict[str, str]
    """SHA-256 of every file, by its path in the folder."""

    def to_text(self) -> str:
        """As it is stored."""
        head = {"sequence": self.head.sequence, "hash": self.head.hash}
        told = {"format": _FORMAT, "discreet": version("discreet"), "made": self.made, "identity": self.identity}
        return json.dumps(told | {"records": self.head.sequence, "head": head, "files": self.files}, indent=1) + "\n"

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """The manifest of a folder, whose files are as it says; `LedgerError` if they are not, or there is none."""
        try:
            value = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
            head = Head(int(value["head"]["sequence"]), str(value["head"]["hash"]))
            files = {str(name): str(digest) for name, digest in value["files"].items()}
            found = cls(str(value["made"]), str(value["identity"]), head, files)
            wrong = [name for name, digest in files.items() if _digest(folder / name) != digest]
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            raise LedgerError(
                f"{str(folder)!r} is not a complete backup of a ledger: its manifest is missing or unreadable, or a "
                "file is gone. Nothing was changed. Use another backup."
            ) from None
        if wrong or value["format"] != _FORMAT or DATABASE not in files:
            raise LedgerError(
                f"The backup {str(folder)!r} was changed since it was made: {', '.join(wrong) or MANIFEST}. Nothing "
                "was changed. Use another backup."
            )
        return found


def back_up(ledger: Ledger, folder: str | Path, *, streams: bool = False) -> Manifest:
    """Write a backup of a ledger into a new folder; whole when the folder has its name, whatever happens meanwhile.

    With `streams` it holds what streams remember of people, and is as private as the data.
    """
    target = Path(folder)
    draft = _draft_of(target)
    witness(ledger._store, ledger._guard)  # an answer that is read from a backup must have been seen
    try:
        private_folder(draft)
        _copy_database(ledger, draft / DATABASE)
        with _opened(draft / DATABASE) as reader:
            check_chain(reader)
            identity, head = identity_of(reader) or "", reader.head()
        if head == GENESIS:
            raise InputError("ledger", Phrase("an empty one"), "a ledger with records", "Nothing was written.")
        if ledger._secret is not None and ledger._secret.exists():
            _write(draft / SECRET, ledger._secret.read_bytes())
        if streams:
            copy_states(workspace(ledger._store.path, identity, "private"), draft / STREAMS)
        paths = sorted(path for path in draft.rglob("*") if path.is_file())
        files = {path.relative_to(draft).as_posix(): _digest(path) for path in paths}
        manifest = Manifest(datetime.now(UTC).isoformat(timespec="seconds"), identity, head, files)
        _write(draft / MANIFEST, manifest.to_text().encode())
        draft.replace(target)
        settle(target.parent)
    except OSError as error:
        raise LedgerError(f"The backup {str(target)!r} cannot be written ({error.strerror}).") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return manifest


def _draft_of(target: Path) -> Path:
    """The folder that a backup is made in, empty: what a killed one left there is removed."""
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise InputError("backup", str(target), "a folder that does not exist yet", "Nothing was written.")
    draft = target.with_name(target.name + ".part")
    if draft.exists():
        if not draft.is_dir() or any(not _ours(path.name) for path in draft.iterdir()):
            raise InputError("backup", str(draft), "free for an unfinished backup", "Nothing was written.")
        shutil.rmtree(draft)
    return draft


def _ours(name: str) -> bool:
    return name in _NAMES or name.startswith(DATABASE)


def _copy_database(ledger: Ledger, path: Path) -> None:
    """All records in one state, in a file of its own that is marked as a backup."""
    if ledger._store.path is not None:
        _write(path, b"")
        source = sqlite3.connect(f"{ledger._store.path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)
        with closing(source), closing(sqlite3.connect(path)) as target:
            source.execute("BEGIN")
            source.execute("SELECT sequence FROM discreet_head").fetchall()  # the state from here on
            source.backup(target)
    else:
        store = SqliteStore(path)
        with ledger._store.read() as reader, store.write() as writer:
            copy_records(reader, writer)
        store.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("UPDATE discreet_head SET format = -format WHERE format > 0")
        connection.commit()
    path.with_name(path.name + ".lock").unlink(missing_ok=True)


def is_backup(path: str | Path) -> bool:
    """Whether there is a folder here with the manifest of a backup."""
    try:
        return (Path(path) / MANIFEST).is_file() and (Path(path) / DATABASE).is_file()
    except (OSError, ValueError):
        return False


@contextmanager
def read_backup(folder: str | Path, *, verified: bool = True) -> Iterator[Snapshot]:
    """A backup, read where it lies. `LedgerError` if a file was changed or, if `verified`, a record breaks a rule."""
    manifest = Manifest.read(Path(folder))
    with _opened(Path(folder) / DATABASE) as reader:
        if (reader.head(), identity_of(reader)) != (manifest.head, manifest.identity):
            raise LedgerError(f"The backup {str(folder)!r} does not hold the ledger that its manifest names.")
        if verified and (problems := verify(reader, None).problems):
            raise LedgerError(f"The backup {str(folder)!r} does not verify: {problems[0]}. Use another backup.")
        yield Snapshot(reader)


@contextmanager
def _opened(path: Path) -> Iterator[Reader]:
    """The records in the database of a backup, which is not written to."""
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:

        def execute(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
            try:
                return connection.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise LedgerError(f"The backup cannot be read (SQLite: {error}). Use another backup.") from None

        yield Transaction(execute, connection.executemany)  # type: ignore[arg-type]  # and nobody calls it


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
