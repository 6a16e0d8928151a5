"""The paths that programs use: datasets, plans (free), releases (spend), the ledger. All JSON, under /api."""

from __future__ import annotations

import uuid
from typing import Annotated, Any

import anyio
import anyio.to_thread
from fastapi import APIRouter, Depends, Header, HTTPException
from fastapi.responses import JSONResponse

from discreet.apps.cli.ask import describe
from discreet.apps.server.asked import Asked, Spent
from discreet.apps.server.house import House, standing_to
from discreet.apps.server.tokens import Caller
from discreet.ledger.record import Record

__all__ = ["routes"]


def routes(house: House) -> APIRouter:
    """The API of a house."""
    api = APIRouter(prefix="/api")

    def known(authorization: Annotated[str | None, Header()] = None) -> Caller:
        caller = house.caller(authorization)
        if caller is None:
            raise HTTPException(401, "a valid token is needed", {"www-authenticate": "Bearer"})
        return caller

    anyone: Any = Depends(known)

    def spender(caller: Caller = anyone) -> Caller:
        if not caller.spends:
            raise HTTPException(403, "this token may look but not spend")
        return caller

    def custodian(caller: Caller = anyone) -> Caller:
        if caller.role != "custodian":
            raise HTTPException(403, "for custodians")
        return caller

    may_spend: Any = Depends(spender)
    owner: Any = Depends(custodian)

    @api.get("/datasets", tags=["data"])
    def datasets(caller: Caller = anyone) -> list[dict[str, Any]]:
        """Every dataset: its schema, whom it protects, what is left."""
        return [house.described(name, caller) for name in house.curators]

    @api.get("/datasets/{name}", tags=["data"])
    def dataset(name: str, caller: Caller = anyone) -> dict[str, Any]:
        """One dataset."""
        return house.described(name, caller)

    @api.post("/datasets/{name}/plan", tags=["questions"])
    def plan(name: str, asked: Asked, caller: Caller = anyone) -> dict[str, Any]:
        """What a question would cost and how far answers may be off. Free: nothing is read, nothing is spent."""
        asked.allotment = house.allowed(caller, asked.allotment)
        offer = asked.offer(house.curator(name, caller))
        return {**describe(offer), "text": str(offer)}

    @api.post("/datasets/{name}/release", tags=["questions"])
    async def release(name: str, asked: Spent, caller: Caller = may_spend) -> JSONResponse:
        """Spend and answer. The answer is on the books: the same `release` id gives it again for free."""
        asked.allotment = house.allowed(caller, asked.allotment)
        offer = asked.offer(house.curator(name, caller))
        identity = asked.release or uuid.uuid4().hex

        def work() -> dict[str, Any]:
            return offer.release(release=identity, why=asked.why).to_dict()

        with anyio.move_on_after(house.limits.seconds):
            return JSONResponse(await anyio.to_thread.run_sync(work, abandon_on_cancel=True))
        text = "Not done yet. Fetch it later by its id, or ask again under it: it is charged once, if at all."
        return JSONResponse({"release": identity, "text": text}, 202)

    @api.get("/datasets/{name}/releases", tags=["releases"])
    def releases(name: str, caller: Caller = anyone) -> list[str]:
        """Ids of what was released."""
        return house.curator(name, caller).releases()

    @api.get("/datasets/{name}/releases/{identity:path}", tags=["releases"])
    def stored(name: str, identity: str, part: str = "", caller: Caller = anyone) -> dict[str, Any]:
        """A release, read again for free."""
        return house.curator(name, caller).release(identity, part).to_dict()

    @api.get("/datasets/{name}/ledger", tags=["ledger"])
    def ledger(name: str, caller: Caller = owner) -> dict[str, Any]:
        """Every charge: who, when, why, how much."""
        books = house.curator(name, caller).ledger
        return {
            "standing": [standing_to(one) for one in books.standing(name)],
            "records": [_record_to(one) for one in books.records(name)],
        }

    @api.get("/ledger/verify", tags=["ledger"])
    def verify(caller: Caller = owner) -> dict[str, Any]:
        """Check every book again from its records."""
        books = {id(one.ledger): one.ledger for one in house.curators.values()}
        found = [book.verify() for book in books.values()]
        problems = [problem for one in found for problem in one.problems]
        return {"ok": not problems, "records": sum(one.records for one in found), "problems": problems}

    return api


def _record_to(record: Record) -> dict[str, Any]:
    """A line of the books, without answers."""
    wanted = ("sequence", "time", "kind", "who", "why", "release", "allotment", "mechanism", "amount", "delta")
    return {name: str(value) for name in wanted if (value := getattr(record, name)) not in (None, "")}
