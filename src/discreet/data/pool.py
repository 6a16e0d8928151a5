"""DuckDB engines between two questions: to start one takes longer than most questions.

What is kept is an engine that has read nothing it remembers, and plans over tables in memory (`kept_plan`), which hold
none of their rows. Each question gets a connection of its own, in a
transaction that can write to nothing but its temporary tables and is never committed: views of files, temporary
tables, variables and whatever Python showed the engine go with the connection. Settings are fixed for good before the
first question. Files are read anew each time: every cache of them is off. A table in memory is shown to one connection.
What is remembered of a source between questions, stored types and SQL, is not here (`source_cache`).
"""

from __future__ import annotations

import atexit
import copy
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from weakref import WeakSet

from discreet.core.deadline import passed
from discreet.core.garbage import rarely_collected
from discreet.data.compilers import load_only
from discreet.data.kept_plan import KeptPlans
from discreet.data.memory import default_memory
from discreet.data.spill import Spill

__all__ = [
    "IDLE",
    "QUESTIONS",
    "Engine",
    "Pool",
    "connect",
    "engines",
    "fixed_settings",
    "interrupted",
    "plans_of",
    "restart",
    "retire",
]

IDLE = 8  # as many as a server lets run at once; each has some ten threads asleep and 4 to 15 MB
QUESTIONS = 200
"""An engine is ended after so many: what it holds grows, by some 2 KB each, and to start one takes 13 ms."""

# Rules of DuckDB's optimizer that change what comes out. It takes a Parquet file's word for its largest value, where
# NaN is never on record, and then drops the very tests that keep NaN out (duckdb issue 25521). And it hands a cast to
# the reader of a CSV file, which then leaves out the whole line where the cast of one value fails.
_UNSOUND = ("statistics_propagation", "type_pushdown", "scalar_fn_pushdown")
# What is to hold for every connection of a kept engine, and no connection can undo. The last one locks the others.
_KEPT = {
    "python_enable_replacements": "false",
    "enable_external_file_cache": "false",
    "parquet_metadata_cache": "false",
    "lock_configuration": "true",
}
_RETIRED = "_discreet_retired"  # on a session, which is a copy for one question
_PLANS = "_discreet_plans"
_BEGIN = "BEGIN TRANSACTION READ ONLY"
# A database, table or view that outlives its question; the engine's own database is the one that may.
_LEFT = """
SELECT 1 FROM duckdb_tables() UNION ALL SELECT 1 FROM duckdb_views() WHERE NOT internal
UNION ALL (SELECT 1 FROM duckdb_databases() WHERE NOT internal OFFSET 1)
"""


def connect(database: str = ":memory:", **options: Any) -> Any:
    """A backend of ibis over DuckDB; the first loads both libraries, and of ibis's compilers DuckDB's alone."""
    with rarely_collected():
        import ibis

        load_only("duckdb")
        return ibis.duckdb.connect(database, **options)


@cache
def fixed_settings() -> dict[str, str]:
    """What holds for every DuckDB here: the day of a moment does not depend on the machine, nor a row on a rule.

    Nor does one question take all the memory there is.
    """
    backend = connect()
    known = {name for (name,) in backend.raw_sql("SELECT name FROM duckdb_optimizers()").fetchall()}
    off = ",".join(name for name in _UNSOUND if name in known)
    own, threads = backend.raw_sql("SELECT current_setting('memory_limit'), current_setting('threads')").fetchone()
    limit = default_memory(own, threads)
    return {
        "TimeZone": "'UTC'",
        "disabled_optimizers": f"'{off}'",
        "memory_limit": f"'{limit}'",
        "temp_directory": "'{spill}'",
    }


