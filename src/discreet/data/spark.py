"""Tables in Spark: a DataFrame, or a table of a cluster named by its address.

A session is someone's workplace. While a table is read its settings are the ones every run needs, then they are put
back; a session that was given is never stopped, and one opened here is kept for the next question.
"""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from discreet.core.wire import Json
from discreet.data.stamp import Stamp
from discreet.errors import DiscreetError, InputError, MissingExtraError, Phrase, SourceError

__all__ = ["FrameCache", "answers", "files_read", "is_frame", "reach", "shown", "with_zones"]

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

_LISTS = ("InMemoryFileIndex", "CatalogFileIndex")  # plain lists of files: other formats hide rows without writing any
_MOST = 1_000  # files whose size and time are looked up, one at a time

_PORT = 15002  # of Spark Connect
_PATIENCE = 10.0  # seconds

_numbers = itertools.count()
_lock = threading.RLock()
_remote: dict[str, Any] = {}


def is_frame(place: Any) -> bool:
    """Whether this is a Spark DataFrame, classic or of Spark Connect."""
    return type(place).__module__.startswith("pyspark.sql.") and hasattr(place, "createTempView")


def _frame(place: Any, table: str | None) -> Any:
    return place if is_frame(place) else _session(place).table(table)


def reach(place: Any) -> None:
    """Have a session that answers, or say that there is none. One of Spark Connect that its server does not know any
    more, because it was restarted, is opened anew: once.
    """
    if is_frame(place):
        if not answers(place.sparkSession):
            hint = "Nothing was spent. Its session has ended: make the frame in another one, and open that."
            raise SourceError("source", Phrase("a Spark table"), "a table of a session that answers", hint)
        return
    if not place.startswith("sc://"):
        _session(place)
        return
    with _lock:
        if (known := _remote.get(place)) is not None and not answers(known):
            del _remote[place]
            _released(known)
    if known is None or place not in _remote:
        opened = None
        with suppress(Exception):
            opened = _connected(place) if _listens(place) else None
        if opened is None or not answers(opened):
            _remote.pop(place, None)
            hint = "Nothing was spent. Check the address, and that Spark Connect is up."
            raise SourceError("source", Phrase("sc://..."), "a cluster that can be reached", hint)


def answers(session: Any) -> bool:
    """Whether a session is there, by a question about one of its settings, for which it has some seconds."""
    if not _is_remote(session):
        context = session.sparkContext._jsc
        return context is not None and not context.sc().isStopped()
    found: list[bool] = []

    def ask() -> None:
        with suppress(Exception):
            session.conf.get(_ESCAPES, "false")
            found.append(True)

    with suppress(Exception):
        if not _listens(session.client._builder.endpoint):
            return False
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_PATIENCE)
    return bool(found)


def _is_remote(session: Any) -> bool:
    return not hasattr(session, "_jsparkSession")


def _listens(address: str) -> bool:
    """Whether anybody listens at sc://host:port: without one, Spark's client goes on trying for minutes."""
    parts = urlsplit(address if "://" in address else f"sc://{address}")
    try:
        with socket.create_connection((parts.hostname or "localhost", parts.port or _PORT), _PATIENCE):
            return True
    except OSError:
        return False


def _released(session: Any) -> None:
    """Have a session of ours forgotten, here and where it is; nobody waits for a server that is gone."""
    with suppress(Exception):
        if not _listens(session.client._builder.endpoint):
            session.release_session_on_close = False
        session.stop()


def files_read(place: Any, table: str | None) -> Stamp:
    """The files a table is read from: with sizes and times where it is nothing but these files, else by their names.

    Names alone, of a join, a filter or a table whose format keeps a log, do not tell of every write.
    """
    try:
        frame = _frame(place, table)
        if (stamps := _plain_files(frame)) is not None:
            return Stamp("files", stamps)
        names: list[Json] = sorted(frame.inputFiles())
    except DiscreetError:
        raise
    except Exception:  # a catalogue that does not tell; if the table cannot be read at all, its columns could not be
        return Stamp("unversioned", None)
    return Stamp("unversioned", names or None)


