"""Work of a server in the background that is no release, such as audits: in a file that all its processes share.

Jobs that release something are in the database of their ledger (`job_queue`). Either way a job's `stage` is a few words
of the work's own that are the same whatever the data holds.
"""

from __future__ import annotations

import logging
import os
import queue
import sqlite3
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.apps.server.liveness import Liveness
from discreet.errors import BusyError, DiscreetError, InputError, LedgerError, SourceError

if TYPE_CHECKING:
    from discreet.apps.server.tokens import Caller

__all__ = ["Job", "Jobs", "Report", "Work", "public_words"]

log = logging.getLogger("discreet.server")

Report = Callable[[str, float | None], None]
Work = Callable[[Report], None]

_TABLE = """CREATE TABLE IF NOT EXISTS jobs (
    dataset TEXT NOT NULL, release TEXT NOT NULL, kind TEXT NOT NULL, who TEXT NOT NULL, why TEXT NOT NULL,
    state TEXT NOT NULL, stage TEXT NOT NULL, progress REAL, problem TEXT NOT NULL, begun TEXT NOT NULL,
    ended TEXT NOT NULL, error TEXT NOT NULL, digest TEXT NOT NULL, owner TEXT NOT NULL, PRIMARY KEY (dataset, release)
)"""
_LOST = "The server was stopped while this ran. Ask again under the same id: it is charged once."
_WRONG = "something went wrong"
_BOOKS = (
    "The ledger cannot be used now. If a charge was being recorded, ask again under the same release id: it is not "
    "charged twice. The custodian can see more with: discreet ledger verify."
)
_DATA = (
    "The data cannot be reached now. Ask again under the same release id: it is charged once. The custodian can see "
    "more with: discreet doctor."
)
_PAUSE = 0.3  # seconds between two notes of how far a job is
_KEPT = 1000  # jobs that have ended, of a dataset


def public_words(problem: DiscreetError) -> str:
    """What callers are told of an error of ours: its text, but for the ledger's, and those of data out of reach.

    These repeat what a database said, or name a host, a user, or a row of the books with its answer.
    """
    if isinstance(problem, SourceError):
        return _DATA
    return _BOOKS if isinstance(problem, LedgerError) else str(problem)


@dataclass(frozen=True, slots=True)
class Job:
    """What is known of a job. Nothing in it depends on private data, but for how long the job takes."""

    dataset: str
    release: str
    kind: str
    who: str
    why: str
    state: str
    """waiting, running, done, failed, cancelled or interrupted."""
    stage: str
    progress: float | None
    problem: str
    begun: str
    ended: str
    error: str = ""
    """The name of the error that `problem` tells of, such as BudgetError."""
    priority: str = "normal"
    """high, normal or low."""
    position: int | None = None
    """How many jobs begin before this one, itself included, if no other is sent; None unless it waits."""
    attempts: int = 0
    """How often it was begun again after a process of the server had died."""

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state in ("done", "failed", "cancelled", "interrupted")


_NAMES = tuple(one.name for one in fields(Job))[:12]


