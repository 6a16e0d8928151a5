"""What a server serves: curators by the name of their data, tokens, jobs, and limits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from discreet.apps.server.away import Away
from discreet.apps.server.cancellation import cancelled_job
from discreet.apps.server.identity import Identity, Person
from discreet.apps.server.job_queue import JobLimits, Queue, Ticket, payer_of
from discreet.apps.server.jobs import Job, Jobs, Report, public_words
from discreet.apps.server.outbox import deliver
from discreet.apps.server.plans import Plans
from discreet.apps.server.standing import standing_to
from discreet.apps.server.tokens import Caller, Tokens
from discreet.apps.server.trail import Trail
from discreet.apps.server.uploads import Uploads
from discreet.core.plan import as_paid
from discreet.core.progress import listening
from discreet.core.tick import paced
from discreet.curator import KINDS, Curator
from discreet.curator.offer import Checkpointed
from discreet.errors import MISSING, InputError, LedgerError, MissingError
from discreet.ledger.account import refusal
from discreet.ledger.budget import label
from discreet.ledger.caps import Caps
from discreet.ledger.failure import failure
from discreet.ledger.ledger import Ledger
from discreet.ledger.outcome import Outcome

if TYPE_CHECKING:
    from discreet.apps.server.issuer import Issuer
    from discreet.apps.server.requests import JobRequest, QuestionRequest
    from discreet.apps.server.survey_folder import SurveyFolder
    from discreet.apps.server.surveys import Survey
    from discreet.show.map import Map
    from discreet.trees.census import CensusRelease
    from discreet.trees.detail import DetailRelease
    from discreet.trees.release import TreeRelease

__all__ = ["Limits", "Service"]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one caller may ask of the machine."""

    body: int = 1 << 20
    rate: float = 20.0
    burst: float = 60.0
    seconds: float = 600.0
    """How long a question may take, from when it was asked; then it is stopped, and what it was charged stays spent."""
    wait: float = 60.0
    """How long a caller waits for an answer; after that it is to be fetched by its id."""
    jobs: JobLimits = field(default_factory=JobLimits)
    """How many long jobs run and wait."""
    releases: int = 8
    """How many questions are answered at once in a process."""
    pace: float = 0.1
    """Runs end at multiples of so many seconds, the same for all: nothing of an end is on the books before."""
    upload: int = 256 << 20
    """How large a table may be that a custodian brings to draft a schema."""


