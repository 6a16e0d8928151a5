"""Datasets that cannot be opened for now: the others are served, and these are tried again."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from discreet.errors import DiscreetError, LedgerError, MissingLedgerError, SourceError

__all__ = ["Away", "passing", "watch"]

_PAUSE = 15.0  # seconds between two tries


@dataclass(frozen=True, slots=True)
class Away:
    """A dataset that was to be served: which check of its health fails, and what callers are told."""

    check: str
    problem: DiscreetError
    attempt: Callable[[], object]
    """What opens it, as it failed."""

    @property
    def checks(self) -> dict[str, bool]:
        """What is known of its health."""
        return {"ledger": True, "guard": False} if self.check == "guard" else {self.check: False}

    def error(self) -> DiscreetError:
        """What whoever asks about it gets: 503."""
        return copy.copy(self.problem)


def passing(problem: DiscreetError) -> bool:
    """Whether waiting may help: a host does not answer, a ledger cannot be used now. A mistake in a file stays one."""
    return isinstance(problem, (SourceError, LedgerError)) and not isinstance(problem, MissingLedgerError)


def watch(datasets: Mapping[str, Away], note: Callable[..., None], found: Callable[[], None]) -> None:
    """Try again and again, beside everything else; `found` is called once, when the first of them can be opened."""

    def look() -> None:
        while True:
            time.sleep(_PAUSE)
            for name, one in datasets.items():
                try:
                    one.attempt()
                except Exception:  # whatever keeps it from being opened: that was said when it was opened first
                    continue
                note("back", dataset=name)
                found()
                return

    threading.Thread(target=look, name="away", daemon=True).start()
