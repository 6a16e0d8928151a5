"""Arrays a caller holds, as the door takes them: opened after the charge, known by a keyed fingerprint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from discreet.core.version import DataVersion

__all__ = ["ArrayData", "Arrays"]


class Arrays(Protocol):
    """What is trained on or fitted to: it knows the arrays that it is made of."""

    @property
    def arrays(self) -> Iterable[Any]:
        """All of them, always in the same order; None for one that may be absent."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ArrayData:
    """Rows in memory, unopened."""

    _rows: Arrays
    release: str | None = None
    """The id that the result is recorded under, if the caller chose one."""

    @contextmanager
    def open(self) -> Iterator[Arrays]:
        """Called by the one door only, after the charge."""
        yield self._rows

    def version(self, key: bytes) -> DataVersion:
        """A fingerprint of the rows for an id of the caller's choice, so that it answers for these rows alone.

        Guarantee: as long as HMAC-SHA-256 is a pseudorandom function, fingerprints of different ids look like
        independent random texts to all who do not have the ledger's key, whatever the rows were.
        """
        if self.release is None:
            return DataVersion()
        return DataVersion.of_rows(self.release, self._rows.arrays, key)
