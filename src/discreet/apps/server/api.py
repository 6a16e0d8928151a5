"""The paths that programs use: datasets, plans (free), releases (spend), the ledger. All JSON, under /api."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from discreet.apps.server import job_api, stored_api
from discreet.apps.server.access import Access
from discreet.apps.server.answering import Desk
from discreet.apps.server.house import House, standing_to
from discreet.apps.server.question_request import QuestionRequest, ReleaseRequest
from discreet.apps.server.tokens import Caller
from discreet.apps.server.told import (
    PROBLEMS,
    AnyTold,
    DatasetTold,
    Json,
    LedgerTold,
    PendingTold,
    PlanTold,
    ReleaseTold,
    SurveyTold,
    VerifyTold,
    answers,
)
from discreet.errors import MissingError
from discreet.ledger.record import Record

__all__ = ["routers"]


def routers(house: House) -> list[APIRouter]:
    """The API of a house."""
    access = Access(house)
    return [_routes(house, access), job_api.routes(house, access), stored_api.routes(house, access)]


def _routes(house: House, access: Access) -> APIRouter:
    api, desk = APIRouter(prefix="/api", responses=PROBLEMS), Desk(house)

    @api.get("/datasets", tags=["data"], responses=answers(list[DatasetTold], "the datasets"))
    def datasets(caller: Caller = access.anyone) -> Json:
        """Every dataset: its schema, whom it protects, what is left."""
        return Json([house.described(name, caller) for name in house.curators])

    @api.get("/datasets/{name}", tags=["data"], responses=answers(DatasetTold, "the dataset"))
    def dataset(name: str, caller: Caller = access.anyone) -> Json:
        """One dataset."""
        return Json(house.described(name, caller))

    @api.post("/datasets/{name}/plan", tags=["questions"], responses=answers(PlanTold, "the plan"))
    def plan(name: str, asked: QuestionRequest, caller: Caller = access.anyone) -> Json:
        """What a question would cost and how far answers may be off. Free: nothing is read, nothing is spent."""
        return Json(house.plan(name, asked, caller))

    later = answers(PendingTold, "not done yet: fetch it later by its id", 202)

    @api.post("/datasets/{name}/release", tags=["questions"], responses={**answers(ReleaseTold, "the answer"), **later})
    async def release(request: Request, name: str, asked: ReleaseRequest, caller: Caller = access.spends) -> Json:
        """Spend and answer. The answer is on the books: the same `release` id gives it again for free."""
        found = await desk.answer(name, asked, caller, request.scope.get("discreet.begun"))
        return Json(found, 200 if "columns" in found else 202)

    @api.get("/datasets/{name}/releases", tags=["releases"], responses=answers(list[str], "ids"))
    def releases(name: str, caller: Caller = access.anyone) -> Json:
        """Ids of what was released."""
        return Json(house.curator(name, caller).releases())

    @api.get(
        "/datasets/{name}/releases/{identity:path}",
        tags=["releases"],
        responses=answers(AnyTold, "what it is: a table, or what its kind says of itself"),
    )
    def stored(
        name: str,
        identity: str,
        part: Annotated[str, Query(description="A table by name: part of a batch, level.", max_length=200)] = "",
        caller: Caller = access.anyone,
    ) -> Json:
        """A release of any kind, read again for free. It is for whoever has a token, whoever paid for it."""
        curator = house.curator(name, caller)
        if not house.stored(name, identity):
            raise MissingError("release", identity, "the id of a stored release", "List them with: /releases.")
        return Json(house.shown(name, identity, curator.release(identity, part).to_dict(), caller))

    @api.get("/datasets/{name}/ledger", tags=["ledger"], responses=answers(LedgerTold, "the books"))
    def ledger(name: str, caller: Caller = access.custodian) -> Json:
        """Every charge: who, when, why, how much. For custodians."""
        books = house.curator(name, caller).ledger
        records = [_record_to(one) for one in books.records(name)]
        return Json({"standing": [standing_to(one) for one in books.standing(name)], "records": records})

    @api.get("/ledger/verify", tags=["ledger"], responses=answers(VerifyTold, "what was found"))
    def verify(caller: Caller = access.custodian) -> Json:
        """Check every book again from its records. For custodians."""
        books = {id(one.ledger): one.ledger for one in house.curators.values()}
        found = [book.verify() for book in books.values()]
        problems = [problem for one in found for problem in one.problems]
        return Json({"ok": not problems, "records": sum(one.records for one in found), "problems": problems})

    @api.get("/surveys", tags=["surveys"], responses=answers(list[SurveyTold], "the surveys"))
    def surveys(caller: Caller = access.anyone) -> Json:
        """The surveys that are open here. Their pages and results are for anyone, without a token."""
        return Json([one.described() for one in house.surveys.values()])

    return api


def _record_to(record: Record) -> dict[str, Any]:
    """A line of the books, without answers."""
    wanted = ("sequence", "time", "kind", "who", "why", "release", "allotment", "mechanism", "amount", "delta")
    return {name: str(value) for name in wanted if (value := getattr(record, name)) not in (None, "")}
