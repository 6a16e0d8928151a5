"""How a statement that runs is stopped from another thread, and how it is noticed that its engine is gone: DuckDB,
PostgreSQL, Spark.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from discreet.core.deadline import passed, stoppable
from discreet.data.spark import answers
from discreet.errors import Phrase, SourceError

__all__ = ["interruptible", "watched"]

_PATIENCE = 5.0  # seconds for a database to take the word


@contextmanager
def interruptible(backend: Any) -> Iterator[None]:
    """Have what a backend of ibis runs here stopped at the time limit of the run, if it has one."""
    if backend.name == "pyspark":
        with _tagged(backend._session):
            yield
        return
    stop = _cancel if backend.name == "postgres" else _interrupt
    with stoppable(lambda: stop(backend.con)):
        yield


def _interrupt(connection: Any) -> None:
    connection.interrupt()


def _cancel(connection: Any) -> None:
    """Over a connection of its own, encrypted like the first where psycopg can do that (3.2)."""
    if hasattr(connection, "cancel_safe"):
        connection.cancel_safe(timeout=_PATIENCE)
    else:
        connection.cancel()


@contextmanager
def _tagged(session: Any) -> Iterator[None]:
    """Only what this thread has Spark do: a session is someone's workplace, and others may run jobs in it."""
    tag = f"discreet-{uuid.uuid4().hex}"
    if hasattr(session, "_jsparkSession"):  # whose own tags do not reach the thread that collects columns
        context = session.sparkContext
        add, remove, stop = context.addJobTag, context.removeJobTag, context.cancelJobsWithTag
    else:  # Spark Connect
        add, remove, stop = session.addTag, session.removeTag, session.interruptTag
    add(tag)
    try:
        with stoppable(lambda: stop(tag)):
            yield
    finally:
        remove(tag)


@contextmanager
def watched(backend: Any) -> Iterator[None]:
    """Have a failure told as `SourceError` where what runs the statements is gone: a database or a cluster that was
    restarted, a network that was cut. That is decided by looking whether it answers, never by what it said of a row.
    """
    gone = False
    try:
        yield
    except Exception:
        gone = not passed() and not _alive(backend)
        if not gone:
            raise
    if gone:
        raise SourceError("source", Phrase("data that went out of reach"), "within reach", "Ask again.")


def _alive(backend: Any) -> bool:
    if backend.name == "pyspark":
        return answers(backend._session)
    if backend.name != "postgres":
        return True  # an engine in this process
    with suppress(Exception):
        backend.raw_sql("SELECT 1").close()
        return True
    return False
