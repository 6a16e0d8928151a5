"""A long job on a server: how far it is, and what it made."""

from __future__ import annotations

import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from discreet.apps.client.transport import Transport, raised
from discreet.core.progress import notify, showing
from discreet.errors import BusyError, RunError

if TYPE_CHECKING:
    from discreet.ledger.door import Answer

__all__ = ["RemoteJob", "answer_from", "record"]

Made = TypeVar("Made")
_FIRST, _MOST = 0.1, 2.0  # seconds between two looks


@dataclass(frozen=True, slots=True)
class RemoteJob(Generic[Made]):
    """A job, known by its release id. `wait()` gives what it makes; `state`, `stage` and `progress` look once."""

    transport: Transport
    dataset: str
    release: str
    kind: str
    read: Callable[[str], Made]
    ended: dict[str, Any] | None = None
    """What was known of it when it was begun, if it was done then: perhaps by someone else, whose job is not ours."""

    @property
    def _path(self) -> str:
        return f"/api/datasets/{segment(self.dataset)}/jobs/{segment(self.release)}"

    def look(self) -> dict[str, Any]:
        """All that is known of it now."""
        if self.ended is not None:
            return self.ended
        found: dict[str, Any] = self.transport.send(self._path)
        return found

    @property
    def state(self) -> str:
        """waiting, running, done, failed or cancelled."""
        return str(self.look()["state"])

    @property
    def stage(self) -> str:
        """What it is doing, in a few words."""
        return str(self.look()["stage"])

    @property
    def progress(self) -> float | None:
        """How much of it is done, 0 to 1, where that is known."""
        found = self.look()["progress"]
        return None if found is None else float(found)

    @property
    def position(self) -> int | None:
        """Its place in the queue, from 1, as long as it waits."""
        found = self.look().get("position")
        return None if found is None else int(found)

    def cancel(self) -> dict[str, Any]:
        """Cancel it: all that is known of it then. What it was charged stays spent; one that waits costs nothing."""
        found: dict[str, Any] = self.transport.send(f"{self._path}/cancel", {})
        return found

    def wait(self, seconds: float | None = None) -> Made:
        """What it makes, when it is done; on a terminal and in a notebook, how far it is meanwhile.

        `RunError` if it fails, or is not done within `seconds`: then it still goes on, and can be waited for again.
        """
        end = None if seconds is None else time.monotonic() + seconds
        pause = _FIRST
        with showing():
            while True:
                try:
                    found = self.look()
                except BusyError:
                    pause, found = _MOST, {"state": "waiting", "stage": "waiting", "progress": None}
                match found["state"]:
                    case "done":
                        return self.read(self.release)
                    case "failed" | "cancelled" | "interrupted":
                        said = str(found["problem"])
                        told = {"release": self.release}
                        raise raised(str(found.get("error") or "RunError"), said, told, said)
                notify(found["stage"], found["progress"])
                if end is not None and time.monotonic() + pause > end:
                    text = (
                        f"Job {self.release!r} is not finished yet. Wait for it again by its id: job({self.release!r})."
                    )
                    raise RunError(text, release=self.release)
                time.sleep(pause)
                pause = min(pause * 1.5, _MOST)


def segment(text: str) -> str:
    """A part of a path."""
    return urllib.parse.quote(text, safe="")


_LATER = ("measured", "kind", "version", "unit", "price")  # which servers of earlier versions do not send


def record(transport: Transport, dataset: str, release: str) -> tuple[Answer, str, str]:
    """A release as the books there hold it, what it cost and what is left, in words."""
    return answer_from(transport.send(f"/api/datasets/{segment(dataset)}/record/{segment(release)}"))


def answer_from(found: dict[str, Any]) -> tuple[Answer, str, str]:
    """The same from plain values."""
    from fractions import Fraction

    from discreet.core.version import DataVersion
    from discreet.ledger.budget import Charge
    from discreet.ledger.door import Answer

    charge = Charge(Fraction(found["charge"]["amount"]), Fraction(found["charge"]["delta"]))
    names = ("release", "dataset", "allotment", "digest", "mechanism", "time", "query", "result")
    data = DataVersion.from_json(found.get("data"))
    later = {name: found[name] for name in _LATER if name in found}
    answer = Answer(**{name: found[name] for name in names}, **later, charge=charge, replayed=True, data=data)
    return answer, str(found["cost"]), str(found["remaining"])
