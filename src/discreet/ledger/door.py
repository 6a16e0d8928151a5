"""The one door: the only place where private data is opened.

Spend, open, run, record. The cost is durable before the data is read, and the answer is durable before anyone
sees it. Everything else in the house describes, prices or reads what came out. A test keeps it so
(tests/ledger/test_one_door.py).
"""

from __future__ import annotations

import json
import uuid
import warnings
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from discreet.core.exact import Number
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.plan import Covered, Plan, Private
from discreet.core.unit import Protected
from discreet.core.version import DataVersion, version_text
from discreet.core.wire import Json, canonical
from discreet.errors import DiscreetError, InputError, Phrase, RunError, kind_of
from discreet.ledger.budget import Charge
from discreet.ledger.ledger import Ledger
from discreet.ledger.outcome import Outcome
from discreet.noise.bits import SystemBits

__all__ = ["ATTEMPTS", "Answer", "Durable", "Resumable", "release", "stored"]

ATTEMPTS = 3
"""How often a release may be run with fresh noise under one charge when a crash loses its answer."""

_FAILED = "the run did not finish"
_LOST = "its answer was lost too often"
_CHANGED = "the data changed during the run"
_AGAIN = "its answer was lost; run again under the same charge"


@runtime_checkable
class Resumable(Protocol):
    """A plan whose run is kept where it stands, so that it can be gone on with. Plans need not be like this."""

    @property
    def watched(self) -> bool:
        """Whether anything of the run is shown before its answer is on the books. Part of the digest."""
        ...

    def begun(self) -> bool:
        """Whether a run made now repeats one that was begun: the same draws on the same data, hence the same answer."""
        ...


@runtime_checkable
class Durable(Resumable, Protocol):
    """A resumable plan that draws once: its answer is on disk before `run` returns it. Part of what it must prove.

    What was drawn is published as it is, whatever the data is now, for it reads none. Before that nothing was drawn
    that could be used on two versions, so it may be made from the data of now.
    """

    def drawn(self) -> bool:
        """Whether the answer was drawn: then `run` returns it and reads no data. The same as `begun`."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What came out of the door. `result` is read from the books, so asking again gives the same."""

    release: str
    dataset: str
    allotment: str
    digest: str
    mechanism: str
    charge: Charge
    time: str
    result: Json
    replayed: bool
    """Whether it was on the books already: then nothing was read and nothing was spent this time."""
    query: Json = None
    """What was asked, as it is on record."""
    data: DataVersion | None = None
    """The version of the data it was made from; None if it was made before versions were recorded."""
    stale: str = ""
    """Why it may describe other data than there is now; empty if it is new, or the data is known to be the same."""

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
) -> Answer:
    """Charge the plan, run it on the data, record the answer, return it.

    `release` is an id of the caller's choice (a new one if absent). Asked again under the same id and plan, the
    recorded answer comes back at no cost; if a crash lost the answer, the run is made again under the same charge, or
    gone on with where the plan is `Resumable`. An id that was paid for another version of the data is refused, unless
    the plan is `Durable` and has no answer yet. Where versions cannot be compared, the stored answer says so (`stale`),
    and so does a warning, unless `warn` is false because the caller shows the answer's notes to somebody else.
    `BudgetError`: refused, nothing spent, nothing read. `RunError`: the run failed; the charge stays.

    Guarantee: if `plan.run` costs `plan.cost`, then all answers ever returned stay within the budget of the
    dataset, under any number of threads, processes and crashes: docs/proofs/ledger.md, "The door".
    """
    if not isinstance(unit := getattr(plan, "unit", None), Protected):
        hint = "Nothing was spent. A plan says what its cost is stated for, such as `unit = Unit('patient')`."
        raise InputError("plan.unit", kind_of(unit), "a Unit", hint)
    identity = uuid.uuid4().hex if release is None else release
    version = ledger.version_of(data)
    if (known := ledger.find(identity)) and known.answer is not None:
        return _replay(plan, known, version, warn)
    with ledger.running(identity):
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
        )
        if charged.already_paid:
            known = ledger.find(identity)
            if known is not None and known.answer is not None:
                return _replay(plan, known, version, warn)
            if known is not None and known.failure is not None:
                raise _failure(identity, known.failure)
            if known is not None and not isinstance(plan, Durable):
                _check_data(known, version)
            if not (isinstance(plan, Resumable) and _goes_on(plan, identity)):
                if known is not None and known.notes >= ATTEMPTS - 1:
                    raise _failure(identity, ledger.failed(identity, _LOST, who=who).failure or _LOST)
                # Nobody saw the lost answer: it would be on the books. See the proof note for what this rests on.
                other = version if known is not None and known.data not in (None, version) else None
                ledger.note(identity, _AGAIN, who=who, data=other)
        text = _attempt(plan, data, SystemBits() if bits is None else bits)
        if isinstance(text, BaseException):
            raise text  # stopped from outside: like a crash, so not recorded as a failure
        if text is None:
            raise _failure(identity, ledger.failed(identity, _FAILED, who=who).failure or _FAILED)
        ledger.answer(identity, text, who=who)
        if _changed(data, ledger, version):
            ledger.note(identity, _CHANGED, who=who)
        known = ledger.find(identity)
    if known is None or known.answer is None:  # someone recorded a failure first: the locks were lost meanwhile
        raise _failure(identity, _FAILED)
    return stored(known, replayed=known.answer != text)


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
        hint = "Its losses may have been seen, so it is not run with other noise. Name its file, or choose a new id."
        raise InputError(
            "checkpoint", Phrase("no run"), f"the file that the run of release {identity!r} was kept in", hint
        )
    return False


