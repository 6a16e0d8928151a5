"""Where state lives on this machine: never in the data, and the guard of a ledger in another folder than the ledger."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from discreet.errors import LedgerError

__all__ = ["guards_folder", "private_folder", "state_folder", "workspace"]


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
