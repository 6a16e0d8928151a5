"""Figures of a running server in Prometheus' format: requests, refusals, jobs, budgets, health. None is private.

Of requests that run over private data only their number is counted: how long such a run takes may depend on the rows.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter as Tally
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from starlette.responses import Response

from discreet import __version__
from discreet.apps.server.access import Access
from discreet.apps.server.access_log import method_of, template
from discreet.apps.server.health import Health
from discreet.apps.server.responses import paths
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller
from discreet.data.pool import engines

__all__ = ["Counts", "Metrics", "forget_process", "note_deaths", "routes", "sharing_counts"]

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_DEATHS = "deaths"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_TIMED = ("GET", "HEAD")
_PLANS = "/plan"


@contextmanager
def sharing_counts() -> Iterator[Path]:
    """While this lasts, processes that are started count together, in files of a folder that only its owner reads."""
    with tempfile.TemporaryDirectory(prefix="discreet-metrics-", ignore_cleanup_errors=True) as folder:
        os.environ[_FOLDER] = folder
        try:
            yield Path(folder)
        finally:
            os.environ.pop(_FOLDER, None)


def forget_process(process: int, folder: Path) -> None:
    """What a process that has ended counted stays; what it had at the moment, engines say, it has no more."""
    mark_process_dead(process, str(folder))  # type: ignore[no-untyped-call]


def note_deaths(deaths: int, folder: Path) -> None:
    """How many processes have died, for whichever of the others is asked."""
    draft = folder / f"{_DEATHS}.new"
    draft.write_text(str(deaths))
    draft.replace(folder / _DEATHS)


def _deaths() -> int:
    try:
        return int((Path(os.environ[_FOLDER]) / _DEATHS).read_text())
    except (KeyError, FileNotFoundError):
        return 0


class Counts:
    """What is counted as it happens: requests by how they ended, and refusals by their kind."""

    def __init__(self, pace: float = 0.0) -> None:
        self.pace = pace
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "discreet_requests",
            "Requests by method, pattern of the path and status.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "discreet_request_seconds",
            "Seconds of requests that read nothing private: pages, stored answers, plans.",
            ["route"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.refusals = Counter(
            "discreet_refusals", "Requests that were refused or failed, by kind.", ["error"], registry=self.registry
        )

        self.engines = Gauge(
            "discreet_engines",
            "Engines that run a question, in all workers.",
            multiprocess_mode="livesum",
            registry=self.registry,
        )
        self.note_engines()

        starts = Counter("discreet_worker_starts", "Processes that began to answer.", registry=self.registry)
        starts.inc()

    def note_engines(self) -> None:
        """How many engines of this process run, as it was at the last tick of the pace: an end shows no earlier."""
        now = time.time()
        self.engines.set(engines.lent_at(now - now % self.pace if self.pace else now))

    def text(self) -> bytes:
        """In Prometheus' format; of all processes that share a folder."""
        if _FOLDER not in os.environ:
            return generate_latest(self.registry)
        shared = CollectorRegistry()
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
        return generate_latest(shared)


class Metrics:
    """ASGI middleware, the outermost: counts what was answered."""

    def __init__(self, app: Any, *, counts: Counts) -> None:
        self.app, self.counts = app, counts

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, status = time.monotonic(), 0

        async def seen(message: dict[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, seen)
        finally:
            method, route = method_of(scope), template(scope)
            self.counts.requests.labels(method, route, str(status)).inc()
            self.counts.note_engines()
            if method in _TIMED or route.endswith(_PLANS):
                self.counts.seconds.labels(route).observe(time.monotonic() - begun)


class _Standing:
    """What is so at the moment: budgets, jobs and health, read when somebody asks."""

    def __init__(self, service: Service, health: Health) -> None:
        self.service, self.health = service, health

    def collect(self) -> Iterator[Metric]:
        """A family of figures after the other."""
        built = GaugeMetricFamily("discreet_build_info", "The version that runs.", labels=["version"])
        built.add_metric([__version__], 1)
        yield built
        yield CounterMetricFamily(
            "discreet_worker_deaths",
            "Worker processes that ended unexpectedly.",
            value=_deaths(),
        )
        found = self.health.look()
        healthy = GaugeMetricFamily("discreet_healthy", "1 where a check passes, else 0.", labels=["dataset", "check"])
        for labels, passed in found.items():
            healthy.add_metric(list(labels), float(passed))
        yield healthy
        yield GaugeMetricFamily(
            "discreet_ledger_probe_seconds",
            "Seconds that the slowest ledger took to say what is left.",
            value=self.health.ledger_seconds,
        )
        yield from self._budgets([name for name in self.service.curators if found[name, "ledger"]])
        jobs = GaugeMetricFamily("discreet_jobs", "Long jobs on record, by state.", labels=["dataset", "state"])
        for dataset in self.service.curators:
            states = Tally(job.state for job in self.service.listed(dataset))
            for state in ("waiting", "running", "done", "failed", "cancelled"):
                jobs.add_metric([dataset, state], states[state])
        yield jobs

    def _budgets(self, answering: list[str]) -> Iterator[Metric]:
        labels = ["dataset", "allotment", "currency"]
        families = {
            "cap": GaugeMetricFamily("discreet_budget_cap", "What an allotment may spend in all.", labels=labels),
            "left": GaugeMetricFamily("discreet_budget_left", "What an allotment has left.", labels=labels),
        }
        for dataset in answering:
            for one in self.service.curators[dataset].standing():
                part = one.allotment
                row = [dataset, part.name, part.currency]
                families["cap"].add_metric(row, float(part.cap.amount))
                families["left"].add_metric(row, float(one.left.amount))
        yield from families.values()


def routes(service: Service, health: Health, counts: Counts, access: Access) -> APIRouter:
    """`/metrics`, for tokens of monitors and custodians."""
    api = paths("")
    standing = CollectorRegistry()
    standing.register(_Standing(service, health))

    @api.get("/metrics", include_in_schema=False, response_class=Response)
    def metrics(caller: Caller = access.monitor) -> Response:
        """Figures for Prometheus. For monitors and custodians."""
        return Response(counts.text() + generate_latest(standing), media_type=CONTENT_TYPE_LATEST)

    return api