@dataclass(frozen=True, slots=True)
class Service:
    """The curators of a server.

    Without tokens everyone who reaches it is its custodian: for programs that let nobody else reach it. `discreet
    serve` and `discreet demo` never do without.
    """

    curators: Mapping[str, Curator]
    tokens: Tokens | None
    limits: Limits = Limits()
    jobs: Jobs = field(default_factory=Jobs)
    """Work that releases nothing: audits, attacks."""
    queues: dict[int, Queue] = field(default_factory=dict)
    """The jobs of each ledger: those that release something."""
    surveys: Mapping[str, Survey] = field(default_factory=dict)
    plans: Plans = field(default_factory=Plans)
    linked: bool = False
    """Whether a token may be shown in an address: that of the one run of a server which has no others."""
    geometry: str | None = None
    """A file with the shapes of regions, for maps of hierarchies whose codes are in it."""
    state: Path | None = None
    """The folder for what custodians bring and make on the pages; None where there is none."""
    schemas: Mapping[str, Path] = field(default_factory=dict)
    """The file that declares each dataset, as far as there is one."""
    identity: Identity | None = None
    """Who vouches for people without a token, and what they may do; None where nobody does."""
    issuer: Issuer | None = None
    """The issuer among them, which is asked; None where there is none."""
    away: Mapping[str, Away] = field(default_factory=dict)
    """Datasets that cannot be opened for now."""

    def __post_init__(self) -> None:
        self.jobs.settled = self._settled
        if self.tokens is not None and not self.linked:
            self.tokens.trail.deliver = self.record_trail
        for ledger in self.ledgers:
            queue = self.queues.setdefault(id(ledger), Queue(ledger))
            queue.limits, queue.perform, queue.ended = self.limits.jobs, self._perform, self._cancelled
            queue.serves = self.curators.keys

    def draw(self, tree: TreeRelease | CensusRelease | DetailRelease, geometry: Any = None, **how: Any) -> Map:
        """The map of a release: by the shapes given, or those of the server where they have its regions."""
        if geometry is None and self.geometry is not None:
            try:
                return tree.map(geometry=self.geometry, **how)
            except InputError as problem:
                if problem.field != "geometry":
                    raise
        return tree.map(geometry="auto" if geometry is None else geometry, **how)

    def caller(self, authorization: str | None) -> Caller | None:
        """Who is asking, by the header that says so."""
        if self.tokens is None:
            return Caller("local", "custodian")
        kind, _, token = (authorization or "").partition(" ")
        return self.tokens.caller(token.strip()) if kind.lower() == "bearer" else None

    def identify(self, scope: Mapping[str, Any]) -> Caller | Person | None:
        """Who a request is from; a `Person` is vouched for, and no rule gives them anything; None is a stranger."""
        shown = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"), None)
        if shown is None and self.identity is not None and self.identity.proxy is not None:
            return self.admitted(self.identity.proxy.person(scope))
        caller = self.caller(shown)
        if caller is None and shown is not None and self.issuer is not None:
            kind, _, token = shown.partition(" ")
            return self.admitted(self.issuer.bearer(token.strip())) if kind.lower() == "bearer" else None
        return caller

    def admitted(self, person: Person | None) -> Caller | Person | None:
        """A person as the caller that the rules make of them; as they are where the rules make nothing of them."""
        return None if person is None or self.identity is None else self.identity.caller(person) or person

    def curator(self, name: str, caller: Caller) -> Curator:
        """The curator of a dataset, acting for a caller: what they spend is on the books under their name."""
        if name in self.away and caller.knows(name):
            raise self.away[name].error()
        if name not in self.curators or not caller.knows(name):  # the same words for both
            raise MissingError("dataset", name, among=self.datasets(caller))
        # Whoever asked sees the notes of an answer; whoever reads the log of a server need not.
        return self.curators[name].acting_for(caller.name)

    def absent(self, caller: Caller) -> dict[str, str]:
        """What callers are told of the datasets of theirs that cannot be used for now."""
        found = {name: public_words(one.problem) for name, one in self.away.items() if caller.knows(name)}
        for name in self.datasets(caller):
            try:
                self.curators[name].standing()
            except LedgerError as problem:
                found[name] = public_words(problem)
        return found

    def datasets(self, caller: Caller) -> list[str]:
        """The datasets that are there for a caller."""
        return [name for name in self.curators if caller.knows(name)]

    def described(self, name: str, caller: Caller) -> dict[str, Any]:
        """What is public of a dataset: its schema, whom it protects, and what is left of the budget."""
        curator = self.curator(name, caller)
        schema = curator.declared
        standing = curator.ledger.standing(name)
        mine = [one for one in standing if caller.sees(one.allotment.name)]
        return {
            "dataset": name,
            "unit": str(schema.unit),
            "schema": schema.to_dict(),
            "allotments": [standing_to(one) for one in mine],
            "caps": [one.to_dict() for one in Caps(curator.ledger).standing(name, caller.name)],
        }

    def allowed(self, caller: Caller, allotment: str | None) -> str | None:
        """The allotment a caller spends from; `InputError` if it is not theirs."""
        if caller.allotment is None or allotment in (None, caller.allotment):
            return allotment if caller.allotment is None else caller.allotment
        raise InputError("allotment", allotment, f"{caller.allotment!r}, which this token spends from")

    def offer(self, name: str, asked: QuestionRequest | JobRequest, caller: Caller) -> Any:
        """What a caller asks for, planned and priced: free, but only as much of it as `plans` lets pass."""
        return self.planned(name, asked, caller, lambda offer: offer)

    def planned(self, name: str, asked: QuestionRequest | JobRequest, caller: Caller, shown: Callable[[Any], T]) -> T:
        """What `shown` makes of the plan, in the same turn: describing one may take as long as making it."""
        asked.allotment = self.allowed(caller, asked.allotment)
        with self.plans.turn(caller.name):
            return shown(asked.offer(self.curator(name, caller)))

    def plan(self, name: str, asked: QuestionRequest | JobRequest, caller: Caller) -> dict[str, Any]:
        """A plan as plain values, and as `text` for people."""
        return self.planned(name, asked, caller, lambda offer: offer.to_dict(text=True))

    def begin(self, name: str, asked: JobRequest, caller: Caller) -> Job:
        """Start a long job for a caller, or give back the one of that id: what is wrong is said before it begins.

        `InputError`: the question is not allowed. `BudgetError`: it costs more than is left. Nothing is spent then.
        """
        curator = self.curator(name, caller)
        offer = self.offer(name, asked, caller)
        identity = label(offer.identify(asked.release or None), "release")
        if identity in (".", "..") or "/" in (identity if asked.kind != "stream" else identity.rpartition("/")[0]):
            raise InputError("release", identity, "an id that can be a part of an address", "Nothing was spent.")
        known, payer = curator.ledger.find(identity), payer_of(curator.ledger, identity, asked.kind)
        if (known is None or known.open) and payer not in (None, caller.name) and caller.role != "custodian":
            hint = "Nothing was spent. Whoever paid for it asks again, or a custodian does. Choose another id."
            raise InputError("release", identity, "a new id: another person paid for this one", hint)
        if known:
            offer = replace(offer, plan=as_paid(offer.plan, known.charged.digest))
        if _finished(curator, offer.plan, identity, asked.kind, caller.name):
            kept = self.queue(name).find(name, identity)
            if kept is not None and kept.state == "done":
                # What it made is for everyone; for whom and why is not.
                return kept if _may_see(kept, caller) else replace(kept, who="", why="")

        if asked.priority == "high" and caller.role != "custodian":
            hint = "Custodians alone give the highest. Nothing was spent."
            raise InputError("priority", asked.priority, "normal or low", hint)
        new = Job(
            name, identity, asked.kind, caller.name, asked.why, "waiting", "waiting", None, "", _now(), "",
            priority=asked.priority,
        )  # fmt: skip
        request = asked.model_copy(update={"release": identity}).model_dump_json(exclude_none=True)
        how: dict[str, Any] = {"payer": payer, "custodian": caller.role == "custodian"}
        return self.queue(name).submit(new, request=request, digest=offer.plan.digest, **how)

    def queue(self, name: str) -> Queue:
        """The jobs of the ledger of a dataset."""
        return self.queues[id(self.curators[name].ledger)]

    def listed(self, name: str) -> list[Job]:
        """All jobs of a dataset, the newest first."""
        return self.queue(name).listed(name) if name in self.curators else []

    def _perform(self, ticket: Ticket, report: Report) -> None:
        """Release what a job asked for: as it was accepted, or not at all."""
        from discreet.apps.server.requests import REQUESTS

        job = ticket.job
        curator = self.curators[job.dataset].acting_for(job.who)
        offer = REQUESTS[job.kind].model_validate_json(ticket.request).offer(curator)
        if known := curator.ledger.find(job.release):
            if known.open and known.charged.who != job.who and known.charged.time > job.begun:
                hint = "Nothing was spent by this job. Choose another id."
                raise InputError("release", job.release, "a new id: another person paid for this one meanwhile", hint)
            offer = replace(offer, plan=as_paid(offer.plan, known.charged.digest))
        elif offer.plan.digest != ticket.digest:
            hint = "Its schema or its budget has changed. Nothing was spent. Ask again."
            raise InputError("release", job.release, "a job whose plan is still the one that was accepted", hint)
        if isinstance(offer.plan, Checkpointed) and (path := self.checkpoint(job)) is not None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            offer = replace(offer, plan=offer.plan.stored_in(path))
        KINDS[job.kind].prepare()
        with listening(report), paced(self.limits.pace):
            offer.release(release=job.release, why=job.why)

    def checkpoint(self, job: Job) -> Path | None:
        """The file that the run of a job is kept in, where its kind has one and the server has a folder for state."""
        name = hashlib.sha256(f"{job.dataset} {job.release}".encode()).hexdigest()[:32]
        return None if self.state is None else self.state / "checkpoints" / f"{name}.run"

    def cancel(self, name: str, release: str, caller: Caller) -> Job:
        """Cancel a job of a caller's, or anyone's for a custodian: what it was charged stays spent, and is told."""
        self.job(name, release, caller)
        found = self.queue(name).cancel(name, release, caller.name)
        if found is None:
            raise InputError("release", release, "the id of a job that waits or runs: this one is over")
        return found

    def _cancelled(self, ticket: Ticket, by: str) -> Job:
        job = ticket.job
        return cancelled_job(self.curators[job.dataset].ledger, job, by, self.checkpoint(job))

    def seen(self, name: str, caller: Caller) -> list[Job]:
        """The jobs that a caller may see, the newest first: their own; all of them, for a custodian."""
        self.curator(name, caller)
        return [job for job in self.listed(name) if _may_see(job, caller)]

    def job(self, name: str, release: str, caller: Caller) -> Job:
        """One of them."""
        self.curator(name, caller)
        found = self.queue(name).find(name, release)
        if found is None or not _may_see(found, caller):
            raise MissingError("release", release, "the id of a job of yours")
        return found

    def stored(self, name: str, release: str) -> Outcome | None:
        """What the books of a dataset hold under an id, if they hold an answer."""
        known = self._known(name, release)
        return None if known is None or known.answer is None else known

    def answered(self, name: str, release: str, hint: str) -> Outcome:
        """The same; `MissingError` with a hint where there is none, `RunError` where there never will be."""
        known = self._known(name, release)
        if known is not None and known.failure is not None:
            raise failure(release, known.failure)
        if known is None or known.answer is None:
            raise MissingError("release", release, "the id of a stored release", hint)
        return known

    def measured(self, name: str, release: str, caller: Caller) -> Outcome:
        """What a caller may publish: what they paid, or what was paid from an allotment that they spend from."""
        known = self._known(name, release) if caller.knows(name) else None
        if known is not None and known.measurement is not None and _may_publish(known, caller):
            return known
        hint = "Nothing was spent. Versions before 0.2 recorded answers only."
        raise MissingError("release", release, "the id of a release of yours whose measurement is recorded", hint)

    def _known(self, name: str, release: str) -> Outcome | None:
        desk = self.curators.get(name)
        known = None if desk is None else desk.ledger.find(release)
        return None if known is None or known.charged.dataset != name else known

    def shown(self, name: str, release: str, values: dict[str, Any], caller: Caller) -> dict[str, Any]:
        """A release as plain values, for a caller: where another allotment stands is not theirs to see."""
        if caller.allotment is None:
            return values
        known = self._known(name, release)
        if known is None or caller.sees(known.charged.allotment):
            return values
        return _without_remaining(values)

    def _settled(self, dataset: str, release: str) -> bool:
        return self.stored(dataset, release) is not None

    @property
    def ledgers(self) -> list[Ledger]:
        """The ledgers of all datasets, each once."""
        return list({id(one.ledger): one.ledger for one in self.curators.values()}.values())

    def complete(self) -> Service:
        """The same with the surveys of its folder for state, which are opened and closed while it runs."""
        if self.state is None or self.surveys_here is not None:
            return self
        from discreet.apps.server.survey_folder import SurveyFolder

        return replace(self, surveys=SurveyFolder(self.state / "surveys", dict(self.surveys), self.trail))

    @property
    def surveys_here(self) -> SurveyFolder | None:
        """The surveys that custodians open on the pages; None where there is no folder for them."""
        from discreet.apps.server.survey_folder import SurveyFolder

        return self.surveys if isinstance(self.surveys, SurveyFolder) else None

    @property
    def trail(self) -> Trail:
        """Who changed what in the folder for state."""
        if self.state is None:
            raise InputError("state", MISSING, "a state folder, which this server does not have")
        return Trail(self.state / "trail.db", self.record_trail)

    def record_trail(self) -> int:
        """Put on the ledgers what was changed here and is not on them yet: how many changes that were."""
        trails = [] if self.tokens is None or self.linked else [self.tokens.trail]
        if self.state is not None and (self.state / "trail.db").exists():
            trails.append(Trail(self.state / "trail.db"))
        return deliver(trails, self.ledgers)

    @property
    def uploads(self) -> Uploads:
        """Tables that custodians brought."""
        if self.state is None:
            raise InputError("state", MISSING, "a state folder, which this server does not have")
        return Uploads(self.state / "uploads", self.limits.upload)

    def within(self, **changes: Any) -> Service:
        """The same with other limits."""
        return replace(self, limits=replace(self.limits, **changes))


