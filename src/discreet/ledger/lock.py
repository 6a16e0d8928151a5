"""Locks on files that the operating system frees when their holder dies, kill -9 included."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

__all__ = ["file_lock", "opened_by_sqlite"]

_SHARED = (0x40000002, 510)
"""Where SQLite locks a file as long as a connection to it is open, and how many bytes (sqlite.org/fileformat2.html)."""


@contextmanager
def file_lock(path: Path, *, remove: bool = False, busy: Exception | None = None) -> Iterator[None]:
    """Hold the lock file `path`, waiting for it unless `busy` is to be raised then; `remove` it at the end.

    Locks belong to the opened file, not to the process, so threads exclude each other too.
    """
    if sys.platform == "win32":  # the ledger stays exact without these locks; only waiting is less orderly
        yield
        return
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if busy is None else fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(path, handle):  # its last holder may have removed it while we waited
                break
        except BaseException as problem:
            os.close(handle)
            if busy is not None and isinstance(problem, BlockingIOError):
                raise busy from None
            raise
        os.close(handle)
    try:
        yield
    finally:
        if remove:
            with suppress(OSError):
                path.unlink()
        # Explicitly: a child forked meanwhile holds a copy of the handle.
        fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


def _is_still(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def opened_by_sqlite(path: Path) -> bool:
    """Whether a connection to a database in a file is open that has read it, here or in another process.

    Its owner would go on with the file under whatever name it has then, and remove the log of the one in its place.
    """
    if sys.platform == "win32":  # such a file cannot be renamed there
        return False
    with path.open("rb+") as file:
        try:
            if hasattr(fcntl, "F_OFD_SETLK"):  # a lock of this handle: it sees connections of this process, too
                wanted = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, *_SHARED, 0)
                fcntl.fcntl(file, fcntl.F_OFD_SETLK, wanted)
            else:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED[1], _SHARED[0])
        except OSError:
            return True
    return False
