"""The secret of a ledger: random bytes in a file of their own, which fingerprints of data are made with.

It stands in no record and no export. Whoever has it beside a fingerprint can try out names, sizes and times of files.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from contextlib import suppress
from pathlib import Path

from discreet.errors import LedgerError
from discreet.ledger.location import state_folder
from discreet.noise.bits import SystemBits

__all__ = ["SIZE", "database_key", "fresh_secret", "secret_at", "secret_path"]

SIZE = 32


def secret_path(address: str | Path) -> Path:
    """Where the secret of a ledger lies: beside a file; for a database, in the folder for state of this user.

    DISCREET_KEY names another file, such as one that several machines share.
    """
    if named := os.environ.get("DISCREET_KEY"):
        return Path(named)
    if isinstance(address, str) and "://" in address:
        return state_folder() / f"{database_key(address)}.key"
    path = Path(address)
    return path.with_name(path.name + ".key")


def database_key(address: str) -> str:
    """What a database is known by on this machine: its address, options included, without user and password."""
    return hashlib.sha256(address.partition("://")[2].rpartition("@")[2].encode()).hexdigest()[:16]


def secret_at(path: Path, first: bytes | None = None) -> bytes:
    """The secret kept at a path. Made if it is not there, from `first` or at random; the first one made stays."""
    try:
        secret = _read(path)
        if secret is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            _create(path, first or fresh_secret())
            secret = _read(path)
    except OSError as error:
        raise LedgerError(
            f"The secret {path.name!r} of this ledger cannot be read or made ({error.strerror}). Nothing was spent."
        ) from None
    if secret is None or len(secret) != SIZE:
        raise LedgerError(
            f"The secret {path.name!r} of this ledger is not {SIZE} bytes long. Nothing was spent. Restore it from a "
            "copy, or remove it: stored releases then can be read, and no longer be compared with the data of today."
        )
    return secret


def fresh_secret() -> bytes:
    """A secret nobody has."""
    return SystemBits().read(SIZE).tobytes()


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _create(path: Path, secret: bytes) -> None:
    """Written whole beside its address first: nobody reads half a secret, and of two who make one, one stays."""
    beside = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secret)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(beside, path)
    finally:
        beside.unlink()
