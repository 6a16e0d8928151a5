"""The paths that programs use: datasets, plans (free), releases (spend), the ledger. All JSON, under /api."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from discreet.apps.server import job_api, stored_api
from discreet.apps.server.access import Access
from discreet.apps.server.pacing import Pacer
from discreet.apps.server.requests import QuestionRequest, ReleaseRequest
from discreet.apps.server.responses import (
    AnyResponse,
    DatasetResponse,
    Json,
    LedgerResponse,
    PendingResponse,
    PlanResponse,
    ReleaseResponse,
    SurveyResponse,
    VerifyResponse,
    answers,
    paths,
)
from discreet.apps.server.service import Service, standing_to
from discreet.apps.server.tokens import Caller
from discreet.errors import MissingError
from discreet.ledger.record import Record

__all__ = ["routers"]


def routers(service: Service) -> list[APIRouter]:
    """The API of a service."""
    access = Access(service)
    return [_routes(service, access), job_api.routes(service, access), stored_api.routes(service, access)]


def _routes(service: Service, access: Access) -> APIRouter:
    api, pacer = paths("/api"), Pacer(service)

    @api.get("/datasets", tags=["data"], responses=answers(list[DatasetResponse], "the datasets"))
    def datasets(caller: Caller = access.anyone) -> Json:
        """Every dataset: its schema, whom it protects, what is left."""
        return Json([service.described(name, caller) for name in service.curators])

    @api.get("/datasets/{name}", tags=["data"], responses=answers(DatasetResponse, "the dataset"))
    def dataset(name: str, caller: Caller = access.anyone) -> Json:
        """One dataset."""
        return Json(service.described(name, caller))

    @api.post("/datasets/{name}/plan", tags=["questions"], responses=answers(PlanResponse, "the plan"))
    def plan(name: str, asked: QuestionRequest, caller: Caller = access.anyone) -> Json:
        """What a question would cost and how far answers may be off. Free: nothing is read, nothing is spent."""
        return Json(service.plan(name, asked, caller))

    later = answers(PendingResponse, "not done yet: fetch it later by its id", 202)

    @api.post(
        "/datasets/{name}/release", tags=["questions"], responses={**answers(ReleaseResponse, "the answer"), **later}
    )
    async def release(request: Request, name: str, asked: ReleaseRequest, caller: Caller = access.spends) -> Json:
        """Spend and answer. The answer is on the books: the same `release` id gives it again for free."""
        found = await pacer.answer(name, asked, caller, request.scope.get("discreet.begun"))
        return Json(found, 200 if "columns" in found else 202)

    @api.get("/datasets/{name}/releases", tags=["releases"], responses=answers(list[str], "ids"))
    def releases(name: str, caller: Caller = access.anyone) -> Json:
        """Ids of what was released."""
        return Json(service.curator(name, caller).releases())

    @api.get(
        "/datasets/{name}/releases/{identity:path}",
        tags=["releases"],
        responses=answers(AnyResponse, "what it is: a table, or what its kind says of itself"),
    )
    def stored(
        name: str,
        identity: str,
        part: Annotated[str, Query(description="A table by name: part of a batch, level.", max_length=200)] = "",
        caller: Caller = access.anyone,
    ) -> Json:
        """A release of any kind, read again for free. It is for whoever has a token, whoever paid for it."""
        curator = service.curator(name, caller)
        if not service.stored(name, identity):
            raise MissingError("release", identity, "the id of a stored release", "List them with: /releases.")
        return Json(service.shown(name, identity, curator.release(identity, part).to_dict(), caller))

    @api.get("/datasets/{name}/ledger", tags=["ledger"], responses=answers(LedgerResponse, "the books"))
    def ledger(name: str, caller: Caller = access.custodian) -> Json:
        """Every charge: who, when, why, how much. For custodians."""
        books = service.curator(name, caller).ledger
        records = [_record_to(one) for one in books.records(name)]
        return Json({"standing": [standing_to(one) for one in books.standing(name)], "records": records})

    @api.get("/ledger/verify", tags=["ledger"], responses=answers(VerifyResponse, "what was found"))
    def verify(caller: Caller = access.custodian) -> Json:
        """Check every book again from its records. For custodians."""
        books = {id(one.ledger): one.ledger for one in service.curators.values()}
        found = [book.verify() for book in books.values()]
        problems = [problem for one in found for problem in one.problems]
        return Json({"ok": not problems, "records": sum(one.records for one in found), "problems": problems})

    @api.get("/surveys", tags=["surveys"], responses=answers(list[SurveyResponse], "the surveys"))
    def surveys(caller: Caller = access.anyone) -> Json:
        """The surveys that are open here. Their pages and results are for anyone, without a token."""
        return Json([one.described() for one in service.surveys.values()])

    return api


def _record_to(record: Record) -> dict[str, Any]:
    """A line of the books, without answers."""
    wanted = ("sequence", "time", "kind", "who", "why", "release", "allotment", "mechanism", "amount", "delta")
    return {name: str(value) for name in wanted if (value := getattr(record, name)) not in (None, "")}
