"""The one door: the only place where private data is opened.

Spend, open, measure, record, publish, record. The cost is durable before the data is read, what was drawn is durable
before anything is made of it, and the answer is durable before anyone sees it. Everything else describes,
prices or reads what came out. A test keeps it so (tests/ledger/test_one_door.py).
"""

from __future__ import annotations

import inspect
import json
import uuid
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from discreet.core.deadline import cancelled, passed
from discreet.core.exact import Number
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.plan import Covered, Plan, Private, as_paid
from discreet.core.tick import wait_for_tick
from discreet.core.unit import Protected
from discreet.core.version import DataVersion, version_text
from discreet.core.wire import Json, canonical
from discreet.errors import GIVEN, BusyError, DiscreetError, InputError, Phrase, RunError, SourceError, kind_of
from discreet.ledger.budget import Charge
from discreet.ledger.failure import CANCELLED, FAILED, LOST, STOPPED, anew, failure, out_of_reach, reach
from discreet.ledger.ledger import Ledger
from discreet.ledger.outcome import Outcome
from discreet.noise.bits import SystemBits

__all__ = [
    "ATTEMPTS",
    "CANCELLED",
    "Answer",
    "Durable",
    "Resumable",
    "check_how",
    "failure",
    "publish",
    "release",
    "stored",
]

ATTEMPTS = 3
"""How often a release may be measured with fresh noise under one charge when crashes lose its measurement."""

_CHANGED = "the data changed during the run"
_AGAIN = "its answer was lost; run again under the same charge"


@runtime_checkable
class Resumable(Protocol):
    """A plan whose run is kept where it stands, so that it can be gone on with. Plans need not be like this."""

    @property
    def watched(self) -> bool:
        """Whether anything of the run is shown before its answer is on the ledger. Part of the digest."""
        ...

    def begun(self) -> bool:
        """Whether a run made now repeats one that was begun: the same draws on the same data, hence the same answer."""
        ...


@runtime_checkable
class Durable(Resumable, Protocol):
    """A resumable plan that draws once: what it drew is on disk before `measure` returns it. It must prove that.

    What was drawn is published as it is, whatever the data is now, for it reads none. Before that nothing was drawn
    that could be used on two versions, so it may be made from the data of now.
    """

    def drawn(self) -> bool:
        """Whether it was drawn: then `measure` returns it and reads no data. The same as `begun`."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What came out of the door. `result` is read from the ledger, so asking again gives the same."""

    release: str
    dataset: str
    allotment: str
    digest: str
    mechanism: str
    charge: Charge
    time: str
    result: Json
    replayed: bool
    """Whether it was on the ledger already: then nothing was read and nothing was spent this time."""
    query: Json = None
    """What was asked, as it is on record."""
    data: DataVersion | None = None
    """The version of the data it was made from; None if it was made before versions were recorded."""
    stale: str = ""
    """Why it may describe other data than there is now; empty if it is new, or the data is known to be the same."""
    measured: Json = None
    """What was drawn, which the result is made from; None if an older version recorded the result only."""
    kind: str = ""
    """The kind of job, and the version of the form of both; absent where an older version recorded them."""
    version: int = 0
    unit: str = ""
    """What is protected, as on record; absent where 0.1 recorded it."""
    price: Mapping[str, float] = field(default_factory=dict)
    """The price in numbers, where it is known how the allotment that paid it counts."""

    @property
    def data_version(self) -> str:
        """The version of the data, in words."""
        return version_text(self.data)

    @property
    def caveats(self) -> tuple[Note, ...]:
        """What was left out of it, as recorded with it; 0.1 recorded nothing of the kind."""
        result: Any = self.result
        return tuple(map(Note.from_dict, result.get("notes", ())))

    def provenance(self, cost: str, remaining: str) -> dict[str, Any]:
        """What every release made of it says of itself; cost and what is left are in words."""
        return {
            "id": self.release,
            "dataset": self.dataset,
            "cost": cost,
            "remaining": remaining,
            "mechanism": self.mechanism,
            "digest": self.digest,
            "data": self.data_version,
            "replayed": self.replayed,
            "facts": {
                **({"unit": self.unit} if self.unit else {}),
                **({"released": self.time} if self.time else {}),
                **({"price": dict(self.price)} if self.price else {}),
            },
        }


