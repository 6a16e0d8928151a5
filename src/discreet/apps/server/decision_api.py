"""The paths of decisions: what noise does to a fund or a limit, before a plan is paid and after a release. All free."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field, StrictFloat, StrictInt, create_model

from discreet.apps.server.access import Access
from discreet.apps.server.limits import check_decided, check_simulated
from discreet.apps.server.requests import REQUESTS, JobRequest, Plain, QuestionRequest
from discreet.apps.server.responses import DecisionResponse, Json, answers, paths
from discreet.apps.server.service import Service
from discreet.apps.server.tokens import Caller
from discreet.errors import InputError, MissingError

__all__ = ["DecisionRequest", "decided", "routes"]

_MOST = 4_000_000  # regions whose groups or sizes are sent: as many as a hierarchy may have over HTTP
_Word = Annotated[str, Field(max_length=200)]
_Number = StrictInt | StrictFloat


class DecisionRequest(Plain):
    """A decision: a `fund` distributed by numbers, or a `threshold`; `by` a name, or a label for each region.

    `level`, `blend`, `cells` and `draws` are for hierarchies, `output` for tables.
    """

    fund: _Number | None = None
    threshold: _Number | None = None
    by: _Word | Annotated[dict[str, Any], Field(max_length=_MOST)] | None = None
    level: _Word | None = None
    output: _Word | None = None
    cells: Annotated[dict[str, Any], Field(max_length=100)] | None = None
    repair: _Word | None = None
    blend: _Number | None = None
    draws: StrictInt | None = None

    def how(self) -> dict[str, Any]:
        """What was said, by name."""
        names = DecisionRequest.model_fields
        return {name: value for name in names if (value := getattr(self, name)) is not None}


class ReleaseDecisionRequest(DecisionRequest):
    """The same of a release, or of the table `part` of it."""

    release: Annotated[str, Field(min_length=1, max_length=200)]
    part: _Word = ""


class PlanDecisionRequest(DecisionRequest):
    """The same of what is not published yet, if its numbers were `sizes`: public or assumed ones, by region or group,
    in order, or as a table of columns."""

    sizes: Annotated[dict[str, Any], Field(max_length=_MOST)] | Annotated[list[Any], Field(max_length=_MOST)]


def _tried(request: type[QuestionRequest | JobRequest], name: str) -> Any:
    """The body of a plan, with the decision that it is tried on."""
    return create_model(name, __base__=request, decision=(PlanDecisionRequest, ...))


def routes(service: Service, access: Access) -> APIRouter:
    """The paths of a service under which decisions are tried out."""
    api = paths("/api/datasets/{name}", "decisions")
    said = answers(DecisionResponse, "what the decision gets wrong")

    def plan_decision(name: str, asked: Any, caller: Caller = access.anyone) -> Json:
        """What the noise of a question would do to a decision by its numbers, if these were `sizes`."""
        return _of_plan(service, name, asked, caller)

    def tree_decision(name: str, asked: Any, caller: Caller = access.anyone) -> Json:
        """The same of a hierarchy: a table that `sizes` stands for is measured and published again and again."""
        return _of_plan(service, name, asked, caller)

    plan_decision.__annotations__["asked"] = _tried(QuestionRequest, "QuestionDecisionRequest")
    tree_decision.__annotations__["asked"] = _tried(REQUESTS["tree"], "TreeDecisionRequest")
    api.post("/plan/decide", responses=said)(plan_decision)
    api.post("/tree/plan/decide", responses=said)(tree_decision)

    @api.post("/decide", responses=said)
    def release_decision(name: str, asked: ReleaseDecisionRequest, caller: Caller = access.anyone) -> Json:
        """How noise and method change a decision made with published numbers of a table or a hierarchy."""
        curator = service.curator(name, caller)
        if not service.stored(name, asked.release):
            raise MissingError("release", asked.release, "the id of a stored release", "List them with: /releases.")
        with service.plans.turn(caller.name):
            return Json(decided(curator.release(asked.release, asked.part), asked.how()).to_dict())

    return api


def decided(release: Any, how: dict[str, Any]) -> Any:
    """The decision of a release; what it does not take is refused by name."""
    if not hasattr(release, "decide"):
        raise InputError("release", release.id, "the id of a table (of a batch, with its part) or a hierarchy")
    shared = ("fund", "threshold", "by", "repair")
    allowed = (*shared, "level", "cells", "blend") if hasattr(release, "tree") else (*shared, "output")
    for name, value in how.items():
        if name not in allowed:
            raise InputError(name, value, "left out for a release of this kind")
    check_decided(release)
    return release.decide(**how)


def _of_plan(service: Service, name: str, asked: Any, caller: Caller) -> Json:
    def tried(offer: Any) -> Json:
        check_simulated(offer.plan, asked.decision.draws)
        return Json(offer.decide(asked.decision.sizes, **asked.decision.how()).to_dict())

    return service.planned(name, asked, caller, tried)
