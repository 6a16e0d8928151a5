"""Tables in Spark: a DataFrame, or a table of a cluster named by its address.

A session is someone's workplace. While a table is read its settings are the ones every run needs, then they are put
back; a session that was given is never stopped, and one opened here is kept for the next question.
"""

from __future__ import annotations

import itertools
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from discreet.errors import InputError, MissingExtraError

__all__ = ["is_frame", "shown"]

_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",  # the day of a moment must not depend on the machine
    "spark.sql.ansi.enabled": "false",  # no row can make a run fail
    "spark.sql.variable.substitute": "false",  # text with ${...} in it is just text
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",  # ibis sets this one: kept here so that it is put back
}
_ESCAPES = "spark.sql.parser.escapedStringLiterals"
# Of a session opened here. Its page and its journal would show exact counts to whoever finds them.
_OPENED = {"spark.ui.enabled": "false", "spark.eventLog.enabled": "false", "spark.app.name": "discreet"}
_OPENED |= {"spark.ui.showConsoleProgress": "false"}

_numbers = itertools.count()
_lock = threading.RLock()
_remote: dict[str, Any] = {}


def is_frame(place: Any) -> bool:
    """Whether this is a Spark DataFrame, classic or of Spark Connect."""
    return type(place).__module__.startswith("pyspark.sql.") and hasattr(place, "createTempView")


@contextmanager
def shown(place: Any, table: str | None) -> Iterator[tuple[Any, str]]:
    """A session and the name under which it shows the table, for as long as this lasts."""
    frame = place if is_frame(place) else _session(place).table(table)
    if frame.isStreaming:
        raise InputError("source", "a stream", "a table: what a stream holds is never complete")
    names = [name.lower() for name in frame.columns]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise InputError("columns", repeated, "names that differ in more than case")
    session, name = frame.sparkSession, f"discreet_private_{next(_numbers)}"
    with _lock, _set(session):  # settings belong to the session: one reader at a time
        frame.createTempView(name)
        try:
            yield session, name
        finally:
            session.catalog.dropTempView(name)


@contextmanager
def _set(session: Any) -> Iterator[None]:
    if session.conf.get(_ESCAPES, "false") == "true":
        raise InputError(_ESCAPES, "true", "false: text in questions is written with escapes")
    before = {setting: session.conf.get(setting, None) for setting in _SETTINGS}
    try:
        for setting, value in _SETTINGS.items():
            session.conf.set(setting, value)
        yield
    finally:
        for setting, old in before.items():
            if old is None:
                session.conf.unset(setting)
            else:
                session.conf.set(setting, old)


def _session(address: str) -> Any:
    """The session of this process at an address: opened once, kept, ended with the process."""
    if address.startswith("sc://"):
        return _connected(address)
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("spark", "pyspark") from None
    with _lock:
        session = SparkSession.getActiveSession()
        if session is None:
            if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
                hint = "Install it, or reach the cluster through Spark Connect: sc://..."
                raise InputError("source", "spark://...", "used on a machine with Java 17 or newer", hint)
            builder = SparkSession.builder.master(address)
            for setting, value in _OPENED.items():
                builder = builder.config(setting, value)
            session = builder.getOrCreate()
            # What Spark says about a row that it cannot handle may quote the row.
            session.sparkContext.setLogLevel("OFF")
        if session.sparkContext.master != address:
            hint = "Pass a DataFrame of that session instead."
            raise InputError("source", "spark://...", "the cluster this process already has a session with", hint)
        return session


def _connected(address: str) -> Any:
    try:
        from pyspark.sql.connect.session import SparkSession
    except ImportError:  # pyspark itself, or what it needs to talk over the wire
        raise MissingExtraError("spark", "pyspark[connect]") from None
    with _lock:
        if address not in _remote:
            _remote[address] = SparkSession(address)
        return _remote[address]