def _without_remaining(values: dict[str, Any]) -> dict[str, Any]:
    """The same with nothing said of what is left, in its tables neither."""
    if "remaining" in values:
        return {**values, "remaining": ""}
    return {name: _without_remaining(part) if isinstance(part, dict) else part for name, part in values.items()}


def _may_see(job: Job, caller: Caller) -> bool:
    return caller.role == "custodian" or job.who == caller.name


def _may_publish(known: Outcome, caller: Caller) -> bool:
    paid = known.charged
    return caller.role == "custodian" or paid.who == caller.name or caller.sees(paid.allotment)


def _finished(curator: Curator, plan: Any, identity: str, kind: str, who: str) -> bool:
    """Whether the books have the answer; refused here if the id stands for something else or too little is left."""
    known = curator.ledger.find(identity)
    if kind == "stream":  # its periods compare themselves with the plan, and all but the first are paid for
        begun = curator.ledger.find(f"{identity.rpartition('/')[0]}/1")
        if begun is not None:
            return known is not None and known.answer is not None
    elif known is not None:
        if (known.charged.digest, known.charged.dataset) != (plan.digest, plan.dataset):
            hint = "Nothing was spent. Choose another id for another question."
            raise InputError("release", identity, "a new id: this one was paid for another question", hint)
        return known.answer is not None
    part = plan.allotment
    spent = next(one.spent for one in curator.standing() if one.allotment.name == part.name)
    if not (spent + plan.charge).within(part.cap):
        raise refusal(plan.dataset, part, plan.charge, spent)
    Caps(curator.ledger).check(plan.dataset, part.name, plan.charge, who)
    return False


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
