"""What `discreet serve` was asked to serve, as plain values: every worker process reads them and opens its own."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.apps.server.jobs import Jobs
from discreet.apps.server.service import Limits, Service
from discreet.apps.server.tokens import Tokens
from discreet.curator import Curator, open_curator
from discreet.curator.setup import schema_path
from discreet.errors import InputError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from discreet.apps.server.app import Pages

__all__ = ["Opener", "Settings"]

_PLACE = "DISCREET_SERVING"

Opener = Callable[[str, str | None, str | None], Curator]
"""What opens data with the schema and the ledger that are named, if any."""


def _open(data: str, schema: str | None, ledger: str | None) -> Curator:
    return open_curator(data, schema_path(data, schema), ledger=ledger)


@dataclass(frozen=True, slots=True)
class Settings:
    """The arguments of a server."""

    data: tuple[str, ...]
    schema: str | None
    ledger: str | None
    tokens: str
    jobs: str
    surveys: tuple[str, ...] = ()
    origin: str | None = None
    access_log: str | None = None
    behind_proxy: bool = False
    """TLS ends at a proxy in front: browsers speak https, whatever arrives here."""
    rate: float = Limits().rate
    seconds: float = Limits().seconds
    pace: float = Limits().pace
    workers: int = 1
    linked: bool = False
    """Whether the token is that of this run, which may be shown in an address."""
    geometry: str | None = None
    """A file with the shapes of regions, for maps."""

    def service(self, opener: Opener = _open) -> Service:
        """Open everything, each table by `opener`; `InputError` says what cannot be."""
        curators = [opener(one, self.schema, self.ledger) for one in self.data]
        named = {one.declared.name: one for one in curators}
        if len(named) < len(curators):
            raise InputError("data", [one.declared.name for one in curators], "datasets of different names")
        for one in curators:
            one.ledger.check_guard()
        known = Tokens(self.tokens) if Path(self.tokens).exists() else None
        if known is not None:
            _check_allotments(known, named)
        # Every worker has its part of the rate, so that all of them together keep to it.
        rate = self.rate / self.workers
        limits = replace(Limits(), rate=rate, burst=max(3 * rate, 2.0), seconds=self.seconds, pace=self.pace)
        if self.geometry is not None:
            _check_geometry(self.geometry)
        jobs = Jobs(self.jobs, limits.jobs)
        service = Service(named, known, limits, jobs, linked=self.linked, geometry=self.geometry)
        if not self.surveys:
            return service
        from discreet.apps.server.surveys import survey_at

        asked = [survey_at(place) for place in self.surveys]
        by_name = {one.name: one for one in asked}
        if len(by_name) < len(asked):
            raise InputError("--survey", [one.name for one in asked], "files of different names")
        return replace(service, surveys=by_name)

    def application(self, service: Service | None = None, pages: Pages | None = None) -> FastAPI:
        """The web application."""
        from discreet.apps.server.access_log import writer
        from discreet.apps.server.app import application

        log = None if self.access_log is None else writer(self.access_log)
        service = self.service() if service is None else service
        return application(service, pages=pages, log=log, origin=self.origin, https=self.behind_proxy)

    @contextmanager
    def shared(self) -> Iterator[None]:
        """While this lasts, worker processes find these values, in a file that only its owner can read."""
        handle, name = tempfile.mkstemp(prefix="discreet-serving-", suffix=".json")
        try:
            with os.fdopen(handle, "w") as file:
                json.dump(asdict(self), file)
            os.environ[_PLACE] = name
            yield
        finally:
            os.environ.pop(_PLACE, None)
            Path(name).unlink(missing_ok=True)

    @classmethod
    def received(cls) -> Settings:
        """The values that the process which started this one shares."""
        values = json.loads(Path(os.environ[_PLACE]).read_text())
        return cls(**{**values, **{name: tuple(values[name]) for name in ("data", "surveys")}})


def _check_geometry(path: str) -> None:
    """A file without shapes is a mistake, better found now."""
    from discreet.show.map.topojson import collections

    try:
        features = sum(map(len, collections(path)))
    except InputError as problem:
        raise problem.about("--geometry") from None
    if not features:
        raise InputError("--geometry", path, "a file of polygons whose ids are codes of regions")


def _check_allotments(tokens: Tokens, curators: dict[str, Curator]) -> None:
    """A token that can spend from nothing here is a mistake, better found now."""
    there = {part.allotment.name for curator in curators.values() for part in curator.standing()}
    for one in tokens.listed():
        if one["allotment"] is not None and one["allotment"] not in there:
            hint = f"Revoke it (discreet token revoke {one['name']}) and make another."
            allowed = f"an allotment that the token of {one['name']} can spend from"
            raise InputError("allotment", one["allotment"], allowed, hint, among=sorted(there))