def release(
    plan: Plan,
    data: Private,
    ledger: Ledger,
    *,
    who: str,
    why: str = "",
    release: str | None = None,
    allotment: str | None = None,
    delta: Number | None = None,
    bits: Bits | None = None,
    warn: bool = True,
    request: str | None = None,
) -> Answer:
    """Charge the plan, measure the data, record that, publish it, record the answer, return it.

    `release` is an id of the caller's choice (a new one if absent). Asked again under the same id and plan, the
    recorded answer comes back at no cost. If publishing failed or was cut short, it is done again from the recorded
    measurement: no data is read and nothing is drawn. If a crash lost the measurement itself, it is made again under
    the same charge, or gone on with where the plan is `Resumable`. An id that was paid for another version of the data
    is refused, unless the plan is `Durable` and has no answer yet. Where versions cannot be compared, the stored answer
    says so (`stale`), and so does a warning, unless `warn` is false because the caller shows the answer's notes to
    somebody else. `request` is what was asked for and at which price, for the record.
    `BudgetError`: refused, nothing spent, nothing read. `RunError`: the run failed; the charge stays, and so does what
    was measured, if it was.

    Guarantee: if `plan.measure` costs `plan.cost`, then all answers ever returned stay within the budget of the
    dataset, under any number of threads, processes and crashes: docs/proofs/ledger.md, "The door".
    """
    if not isinstance(unit := getattr(plan, "unit", None), Protected):
        hint = "Nothing was spent. A plan says what its cost is stated for, such as `unit = Unit('patient')`."
        raise InputError("plan.unit", kind_of(unit), "a Unit", hint)
    if not (isinstance(plan.kind, str) and plan.kind and type(plan.version) is int and plan.version > 0):
        hint = "Nothing was spent. What is recorded says what it is: kind = 'question', version = 1."
        raise InputError(
            "plan.kind", Phrase(f"{plan.kind!r}, version {plan.version!r}"), "a name, with a version from 1", hint
        )
    identity = uuid.uuid4().hex if release is None else release
    version = ledger.version_of(data)
    if release is not None and (known := ledger.find(identity)):
        plan = as_paid(plan, known.charged.digest)
        if known.answer is not None:
            return _replay(plan, known, version, warn)
    with ledger.running(identity):
        if passed() and ((known := ledger.find(identity)) is None or known.open):
            if cancelled():
                raise BusyError("The release was cancelled before it had its turn. Nothing was spent by asking.")
            raise BusyError("The time limit was reached before the release had its turn. Nothing was spent by asking.")
        reach(data)
        charged = ledger.spend(
            plan.dataset,
            plan.cost,
            release=identity,
            who=who,
            why=why,
            query=plan.query,
            digest=plan.digest,
            mechanism=plan.mechanism,
            unit=unit,
            cover=plan.covered_by if isinstance(plan, Covered) else None,
            allotment=allotment,
            delta=delta,
            data=version,
            request=request,
        )
        if charged.already_paid and (known := ledger.find(identity)) is not None:
            if known.answer is None and known.failure is None and known.measurement is not None:
                known = _conclude(plan, known, ledger, who)
                if isinstance(plan, Durable):  # what it drew is of the data of then, whatever there is now
                    return stored(known)
            if known.answer is not None:
                return _replay(plan, known, version, warn)
            if known.failure is not None:
                raise failure(identity, known.failure)
            _try_again(plan, known, ledger, version, who)
        bits = SystemBits() if bits is None else bits
        text = _attempt(plan, data, bits, identity)
        if isinstance(text, SourceError) and (known := ledger.find(identity)) is not None:
            with suppress(SourceError):  # once, if it is back by now; else whoever asks again has it done
                reach(data)
                _try_again(plan, known, ledger, version, who)
                text = _attempt(plan, data, bits, identity)
        wait_for_tick()  # when a run ends may depend on the data, and from here on its end can be seen
        if isinstance(text, BaseException):
            raise text  # stopped from outside: like a crash, so not recorded as a failure
        if text is None or passed():
            reason = CANCELLED if cancelled() else STOPPED if passed() else FAILED
            raise failure(identity, ledger.failed(identity, reason, who=who).failure or reason)
        known = ledger.measurement(identity, text, who=who, kind=plan.kind, version=plan.version)
        if _changed(data, ledger, version):
            ledger.note(identity, _CHANGED, who=who)
        if known.open:
            known = _conclude(plan, known, ledger, who)
    if known.answer is None:  # someone recorded a failure first: the locks were lost meanwhile
        raise failure(identity, FAILED)
    return stored(known, replayed=known.measurement != text)


