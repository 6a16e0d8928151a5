"""A ledger that lasts as long as its process: for trying things out, where nothing is to stay."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import warnings
import weakref
from pathlib import Path

from discreet.ledger.ledger import Ledger

__all__ = ["SessionLedger", "session_ledger"]

_LOST = "lost when it ends: the next process begins with the whole budget again"

_alone = threading.Lock()
_known: dict[int, SessionLedger] = {}


class SessionLedger(Ledger):
    """The ledger of one process, in a folder of its own that goes with it."""

    @property
    def kept_at(self) -> str:
        """That it does not stay."""
        return f"a ledger of this process alone, {_LOST}"


def session_ledger() -> SessionLedger:
    """The one ledger of this process: a cell that is run again finds what was spent before.

    Guarantee: the charges never exceed the caps as long as the process runs. Nothing is promised beyond it, which is
    said in a warning.
    """
    with _alone:
        process = os.getpid()  # another after a fork, which must not write into the same books unseen
        if process not in _known:
            folder = tempfile.mkdtemp(prefix="discreet-")
            ledger = SessionLedger.temporary(folder)
            weakref.finalize(ledger, _remove, folder, process)
            _known[process] = ledger
            warnings.warn(
                f"This ledger is {_LOST}. Name a file instead for data that people stand behind: ledger='visits.db'.",
                UserWarning,
                stacklevel=3,
            )
        return _known[process]


def _remove(folder: str, process: int) -> None:
    """Remove the folder, if this is still the process that made it."""
    if os.getpid() == process:
        shutil.rmtree(Path(folder), ignore_errors=True)