class Jobs:
    """The jobs of a server: at most `most` run at once in this process, at most `waiting` wait for their turn.

    `path` is an SQLite file for all processes of the server; without it, one of this process alone that goes with it.
    A job whose process died is told as interrupted, from a lock that ends with the process.
    """

    def __init__(self, path: str | Path | None = None, most: int = 2, waiting: int = 32) -> None:
        self.most, self.waiting = most, waiting
        self.settled: Callable[[str, str], bool] = lambda dataset, release: False
        """Whether the books have the answer: what a process did last before it died may be that."""
        if path is None:
            handle, name = tempfile.mkstemp(prefix="discreet-jobs-", suffix=".db")
            os.close(handle)
            self.path = Path(name)
            weakref.finalize(self, _removed, self.path, os.getpid())
        else:
            self.path = Path(path)
            with suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        self._liveness = Liveness(self.path)
        self._queue: queue.SimpleQueue[tuple[str, str, Work]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        with self._open() as books:
            books.execute(_TABLE)

    @contextmanager
    def _open(self, how: str = "IMMEDIATE") -> Iterator[sqlite3.Connection]:
        books = sqlite3.connect(self.path, timeout=30, isolation_level=None)
        try:
            books.execute(f"BEGIN {how}")
            yield books
            books.execute("COMMIT")
        finally:
            books.close()

    def start(
        self, caller: Caller, dataset: str, kind: str, release: str, why: str, work: Work, *, digest: str = ""
    ) -> Job:
        """Let `work` run when there is room. One that waits or runs already is given back as it is.

        `digest` is that of the plan: while a job waits or runs, its id stands for nothing else.
        """
        new = Job(dataset, release, kind, caller.name, why, "waiting", "waiting", None, "", _now(), "")
        owner = self._liveness.name
        with self._lock, self._open() as books:
            for old, known, whose in _rows(books, "dataset = ? AND release = ?", dataset, release):
                if caller.role != "custodian" and old.who != caller.name:
                    hint = "Nothing was spent. Choose another id."
                    raise InputError("release", release, "a new id: another person's job has this one", hint)
                if old.over or not self._liveness.knows(whose):
                    continue
                if (known, old.kind) != (digest, kind):
                    hint = "Nothing was spent. Choose another id for another question."
                    raise InputError("release", release, "a new id: a job of this id is running", hint)
                return old
            many = books.execute("SELECT COUNT(*) FROM jobs WHERE owner = ? AND state = 'waiting'", (owner,))
            if many.fetchone()[0] >= self.waiting:
                raise BusyError("Too many jobs are waiting here. Nothing was spent. Try again later.")
            values = [*(getattr(new, name) for name in _NAMES), digest, owner]
            marks = ", ".join("?" * len(values))
            books.execute(f"INSERT OR REPLACE INTO jobs ({', '.join(_NAMES)}, digest, owner) VALUES ({marks})", values)
            books.execute(
                "DELETE FROM jobs WHERE dataset = ? AND ended != '' AND rowid NOT IN "
                "(SELECT rowid FROM jobs WHERE dataset = ? ORDER BY begun DESC, rowid DESC LIMIT ?)",
                (dataset, dataset, _KEPT),
            )
            if self._threads < self.most:
                self._threads += 1
                # They end with the process: what they were doing is then told as interrupted.
                threading.Thread(target=_worker, args=(self,), daemon=True, name="discreet-job").start()
        self._queue.put((dataset, release, work))
        return new

    def find(self, dataset: str, release: str) -> Job | None:
        """What is known of a job; None if there never was one."""
        with self._open("DEFERRED") as books:
            found = _rows(books, "dataset = ? AND release = ?", dataset, release)
        return self._seen(*found[0][::2]) if found else None

    def listed(self, dataset: str) -> list[Job]:
        """The jobs of a dataset, the newest first."""
        with self._open("DEFERRED") as books:
            found = _rows(books, "dataset = ?", dataset)
        return [self._seen(job, owner) for job, _, owner in found]

    def _seen(self, job: Job, owner: str) -> Job:
        """A job as it is: one whose process is gone will not end by itself."""
        if job.over or self._liveness.knows(owner):
            return job
        done = self.settled(job.dataset, job.release)
        changes = (
            {"state": "done", "stage": "done", "progress": 1.0} if done else {"state": "interrupted", "problem": _LOST}
        )
        changes |= {"ended": _now()}
        with suppress(sqlite3.Error), self._open() as books:
            _note(books, job.dataset, job.release, **changes, only=owner)
        return replace(job, **changes)

    def _run(self) -> None:
        """Take the next job and see it through."""
        dataset, release, work = self._queue.get()
        last, known = 0.0, ""

        def noted(**values: Any) -> None:
            with self._open() as books:
                _note(books, dataset, release, only=self._liveness.name, **values)

        def report(stage: str, done: float | None) -> None:
            nonlocal last, known
            now = time.monotonic()
            if done is None or stage != known or now - last >= _PAUSE:  # a new stage is told at once
                last, known = now, stage
                with suppress(sqlite3.Error):  # how far it is can wait; the work cannot
                    noted(stage=stage[:200], progress=done)

        ending: dict[str, Any]
        try:
            noted(state="running", stage="starting")
            work(report)
            ending = {"state": "done", "stage": "done", "progress": 1.0}
        except DiscreetError as problem:  # our own words, in which nothing is private
            ending = {"state": "failed", "problem": public_words(problem), "error": type(problem).__name__}
        except BaseException as problem:
            # What was not foreseen may hold anything: its kind is logged, its text is told to nobody.
            log.error("%s in a job", type(problem).__name__)
            ending = {"state": "failed", "problem": _WRONG, "error": "ServerError"}
        with suppress(sqlite3.Error):
            noted(**ending, ended=_now())


def _worker(jobs: Jobs) -> None:
    while True:
        jobs._run()


def _rows(books: sqlite3.Connection, which: str, *values: str) -> list[tuple[Job, str, str]]:
    """Jobs, each with the digest of its plan and the process that has it; the newest first."""
    names = f"{', '.join(_NAMES)}, digest, owner"
    rows = books.execute(f"SELECT {names} FROM jobs WHERE {which} ORDER BY begun DESC, rowid DESC", values).fetchall()
    return [(Job(*row[:-2]), row[-2], row[-1]) for row in rows]


def _note(books: sqlite3.Connection, dataset: str, release: str, *, only: str, **values: Any) -> None:
    """Put down what is known of a job, as long as it is still that of the process `only`."""
    changes = ", ".join(f"{name} = ?" for name in values)
    which = "dataset = ? AND release = ? AND owner = ?"
    books.execute(f"UPDATE jobs SET {changes} WHERE {which}", (*values.values(), dataset, release, only))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _removed(path: Path, process: int) -> None:
    if os.getpid() != process:  # a child that was forked has no say in it
        return
    for one in path.parent.glob(path.name + "*"):
        with suppress(OSError):
            one.unlink()