def publish(
    plan: Plan, ledger: Ledger, release: str, how: Mapping[str, Any] | None = None, *, who: str, wait: bool = True
) -> Answer:
    """What was measured for a release, published again: by another method, where `how` names one. Free.

    No data is read and nothing is drawn. The answer on record stays; where there is none yet, because publishing
    failed, that of the plan is recorded first, and never what `how` makes of it. `BusyError` where another runs the
    release and this may not `wait` for it.
    """
    known = ledger.find(release)
    if known is None or known.measurement is None or known.failure is not None:
        hint = "Nothing was spent. Versions before 0.2 recorded answers only."
        raise InputError("release", release, "the id of a release whose measurement is recorded", hint)
    plan = as_paid(plan, known.charged.digest)
    _check_same(plan, known)
    ways = dict(how or {})
    check_how(plan, ways)
    if known.open:
        with ledger.running(release, wait=wait):
            known = ledger.find(release) or known  # whoever held the lock before may have concluded it
            if known.open:
                try:
                    known = _conclude(plan, known, ledger, who)
                except RunError:
                    if not ways:  # what another way makes can be seen although that of the plan is not made yet
                        raise
        if known.failure is not None:
            raise failure(release, known.failure)
        if not ways:
            return stored(known)
    result = json.loads(_made(plan, known, **ways))
    return replace(stored(known), result=result)


def check_how(plan: Plan | type[Plan], how: Mapping[str, Any]) -> None:
    """Refuse what is no way to publish a plan, by its name."""
    known = [name for name in inspect.signature(plan.publish).parameters if name not in ("self", "measured")]
    for name in sorted(set(how) - set(known)):
        choice = f"only {', '.join(known)} can be chosen" if known else "nothing can be chosen here"
        raise InputError(f"how.{name}", GIVEN, f"left out: {choice}", "Nothing was spent.")


def _conclude(plan: Plan, known: Outcome, ledger: Ledger, who: str) -> Outcome:
    """Publish what is on record and record the answer; where it is the measurement as it stands, not a second time."""
    text, release = _made(plan, known), known.charged.release
    answer = None if text == known.measurement else text
    return ledger.answered_by(release, answer, who=who, kind=plan.kind, version=plan.version)


def _made(plan: Plan, known: Outcome, **how: Any) -> str:
    """The answer as JSON text. Whatever goes wrong here saw noisy numbers only, so it may be told."""
    try:
        return canonical(plan.publish(json.loads(known.measurement or "null"), **how))
    except Exception as problem:
        if how and isinstance(problem, InputError):
            raise
        said = f": {problem}" if isinstance(problem, DiscreetError) else ""  # others may tell of the machine
        raise RunError(
            f"Release {known.charged.release!r} was paid and measured, but could not be published "
            f"({type(problem).__name__}{said}). Nothing is lost: its measurement is on record. Request it again under "
            "the same release id: it is published from there, at no cost, without reading data and without fresh "
            "noise.",
            release=known.charged.release,
        ) from problem


def _try_again(plan: Plan, known: Outcome, ledger: Ledger, version: DataVersion, who: str) -> None:
    """Before a second attempt under one charge: it goes on with the first, or is put on record; or it is refused."""
    identity = known.charged.release
    if not isinstance(plan, Durable):
        _check_data(known, version)
    if isinstance(plan, Resumable) and _goes_on(plan, identity):
        return
    if known.notes >= ATTEMPTS - 1:
        raise failure(identity, ledger.failed(identity, LOST, who=who).failure or LOST)
    # Nobody saw the lost draw: it would be on the ledger. See the proof note for what this rests on.
    ledger.note(identity, _AGAIN, who=who, data=version if known.data not in (None, version) else None)


