"""Python's search for garbage, which is rare while libraries load: what they make is not garbage.

A process that asks one question loads a thousand modules, and Python would look through all their objects some three
hundred times meanwhile: an eighth of its CPU. What is no longer referenced is freed at once, as always; only cycles
wait longer.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["RARELY", "rarely_collected"]

RARELY = 100_000
"""So many more objects are made than freed between two searches, instead of Python's 700."""
_lock = threading.Lock()
_state = {"depth": 0, "before": 0, "modules": 0}


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Search for garbage rarely meanwhile; afterwards as before, once the last of those who asked for it has ended.

    Where the program has turned the search off, or made it rarer still, nothing changes.
    """
    with _lock:
        young, *others = gc.get_threshold()
        if _state["depth"] == 0:
            _state["before"], _state["modules"] = young, len(sys.modules)
            if 0 < young < RARELY:
                gc.set_threshold(RARELY, *others)
        _state["depth"] += 1
    try:
        yield
    finally:
        with _lock:
            _state["depth"] -= 1
            young, *others = gc.get_threshold()
            if _state["depth"] == 0 and young == RARELY:  # else the program has changed its mind
                if len(sys.modules) > _state["modules"]:
                    _age()
                gc.set_threshold(_state["before"], *others)


def _age() -> None:
    """Count what there is as old, without a look at it: otherwise it would be gone through twice before it is.

    Objects that the program has frozen stay frozen. Python counts them one by one, 30 to 100 ms for a million: so this
    is for when something was loaded.
    """
    if gc.get_freeze_count() == 0:
        gc.freeze()
        gc.unfreeze()
