"""Where a ledger lies and where its state does: addresses in words, and folders of this machine."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from discreet.errors import LedgerError, MissingLedgerError

__all__ = [
    "address_key",
    "guards_folder",
    "missing_ledger",
    "private_folder",
    "public_address",
    "settle",
    "state_folder",
    "workspace",
]


def public_address(address: str | Path) -> str:
    """An address without the password that may be in it.

    >>> public_address("postgresql://ann:secret@host/books?x=1")
    'postgresql://host/books'
    """
    kind, mark, rest = str(address).partition("://")
    return f"{kind}://{rest.rpartition('@')[2].partition('?')[0]}" if mark else str(address)


def address_key(address: str | Path) -> str:
    """What an address is remembered by: the file that a path leads to, or a database's address without the password.

    The user counts, for what a database shows may depend on it.
    """
    if isinstance(address, Path):
        return hashlib.sha256(str(address.resolve()).encode()).hexdigest()[:32]
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    options = [(name, value) for name, value in parse_qsl(parts.query) if name not in ("password", "passfile")]
    told = [user.partition(":")[0] + at + host, parts.path, *map("=".join, sorted(options))]
    return hashlib.sha256("\n".join(["database", *told]).encode()).hexdigest()[:32]


def missing_ledger(address: str | Path) -> MissingLedgerError:
    """The error where there is no ledger: it names the command that makes one, and what to do if there was one."""
    name = public_address(address)
    return MissingLedgerError(
        f"There is no ledger at {name}. Nothing was read or spent. Make one, once: discreet ledger create --ledger "
        f"{name} (in Python: create=True). If there was one before, do not make another, which would begin its budgets "
        "anew: say where it is with --ledger or DISCREET_LEDGER, or put it back from a backup."
    )


def state_folder() -> Path:
    """The folder of discreet's own state: DISCREET_STATE, or where this platform keeps such things."""
    if named := os.environ.get("DISCREET_STATE"):
        return Path(named).absolute()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "discreet"
    if given := os.environ.get("XDG_STATE_HOME"):
        return Path(given).absolute() / "discreet"
    try:
        return Path.home() / ".local" / "state" / "discreet"
    except RuntimeError:
        raise LedgerError(
            "This user has no home folder to keep state in. Set DISCREET_STATE to a folder that stays, or name the "
            "guard of the ledger with DISCREET_ANCHOR. Nothing was spent."
        ) from None


def guards_folder() -> Path:
    """Where the guards of ledgers are kept: apart from the ledgers, so that one restored folder does not hold both."""
    return state_folder() / "guards"


def workspace(ledger: Path | None, identity: str, name: str) -> Path:
    """Where state of a ledger lies on this machine: beside its file, or, of a database, under its identity."""
    if ledger is not None:
        return ledger.with_name(f"{ledger.name}.{name}")
    return state_folder() / "ledgers" / identity / name


def private_folder(path: Path) -> Path:
    """The folder itself, made if it is not there, for its owner alone; `LedgerError` says why it cannot be."""
    try:
        for folder in reversed((path, *path.parents)):
            if not folder.is_dir():
                folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as problem:
        raise LedgerError(
            f"The folder {str(path)!r} cannot be made ({problem.strerror}). Nothing was spent. Set DISCREET_STATE to a "
            "folder that stays and can be written, or name the guard of the ledger with DISCREET_ANCHOR."
        ) from None
    return path


def settle(folder: Path) -> None:
    """Make names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
