"""What every run of an interactive mechanism is: one process, one answer at a time, and no copies.

Two threads that answer at once would both see the state before either answer; a second copy would answer as often
again. Either way more is said than was paid for.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from discreet.errors import ExhaustedError

__all__ = ["Session"]


class Session:
    """One run of an interactive mechanism. Threads may share it; processes may not, and it cannot be copied."""

    __slots__ = ("_lock", "_process")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """The time of one answer: nothing else reads or changes the state meanwhile."""
        # Before the lock, which another thread may have held when this process was forked.
        if os.getpid() != self._process:
            raise ExhaustedError(
                "This session belongs to the process that started it; a copy in another would answer as often again, "
                "for one price. Nothing more was spent. Send the questions to that process."
            )
        with self._lock:
            yield

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"A {type(self).__name__} cannot be copied or pickled: its secret noise pays for one run only.")
