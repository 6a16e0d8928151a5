"""What an open source knows of its data while that stays as it is: stored types, and the SQL of questions.

Nothing here was computed of a row. What is known is known of one state of the data, by a mark that changes with every
write; a state that is too young to be told from a later one is not remembered at all.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

__all__ = ["SourceCache"]

_MOST = 256
"""Entries that are remembered: the least recently used one goes first."""
_LETTERS = 2_000_000
"""Letters of SQL that are remembered, all together: the engine takes some 20 bytes for each that it has read."""

Found = TypeVar("Found")


class SourceCache:
    """A few entries, for any number of threads."""

    def __init__(self, most: int = _MOST, letters: int = _LETTERS) -> None:
        self._most, self._letters = most, letters
        self._part: tuple[Hashable, ...] = ()
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._guard = threading.Lock()

    def __reduce__(self) -> Any:
        return SourceCache, (self._most, self._letters)  # another process begins with an empty one

    def __deepcopy__(self, memo: Any) -> SourceCache:
        return SourceCache(self._most, self._letters)

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> Any:
        """What is remembered under a key; None if nothing is."""
        with self._guard:
            if (place := (self._part, key)) not in self._entries:
                return None
            self._entries.move_to_end(place)
            return self._entries[place][0]

    def put(self, key: Hashable, entry: Any, letters: int = 0) -> None:
        """Remember something under a key, of so many letters of SQL."""
        with self._guard:
            place = (self._part, key)
            self._entries[place] = (entry, letters)
            self._entries.move_to_end(place)
            while len(self._entries) > self._most or sum(size for _, size in self._entries.values()) > self._letters:
                self._entries.popitem(last=False)

    def of(self, key: Hashable | None, compute: Callable[[], Found], still: Callable[[], bool] = lambda: True) -> Found:
        """What is remembered under a key, or else computed now; without a key nothing is remembered.

        Nor is it where the key does not hold any more afterwards: of data that changed meanwhile, nobody knows which
        state was seen.
        """
        if key is None:
            return compute()
        known: Found | None = self.get(key)
        if known is None:
            known = compute()
            if still():
                self.put(key, known)
        return known

    def within(self, part: Hashable) -> SourceCache:
        """The same memory, with the same bounds, for what is known of a part: its keys are told from all others."""
        found = SourceCache(self._most, self._letters)
        found._part, found._entries, found._guard = (*self._part, part), self._entries, self._guard
        return found