def _plain_files(frame: Any) -> list[Json] | None:
    """Name, size and time of each file, and how it is read, of a table that is read as it is; None of all others."""
    if not hasattr(frame, "_jdf"):  # Spark Connect shows no plan
        return None
    plan, session = frame._jdf.queryExecution().optimizedPlan(), frame.sparkSession
    if _kind(plan) != "LogicalRelation" or _kind(plan.relation()) != "HadoopFsRelation":
        return None
    if _kind(plan.relation().location()) not in _LISTS:
        return None
    names = sorted(frame.inputFiles())
    if len(names) > _MOST:
        return None
    settings = session._jsparkSession.sessionState().newHadoopConf()
    stamps: list[Json] = [plan.relation().options().toString(), plan.schema().json()]
    for name in names:
        path = session._jvm.org.apache.hadoop.fs.Path(session._jvm.java.net.URI(name))
        status = path.getFileSystem(settings).getFileStatus(path)
        stamps.append([name, int(status.getLen()), int(status.getModificationTime())])
    return stamps


def _kind(thing: Any) -> str:
    return str(thing.getClass().getSimpleName())


@contextmanager
def shown(place: Any, table: str | None, *, own: bool = False) -> Iterator[tuple[Any, str]]:
    """A session and the name under which it shows the table, for as long as this lasts.

    With `own` it is a session of this question alone, where the table is named by an address: several may run at once.
    The session of a frame is somebody's, and has one reader at a time.
    """
    if own and not is_frame(place):
        session = _new_remote(place) if place.startswith("sc://") else _session(place).newSession()
        try:
            with _shown(session.table(table), nullcontext()) as found:
                yield found
        finally:
            if _is_remote(session):  # another one of a classic session would end the whole of Spark with it
                _released(session)
        return
    with _shown(_frame(place, table), _lock) as found:
        yield found


@contextmanager
def _shown(frame: Any, alone: AbstractContextManager[Any]) -> Iterator[tuple[Any, str]]:
    if frame.isStreaming:
        raise InputError("source", Phrase("a stream"), "a table: what a stream holds is never complete")
    names = [name.lower() for name in frame.columns]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise InputError("columns", repeated, "named differently in more than case")
    session, name = frame.sparkSession, f"discreet_private_{next(_numbers)}"
    with alone, _set(session):  # settings belong to the session
        frame.createTempView(name)
        try:
            yield session, name
        finally:
            _quietly(session, lambda: session.catalog.dropTempView(name))


def _quietly(session: Any, act: Callable[[], object]) -> None:
    """Put something back; of a session that is gone there is nothing to put back."""
    try:
        act()
    except Exception:
        if answers(session):
            raise


class FrameCache:
    """Tables that Spark computes once, in the memory of its executors or on their disks, until this ends."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self._frames: list[tuple[str, Any]] = []

    def cached(self, expression: Any) -> Any:
        """The same table, computed by whoever reads it first."""
        frame = self.backend.raw_sql(self.backend.compile(expression)).persist()
        name = f"discreet_cached_{next(_numbers)}"
        self._frames.append((name, frame))
        frame.createTempView(name)
        return self.backend.table(name)

    def __enter__(self) -> FrameCache:
        return self

    def __exit__(self, *_: object) -> None:
        for name, frame in reversed(self._frames):
            _quietly(frame.sparkSession, partial(frame.sparkSession.catalog.dropTempView, name))
            _quietly(frame.sparkSession, frame.unpersist)


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
        _quietly(session, lambda: _put_back(session, before))


def _put_back(session: Any, before: Mapping[str, Any]) -> None:
    for setting, old in before.items():
        if old is None:
            session.conf.unset(setting)
        else:
            session.conf.set(setting, old)


def with_zones(table: Any, session: Any, name: str) -> Any:
    """The table as ibis has it, which does not tell instants (TIMESTAMP) from local times (TIMESTAMP_NTZ), with both
    told apart: instants are in UTC, as the session is while the table is shown.
    """
    kinds = {field.name: field.dataType.typeName() for field in session.table(name).schema.fields}
    instants = [column for column in table.columns if kinds.get(column) == "timestamp"]
    return (
        table.mutate(**{column: table[column].cast("timestamp('UTC', 6)") for column in instants})
        if instants
        else table
    )


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
                raise InputError("source", "spark://...", "opened on a machine with Java 17 or newer", hint)
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
    with _lock:
        if address not in _remote:
            _remote[address] = _new_remote(address)
        return _remote[address]


def _new_remote(address: str) -> Any:
    try:
        from pyspark.sql.connect.client.retries import DefaultPolicy
        from pyspark.sql.connect.session import SparkSession
    except ImportError:  # pyspark itself, or what it needs to talk over the wire
        raise MissingExtraError("spark", "pyspark[connect]") from None
    session = SparkSession(address)
    session.client.set_retry_policies([DefaultPolicy(max_retries=4)])  # by itself it goes on for ten minutes
    return session
