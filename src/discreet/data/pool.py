"""DuckDB engines between two questions: to start one takes longer than most questions.

What is kept is an engine that has read nothing it remembers. Each question gets a connection of its own, in a
transaction that can write to nothing but its temporary tables and is never committed: views of files, temporary
tables, variables and whatever Python showed the engine go with the connection. Settings are fixed for good before the
first question. Files are read anew each time: every cache of them is off. A table in memory is shown to one connection.
"""

from __future__ import annotations

import atexit
import copy
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from weakref import WeakSet

from discreet.data.spill import Spill

__all__ = ["IDLE", "Engine", "Pool", "engines", "fixed_settings", "restart", "retire"]

IDLE = 8  # as many as a server lets run at once; each has some ten threads asleep and 4 to 15 MB

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
_BEGIN = "BEGIN TRANSACTION READ ONLY"
# A database, table or view that outlives its question; the engine's own database is the one that may.
_LEFT = """
SELECT (SELECT count(*) FROM duckdb_databases() WHERE NOT internal) - 1
     + (SELECT count(*) FROM duckdb_tables()) + (SELECT count(*) FROM duckdb_views() WHERE NOT internal)
"""


@cache
def fixed_settings() -> dict[str, str]:
    """What holds for every DuckDB here: the day of a moment does not depend on the machine, nor a row on a rule."""
    import ibis

    listed = ibis.duckdb.connect(":memory:").raw_sql("SELECT name FROM duckdb_optimizers()")
    known = {name for (name,) in listed.fetchall()}
    off = ",".join(name for name in _UNSOUND if name in known)
    return {"TimeZone": "'UTC'", "disabled_optimizers": f"'{off}'", "temp_directory": "'{spill}'"}


class Engine:
    """A DuckDB in memory, and a folder nobody else can read for what does not fit there."""

    def __init__(self) -> None:
        import ibis

        self._process = os.getpid()
        self._spill = Spill()
        self._backend = ibis.duckdb.connect(":memory:")
        for name, value in (fixed_settings() | _KEPT).items():
            folder = str(self._spill.path).replace("'", "''")
            self._backend.raw_sql(f"SET GLOBAL {name} = {value.format(spill=folder)}")

    @contextmanager
    def session(self) -> Iterator[Any]:
        """A backend of ibis for one question. Everything it was shown is gone afterwards, and so is the backend."""
        session = copy.copy(self._backend)
        session.con = self._backend.con.cursor()
        _forget(session)
        try:
            session.raw_sql(_BEGIN)
            yield session
        finally:
            session.disconnect()  # which rolls back

    @property
    def clean(self) -> bool:
        """Whether nothing was left behind: it should never be otherwise, and then the engine is not used again."""
        if self._process != os.getpid():  # a copy made by a fork, whose threads are elsewhere
            return False
        return not any(self._spill.path.iterdir()) and self._backend.raw_sql(_LEFT).fetchone() == (0,)

    def close(self) -> None:
        """End it."""
        try:
            self._backend.disconnect()
        finally:
            self._spill.cleanup()


class Pool:
    """A few idle engines. An engine is lent to one at a time, and comes back only from a question that went well."""

    def __init__(self, most: int = IDLE) -> None:
        self._most = most
        self._idle: list[Engine] = []
        self._guard = threading.Lock()

    @contextmanager
    def lent(self) -> Iterator[Any]:
        """A backend of ibis for one question."""
        with self._guard:
            engine = self._idle.pop() if self._idle else None
        if engine is None:
            engine = Engine()
        try:
            with engine.session() as session:
                yield session
            fit = engine.clean and not getattr(session, _RETIRED, False)
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


def restart(session: Any) -> None:
    """Begin again after a failure, which ended the transaction of a lent engine: all that it was shown is gone."""
    import duckdb

    try:
        session.raw_sql("ROLLBACK")
    except duckdb.TransactionException:  # an engine of its own, which is in none
        return
    session.raw_sql(_BEGIN)
    _forget(session)


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