class Engine:
    """A DuckDB in memory, and a folder nobody else can read for what does not fit there."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._left = QUESTIONS
        self._spill = Spill()
        self._backend = connect()
        for name, value in (fixed_settings() | _KEPT).items():
            folder = str(self._spill.path).replace("'", "''")
            self._backend.raw_sql(f"SET GLOBAL {name} = {value.format(spill=folder)}")
        self._plans = KeptPlans(self._begun)
        self._backend.raw_sql(
            f"PREPARE what_is_left AS {_LEFT}"
        )  # to read and plan it took as long as a small question

    @contextmanager
    def session(self) -> Iterator[Any]:
        """A backend of ibis for one question. Everything it was shown is gone afterwards, and so is the backend."""
        self._left -= 1
        session = copy.copy(self._backend)
        session.con = self._backend.con.cursor()
        setattr(session, _PLANS, self._plans)
        _forget(session)
        try:
            session.raw_sql(_BEGIN)
            yield session
        finally:
            session.disconnect()  # which rolls back

    def _begun(self) -> Any:
        """A connection for a plan that is kept, under the same rules as one for a question."""
        connection = self._backend.con.cursor()
        connection.execute(_BEGIN)
        return connection

    @property
    def clean(self) -> bool:
        """Whether nothing was left behind: it should never be otherwise, and then the engine is not used again."""
        if self._process != os.getpid():  # a copy made by a fork, whose threads are elsewhere
            return False
        try:
            spilled = any(self._spill.path.iterdir())
        except FileNotFoundError:  # somebody tidied up: what was counted is counted, but the next could not spill
            return False
        return not spilled and self._backend.raw_sql("EXECUTE what_is_left").fetchone() is None

    @property
    def worn(self) -> bool:
        """Whether it has answered as many questions as one does."""
        return self._left <= 0

    def close(self) -> None:
        """End it."""
        try:
            self._plans.close()
            self._backend.disconnect()
        finally:
            self._spill.cleanup()


class Pool:
    """A few idle engines. An engine is lent to one at a time, and comes back only from a question that went well."""

    def __init__(self, most: int = IDLE) -> None:
        self._most = most
        self._idle: list[Engine] = []
        self._guard = threading.Lock()
        self._lent = 0
        self._ends: deque[float] = deque(maxlen=1024)

    def lent_at(self, moment: float) -> int:
        """How many are lent, those included that came back after a moment (seconds since 1970).

        When a question ends may depend on its rows, so this is asked for moments that do not.
        """
        with self._guard:
            return self._lent + sum(end > moment for end in self._ends)

    @contextmanager
    def lent(self) -> Iterator[Any]:
        """A backend of ibis for one question."""
        with self._guard:
            engine = self._idle.pop() if self._idle else None
            self._lent += 1
        try:
            with self._used(engine or Engine()) as session:
                yield session
        finally:
            with self._guard:
                self._lent -= 1
                self._ends.append(time.time())

    @contextmanager
    def _used(self, engine: Engine) -> Iterator[Any]:
        """A session of an engine, which is kept afterwards if it is fit for another."""
        try:
            with engine.session() as session:
                yield session
            fit = engine.clean and not engine.worn and not getattr(session, _RETIRED, False) and not passed()
        except BaseException:  # also when interrupted: who knows what it was in the middle of
            engine.close()
            raise
        with self._guard:
            if kept := fit and len(self._idle) < self._most:
                self._idle.append(engine)
        if not kept:
            engine.close()

    def drain(self) -> None:
        """End the idle ones."""
        with self._guard:
            self._end()

    def _end(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _before_fork(self) -> None:
        """No engine survives a fork, and no other thread is to hold the lock while it happens."""
        self._guard.acquire()
        self._end()

    def _after_fork(self) -> None:
        self._guard.release()


def retire(session: Any) -> None:
    """Have a lent engine ended when it comes back: DuckDB keeps the memory of tables that it stored, though empty."""
    setattr(session, _RETIRED, True)


def plans_of(session: Any) -> KeptPlans | None:
    """What the lent engine keeps planned; None for an engine of its own."""
    found: KeptPlans | None = getattr(session, _PLANS, None)
    return found


def restart(session: Any) -> None:
    """Begin again after a failure, which ended the transaction of a lent engine: all that it was shown is gone."""
    import duckdb

    try:
        session.raw_sql("ROLLBACK")
    except duckdb.TransactionException:  # an engine of its own, which is in none
        return
    session.raw_sql(_BEGIN)
    _forget(session)


def interrupted(problem: Exception) -> bool:
    """Whether somebody stopped the engine: then nothing is wrong with what it ran, and it is not to run again.

    DuckDB tells of a signal, such as that of Ctrl-C, by an error of no kind of its own.
    """
    import duckdb

    stopped = type(problem) is RuntimeError and "interrupted" in str(problem)
    return stopped or isinstance(problem, duckdb.InterruptException)


def _forget(session: Any) -> None:
    """Have ibis know that its engine was shown no table in memory and no stream yet."""
    session._memtables = WeakSet()
    session._record_batch_readers_consumed = {}


engines = Pool()
atexit.register(engines.drain)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=engines._before_fork, after_in_parent=engines._after_fork, after_in_child=engines._after_fork
    )
