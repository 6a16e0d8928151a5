"""What `discreet serve` was asked to serve, as plain values: every worker process reads them and opens its own."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import __version__
from discreet.apps.server.identity import NOBODY, Identity
from discreet.apps.server.job_queue import JobLimits
from discreet.apps.server.jobs import Jobs
from discreet.apps.server.service import Limits, Service
from discreet.apps.server.tokens import Tokens
from discreet.curator import Curator, open_curator
from discreet.curator.setup import schema_path
from discreet.errors import InputError, MissingExtraError
from discreet.ledger.follow import identity_at
from discreet.ledger.ledger import Ledger

if TYPE_CHECKING:
    from fastapi import FastAPI

    from discreet.apps.server.app import Pages
    from discreet.apps.server.issuer import Issuer

__all__ = ["Opener", "Served", "Settings"]

_PLACE = "DISCREET_SERVING"

Opener = Callable[[str, str | None, str | None], Curator]
"""What opens data with the schema and the ledger that are named, if any."""


def _open(data: str, schema: str | None, ledger: str | None) -> Curator:
    return open_curator(data, schema_path(data, schema), ledger=ledger)


def _sharing_ledgers(curators: list[Curator]) -> list[Curator]:
    """The same, where those that are charged on one ledger hold one object: what is about ledgers is done once each."""
    known: dict[str, Ledger] = {}
    shared = []
    for curator in curators:
        ledger = known.setdefault(identity_at(curator.ledger), curator.ledger)
        if ledger is not curator.ledger:
            ledger.take_over(curator.ledger)
            desk: Any = replace(curator.local, ledger=ledger)
            curator = Curator(desk)
        shared.append(curator)
    return shared


@dataclass(frozen=True, slots=True)
class Served:
    """A table that is served: where it is, and its schema and its ledger where these are named."""

    data: str
    schema: str | None = None
    ledger: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """The arguments of a server."""

    tables: tuple[Served, ...]
    tokens: str
    jobs: str
    surveys: tuple[str, ...] = ()
    origin: str | None = None
    access_log: str | None = None
    log_format: str = "text"
    """What a line of the access log is: text, or json with the id and the duration of the request."""
    behind_proxy: bool = False
    """TLS ends at a proxy in front: browsers speak https, whatever arrives here."""
    rate: float = Limits().rate
    seconds: float = Limits().seconds
    wait: float = Limits().wait
    pace: float = Limits().pace
    drain: float = 5.0
    """Seconds that requests and running jobs have to end once the server is stopped."""
    running: int = JobLimits().running
    """How many long jobs run at once in a process; then how many of one caller run and wait, and how many wait."""
    each: int = JobLimits().each
    waiting: int = JobLimits().waiting
    caller_waiting: int = JobLimits().caller_waiting
    lease: float = JobLimits().lease
    workers: int = 1
    linked: bool = False
    """Whether the token is that of this run, which may be shown in an address."""
    geometry: str | None = None
    """A file with the shapes of regions, for maps."""
    state: str | None = None
    """The folder for what custodians bring and make on the pages: uploads, schemas, surveys."""
    identity: Identity | None = None
    """Who vouches for people without a token, and what they may do."""
    config: str | None = None
    """The file that says all this, which is read again when the server is told to."""

    def service(self, opener: Opener = _open) -> Service:
        """Open everything, each table by `opener`; `InputError` says what cannot be."""
        curators = _sharing_ledgers([opener(one.data, one.schema, one.ledger) for one in self.tables])
        named = {one.declared.name: one for one in curators}
        files = {name: schema_path(one.data, one.schema) for name, one in zip(named, self.tables, strict=False)}
        if len(named) < len(curators):
            raise InputError("data", [one.declared.name for one in curators], "datasets of different names")
        for name in named:
            if "/" in name or name in (".", ".."):
                hint = "Under this one no page and no path of the API would be found."
                raise InputError("dataset.name", name, "a name that can be a part of an address: without a slash", hint)
        for one in curators:
            one.ledger.check_guard()
        if self.identity is not None:
            Path(self.tokens).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _check_rules(self.identity, named)
        known = Tokens(self.tokens) if Path(self.tokens).exists() or self.identity is not None else None
        if known is not None:
            _check_allotments(known, named)
        # Every worker has its part of the rate, so that all of them together keep to it.
        rate = self.rate / self.workers
        limits = Limits(
            rate=rate,
            burst=max(3 * rate, 2.0),
            seconds=self.seconds,
            wait=self.wait,
            pace=self.pace,
            jobs=JobLimits(self.running, self.each, self.waiting, self.caller_waiting, self.lease),
        )
        if self.geometry is not None:
            _check_geometry(self.geometry)
        if self.config is not None:
            Path(self.jobs).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        jobs = Jobs(self.jobs)
        state = None if self.state is None else Path(self.state)
        service = Service(
            named, known, limits, jobs, linked=self.linked, geometry=self.geometry, state=state, schemas=files
        )
        if self.identity is not None:
            service = replace(service, identity=self.identity, issuer=_issuer(self.identity))
        if not self.surveys:
            return service.complete()
        from discreet.apps.server.surveys import survey_at

        asked = [survey_at(place) for place in self.surveys]
        by_name = {one.name: one for one in asked}
        if len(by_name) < len(asked):
            raise InputError("--survey", [one.name for one in asked], "files of different names")
        return replace(service, surveys=by_name).complete()

    def application(self, service: Service | None = None, pages: Pages | None = None) -> FastAPI:
        """The web application."""
        from discreet.apps.server.access_log import event_line, writer
        from discreet.apps.server.app import application

        log = None if self.access_log is None else writer(self.access_log)
        service = self.service() if service is None else service
        service.record_trail()
        if log is not None:
            log(event_line("started", self.log_format, process=os.getpid(), version=__version__))
        for queue in service.queues.values():
            queue.start()  # what waited when the last server stopped goes on
        style, https = self.log_format, self.behind_proxy
        how: dict[str, Any] = {"origin": self.origin, "https": https, "drain": self.drain}
        return application(service, pages=pages, log=log, log_format=style, **how)

    @contextmanager
    def shared(self) -> Iterator[None]:
        """While this lasts, worker processes find these values, in a file that only its owner can read."""
        handle, name = tempfile.mkstemp(prefix="discreet-serving-", suffix=".json")
        try:
            os.close(handle)
            os.environ[_PLACE] = name
            self.share()
            yield
        finally:
            os.environ.pop(_PLACE, None)
            Path(name).unlink(missing_ok=True)

    def share(self) -> None:
        """From now on these are the values that worker processes find."""
        place = Path(os.environ[_PLACE])
        handle, name = tempfile.mkstemp(prefix=place.name, dir=place.parent)
        with os.fdopen(handle, "w") as file:
            json.dump(asdict(self), file)
        Path(name).replace(place)  # whoever reads meanwhile reads the one or the other

    @classmethod
    def received(cls) -> Settings:
        """The values that the process which started this one shares."""
        values = json.loads(Path(os.environ[_PLACE]).read_text())
        tables = tuple(Served(**one) for one in values["tables"])
        known = None if values["identity"] is None else Identity.from_values(values["identity"])
        return cls(**{**values, "tables": tables, "surveys": tuple(values["surveys"]), "identity": known})


def _issuer(identity: Identity) -> Issuer | None:
    if identity.provider is None:
        return None
    try:
        from discreet.apps.server.issuer import Issuer
    except ImportError:
        raise MissingExtraError("server", "PyJWT") from None
    return Issuer(identity.provider)


def _check_rules(identity: Identity, curators: dict[str, Curator]) -> None:
    """A rule about what is not here is a mistake, better found now."""
    parts = {part.allotment.name for curator in curators.values() for part in curator.standing()}
    for number, rule in enumerate(identity.rules, 1):
        if rule.role == NOBODY:
            continue
        if rule.allotment is not None and rule.allotment not in parts:
            raise InputError(f"identity.rule[{number}].allotment", rule.allotment, among=sorted(parts))
        for name in rule.datasets or ():
            if name not in curators:
                raise InputError(f"identity.rule[{number}].datasets", name, among=sorted(curators))


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