def _changed(data: Private, ledger: Ledger, version: DataVersion) -> bool:
    """Whether the data is in another state than the one that was charged for; a state is also to be gone."""
    try:
        return ledger.version_of(data) != version
    except DiscreetError:
        return True


def _goes_on(plan: Resumable, identity: str) -> bool:
    """Whether a run made now repeats the one that was begun; refused if it does not and that one may have been seen."""
    if plan.begun():
        return True
    if plan.watched:
        hint = (
            "Its noisy losses may have been seen, so it is not run again with other noise. Name its file, or choose a "
            "new id."
        )
        raise InputError(
            "checkpoint", Phrase("no run"), f"the file that the run of release {identity!r} was kept in", hint
        )
    return False


def _attempt(plan: Plan, data: Private, bits: Bits, identity: str) -> str | BaseException | None:
    """The measurement as JSON text; None if anything at all went wrong; a fresh exception if it was told to stop, or
    if the database or the cluster went away: what lies beyond the network, and no row, decides about that.

    The exception and the frames that hold private values end here: neither what went wrong nor where may be told,
    for both may depend on a single row.
    """
    try:
        with data.open() as private:
            return canonical(plan.measure(private, bits))
    except SourceError:
        return out_of_reach(identity)
    except Exception:
        return None
    except BaseException as stop:
        return anew(type(stop))


def _replay(plan: Plan, known: Outcome, version: DataVersion, warn: bool) -> Answer:
    _check_same(plan, known)
    answer = stored(known, replayed=True)
    if _check_data(known, version):
        return answer
    lack = "no data version was recorded with it" if known.data is None else f"the data is {version_text(version)}"
    text = (
        f"This answer was stored on {answer.time[:10]} and {lack}, so it may describe earlier data. Declare a version "
        "to have it compared: `version` under [dataset] in the schema, or open(..., version=...)."
    )
    if warn:
        warnings.warn(f"Release {answer.release!r}: {text}", UserWarning, stacklevel=3)
    return replace(answer, stale=text)


def _check_same(plan: Plan, known: Outcome) -> None:
    if (known.charged.digest, known.charged.dataset) != (plan.digest, plan.dataset):
        hint = "Nothing was spent. Choose another id for another question."
        raise InputError("release", known.charged.release, "a new id: this one answers another question", hint)


def _check_data(known: Outcome, version: DataVersion) -> bool:
    """Whether the data is known to be what an id was paid for; refused if it is known to be something else."""
    same = None if known.data is None else known.data.same(version)  # what the first version stored names none
    if same is not False:
        return same is True
    if known.data is not None and known.data.kind == version.kind == "rows":
        hint = "Nothing was spent. With the rows it was made from, the stored answer comes back and costs nothing."
        raise InputError("release", known.charged.release, "a new id: this one was paid for other rows", hint)
    allowed = f"a new id: this one was paid for data version {known.data}, and the data is now version {version}"
    hint = (
        "Nothing was spent. Its stored answer can be read by its id alone (curator.release, discreet releases show). "
        "A question about the current data needs a new id, and is charged. Files that are copied or touched "
        'count as changed, unless a version is declared: version = "..." under [dataset] in the schema.'
    )
    raise InputError("release", known.charged.release, allowed, hint)


def stored(known: Outcome, *, replayed: bool = True) -> Answer:
    """The answer that the ledger holds for a release."""
    paid = known.charged
    result = json.loads(known.answer or "null")
    same = known.measurement == known.answer
    return Answer(
        release=paid.release,
        dataset=paid.dataset,
        allotment=paid.allotment,
        digest=paid.digest,
        mechanism=paid.mechanism,
        charge=paid.charge,
        time=paid.time,
        result=result,
        replayed=replayed,
        query=paid.query,
        data=known.data,
        measured=result if same else json.loads(known.measurement or "null"),
        kind=known.kind,
        version=known.version,
        unit=paid.unit,
    )
