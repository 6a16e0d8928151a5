"""The table of jobs in the database of a ledger: what each asked for, how far it is, and which process has it.

It is no part of the ledger's chain: what a job spends and releases is on record there, whatever stands here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from discreet.apps.server.fairness import PRIORITIES, Place, fair_order
from discreet.apps.server.jobs import Job
from discreet.ledger.store import Execute

__all__ = ["JobTable", "Row"]

_TABLES = (
    """CREATE TABLE IF NOT EXISTS discreet_job (
        dataset TEXT NOT NULL, release TEXT NOT NULL, kind TEXT NOT NULL, who TEXT NOT NULL, why TEXT NOT NULL,
        state TEXT NOT NULL, stage TEXT NOT NULL, progress DOUBLE PRECISION, problem TEXT NOT NULL,
        begun TEXT NOT NULL, ended TEXT NOT NULL, error TEXT NOT NULL, priority INTEGER NOT NULL,
        attempts INTEGER NOT NULL, request TEXT NOT NULL, digest TEXT NOT NULL, number INTEGER NOT NULL,
        turn INTEGER NOT NULL, owner TEXT NOT NULL, beat INTEGER NOT NULL, cancelled TEXT NOT NULL,
        PRIMARY KEY (dataset, release))""",
    "CREATE INDEX IF NOT EXISTS discreet_job_state ON discreet_job (state, number)",
)
_COLUMNS = (
    "dataset", "release", "kind", "who", "why", "state", "stage", "progress", "problem", "begun", "ended", "error",
    "priority", "attempts", "request", "digest", "number", "turn", "owner", "beat", "cancelled",
)  # fmt: skip
_LISTED = tuple("''" if name == "request" else name for name in _COLUMNS)
_NAMES = {number: name for name, number in PRIORITIES.items()}
_KEPT = 1000  # jobs that have ended, of a dataset
_LONG = 1 << 16  # characters of a request, which most often are shapes for a map
_LONG_KEPT = 20  # of jobs that have ended, of a dataset: as many as pages keep of shapes that are sent to them


class Row(NamedTuple):
    """A job as it stands in the table."""

    job: Job
    priority: int
    request: str
    """What was asked for, as JSON. It may be long: only `find` reads it, others leave it empty. Of long
    ones of jobs that have ended the latest alone are kept."""
    digest: str
    """That of its plan: while the job waits or runs, its id stands for nothing else."""
    number: int
    """In the order in which jobs were sent."""
    turn: int
    owner: str
    """The process that runs it."""
    beat: int
    """Grows as long as that process lives."""
    cancelled: str
    """Who cancelled it."""

    @property
    def key(self) -> tuple[str, str]:
        """What a job is known by."""
        return self.job.dataset, self.job.release

    @property
    def place(self) -> Place:
        """Where it is in the queue."""
        return Place(self.job.who, self.priority, self.number)


class JobTable:
    """The jobs, within one transaction."""

    def __init__(self, execute: Execute) -> None:
        self._execute = execute

    def create(self) -> None:
        """Make the table where there is none yet."""
        for statement in _TABLES:
            self._execute(statement, ())

    def find(self, dataset: str, release: str) -> Row | None:
        """One job."""
        found = self._rows("dataset = ? AND release = ?", dataset, release, columns=_COLUMNS)
        return found[0] if found else None

    def of_dataset(self, dataset: str) -> list[Row]:
        """The jobs of a dataset, the newest first."""
        return self._rows("dataset = ?", dataset, order="number DESC")

    def in_state(self, state: str) -> list[Row]:
        """All jobs in a state, in the order in which they were sent."""
        return self._rows("state = ?", state)

    def counts(self) -> dict[tuple[str, str], int]:
        """How many jobs there are, by dataset and state."""
        found = self._execute("SELECT dataset, state, COUNT(*) FROM discreet_job GROUP BY dataset, state", ())
        return {(dataset, state): count for dataset, state, count in found}

    def add(self, job: Job, *, request: str, digest: str) -> None:
        """A new job at the end of the queue; it takes the place of one of the same id that has ended."""
        ((last,),) = self._execute("SELECT COALESCE(MAX(number), 0) FROM discreet_job", ())
        self._execute("DELETE FROM discreet_job WHERE dataset = ? AND release = ?", (job.dataset, job.release))
        values = [getattr(job, name) for name in _COLUMNS[:12]]
        values += [PRIORITIES[job.priority], 0, request, digest, last + 1, 0, "", 0, ""]
        marks = ", ".join("?" * len(values))
        self._execute(f"INSERT INTO discreet_job ({', '.join(_COLUMNS)}) VALUES ({marks})", values)
        self._execute(
            "DELETE FROM discreet_job WHERE dataset = ? AND ended != '' AND number NOT IN (SELECT number FROM "
            "discreet_job WHERE dataset = ? AND ended != '' ORDER BY number DESC LIMIT ?)",
            (job.dataset, job.dataset, _KEPT),
        )
        long = "dataset = ? AND ended != '' AND LENGTH(request) > ?"
        self._execute(
            f"UPDATE discreet_job SET request = '' WHERE {long} AND number NOT IN "
            f"(SELECT number FROM discreet_job WHERE {long} ORDER BY number DESC LIMIT ?)",
            (job.dataset, _LONG, job.dataset, _LONG, _LONG_KEPT),
        )

    def waiting_size(self, who: str) -> int:
        """How many characters the requests of a caller's jobs have that wait."""
        sized = "SELECT COALESCE(SUM(LENGTH(request)), 0) FROM discreet_job WHERE who = ? AND state = 'waiting'"
        ((size,),) = self._execute(sized, (who,))
        return int(size)

    def change(self, row: Row, **values: Any) -> bool:
        """Write down what is known of a job, unless another process has it by now; whether that was done."""
        where = "dataset = ? AND release = ? AND owner = ? AND number = ?"
        found = self._execute(f"SELECT 1 FROM discreet_job WHERE {where}", (*row.key, row.owner, row.number))
        if found:
            changes = ", ".join(f"{name} = ?" for name in values)
            self._execute(
                f"UPDATE discreet_job SET {changes} WHERE {where}",
                (*values.values(), *row.key, row.owner, row.number),
            )
        return bool(found)

    def next_turn(self) -> int:
        """The number of the turn that a job has which begins now."""
        ((last,),) = self._execute("SELECT COALESCE(MAX(turn), 0) FROM discreet_job", ())
        return int(last) + 1

    def ordered(self) -> list[Row]:
        """The jobs that wait, in the order in which they begin if no other is sent."""
        waiting = {row.place: row for row in self.in_state("waiting")}
        found = self._execute("SELECT who, MAX(turn) FROM discreet_job GROUP BY who", ())
        return [waiting[place] for place in fair_order(waiting, {who: int(turn) for who, turn in found})]

    def positions(self) -> dict[tuple[str, str], int]:
        """Where each job that waits is in the queue, from 1."""
        return {row.key: place for place, row in enumerate(self.ordered(), 1)}

    def _rows(self, where: str, *values: str, order: str = "number", columns: Sequence[str] = _LISTED) -> list[Row]:
        found = self._execute(
            f"SELECT {', '.join(columns)} FROM discreet_job WHERE {where} ORDER BY {order}", tuple(values)
        )
        return [_row(one) for one in found]


def _row(columns: tuple[Any, ...]) -> Row:
    values: dict[str, Any] = dict(zip(_COLUMNS[:12], columns, strict=False))
    job = Job(**values, priority=_NAMES.get(columns[12], "normal"), attempts=columns[13])
    if columns[20] and not job.over:
        job = replace(job, stage="stopping")
    return Row(job, columns[12], *columns[14:])
