"""Hierarchies, synthetic rows and models by a server: described here, priced and made there."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from discreet.apps.client.job import RemoteJob
from discreet.core.exact import Number
from discreet.errors import InputError
from discreet.query.key import Key
from discreet.query.predicate import Predicate, predicate_to

if TYPE_CHECKING:
    from discreet.apps.client.curator import RemoteCurator
    from discreet.learn.released import ModelRelease
    from discreet.synth.released import SyntheticRelease
    from discreet.trees.released import TreeRelease
    from discreet.trees.rules import Rules

__all__ = ["RemoteSynth", "RemoteTrain", "RemoteTree", "RemoteWork", "condition", "keys", "regions", "rules_to"]

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class RemoteWork(Generic[Made]):
    """The plan of a long job by a server. `print(offer)` before, `offer.release()` to spend."""

    curator: RemoteCurator
    kind: str
    body: dict[str, Any]
    plan: dict[str, Any]
    read: Callable[[str], Made]

    def explain(self) -> str:
        """Cost and expected error, in the server's words."""
        return str(self.plan["text"])

    def begin(self, *, release: str | None = None, why: str = "") -> RemoteJob[Made]:
        """Spend and start it in the background there. The same `release` id again is charged once."""
        body = {**self.body, "why": why, "release": uuid.uuid4().hex if release is None else release}
        found = self.curator.line.sent(f"{self.curator.path}/{self.kind}/release", body)
        ended = found if found["state"] == "done" else None
        name = self.curator.dataset
        return RemoteJob(self.curator.line, name, str(found["release"]), self.kind, self.read, ended)

    def release(self, *, release: str | None = None, why: str = "", wait: float | None = None) -> Made:
        """Spend, and wait until it is made; on a terminal, how far it is meanwhile."""
        return self.begin(release=release, why=why).wait(wait)

    def __str__(self) -> str:
        return self.explain()


def _planned(curator: RemoteCurator, kind: str, asked: dict[str, Any], read: Callable[[str], Made]) -> RemoteWork[Made]:
    body = {name: value for name, value in asked.items() if value is not None}
    return RemoteWork(curator, kind, body, curator.line.sent(f"{curator.path}/{kind}/plan", body), read)


@dataclass(frozen=True, slots=True)
class RemoteTree:
    """A hierarchy for a server, being put together. Nothing is sent until it is planned."""

    curator: RemoteCurator
    body: dict[str, Any]

    def where(self, wanted: str | Predicate) -> RemoteTree:
        """Count only the rows for which the condition is true."""
        if self.body.get("where") is not None:
            raise InputError("where", wanted, "one condition: join them with and")
        return replace(self, body={**self.body, "where": condition(wanted)})

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        share: Number | None = None,
        within: Number | None = None,
        confidence: float = 0.95,
        noise: str = "auto",
        method: str = "auto",
        split: str | Mapping[str, Number] = "auto",
        allotment: str | None = None,
    ) -> RemoteWork[TreeRelease]:
        """Price all levels together, by epsilon, rho, a share of the allotment, or accuracy."""
        price = {
            "epsilon": epsilon,
            "rho": rho,
            "share": share,
            "within": within,
            "confidence": confidence,
            "noise": noise,
        }
        how = {"method": method, "split": split if isinstance(split, str) else dict(split), "allotment": allotment}
        return _planned(self.curator, "tree", {**self.body, **price, **how}, self.curator.release)


@dataclass(frozen=True, slots=True)
class RemoteSynth:
    """Synthetic rows for a server to make, being put together."""

    curator: RemoteCurator
    body: dict[str, Any]

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        share: Number | None = None,
        within: Number | None = None,
        confidence: float = 0.95,
        allotment: str | None = None,
    ) -> RemoteWork[SyntheticRelease]:
        """Price the whole table, by epsilon, rho, a share of the allotment, or accuracy."""
        price = {
            "epsilon": epsilon,
            "rho": rho,
            "share": share,
            "within": within,
            "confidence": confidence,
            "allotment": allotment,
        }
        return _planned(self.curator, "synth", {**self.body, **price}, self.curator.release)


@dataclass(frozen=True, slots=True)
class RemoteTrain:
    """A model for a server to train, being put together."""

    curator: RemoteCurator
    body: dict[str, Any]

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        share: Number | None = None,
        allotment: str | None = None,
    ) -> RemoteWork[ModelRelease]:
        """Price the whole run: by epsilon (and delta), or by a share of the allotment."""
        price = {"epsilon": epsilon, "delta": delta, "share": share, "allotment": allotment}
        return _planned(self.curator, "train", {**self.body, **price}, self.curator.release)


def condition(wanted: str | Predicate | None) -> Any:
    """A condition as it is sent."""
    return wanted if wanted is None or isinstance(wanted, str) else predicate_to(wanted)


def keys(by: Iterable[str | Key] | str) -> list[Any]:
    """What to split by, as it is sent: a name stands for a column, as it does here."""
    listed = [by] if isinstance(by, str) else list(by)
    return [Key(one).to_dict() if isinstance(one, str) else one.to_dict() for one in listed]


def regions(geography: Any) -> Any:
    """A public list of regions as it is sent; a file is read here."""
    if geography is None or isinstance(geography, (list, tuple, set, frozenset)):
        return None if geography is None else list(geography)
    from discreet.trees.geography import public_table

    return public_table(geography)


def rules_to(rules: Rules | None) -> Any:
    """Public facts as they are sent."""
    if rules is None:
        return None
    import numpy as np

    names = ("lower", "upper", "totals", "weights")
    return {name: {level: np.asarray(one).tolist() for level, one in getattr(rules, name).items()} for name in names}
