"""Jobs that release something: a queue in the database of the ledger, worked off by every process that serves its data.

A process that runs a job beats as long as it lives. A job whose process has not beaten for `lease` seconds is begun
again by another, under the same release id: the ledger charges it once, whatever happens here (docs/proofs/ledger.md).
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from discreet.apps.server.cancellation import TIME_LIMIT
from discreet.apps.server.job_table import JobTable, Row
from discreet.apps.server.jobs import Job, Report, public_words
from discreet.core.deadline import Deadline, cancellable
from discreet.errors import BusyError, DiscreetError, InputError, LedgerError, SourceError
from discreet.ledger.ledger import Ledger

__all__ = ["JobLimits", "Queue", "Ticket", "drain_queues", "pause_queues", "payer_of"]

log = logging.getLogger("discreet.server")

_ATTEMPTS = 5  # after that a job is not begun again by itself
_PAUSE = 1.0  # seconds between two notes of how far a job is, and two looks for one
_RETRY = 2.0  # seconds before a job is tried again that the ledger did not answer
_LARGEST = 1 << 25  # characters that the requests of a caller's waiting jobs have together
_WRONG = "something went wrong"
_TOO_OFTEN = (
    "It was stopped too often by processes that died or a ledger that did not answer. Ask again under the same id: "
    "it is charged once."
)

_open: weakref.WeakSet[Queue] = weakref.WeakSet()


@dataclass(frozen=True, slots=True)
class JobLimits:
    """How many jobs run and wait."""

    running: int = 2
    """How many run at once in a process."""
    each: int = 2
    """How many of one caller run at once, in all processes of all servers together."""
    waiting: int = 2000
    """How many wait in all."""
    caller_waiting: int = 500
    """How many of one caller wait."""
    lease: float = 15.0
    """After how many seconds without a beat a process is taken for dead, and its jobs are begun again."""
    longest: float | None = None
    """How many seconds one may run; then it is cancelled. None: it may take as long as it takes."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """What is to be done for a job: its request as JSON, and the digest of its plan when it was accepted."""

    job: Job
    request: str
    digest: str


class _Stopped(Exception):  # noqa: N818 - it ends a run that was cancelled, and is told to nobody
    pass


class Queue:
    """The jobs of one ledger as a process sees them. `perform` does the work of one; it is set by the service."""

    def __init__(self, ledger: Ledger, limits: JobLimits | None = None) -> None:
        self.ledger, self.limits = ledger, JobLimits() if limits is None else limits
        self.perform: Callable[[Ticket, Report], None] = lambda ticket, report: None
        self.serves: Callable[[], Collection[str]] = lambda: ()
        """The datasets whose jobs this process can do."""
        self.ended: Callable[[Ticket, str], Job] = lambda ticket, by: ticket.job
        """What is to be said of a job that was cancelled, from what the ledger holds of it."""
        self.name = uuid.uuid4().hex
        self._mine: dict[tuple[str, str], tuple[Row, Deadline]] = {}
        self._begun: dict[tuple[str, str], float] = {}
        self._beats: dict[tuple[str, str], tuple[str, int, float]] = {}
        self._lock, self._claiming = threading.Lock(), threading.Lock()
        self._wake = threading.Event()
        self._threads = 0
        self._paused = self._created = False

    @contextmanager
    def _table(self, *, write: bool = True) -> Iterator[JobTable]:
        if not self._created:
            with self.ledger.beside() as execute:
                JobTable(execute).create()
            self._created = True
        with self.ledger.beside(write=write) as execute:
            yield JobTable(execute)

    def submit(self, job: Job, *, request: str, digest: str, payer: str | None = None, custodian: bool = False) -> Job:
        """Put a job into the queue; one of this id that waits or runs already is given back as it is.

        `BusyError` where too many wait. `InputError` for an id that another's job or another question has, unless that
        job is over and the id was paid for by the `payer` who asks now.
        """
        with self._table() as table:
            old = table.find(job.dataset, job.release)
            if old is not None:
                mine = custodian or old.job.who == job.who or (old.job.over and payer == job.who)
                if not mine:
                    hint = "Nothing was spent. Choose another id."
                    raise InputError("release", job.release, "a new id: another person's job has this one", hint)
                if not old.job.over:
                    if (old.digest, old.job.kind) != (digest, job.kind):
                        hint = "Nothing was spent. Choose another id for another question."
                        raise InputError("release", job.release, "a new id: a job of this id is running", hint)
                    return replace(old.job, position=table.positions().get(old.key))
            waiting = Counter(row.job.who for row in table.in_state("waiting"))
            if waiting.total() >= self.limits.waiting:
                raise BusyError("Too many jobs are waiting here. Nothing was spent. Try again later.")
            if waiting[job.who] >= self.limits.caller_waiting:
                most = self.limits.caller_waiting
                raise BusyError(f"{most} of your jobs are waiting, which is the most. Nothing was spent. Cancel some.")
            if table.waiting_size(job.who) + len(request) > _LARGEST:
                raise BusyError("Your waiting jobs are too large together. Nothing was spent. Cancel some, or wait.")
            table.add(job, request=request, digest=digest)
            job = replace(job, position=table.positions()[job.dataset, job.release])
        self.start()
        self._wake.set()
        return job

    def find(self, dataset: str, release: str) -> Job | None:
        """What is known of a job; None if there is none."""
        with self._table(write=False) as table:
            row = table.find(dataset, release)
            if row is None or row.job.state != "waiting":
                return None if row is None else row.job
            return replace(row.job, position=table.positions().get(row.key))

    def request(self, dataset: str, release: str) -> Ticket | None:
        """What a job asked for; None if there is none."""
        with self._table(write=False) as table:
            row = table.find(dataset, release)
        return None if row is None else Ticket(row.job, row.request, row.digest)

    def listed(self, dataset: str) -> list[Job]:
        """The jobs of a dataset, the newest first."""
        with self._table(write=False) as table:
            positions = table.positions()
            return [replace(row.job, position=positions.get(row.key)) for row in table.of_dataset(dataset)]

    def counts(self) -> dict[tuple[str, str], int]:
        """How many jobs there are, by dataset and state."""
        with self._table(write=False) as table:
            return table.counts()

    def cancel(self, dataset: str, release: str, by: str) -> Job | None:
        """Cancel a job: one that waits ends at once, one that runs is stopped by its process. None if it is over."""
        with self._table() as table:
            row = table.find(dataset, release)
            if row is None or row.job.over:
                return None
            if row.job.state == "running":
                table.change(row, cancelled=by)
                if (mine := self._mine.get(row.key)) is not None:
                    mine[1].cancel()
                return replace(row.job, stage="stopping")
            _end(table, row, replace(row.job, state="cancelled", stage="cancelled"), cancelled=by)
        # Not in the transaction: what is to be said of it is on the ledger, which is in the same database.
        found = self.ended(Ticket(row.job, row.request, row.digest), by)
        with self._table() as table:
            table.change(row, problem=found.problem)
        return replace(found, ended=_now())

    # Work

    def start(self) -> None:
        """Work jobs off, from now on, in threads that end with the process."""
        with self._lock:
            if self._paused:
                return
            new = range(self._threads, self.limits.running)
            if new and not self._threads:
                _open.add(self)
                threading.Thread(target=_beat, args=(weakref.ref(self),), daemon=True, name="discreet-beat").start()
            self._threads += len(new)
        for _ in new:
            threading.Thread(target=_work, args=(weakref.ref(self),), daemon=True, name="discreet-job").start()

    def pause(self) -> None:
        """Begin no other job. What waits stays for another process, or the next start."""
        self._paused = True
        self._wake.set()

    def drain(self, end: float, impatient: threading.Event) -> None:
        """Let running jobs end until a time of the monotonic clock; then give the rest back to the queue."""
        self.pause()
        while self._mine and time.monotonic() < end and not impatient.wait(0.05):
            pass
        with suppress(LedgerError), self._table() as table:
            for row, _ in list(self._mine.values()):
                now = table.find(*row.key)
                if now is not None and not now.job.over:  # one that ended just now is not begun again
                    table.change(row, state="waiting", stage="waiting", progress=None, owner="")

    def step(self) -> bool:
        """Take the next job and see it through; whether there was one."""
        if self._paused:
            return False
        with self._table(write=False) as table:
            if not table.in_state("waiting") and not self._stale(table):
                return False
        with self._claiming:  # so that no other thread finds a job of this process that nobody here runs
            with self._table() as table:
                row = self._claimed(table)
            if row is None:
                return False
            self._mine[row.key] = (row, Deadline())
        self._run(row)
        return True

    def _stale(self, table: JobTable) -> list[Row]:
        """Running jobs whose process is taken for dead: no beat of it was seen for the time of a lease.

        Beats are counted, and how long none came is measured here: clocks of machines need not agree.
        """
        now, found, seen = time.monotonic(), [], {}
        for row in table.in_state("running"):
            owner, beat, since = self._beats.get(row.key, ("", -1, now))
            fresh = (owner, beat) != (row.owner, row.beat)
            seen[row.key] = (row.owner, row.beat, now if fresh else since)
            left = row.owner == self.name and row.key not in self._mine  # what became of it could not be written down
            if left or (row.owner != self.name and not fresh and now - since >= self.limits.lease):
                found.append(row)
        self._beats = seen
        return found

    def _claimed(self, table: JobTable) -> Row | None:
        """The next job, which is this process's from now on."""
        here = self.serves()
        for row in self._stale(table):
            if row.cancelled and row.job.dataset in here:
                return self._take(table, row)
            if row.job.attempts + 1 >= _ATTEMPTS:
                _end(table, row, replace(row.job, state="failed", problem=_TOO_OFTEN, error="RunError"))
            elif row.job.dataset in here:
                return self._take(table, row, attempts=row.job.attempts + 1)
        busy = Counter(row.job.who for row in table.in_state("running"))
        for row in table.ordered():
            if row.job.dataset in here and busy[row.job.who] < self.limits.each:
                return self._take(table, row, turn=table.next_turn())
        return None

    def _take(self, table: JobTable, row: Row, **values: Any) -> Row:
        table.change(row, state="running", stage="starting", progress=None, owner=self.name, beat=0, **values)
        taken = table.find(*row.key)
        return row if taken is None else taken

    def _run(self, row: Row) -> None:
        last, known = 0.0, ""
        ticket = Ticket(row.job, row.request, row.digest)

        def report(stage: str, done: float | None) -> None:
            nonlocal last, known
            if deadline.cancelled:
                raise _Stopped
            now = time.monotonic()
            if stage != known or now - last >= _PAUSE:  # a new stage is told at once
                last, known = now, stage
                with suppress(LedgerError), self._table() as table:  # how far it is can wait; the work cannot
                    table.change(row, stage=stage[:200], progress=done)

        again, ending = False, replace(row.job, state="done", stage="done", progress=1.0)
        with cancellable() as deadline:
            self._begun[row.key] = time.monotonic()
            self._mine[row.key] = (row, deadline)
            try:
                if row.cancelled:
                    deadline.cancel()
                else:
                    self.perform(ticket, report)
            except (LedgerError, SourceError) as problem:
                again = row.job.attempts + 1 < _ATTEMPTS
                ending = _failed(row.job, public_words(problem), type(problem).__name__)
            except DiscreetError as problem:  # our own words, in which nothing is private
                ending = _failed(row.job, public_words(problem), type(problem).__name__)
            except BaseException as problem:
                # What was not foreseen may hold anything: its kind is logged, its text is told to nobody.
                if not isinstance(problem, _Stopped):
                    log.error("%s in a job", type(problem).__name__)
                ending = _failed(row.job, _WRONG, "ServerError")
            try:
                self._conclude(row, ticket, ending, again=again, cancelled=deadline.cancelled)
            except LedgerError:
                log.error("The end of a job could not be written down; it is looked at again.")
                again = True
            except Exception as problem:  # told as any other failure, or this job would be taken up for ever
                log.error("%s at the end of a job", type(problem).__name__)
                with suppress(LedgerError), self._table() as table:
                    _end(table, row, _failed(row.job, _WRONG, "ServerError"))
            finally:
                self._mine.pop(row.key, None)
                self._begun.pop(row.key, None)
        if again:
            self._wake.wait(_RETRY)

    def _conclude(self, row: Row, ticket: Ticket, ending: Job, *, again: bool, cancelled: bool) -> None:
        if cancelled:
            with self._table(write=False) as table:
                now = table.find(*row.key)
            ending, again = self.ended(ticket, row.cancelled if now is None else now.cancelled), False
        with self._table() as table:
            if again:
                attempts = row.job.attempts + 1
                table.change(row, state="waiting", stage="waiting", progress=None, owner="", attempts=attempts)
            else:
                _end(table, row, ending)

    def _send_beats(self) -> None:
        """Tell others that this process lives, hear which of its jobs are cancelled, and cancel what ran too long."""
        if not self._mine:
            return
        over = []
        with self._table() as table:
            for row, deadline in list(self._mine.values()):
                now = table.find(*row.key)
                if now is not None and now.owner == self.name and not now.job.over:
                    by = now.cancelled or (TIME_LIMIT if self._ran_too_long(now) else "")
                    table.change(now, beat=now.beat + 1, cancelled=by)
                    if by:
                        over.append(deadline)
        for deadline in over:  # whoever ends it reads by whom
            deadline.cancel()

    def _ran_too_long(self, row: Row) -> bool:
        ran = time.monotonic() - self._begun.get(row.key, float("inf"))
        return self.limits.longest is not None and ran >= self.limits.longest