def _attempt(plan: Plan, data: Private, bits: Bits) -> str | BaseException | None:
    """The result as JSON text; None if anything at all went wrong; a fresh exception if it was told to stop.

    The exception and the frames that hold private values end here: neither what went wrong nor where may be told,
    for both may depend on a single row.
    """
    try:
        with data.open() as private:
            return canonical(plan.run(private, bits))
    except Exception:
        return None
    except BaseException as stop:
        return _anew(type(stop))


def _anew(kind: type[BaseException]) -> BaseException:
    """KeyboardInterrupt, SystemExit, a cancelled task: the same again, with nothing of the run attached to it."""
    try:
        return kind()
    except Exception:
        return KeyboardInterrupt()


def _replay(plan: Plan, known: Outcome, version: DataVersion, warn: bool) -> Answer:
    if (known.charged.digest, known.charged.dataset) != (plan.digest, plan.dataset):
        hint = "Nothing was spent. Choose another id for another question."
        raise InputError("release", known.charged.release, "a new id: this one answers another question", hint)
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


def _check_data(known: Outcome, version: DataVersion) -> bool:
    """Whether the data is known to be what an id was paid for; refused if it is known to be something else."""
    same = None if known.data is None else known.data.same(version)  # what the first version stored names none
    if same is not False:
        return same is True
    allowed = f"a new id: this one was paid for data version {known.data}, and the data is now version {version}"
    hint = (
        "Nothing was spent. Its stored answer can be read by its id alone (curator.release, discreet releases show). "
        "A question about the data of now needs an id of its own, and is charged. Files that are copied or touched "
        'count as changed, unless a version is declared: version = "..." under [dataset] in the schema.'
    )
    raise InputError("release", known.charged.release, allowed, hint)


def stored(known: Outcome, *, replayed: bool = True) -> Answer:
    """The answer that the books hold for a release."""
    paid = known.charged
    return Answer(
        release=paid.release,
        dataset=paid.dataset,
        allotment=paid.allotment,
        digest=paid.digest,
        mechanism=paid.mechanism,
        charge=paid.charge,
        time=paid.time,
        result=json.loads(known.answer or "null"),
        replayed=replayed,
        query=paid.query,
        data=known.data,
    )


def _failure(identity: str, reason: str) -> RunError:
    return RunError(
        f"Release {identity!r} has no answer: {reason}. Its cost was recorded before the data was read and stays "
        "spent. What happened inside is not shown, because it may depend on private values. Check that the data can be "
        "opened and fits its schema, then ask again under a new release id.",
        release=identity,
    )
