"""An answer on record to the very plan that is about to be paid again: reading it is free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.core.version import DataVersion, version_text
from discreet.errors import LedgerError
from discreet.ledger.ledger import Ledger

__all__ = ["Repeat", "find_repeat"]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A stored release of the same question at the same price, of the data as it is now as far as that is known."""

    release: str
    time: str
    """When it was paid."""
    data: str
    """The version of the data that it was made from."""
    same_data: bool | None
    """Whether the data is the same now; None if that cannot be known."""

    @property
    def day(self) -> str:
        """The day it was paid."""
        return self.time.partition("T")[0]

    def text(self) -> str:
        """In a line, for people who are about to spend."""
        doubt = "" if self.same_data else " It is not known whether the data has changed since."
        return (
            f"You have this answer already (free): release {self.release!r} of {self.day}.{doubt} Paying again buys a "
            "new answer."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"release": self.release, "time": self.time, "data": self.data, "same_data": self.same_data}


def find_repeat(ledger: Ledger, dataset: str, digest: str, data: object) -> Repeat | None:
    """The latest answer to the plan of a digest, unless the data is known to have changed since. Opens no data."""
    try:
        known = ledger.answered(dataset, digest)
        if known is None:
            return None
        now: DataVersion = ledger.version_of(data)
    except LedgerError:  # it is said where something is paid; a price can be named without it
        return None
    same = None if known.data is None else known.data.same(now)
    if same is False:
        return None
    return Repeat(known.charged.release, known.charged.time, version_text(known.data), same)