def payer_of(ledger: Ledger, identity: str, kind: str) -> str | None:
    """Who paid for an id; for a period of a stream who paid for its first, and so for all. None where nobody did."""
    first = identity if kind != "stream" else f"{identity.rpartition('/')[0]}/1"
    paid = ledger.find(first)
    if paid is None and first != identity:
        raise InputError("release", identity, f"{first!r}: periods are released in order", "Nothing was spent.")
    return None if paid is None else paid.charged.who


def pause_queues() -> None:
    """Begin no other job in this process."""
    for queue in list(_open):
        queue.pause()


def drain_queues(end: float, impatient: threading.Event) -> None:
    """Let the jobs of this process end until a time of the monotonic clock; the rest goes back to the queue."""
    pause_queues()
    for queue in list(_open):
        queue.drain(end, impatient)


def _work(where: weakref.ref[Queue]) -> None:
    """Work off jobs for as long as the queue is there."""
    while (queue := where()) is not None and not queue._paused:
        wait = _PAUSE
        try:
            if queue.step():
                continue
        except LedgerError:
            wait = _RETRY
        except Exception as problem:
            log.error("%s in the queue of jobs", type(problem).__name__)
            wait = _RETRY
        wake = queue._wake
        del queue
        if wake.wait(wait):
            wake.clear()


def _beat(where: weakref.ref[Queue]) -> None:
    while (queue := where()) is not None:
        pause = queue.limits.lease / 5
        with suppress(LedgerError):
            queue._send_beats()
        del queue
        time.sleep(min(pause, 2.0))


def _failed(job: Job, problem: str, error: str) -> Job:
    return replace(job, state="failed", problem=problem, error=error)


def _end(table: JobTable, row: Row, job: Job, **more: str) -> None:
    values = {name: getattr(job, name) for name in ("state", "stage", "progress", "problem", "error")}
    table.change(row, **values, **more, ended=_now())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
