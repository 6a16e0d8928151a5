"""A long job on a server: how far it is, and what it made."""

from __future__ import annotations

import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from discreet.apps.client.transport import Transport, raised
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
        """waiting, running, done, failed or interrupted."""
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

    def wait(self, seconds: float | None = None) -> Made:
        """What it makes, when it is done; on a terminal, how far it is meanwhile.

        `RunError` if it fails, or is not done within `seconds`: then it still goes on, and can be waited for again.
        """
        end = None if seconds is None else time.monotonic() + seconds
        pause = _FIRST
        with _shown() as show:
            while True:
                try:
                    found = self.look()
                except BusyError:
                    pause, found = _MOST, {"state": "waiting", "stage": "waiting", "progress": None}
                match found["state"]:
                    case "done":
                        return self.read(self.release)
                    case "failed" | "interrupted":
                        said = str(found["problem"])
                        told = {"release": self.release}
                        raise raised(str(found.get("error") or "RunError"), said, told, said)
                show(found["stage"], found["progress"])
                if end is not None and time.monotonic() + pause > end:
                    text = f"Job {self.release!r} is not done yet. Wait for it again by its id: job({self.release!r})."
                    raise RunError(text, release=self.release)
                time.sleep(pause)
                pause = min(pause * 1.5, _MOST)


def segment(text: str) -> str:
    """A part of a path."""
    return urllib.parse.quote(text, safe="")


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
    later = {name: found[name] for name in ("measured", "kind", "version") if name in found}  # a server of 0.1 has none
    answer = Answer(**{name: found[name] for name in names}, **later, charge=charge, replayed=True, data=data)
    return answer, str(found["cost"]), str(found["remaining"])


@contextmanager
def _shown() -> Iterator[Callable[[str, float | None], None]]:
    """Says how far work is: on stderr, on a terminal only."""
    from rich.console import Console
    from rich.text import Text

    err = Console(stderr=True)
    if not err.is_terminal:
        yield lambda stage, done: None
        return
    with err.status("starting") as status:
        yield lambda stage, done: status.update(Text(stage if done is None else f"{stage} {done:.0%}"))
