"""A backup put back in place of a ledger that was lost or damaged. What is there is set aside, never removed.

The guard stays as it is. So what was spent after the backup is known, and nothing can be spent until the custodian has
acknowledged the restored ledger, which charges it: docs/proofs/ledger.md.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import MISSING, InputError, LedgerError, MissingLedgerError
from discreet.ledger.backup import DATABASE, SECRET, STREAMS, Manifest, read_backup
from discreet.ledger.location import private_folder, public_address, settle, workspace
from discreet.ledger.lock import file_lock
from discreet.ledger.opening import store_at
from discreet.ledger.record import GENESIS
from discreet.ledger.secret import secret_at, secret_path
from discreet.ledger.sqlite import in_use
from discreet.ledger.store import Reader
from discreet.ledger.stream_state import copy_states
from discreet.ledger.transfer import copy_records

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger

__all__ = ["Restored", "restore_backup"]

_FILES = ("-journal", "-wal", "-shm", "")
"""Endings of what SQLite keeps of a ledger, in the order in which they are set aside.

The logs go first. A ledger without its log is behind its guard, and refused; a log beside another ledger would be
written into that one by SQLite, and so would the pages in the journal of a write that was killed: a ledger that was put
back has one until it is opened.
"""


@dataclass(frozen=True, slots=True)
class Restored:
    """A ledger that was put back, and where the one before is, if there was one."""

    ledger: Ledger
    manifest: Manifest
    aside: str | None


def restore_backup(
    folder: str | Path, address: str | Path, *, anchor: str | Path | None = None, replace: bool = False
) -> Restored:
    """Put a backup in place at an address, verified first. With `replace` a ledger that is there is set aside.

    Guarantee: no budget comes back. The guard is not written; what it saw after the backup is charged by
    `Ledger.acknowledge`, before which nothing can be spent. Stopped anywhere, the same again finishes it.
    """
    from discreet.ledger.ledger import Ledger

    manifest = Manifest.read(Path(folder))
    with read_backup(folder) as backup:
        database = isinstance(address, str) and "://" in address
        put = _into_database if database else _into_file
        aside = put(backup.reader, Path(folder), address, replace)
    secret = secret_path(address)
    if (Path(folder) / SECRET).exists() and not secret.exists():
        secret_at(secret, (Path(folder) / SECRET).read_bytes())
    store, guard = store_at(address, anchor, create=False)
    memories = workspace(store.path, manifest.identity, "private")
    if (Path(folder) / STREAMS).is_dir() and not memories.exists():
        copy_states(Path(folder) / STREAMS, memories)
    return Restored(Ledger(store, guard, secret), manifest, aside)


def _into_file(_: Reader, folder: Path, address: str | Path, replace: bool) -> str | None:
    path = Path(address)
    if path.parent.name == ".discreet":
        private_folder(path.parent)
    draft = path.with_name(path.name + ".restoring")
    try:
        with file_lock(path.with_name(path.name + ".lock")):
            there = path.exists() and path.stat().st_size > 0
            if there:
                _check_replace(replace, str(path), "It is set aside, not removed.")
                if in_use(path):
                    raise LedgerError(
                        f"The ledger {str(path)!r} is in use. Nothing was changed. Stop the server and whatever else "
                        "has it open, then restore."
                    )
            for ending in _FILES:  # of one that was stopped half-way
                draft.with_name(draft.name + ending).unlink(missing_ok=True)
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))  # before a byte of it is there
            shutil.copyfile(folder / DATABASE, draft)
            with closing(sqlite3.connect(draft)) as connection:
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("UPDATE discreet_head SET format = -format WHERE format < 0")
                connection.commit()
            aside = _set_aside(path)
            draft.replace(path)
            settle(path.parent)
    except OSError as error:
        raise LedgerError(f"The ledger {str(path)!r} cannot be put back ({error.strerror}).") from None
    return str(aside) if there else None


def _set_aside(path: Path) -> Path:
    """Move away what is there, also the log of a ledger that was removed; one that was stopped half-way is finished."""
    here = [each for ending in _FILES if (each := path.with_name(path.name + ending)).exists()]
    number = 1
    while True:
        aside = path.with_name(f"{path.name}.before-restore-{number}")
        moves = [(each, aside.with_name(aside.name + each.name.removeprefix(path.name))) for each in here]
        if not aside.exists() and not any(target.exists() for _, target in moves):
            break
        number += 1
    for each, target in moves:
        each.replace(target)
    return aside


def _into_database(backup: Reader, _: Path, address: str | Path, replace: bool) -> str | None:
    from discreet.ledger.postgres import PostgresStore

    aside = None
    try:
        store = PostgresStore(str(address), create=False)
        with store.read() as reader:
            empty = reader.head() == GENESIS
        if not empty:
            _check_replace(replace, public_address(address), "Its tables are moved to a schema of their own.")
            aside = store.set_aside()
    except MissingLedgerError:
        store = PostgresStore(str(address), create=True)
    with store.write() as writer:
        copy_records(backup, writer)
    store.close()
    return aside


def _check_replace(replace: bool, name: str, words: str) -> None:
    if not replace:
        allowed = f"given where there is a ledger already, such as {name}"
        raise InputError("--replace", MISSING, allowed, f"{words} Nothing was changed.")
