"""Turns at planning: planning is free and takes processor time, so nobody may have more of it than their part."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from discreet.errors import BusyError

__all__ = ["Allowance", "Plans"]

_CALLERS = 10_000  # whose allowance is remembered; those who have all of theirs are forgotten first


@dataclass
class Allowance:
    """Processor time of one caller: `most` seconds at once, and `rate` seconds more in each second."""

    most: float
    rate: float
    left: float = field(init=False)
    last: float = 0.0

    def __post_init__(self) -> None:
        self.left = self.most

    def at(self, now: float) -> float:
        """What is left now."""
        self.left = min(self.most, self.left + max(0.0, now - self.last) * self.rate)
        self.last = now
        return self.left


class Plans:
    """Who may plan now: `running` callers at once in a process, `waiting` more plans, `each` of one caller in all.

    A plan that has begun is finished, however long it takes: its size is limited before (`modest`). What it took is
    then taken from its caller's allowance, and whoever has none left is sent away until some has grown back, so that a
    caller who plans without pause has at most `rate` of one processor.
    """

    def __init__(
        self, *, running: int = 2, waiting: int = 64, each: int = 8, seconds: float = 10.0, rate: float = 0.25
    ) -> None:
        self.waiting, self.each, self.seconds, self.rate = waiting, each, seconds, rate
        self._running = running
        self._turns = threading.BoundedSemaphore(running)
        self._lock = threading.Lock()
        self._present: Counter[str] = Counter()
        self._allowances: dict[str, Allowance] = {}
        self._callers: dict[str, threading.Lock] = {}

    @contextmanager
    def turn(self, caller: str) -> Iterator[None]:
        """While this lasts a caller may plan. `BusyError` at once where they or the server plan too much already."""
        self._enter(caller)
        try:
            with self._alone(caller), self._turns:
                begun = time.thread_time()
                try:
                    yield
                finally:
                    self._took(caller, time.thread_time() - begun)
        finally:
            with self._lock:
                self._present[caller] -= 1
                if not self._present[caller]:
                    del self._present[caller]
                    self._callers.pop(caller, None)

    @contextmanager
    def _alone(self, caller: str) -> Iterator[None]:
        """One plan of a caller at a time, so that the others of theirs are measured against what it took."""
        with self._lock:
            own = self._callers.setdefault(caller, threading.Lock())
        with own:
            with self._lock:
                self._check(caller)
            yield

    def _check(self, caller: str) -> None:
        left = self._allowance(caller).at(time.monotonic())
        if left <= 0:
            wait = -left / self.rate + 1
            raise BusyError(f"Your plans took too much processor time. Try again in {wait:.0f} s. Nothing was spent.")

    def _enter(self, caller: str) -> None:
        with self._lock:
            self._check(caller)
            if self._present[caller] >= self.each or self._present.total() >= self._running + self.waiting:
                raise BusyError("Too many plans are being made. Try again in a second. Nothing was spent.")
            self._present[caller] += 1

    def _took(self, caller: str, seconds: float) -> None:
        with self._lock:
            allowance = self._allowance(caller)
            allowance.at(time.monotonic())
            allowance.left -= seconds

    def _allowance(self, caller: str) -> Allowance:
        if caller not in self._allowances:
            if len(self._allowances) >= _CALLERS:
                now = time.monotonic()
                kept = {name: one for name, one in self._allowances.items() if one.at(now) < one.most}
                self._allowances = kept
            self._allowances[caller] = Allowance(self.seconds, self.rate, time.monotonic())
        return self._allowances[caller]
