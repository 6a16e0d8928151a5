"""What a server serves: curators by the name of their data, tokens, jobs, and limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from discreet.apps.server.jobs import Job, Jobs, Report
from discreet.apps.server.plans import Plans
from discreet.apps.server.tokens import Caller, Tokens
from discreet.core.plan import as_paid
from discreet.core.progress import listening
from discreet.curator import Curator
from discreet.errors import InputError, MissingError
from discreet.ledger.account import Standing, refusal
from discreet.ledger.budget import label
from discreet.ledger.outcome import Outcome

if TYPE_CHECKING:
    from discreet.apps.server.requests import JobRequest, QuestionRequest
    from discreet.apps.server.surveys import Survey
    from discreet.show.map import Map
    from discreet.trees.census import CensusRelease
    from discreet.trees.detail import DetailRelease
    from discreet.trees.release import TreeRelease

__all__ = ["Limits", "Service", "standing_to"]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one caller may ask of the machine."""

    body: int = 1 << 20
    rate: float = 20.0
    burst: float = 60.0
    seconds: float = 60.0
    """How long a caller waits for an answer; after that it is to be fetched by its id."""
    jobs: int = 2
    """How many long jobs run at once in a process."""
    releases: int = 8
    """How many questions are answered at once in a process."""
    pace: float = 0.1
    """Answers to releases leave at whole multiples of so many seconds after they were asked."""


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
    surveys: Mapping[str, Survey] = field(default_factory=dict)
    plans: Plans = field(default_factory=Plans)
    linked: bool = False
    """Whether a token may be shown in an address: that of the one run of a server which has no others."""
    geometry: str | None = None
    """A file with the shapes of regions, for maps of hierarchies whose codes are in it."""

    def __post_init__(self) -> None:
        self.jobs.settled = self._settled

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

    def curator(self, name: str, caller: Caller) -> Curator:
        """The curator of a dataset, acting for a caller: what they spend is on the books under their name."""
        if name not in self.curators:
            raise MissingError("dataset", name, among=self.curators)
        # Whoever asked sees the notes of an answer; whoever reads the log of a server need not.
        return self.curators[name].acting_for(caller.name)

    def described(self, name: str, caller: Caller) -> dict[str, Any]:
        """What is public of a dataset: its schema, whom it protects, and what is left of the budget."""
        curator = self.curator(name, caller)
        schema = curator.declared
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
        return self.planned(name, asked, caller, lambda offer: {**offer.to_dict(), "text": str(offer)})

    def begin(self, name: str, asked: JobRequest, caller: Caller) -> Job:
        """Start a long job for a caller, or give back the one of that id: what is wrong is said before it begins.

        `InputError`: the question is not allowed. `BudgetError`: it costs more than is left. Nothing is spent then.
        """
        curator = self.curator(name, caller)
        offer = self.offer(name, asked, caller)
        identity = label(offer.identify(asked.release or None), "release")
        if identity in (".", "..") or "/" in (identity if asked.kind != "stream" else identity.rpartition("/")[0]):
            raise InputError("release", identity, "an id that can be a part of an address", "Nothing was spent.")
        if known := curator.ledger.find(identity):
            offer = replace(offer, plan=as_paid(offer.plan, known.charged.digest))
        if _finished(curator, offer.plan, identity, asked.kind):
            kept = self.jobs.find(name, identity)
            if kept is not None and kept.state == "done":
                # What it made is for everyone; for whom and why is not.
                return kept if _may_see(kept, caller) else replace(kept, who="", why="")

        def work(report: Report) -> None:
            with listening(report):
                offer.release(release=identity, why=asked.why)

        return self.jobs.start(caller, name, asked.kind, identity, asked.why, work, digest=offer.plan.digest)

    def seen(self, name: str, caller: Caller) -> list[Job]:
        """The jobs that a caller may see, the newest first: their own; all of them, for a custodian."""
        self.curator(name, caller)
        return [job for job in self.jobs.listed(name) if _may_see(job, caller)]

    def job(self, name: str, release: str, caller: Caller) -> Job:
        """One of them."""
        self.curator(name, caller)
        found = self.jobs.find(name, release)
        if found is None or not _may_see(found, caller):
            raise MissingError("release", release, "the id of a job of yours")
        return found

    def stored(self, name: str, release: str) -> Outcome | None:
        """What the books of a dataset hold under an id, if they hold an answer."""
        known = self._known(name, release)
        return None if known is None or known.answer is None else known

    def measured(self, name: str, release: str, caller: Caller) -> Outcome:
        """What a caller may publish: what they paid, or what was paid from an allotment that they spend from."""
        known = self._known(name, release)
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
        known = self._known(name, release)
        if known is None or caller.allotment in (None, known.charged.allotment):
            return values
        return _without_remaining(values)

    def _settled(self, dataset: str, release: str) -> bool:
        return self.stored(dataset, release) is not None

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
    return caller.role == "custodian" or paid.who == caller.name or caller.allotment in (None, paid.allotment)


def _finished(curator: Curator, plan: Any, identity: str, kind: str) -> bool:
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
    return False


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
        "exact": {
            "cap": str(part.cap.amount),
            "spent": str(one.spent.amount),
            "left": str(one.left.amount),
            "delta_spent": str(one.spent.delta),
        },
        "delta": {"cap": float(part.cap.delta), "spent": float(one.spent.delta), "left": float(one.left.delta)},
        "declared": part.to_json(),
    }
