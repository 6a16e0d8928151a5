"""`connect`, and the curator of a dataset on a server."""

from __future__ import annotations

import urllib.parse
from pathlib import Path
from typing import Any

from discreet.apps.client.desk import RemoteDesk
from discreet.apps.client.job import RemoteJob, segment
from discreet.apps.client.transport import Transport
from discreet.curator import Curator
from discreet.errors import InputError

__all__ = ["RemoteCurator", "connect"]


def connect(
    url: str,
    token: str | None = None,
    dataset: str | None = None,
    *,
    timeout: float = 90.0,
    certificate: str | Path | None = None,
) -> RemoteCurator:
    """A curator on a server; `dataset` is needed where there are several.

    `timeout` is how long one request may take, in seconds: longer than the server lets anyone wait. `certificate` is a
    PEM file to trust beside those that the system does.
    """
    if not isinstance(url, str):
        raise InputError("url", url, "an address such as https://curator.example")
    parts = urllib.parse.urlsplit(url)
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError("url", url, "an address such as https://curator.example")
    if parts.scheme == "http" and token is not None and not local:
        raise InputError("url", url, "an https address: over http a token can be read on the way")
    transport = Transport(url.rstrip("/"), token, timeout, None if certificate is None else str(certificate))
    listed = transport.send("/api/datasets")
    names = [one["dataset"] for one in listed]
    if dataset is None and len(names) != 1:
        raise InputError("dataset", dataset, among=names)
    if dataset is not None and dataset not in names:
        raise InputError("dataset", dataset, among=names)
    return RemoteCurator(RemoteDesk(transport, dataset or names[0]))


class RemoteCurator(Curator):
    """A curator whose desk is on a server: the same verbs, and what only a server has."""

    desk: RemoteDesk

    def __init__(self, desk: RemoteDesk) -> None:
        super().__init__(desk)

    def describe(self) -> dict[str, Any]:
        """Its schema, whom it protects, and what is left."""
        return self.desk.describe()

    def charges(self) -> dict[str, Any]:
        """Every charge: who, when, why, how much. For custodians."""
        found: dict[str, Any] = self.desk.transport.send(f"{self.desk.path}/ledger")
        while after := found.pop("next", None):
            more: dict[str, Any] = self.desk.transport.send(f"{self.desk.path}/ledger?after={after}")
            found["records"] += more["records"]
            found |= {"next": more["next"]} if "next" in more else {}
        return found

    def jobs(self) -> list[dict[str, Any]]:
        """Your jobs, the newest first; a custodian sees everyone's."""
        found: list[dict[str, Any]] = self.desk.transport.send(f"{self.desk.path}/jobs")
        return found

    def job(self, release: str) -> RemoteJob[Any]:
        """A job by its release id, to look at or wait for."""
        transport, desk = self.desk.transport, self.desk
        kind = transport.send(f"{desk.path}/jobs/{segment(release)}")["kind"]
        return RemoteJob(transport, desk.dataset, release, kind, desk.release)

    def __repr__(self) -> str:
        left = ", ".join(
            f"{one['allotment']}: {one['currency']} = {one['left']:g} left" for one in self.describe()["allotments"]
        )
        return f"<Curator of {self.desk.dataset!r} at {self.desk.transport.url}; {left}>"
