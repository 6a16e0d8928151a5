"""Things that take a while to make from a release and never change: the last few are kept at hand."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Cache"]

Thing = TypeVar("Thing")


class Cache(Generic[Thing]):
    """The last `most` things by key. While one is made, others who want it wait for it instead of making it too.

    >>> cache = Cache(1)
    >>> cache.get("a", lambda: 1), cache.get("a", lambda: 2)
    (1, 1)
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._things: OrderedDict[str, Thing] = OrderedDict()
        self._making: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: str, make: Callable[[], Thing]) -> Thing:
        """The thing of a key, made if it is not there. What fails to be made is tried again by the next."""
        with self._lock:
            turn = self._making.setdefault(key, threading.Lock())
        with turn:
            with self._lock:
                if key in self._things:
                    self._things.move_to_end(key)
                    return self._things[key]
            try:
                made = make()
            finally:
                with self._lock:
                    self._making.pop(key, None)
            with self._lock:
                self._things[key] = made
                while len(self._things) > self.most:
                    self._things.popitem(last=False)
            return made
