"""The paths that programs use: datasets, plans (free), releases (spend), the ledger. All JSON, under /api."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from discreet.apps.server import decision_api, health, job_api, metrics, stored_api, token_api
from discreet.apps.server.access import Access
from discreet.apps.server.pacing import Pacer
from discreet.apps.server.requests import QuestionRequest, ReleaseRequest
from discreet.apps.server.responses import (
    AnyResponse,
    DatasetResponse,
    EventsResponse,
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
from discreet.apps.server.service import Service
from discreet.apps.server.standing import standing_to
from discreet.apps.server.tokens import Caller
from discreet.curator.kinds import read_outcome, table_of
from discreet.ledger.follow import events_after
from discreet.ledger.record import Record

__all__ = ["routers"]


def routers(service: Service, counts: metrics.Counts) -> list[APIRouter]:
    """The API of a service, and its health for monitors."""
    access, seen = Access(service), health.Health(service)
    rooms = (decision_api, job_api, stored_api, token_api)
    watched = [health.routes(seen), metrics.routes(service, seen, counts, access)]
    return [_routes(service, access), *(room.routes(service, access) for room in rooms), *watched]


def _routes(service: Service, access: Access) -> APIRouter:
    api, pacer = paths("/api"), Pacer(service)

    @api.get("/datasets", tags=["data"], responses=answers(list[DatasetResponse], "the datasets"))
    def datasets(caller: Caller = access.anyone) -> Json:
        """Every dataset: its schema, whom it protects, what is left; of one that cannot be used now, the `problem`."""
        absent = service.absent(caller)
        told = [service.described(name, caller) for name in service.datasets(caller) if name not in absent]
        return Json(told + [{"dataset": name, "problem": problem} for name, problem in absent.items()])

    @api.get("/datasets/{name}", tags=["data"], responses=answers(DatasetResponse, "the dataset"))
    def dataset(name: str, caller: Caller = access.anyone) -> Json:
        """One dataset."""
        return Json(service.described(name, caller))

    @api.post("/datasets/{name}/plan", tags=["questions"], responses=answers(PlanResponse, "the plan"))
    def plan(name: str, asked: QuestionRequest, caller: Caller = access.anyone) -> Json:
        """The price of a question and the expected error of its answers. Free: nothing is read, nothing is spent."""
        return Json(service.plan(name, asked, caller))

    later = answers(PendingResponse, "not finished yet: fetch it later by its id", 202)

    @api.post(
        "/datasets/{name}/release", tags=["questions"], responses={**answers(ReleaseResponse, "the answer"), **later}
    )
    async def release(request: Request, name: str, asked: ReleaseRequest, caller: Caller = access.spends) -> Json:
        """Spend and answer. The answer is stored: the same `release` id gives it again for free."""
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
        ledger = service.curator(name, caller).ledger
        whole = read_outcome(ledger, service.answered(name, identity, "List them with: /releases."))
        table = table_of(whole, part) if part else whole
        return Json(service.shown(name, identity, table.to_dict(), caller))

    @api.get("/datasets/{name}/ledger", tags=["ledger"], responses=answers(LedgerResponse, "the ledger"))
    def ledger(
        name: str,
        after: Annotated[int, Query(description="Records above this number.", ge=0, le=2**53)] = 0,
        limit: Annotated[int, Query(description="At most so many.", ge=1, le=10_000)] = 10_000,
        caller: Caller = access.custodian,
    ) -> Json:
        """Charges: who, when, why, how much. `next` is what to send as `after` for more, where there are more. For
        custodians."""
        books = service.curator(name, caller).ledger
        found = list(books.records(name, after=after, limit=limit))
        following = {"next": found[-1].sequence} if len(found) == limit else {}
        standing = [standing_to(one) for one in books.standing(name)]
        return Json({"standing": standing, "records": [_record_to(one) for one in found], **following})

    @api.get("/datasets/{name}/ledger/records", tags=["ledger"], responses=answers(EventsResponse, "the records"))
    def records(
        name: str,
        after: Annotated[int, Query(description="Records above this number.", ge=0, le=2**53)] = 0,
        limit: Annotated[int, Query(description="At most so many.", ge=1, le=1000)] = 500,
        caller: Caller = access.auditor,
    ) -> Json:
        """Records of the ledger that a dataset is on, in order, from a position: charges, outcomes, budgets, caps,
        changes of tokens and schemas. No answers. For auditors and custodians."""
        found = list(events_after(service.curator(name, caller).ledger, after, limit))
        return Json({"records": found, "next": found[-1]["sequence"] if found else after})

    @api.get("/ledger/verify", tags=["ledger"], responses=answers(VerifyResponse, "the result"))
    def verify(caller: Caller = access.custodian) -> Json:
        """Verify every ledger from its records. For custodians."""
        found = [ledger.verify() for ledger in service.ledgers]
        problems = [problem for one in found for problem in one.problems]
        return Json({"ok": not problems, "records": sum(one.records for one in found), "problems": problems})

    @api.get("/surveys", tags=["surveys"], responses=answers(list[SurveyResponse], "the surveys"))
    def surveys(caller: Caller = access.anyone) -> Json:
        """The surveys that are open here. Their pages and results are for anyone, without a token."""
        return Json([one.described() for one in service.surveys.values() if one.open])

    return api


def _record_to(record: Record) -> dict[str, Any]:
    """A line of the ledger, without answers."""
    wanted = ("sequence", "time", "kind", "who", "why", "release", "allotment", "mechanism", "amount", "delta")
    return {name: str(value) for name in wanted if (value := getattr(record, name)) not in (None, "")}
