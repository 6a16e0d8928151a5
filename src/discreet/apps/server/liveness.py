"""Which processes of a server are alive: each holds a lock that the operating system frees when it dies."""

from __future__ import annotations

import os
import sys
import threading
import uuid
import weakref
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

__all__ = ["Liveness"]


class Liveness:
    """This process among those that share the file `beside`. Its lock is taken when its `name` is first asked for."""

    def __init__(self, beside: Path) -> None:
        self._beside = beside
        self._guard = threading.Lock()
        self._name = ""

    @property
    def name(self) -> str:
        """A name that nobody else has, alive from now on."""
        with self._guard:
            if not self._name:
                name = uuid.uuid4().hex
                handle = os.open(self._place(name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                if sys.platform != "win32":
                    fcntl.flock(handle, fcntl.LOCK_EX)
                weakref.finalize(self, _ended, self._place(name), handle, os.getpid())
                self._name = name
            return self._name

    def knows(self, name: str) -> bool:
        """Whether the process of that name is alive."""
        if name == self._name:
            return True
        try:
            handle = os.open(self._place(name), os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            if sys.platform == "win32":  # no such locks: the file is there until its process ends well
                return True
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        with suppress(OSError):
            self._place(name).unlink()
        return False

    def _place(self, name: str) -> Path:
        return self._beside.with_name(f"{self._beside.name}.{name}")


def _ended(place: Path, handle: int, process: int) -> None:
    if os.getpid() != process:  # a child that was forked has no say in it
        return
    with suppress(OSError):
        place.unlink()
    with suppress(OSError):
        os.close(handle)
