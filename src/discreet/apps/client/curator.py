"""`connect`, and the dataset on a server that it finds."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.apps.client.job import RemoteJob, record, segment
from discreet.apps.client.line import Line
from discreet.apps.client.question import RemoteQuestion
from discreet.apps.client.work import RemoteSynth, RemoteTrain, RemoteTree, condition, keys, regions, rules_to
from discreet.core.exact import Number
from discreet.curator.kinds import kind_of
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.account import Standing
from discreet.ledger.budget import Allotment, Charge
from discreet.query.key import Key
from discreet.query.kinds import Asked
from discreet.query.predicate import Predicate
from discreet.query.question import Query

if TYPE_CHECKING:
    from discreet.trees.rules import Rules

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
        raise InputError("url", url, "https: a token sent over http can be read on the way")
    line = Line(url.rstrip("/"), token, timeout, None if certificate is None else str(certificate))
    listed = line.sent("/api/datasets")
    names = [one["dataset"] for one in listed]
    if dataset is None and len(names) != 1:
        raise InputError("dataset", dataset, "one of " + ", ".join(names))
    if dataset is not None and dataset not in names:
        raise InputError("dataset", dataset, "one of " + ", ".join(names))
    return RemoteCurator(line, dataset or names[0])


@dataclass(frozen=True, slots=True)
class RemoteCurator:
    """A dataset on a server, with the words of a curator here."""

    line: Line
    dataset: str

    @property
    def path(self) -> str:
        """Where it is on the server."""
        return f"/api/datasets/{segment(self.dataset)}"

    def describe(self) -> dict[str, Any]:
        """Its schema, whom it protects, and what is left."""
        found: dict[str, Any] = self.line.sent(self.path)
        return found

    @property
    def schema(self) -> Schema:
        """The columns that are declared, and whom it protects."""
        return Schema.from_dict(self.describe()["schema"])

    def standing(self) -> tuple[Standing, ...]:
        """What every allotment that this token may see has spent and has left."""
        return tuple(_standing(self.dataset, one) for one in self.describe()["allotments"])

    def ledger(self) -> dict[str, Any]:
        """Every charge: who, when, why, how much. For custodians."""
        found: dict[str, Any] = self.line.sent(f"{self.path}/ledger")
        return found

    def table(self, name: str | None = None) -> RemoteQuestion:
        """Begin a question."""
        if name not in (None, self.dataset):
            raise InputError("table", name, f"{self.dataset!r}, the table of this curator")
        return RemoteQuestion(self, Query())

    def question(self, query: Asked) -> RemoteQuestion:
        """A question from a `Query`."""
        return RemoteQuestion(self, query)

    def sql(self, text: str) -> RemoteQuestion:
        """A question in SQL."""
        return RemoteQuestion(self, text)

    def tree(
        self,
        levels: Sequence[str] | Mapping[str, int],
        *,
        by: Iterable[str | Key] | str = (),
        column: str | None = None,
        geography: Any = None,
        where: str | Predicate | None = None,
        sizes: str | None = None,
        largest: int | None = None,
        cumulative: bool = True,
        rules: Rules | None = None,
    ) -> RemoteTree:
        """Counts for a hierarchy of regions that add up, from the root to the leaves. A `geography` is read here."""
        if isinstance(levels, str):
            raise InputError("levels", levels, "a list of levels, the widest first, or {level: length of its codes}")
        body = {
            "levels": dict(levels) if isinstance(levels, Mapping) else list(levels),
            "by": keys(by),
            "column": column,
            "geography": regions(geography),
            "where": condition(where),
            "sizes": sizes,
            "largest": largest,
            "cumulative": cumulative,
            "rules": rules_to(rules),
        }
        return RemoteTree(self, body)

    def synthesize(
        self,
        method: str = "auto",
        *,
        workload: str | Iterable[Any] | Mapping[Any, float] | None = None,
        columns: Iterable[str] | None = None,
        bins: int | dict[str, int] = 64,
        rows: int | None = None,
        where: str | Predicate | None = None,
        impossible: Iterable[str | Predicate] = (),
        keys: Mapping[str, str | int] | None = None,
    ) -> RemoteSynth:
        """Rows that look like the private ones and are nobody's: for every use, at one price."""
        named = workload is None or isinstance(workload, str)
        listed = None if named else [[one] if isinstance(one, str) else list(one) for one in workload or ()]
        body = {
            "method": method,
            "workload": workload if named else None,
            "marginals": listed,
            "weights": list(workload.values()) if isinstance(workload, Mapping) else None,
            "columns": None if columns is None else list(columns),
            "bins": bins,
            "rows": rows,
            "where": condition(where),
            "impossible": [condition(one) for one in impossible],
            "keys": None if keys is None else dict(keys),
        }
        return RemoteSynth(self, body)

    def train(
        self,
        model: str = "logistic",
        *,
        target: str,
        features: Sequence[str] | None = None,
        where: str | Predicate | None = None,
        examples: int | None = None,
        lot: Number | None = None,
        probability: Number | None = None,
        steps: int | None = None,
        epochs: Number | None = None,
        hidden: Sequence[int] = (),
        bound: float = 1.0,
        **settings: Any,
    ) -> RemoteTrain:
        """A model of `target`, trained so that its weights may be published: "logistic" or "mlp" (with `hidden`)."""
        if not isinstance(model, str):
            raise InputError("model", type(model).__name__, "logistic or mlp: a server takes no code from a caller")
        body = {
            "model": model,
            "target": target,
            "features": None if features is None else list(features),
            "where": condition(where),
            "examples": examples,
            "lot": lot,
            "probability": probability,
            "steps": steps,
            "epochs": epochs,
            "hidden": list(hidden),
            "bound": bound,
            **settings,
        }
        return RemoteTrain(self, body)

    def releases(self) -> list[str]:
        """Ids of what was released."""
        found: list[str] = self.line.sent(f"{self.path}/releases")
        return found

    def release(self, release: str, part: str = "") -> Any:
        """A release of any kind made before, read again for free; with `part`, its table of that name."""
        answer, cost, remaining = record(self.line, self.dataset, release)
        kind = kind_of(answer.query)
        if kind is None:
            raise InputError("release", release, "a release of a kind that is read here")
        whole = kind.read(answer, cost, remaining)
        tables = whole.tables() if part else {}
        if part and part not in tables:
            raise InputError("part", part, "one of " + ", ".join(map(repr, tables)))
        return tables[part] if part else whole

    def jobs(self) -> list[dict[str, Any]]:
        """Your jobs, the newest first; a custodian sees everyone's."""
        found: list[dict[str, Any]] = self.line.sent(f"{self.path}/jobs")
        return found

    def job(self, release: str) -> RemoteJob[Any]:
        """A job by its release id, to look at or wait for."""
        kind = self.line.sent(f"{self.path}/jobs/{segment(release)}")["kind"]
        return RemoteJob(self.line, self.dataset, release, kind, self.release)

    def __repr__(self) -> str:
        left = ", ".join(
            f"{one['allotment']}: {one['currency']} = {one['left']:g} left" for one in self.describe()["allotments"]
        )
        return f"<Curator of {self.dataset!r} at {self.line.url}; {left}>"


def _standing(dataset: str, told: dict[str, Any]) -> Standing:
    part = Allotment.from_json(told["declared"])
    exact = told["exact"]
    spent = Charge(Fraction(exact["spent"]), Fraction(exact["delta_spent"]))
    return Standing(dataset, part, spent, spent.left_of(part.cap))
