"""Questions for a server: put together here, priced and answered there."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from discreet.core.exact import Number
from discreet.core.note import Note
from discreet.core.release import Release
from discreet.errors import InputError, RunError
from discreet.query.aggregate import Aggregate
from discreet.query.key import Key, key
from discreet.query.kinds import Asked
from discreet.query.predicate import Predicate
from discreet.query.quantile import Ordered, bounds_of, maximum, median, minimum, quantiles, spread
from discreet.query.question import Query
from discreet.query.top import Top

if TYPE_CHECKING:
    from discreet.apps.client.curator import RemoteCurator

__all__ = ["RemoteOffer", "RemoteQuestion", "read_release"]


@dataclass(frozen=True, slots=True)
class RemoteQuestion:
    """A question for a server, being put together. Nothing is sent until it is planned."""

    curator: RemoteCurator
    query: Asked | str

    @property
    def _built(self) -> Asked:
        if isinstance(self.query, str):
            raise InputError("question", "in SQL", "put together from table()", "SQL says everything by itself.")
        return self.query

    @property
    def grouped(self) -> Query:
        """The question, if it is one about groups."""
        if not isinstance(self._built, Query):
            raise InputError("top", "with other outputs", "a question of its own", "Ask for them in another question.")
        return self._built

    def where(self, condition: str | Predicate) -> RemoteQuestion:
        """Keep the rows for which the condition is true."""
        return replace(self, query=self._built.where(condition))

    def group_by(self, *keys: str | Key) -> RemoteQuestion:
        """Answer for every group of public keys, or of keys that are discovered."""
        return replace(self, query=self.grouped.group_by(*keys))

    def agg(self, /, **outputs: Aggregate | Ordered) -> RemoteQuestion:
        """Name what is computed."""
        return replace(self, query=self.grouped.agg(**outputs))

    def histogram(self, column: str, edges: Any = None, **how: Any) -> RemoteQuestion:
        """How many rows in each bin of a column."""
        return replace(self, query=self.grouped.histogram(column, edges, **how))

    def top(self, column: str | Key, k: int = 10, *, counts: bool = True) -> RemoteQuestion:
        """The `k` values of a column that most units have, the most common first; with noisy `counts` or without."""
        asked = self.grouped
        if asked != Query(asked.condition):
            raise InputError("top", "with keys or outputs", "a question of its own", "Begin with table() and where().")
        sought = key(column) if isinstance(column, str) else column
        return replace(self, query=Top(sought, k, counts, asked.condition))

    def quantiles(self, column: str, listed: Iterable[Number] | Number, **how: Any) -> RemoteQuestion:
        """Quantiles of a column, named q25, q50, ..."""
        return self.agg(**quantiles(column, listed, **how))

    def median(self, column: str, **how: Any) -> RemoteQuestion:
        """The value in the middle."""
        return self.agg(median=median(column, **how))

    def range(self, column: str, **how: Any) -> RemoteQuestion:
        """Where all but a share `tail` (0.01) of the rows lie, on either side, as `min`, `max` and `range`."""
        return self.agg(min=minimum(column, **how), max=maximum(column, **how), range=spread(column, **how))

    def suggest_bounds(self, column: str, *, tail: Number = "0.01", method: str = "auto") -> RemoteQuestion:
        """Round numbers `low` and `high` that all but a share `tail` of the rows lie within, on either side."""
        return self.agg(**bounds_of(column, tail, method))

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        share: Number | None = None,
        within: Number | None = None,
        confidence: float = 0.95,
        noise: str = "auto",
        delta: Number | None = None,
        allotment: str | None = None,
    ) -> RemoteOffer:
        """Price the whole question, as a curator here would: by epsilon, rho, a share of the allotment, or accuracy."""
        price = {"epsilon": epsilon, "rho": rho, "share": share, "within": within, "delta": delta}
        price |= {"confidence": confidence, "noise": noise, "allotment": allotment}
        asked = {"sql": self.query} if isinstance(self.query, str) else {"query": self.query.to_dict()}
        body = asked | {name: value for name, value in price.items() if value is not None}
        return RemoteOffer(self.curator, body, self.curator.line.sent(f"{self.curator.path}/plan", body))


@dataclass(frozen=True, slots=True)
class RemoteOffer:
    """A plan by a server. `print(offer)` before, `offer.release()` to spend."""

    curator: RemoteCurator
    body: dict[str, Any]
    plan: dict[str, Any]

    def explain(self) -> str:
        """Cost, noise and expected error, in the server's words."""
        return str(self.plan["text"])

    def release(self, *, release: str | None = None, why: str = "", wait: float | None = None) -> Release:
        """Spend and answer. Asked again under the same id, the stored answer comes back at no cost.

        An answer that takes longer than the server lets anyone wait is asked for again under its id, which is charged
        once; `RunError` after `wait` seconds of that.
        """
        identity = uuid.uuid4().hex if release is None else release
        body = {**self.body, "why": why, "release": identity}
        end = None if wait is None else time.monotonic() + wait
        while True:
            found = self.curator.line.sent(f"{self.curator.path}/release", body)
            if "columns" in found:
                return read_release(found)
            if end is not None and time.monotonic() >= end:
                raise RunError(f"{found['text']} Its id is {identity!r}.", release=identity)
            time.sleep(0.5)

    def __str__(self) -> str:
        return self.explain()


def read_release(entry: dict[str, Any]) -> Release:
    """A release from its plain values."""
    plain: dict[str, Any] = dict(entry)
    plain |= {name: tuple(plain[name]) for name in ("keys", "outputs")}
    plain["notes"] = tuple(Note.from_dict(note) for note in plain.get("notes", ()))
    return Release(**plain)
