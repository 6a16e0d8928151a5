"""What a server serves: curators by the name of their data, tokens, and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from discreet.apps.server.tokens import Caller, Tokens
from discreet.curator import Curator
from discreet.errors import InputError
from discreet.ledger.account import Standing

__all__ = ["House", "Limits", "standing_to"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one caller may ask of the machine."""

    body: int = 1 << 20
    rate: float = 20.0
    burst: float = 60.0
    seconds: float = 60.0
    """How long a caller waits for an answer; after that it is to be fetched by its id."""
    jobs: int = 2
    """How many long jobs run at once."""


@dataclass(frozen=True, slots=True)
class House:
    """The curators of a server. Without tokens everyone who reaches it is its custodian: for one's own machine only."""

    curators: Mapping[str, Curator]
    tokens: Tokens | None
    limits: Limits = Limits()

    def caller(self, authorization: str | None) -> Caller | None:
        """Who is asking, by the header that says so."""
        if self.tokens is None:
            return Caller("local", "custodian")
        kind, _, token = (authorization or "").partition(" ")
        return self.tokens.caller(token.strip()) if kind.lower() == "bearer" else None

    def curator(self, name: str, caller: Caller) -> Curator:
        """The curator of a dataset, acting for a caller: what they spend is on the books under their name."""
        if name not in self.curators:
            raise InputError("dataset", name, "one of " + ", ".join(self.curators))
        desk = self.curators[name]
        return Curator(desk._source, desk.schema, desk.ledger, caller.name)

    def described(self, name: str, caller: Caller) -> dict[str, Any]:
        """What is public of a dataset: its schema, whom it protects, and what is left of the budget."""
        curator = self.curator(name, caller)
        schema = curator.schema
        standing = curator.ledger.standing(name)
        mine = [one for one in standing if caller.allotment in (None, one.allotment.name)]
        return {
            "dataset": name,
            "unit": str(schema.unit),
            "schema": schema.to_dict(),
            "allotments": [standing_to(one) for one in mine],
        }

    def allowed(self, caller: Caller, allotment: str | None) -> str | None:
        """The allotment a caller spends from; `InputError` if it is not theirs."""
        if caller.allotment is None or allotment in (None, caller.allotment):
            return allotment if caller.allotment is None else caller.allotment
        raise InputError("allotment", allotment, f"{caller.allotment!r}, the one this token spends from")

    def within(self, **changes: Any) -> House:
        """The same with other limits."""
        return replace(self, limits=replace(self.limits, **changes))


def standing_to(one: Standing) -> dict[str, Any]:
    """Where an allotment stands, exact and readable."""
    part = one.allotment
    return {
        "allotment": part.name,
        "kind": part.kind,
        "currency": part.currency,
        "cap": float(part.cap.amount),
        "spent": float(one.spent.amount),
        "left": float(one.left.amount),
        "exact": {"cap": str(part.cap.amount), "spent": str(one.spent.amount), "left": str(one.left.amount)},
        "delta": {"cap": float(part.cap.delta), "spent": float(one.spent.delta), "left": float(one.left.delta)},
    }
