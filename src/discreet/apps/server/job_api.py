"""The paths of long jobs: hierarchies, synthetic rows, models. Planned for free, run in the background."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter

from discreet.apps.server.access import Access
from discreet.apps.server.house import House
from discreet.apps.server.tokens import Caller
from discreet.apps.server.told import PROBLEMS, JobTold, Json, PlanTold, answers
from discreet.apps.server.wanted import SynthAsked, TrainAsked, TreeAsked, Wanted

__all__ = ["routes"]


def routes(house: House, access: Access) -> APIRouter:
    """The job paths of a house."""
    api = APIRouter(prefix="/api/datasets/{name}", responses=PROBLEMS, tags=["jobs"])
    planned = answers(PlanTold, "the plan")
    begun = answers(JobTold, "the job, which goes on in the background", 202)

    def plan(name: str, asked: Wanted, caller: Caller) -> Json:
        return Json(house.plan(name, asked, caller))

    def begin(name: str, asked: Wanted, caller: Caller) -> Json:
        return Json(asdict(house.begin(name, asked, caller)), 202)

    @api.post("/tree/plan", responses=planned)
    def plan_tree(name: str, asked: TreeAsked, caller: Caller = access.anyone) -> Json:
        """What a hierarchy would cost and how far each level may be off. Free."""
        return plan(name, asked, caller)

    @api.post("/tree/release", responses=begun, status_code=202)
    def release_tree(name: str, asked: TreeAsked, caller: Caller = access.spends) -> Json:
        """Release a hierarchy in the background. The same `release` id again is charged once."""
        return begin(name, asked, caller)

    @api.post("/synth/plan", responses=planned)
    def plan_synth(name: str, asked: SynthAsked, caller: Caller = access.anyone) -> Json:
        """What synthetic rows would cost and how far their counts may be off. Free."""
        return plan(name, asked, caller)

    @api.post("/synth/release", responses=begun, status_code=202)
    def release_synth(name: str, asked: SynthAsked, caller: Caller = access.spends) -> Json:
        """Make synthetic rows in the background. The same `release` id again is charged once."""
        return begin(name, asked, caller)

    @api.post("/train/plan", responses=planned)
    def plan_train(name: str, asked: TrainAsked, caller: Caller = access.anyone) -> Json:
        """What a model would cost. Free."""
        return plan(name, asked, caller)

    @api.post("/train/release", responses=begun, status_code=202)
    def release_train(name: str, asked: TrainAsked, caller: Caller = access.spends) -> Json:
        """Train a model in the background. The same `release` id again is charged once."""
        return begin(name, asked, caller)

    @api.get("/jobs", responses=answers(list[JobTold], "the jobs, the newest first"))
    def jobs(name: str, caller: Caller = access.anyone) -> Json:
        """Your jobs; a custodian sees everyone's."""
        return Json([asdict(job) for job in house.seen(name, caller)])

    @api.get("/jobs/{release}", responses=answers(JobTold, "the job"))
    def job(name: str, release: str, caller: Caller = access.anyone) -> Json:
        """How far a job is."""
        return Json(asdict(house.job(name, release, caller)))

    return api
