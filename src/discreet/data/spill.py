"""Folders for what does not fit into memory while a question runs: private rows in clear, readable by their owner only.

An engine removes what it spilled when it ends. One that was killed cannot: so each folder is locked by the process that
uses it, and whoever makes the next one removes all folders whose process is gone.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import uuid
from pathlib import Path
from types import TracebackType
from typing import Self

from discreet.ledger.location import state_folder
from discreet.ledger.lock import file_lock

if sys.platform != "win32":
    import fcntl

__all__ = ["Spill", "remove_unused", "spill_root"]


def spill_root() -> Path:
    """The folder that holds them all: with the state of the ledgers, or, if nothing can be written there, among
    temporary files.
    """
    own = str(os.getuid()) if sys.platform != "win32" else "user"
    for root in (state_folder() / "spill", Path(tempfile.gettempdir()) / f"discreet-{own}" / "spill"):
        try:
            root.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            root.mkdir(exist_ok=True, mode=0o700)
            root.chmod(0o700)  # fails in a folder that is somebody else's
        except OSError:
            continue
        return root
    return Path(tempfile.mkdtemp(prefix="discreet-"))


class Spill:
    """A folder of this process alone, gone with `cleanup`, or with the next one made after the process died."""

    def __init__(self) -> None:
        root = spill_root()
        self.path = root / uuid.uuid4().hex
        self._lock = self.path.with_suffix(".lock")
        with file_lock(root / "all"):
            _remove_abandoned(root)
            self._handle = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if sys.platform != "win32":
                fcntl.flock(self._handle, fcntl.LOCK_EX)
            self.path.mkdir(mode=0o700)

    def cleanup(self) -> None:
        """Remove it."""
        if self._handle < 0:
            return
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.unlink(missing_ok=True)
        os.close(self._handle)
        self._handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.cleanup()


def _remove_abandoned(root: Path) -> None:
    """Remove every folder whose lock nobody holds. Called by one process at a time."""
    if sys.platform == "win32":  # no locks that end with their process: nothing tells which are abandoned
        return
    for folder in root.iterdir():
        if not folder.is_dir():
            continue
        remove_unused(folder, folder.with_suffix(".lock"))


def remove_unused(folder: Path, lock: Path, *beside: Path) -> None:
    """Remove a folder, its lock and files beside it, unless somebody holds the lock."""
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return  # in use
    else:
        shutil.rmtree(folder, ignore_errors=True)
        for path in (lock, *beside):
            path.unlink(missing_ok=True)
    finally:
        os.close(handle)
