"""Whether a server lives and is ready, for load balancers and monitors: by parts, and without a word of the data."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fastapi import APIRouter

from discreet.apps.server.responses import Json, paths
from discreet.apps.server.service import Service
from discreet.curator import Curator
from discreet.data.source import Source

__all__ = ["CHECKS", "Health", "routes"]

CHECKS = ("ledger", "guard", "source")
"""What a dataset needs to be asked about: its ledger answers, its guard agrees, its data can be opened."""

_FRESH = 2.0  # seconds: strangers may ask, and each check reads the ledger
_PATIENCE = 10.0  # seconds that a look may take before what was found earlier counts no more


@dataclass(slots=True)
class Health:
    """What was found when it was last looked: whether each part is well, of each dataset.

    One request looks at a time. Others do not wait for it: a ledger that hangs would hold a thread for each stranger
    who asks, until none is left for anybody.
    """

    service: Service
    fresh: float = _FRESH
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _looked: float = float("-inf")
    _begun: float = float("-inf")
    _found: dict[tuple[str, str], bool] = field(default_factory=dict)
    ledger_seconds: float = 0.0
    """How long the slowest ledger took to say what is left."""

    def look(self) -> dict[tuple[str, str], bool]:
        """Whether each check of each dataset passes, by (dataset, check); looked again where that was long ago."""
        if not self._lock.acquire(blocking=False):
            known = self._found if time.monotonic() - self._begun < _PATIENCE else {}
            served = {
                (name, check): known.get((name, check), False) for name in self.service.curators for check in CHECKS
            }
            return served | self._away()
        try:
            if time.monotonic() - self._looked >= self.fresh:
                self._begun = time.monotonic()
                self._found, self.ledger_seconds = self._look()
                self._looked = time.monotonic()
            return dict(self._found)
        finally:
            self._lock.release()

    @property
    def ready(self) -> bool:
        """Whether every check of every dataset passes."""
        return all(self.look().values())

    def _look(self) -> tuple[dict[tuple[str, str], bool], float]:
        found = self._away()
        slowest = 0.0
        for name, curator in self.service.curators.items():
            begun = time.monotonic()
            found[name, "ledger"] = _passes(lambda one=curator: one.standing())  # type: ignore[misc]
            slowest = max(slowest, time.monotonic() - begun)
            found[name, "guard"] = _passes(curator.ledger.check_guard)
            found[name, "source"] = _passes(lambda one=curator: _reached(one))  # type: ignore[misc]
        if all(found[name, check] for name in self.service.curators for check in CHECKS if check != "source"):
            self.service.record_trail()  # what a terminal changed, or what a ledger could not take before
        return found, slowest

    def _away(self) -> dict[tuple[str, str], bool]:
        """What is known of datasets that cannot be opened for now."""
        away = self.service.away.items()
        return {(name, check): passed for name, one in away for check, passed in one.checks.items()}


def _passes(check: Callable[[], object]) -> bool:
    """Whether it runs to its end. Why not is for `discreet doctor`: a message may name hosts and files."""
    try:
        check()
    except Exception:  # whatever keeps it from being used
        return False
    return True


def _reached(curator: Curator) -> None:
    """Ask for the names and stored types of the columns, which are public: no row is read."""
    data = getattr(curator.desk, "data", None)
    if isinstance(data, Source):
        data.columns()


def routes(health: Health) -> APIRouter:
    """`/livez` and `/readyz`, without a token: they tell which kind of part is not well, and nothing else."""
    api = paths("")

    @api.get("/livez", include_in_schema=False)
    async def livez() -> Json:
        """Whether this process answers."""
        return Json({"alive": True})

    @api.get("/readyz", include_in_schema=False)
    def readyz() -> Json:
        """Whether ledgers answer, guards agree and data can be opened: 200, or 503 with what cannot be used."""
        failing = sorted({check for (_, check), passed in health.look().items() if not passed})
        return Json({"ready": not failing, "failing": failing}, 503 if failing else 200)

    return api
