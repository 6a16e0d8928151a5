"""The paths of tokens and caps, for custodians: made, rotated, revoked, limited, as at a terminal."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, Field

from discreet.apps.server.access import Access
from discreet.apps.server.durations import read_lifetime
from discreet.apps.server.responses import Json, answers, paths
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller, Tokens, check_allotment, check_datasets
from discreet.ledger.cap import read_rate
from discreet.ledger.caps import Caps

__all__ = ["routes"]


class TokenRequest(BaseModel, extra="forbid"):
    """A token to make."""

    name: str = Field(description="Name of the person; it goes on the ledger.", max_length=100)
    role: str = Field("analyst", description="custodian, analyst, viewer, monitor or auditor.", max_length=20)
    allotment: str | None = Field(None, description="The only allotment it may spend from.", max_length=200)
    datasets: list[str] | None = Field(None, description="All datasets that it may know of.", max_length=1000)
    expires: str | None = Field(None, description="How long it lasts: 90d, 24h.", max_length=20)


class RotateRequest(BaseModel, extra="forbid"):
    """A token that gets a new secret."""

    name: str = Field(description="Whose token.", max_length=100)
    grace: str = Field("24h", description="How long the old secret still works.", max_length=20)
    expires: str | None = Field(None, description="How long the token lasts from now on.", max_length=20)


class RevokeRequest(BaseModel, extra="forbid"):
    """A token that ends."""

    name: str = Field(description="Whose token.", max_length=100)


class CapRequest(BaseModel, extra="forbid"):
    """How fast someone may spend; without an amount the cap is taken away."""

    caller: str = Field(description="Whose spending is limited; * for everyone without a cap.", max_length=200)
    epsilon: str | None = Field(None, description="At most so much: 0.5/day.", max_length=100)
    rho: str | None = Field(None, description="The same for an allotment that counts rho.", max_length=100)
    allotment: str | None = Field(None, description="The allotment; that of questions by default.", max_length=200)
    why: str = Field("", description="The reason, for the record.", max_length=1000)


class TokenResponse(BaseModel, extra="allow"):
    """What is known of a token; `token` itself when it was just made, and never again."""

    name: str
    role: str


class CapResponse(BaseModel, extra="allow"):
    """A cap of a dataset."""

    caller: str
    allotment: str
    amount: str
    period: str


def routes(service: Service, access: Access) -> APIRouter:
    """/api/tokens and /api/datasets/{name}/caps"""
    api = paths("/api", "tokens")

    def known() -> Tokens:
        if service.tokens is None:
            raise HTTPException(409, "this server has no tokens")
        return service.tokens

    def described(name: str, **more: Any) -> dict[str, Any]:
        return next(one for one in known().listed() if one["name"] == name) | more

    @api.get("/tokens", responses=answers(list[TokenResponse], "the tokens, without a secret"))
    def tokens(caller: Caller = access.custodian) -> Json:
        """Who has a token, what it may do, when it was last used and when it ends. For custodians."""
        return Json(known().listed())

    @api.post("/tokens", responses=answers(TokenResponse, "the token, shown this once"))
    def create(asked: TokenRequest, caller: Caller = access.custodian) -> Json:
        """Create a token. For custodians."""
        lasts = None if asked.expires is None else read_lifetime(asked.expires, "expires")
        if asked.allotment is not None:
            parts = (part.allotment.name for one in service.curators.values() for part in one.standing())
            check_allotment(asked.allotment, parts)
        check_datasets(asked.datasets or (), service.curators)
        rights: dict[str, Any] = {"datasets": asked.datasets, "expires": lasts}
        made = known().create(asked.name, asked.role, asked.allotment, **rights, by=caller.name)
        return Json(described(asked.name, token=made))

    @api.post("/tokens/rotate", responses=answers(TokenResponse, "the token, shown this once"))
    def rotate(asked: RotateRequest, caller: Caller = access.custodian) -> Json:
        """Give a token a new secret; the old one works until the grace is over. For custodians."""
        grace = read_lifetime(asked.grace, "grace", nothing=True)
        lasts = None if asked.expires is None else read_lifetime(asked.expires, "expires")
        made = known().rotate(asked.name, grace=grace, expires=lasts, by=caller.name)
        return Json(described(asked.name, token=made))

    @api.post("/tokens/revoke", responses=answers(dict[str, str], "whose token ended"))
    def revoke(asked: RevokeRequest, caller: Caller = access.custodian) -> Json:
        """End a token at once. For custodians."""
        known().revoke(asked.name, by=caller.name)
        return Json({"name": asked.name, "state": "revoked"})

    @api.get("/datasets/{name}/caps", responses=answers(list[CapResponse], "the caps"))
    def caps(name: str, caller: Caller = access.custodian) -> Json:
        """How fast callers may spend from a dataset. For custodians."""
        return Json([one.to_json() for one in Caps(service.curator(name, caller).ledger).listed(name)])

    @api.post("/datasets/{name}/caps", responses=answers(list[CapResponse], "the caps after it"))
    def cap(name: str, asked: CapRequest, caller: Caller = access.custodian) -> Json:
        """Limit how fast a caller may spend, or take the limit away, on record. For custodians."""
        how: dict[str, Any] = {}
        for field, text in (("epsilon", asked.epsilon), ("rho", asked.rho)):
            if text is not None:
                amount, how["period"] = read_rate(text, field)
                how[field] = amount
        ledger = service.curator(name, caller).ledger
        found = Caps(ledger).set(name, asked.caller, **how, allotment=asked.allotment, who=caller.name, why=asked.why)
        return Json([one.to_json() for one in found])

    return api
