"""Where private data lives. This is the only module that opens it; `connection` runs expressions on it.

`Source.columns()` reads names and stored types, which are public; `Source.open()` is for the one door.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from discreet.core.version import DataVersion
from discreet.core.wire import Json
from discreet.data.column import Column
from discreet.data.connection import Connection, Memory
from discreet.data.copies import Copies
from discreet.data.csv_file import read_first_line, readable
from discreet.data.dialect import named_types
from discreet.data.files import DELIMITERS, ENDINGS, Files, files_at
from discreet.data.frame import Frame
from discreet.data.interruption import interruptible, watched
from discreet.data.layout import Layout
from discreet.data.memory import stated_memory
from discreet.data.objects import OBJECT_STORES, Objects, objects_at
from discreet.data.parquet_file import Drift, read_parquet
from discreet.data.pool import connect, engines, fixed_settings
from discreet.data.postgres import Address, sessions
from discreet.data.registry import SourceKind, kind_for, known_words, register_source
from discreet.data.source_cache import SourceCache
from discreet.data.spark import FrameCache, files_read, is_frame, reach, shown, with_zones
from discreet.data.spill import Spill
from discreet.data.stamp import Stamp, write_counters
from discreet.errors import DiscreetError, InputError, Phrase, kind_of

__all__ = ["Connection", "Source", "source_of"]

Found = TypeVar("Found")
_POOLED = {"csv", "parquet", "frame"}  # what the engines that are kept read


@dataclass(frozen=True, slots=True, repr=False)
class Source:
    """A place private data can be opened from."""

    kind: str
    place: Any
    table: str | None = None
    view: Callable[[Any, Mapping[str, Any]], Any] | None = None  # widens the table by columns it does not store
    others: tuple[tuple[str, Source], ...] = ()  # private tables the view joins, read by the same engine
    names: tuple[str, ...] = ()  # of the columns of a CSV file that has no header line
    declared: DataVersion | None = None
    layout: Layout = field(default_factory=Layout)  # how a CSV file is written
    written: Mapping[str, Column] = field(default_factory=dict, hash=False)  # the columns whose text follows it
    cache: SourceCache = field(default_factory=SourceCache, init=False, compare=False)  # of this source alone

    def __repr__(self) -> str:
        return f"<private {self.kind}>"

    @property
    def tries(self) -> bool:
        """Whether the engine can read text as numbers and dates without failing on text that is neither."""
        return self.kind not in ("postgres", "spark")  # Spark can, but takes "1d" for a number and others do not

    @property
    def engine(self) -> str:
        """The engine that reads it."""
        return {"postgres": "postgres", "spark": "pyspark"}.get(self.kind, "duckdb")

    def columns(self) -> dict[str, str]:
        """Column names and stored types: public, and all there is to read without paying."""
        problem: InputError | None = None
        try:
            if self.kind == "csv" and self.view is None:  # text all of it: to say so, no engine need be loaded
                with self.near() as near:
                    _, how = readable(near.place.paths(), self.names, None, self.layout.delimiter)
                return dict.fromkeys(how["columns"], "string")
            return dict(self._remembered("columns", self._stored))
        except DiscreetError:
            raise
        except Exception:
            hint = "Check the address, the name of the table, and that the file is whole."
            problem = InputError("source", self, "data that can be opened", hint)
        # Outside the handler: what an engine says about a file may quote a line of it.
        raise problem

    def _stored(self) -> dict[str, str]:
        with self.near() as near, near._connected(None) as connection:
            return {name: str(kind) for name, kind in connection.table.schema().items()}

    def drift(self) -> dict[str, Drift]:
        """The columns that files of one folder do not store alike: public, as their types are."""
        return dict(self._remembered("drift", self._drift)) if self.kind == "parquet" else {}

    def _drift(self) -> dict[str, Drift]:
        with self.near() as near, engines.lent() as backend:
            return dict(read_parquet(backend, near.place, Copies()).drift)

    def _remembered(self, what: str, compute: Callable[[], Found]) -> Found:
        """What is known of the data as it is now, or else computed, and remembered where that state is known."""
        mark = self._mark()
        key = None if mark is None else (what, mark)
        return self.cache.of(key, compute, lambda: self._mark() == mark)

    def _mark(self) -> Hashable | None:
        """What changes with every write to the files, or with the columns of a table in memory; None if unknown."""
        marks = [source.place.mark() for source in (self, *dict(self.others).values()) if source.kind in _POOLED]
        return None if len(marks) <= len(self.others) or None in marks else tuple(marks)

    def widened(self, names: tuple[str, ...], view: Callable[[Any, Mapping[str, Any]], Any] | None) -> Source:
        """The same source with another view, which these names tell from others: one object for the same names."""

        def made() -> Source:
            found = replace(self, view=view)
            object.__setattr__(found, "cache", self.cache.within(names))  # one memory, whatever expressions are asked
            return found

        return self.cache.of(("view", names), made)

    def check_view(self) -> None:
        """Have the engine compile the view, of no row: what it cannot compute is refused before anything is spent."""
        problem: InputError | None = None
        try:
            with self._connected(None) if self.engine != "duckdb" else self._empty() as connection:
                connection.bind()
        except DiscreetError:
            raise
        except Exception:
            hint = "Use CAST(... AS ...) to have its parts of one type. Nothing was spent."
            problem = InputError("expression", Phrase("another"), "one that the engine can compute", hint)
        if problem is not None:  # outside the handler, as above
            raise problem

    @contextmanager
    def _empty(self) -> Iterator[Connection]:
        """The view of tables that have the stored columns and no rows, by an engine that is shown nothing else."""
        import ibis

        with engines.lent() as backend:
            tables = []
            for place, source in enumerate((self, *(other for _, other in self.others))):
                stored = replace(source, view=None, others=()).columns()
                kinds = {name: kind for name, kind in stored.items() if name.isprintable() and "unknown" not in kind}
                tables.append(backend.create_table(f"t{place}", schema=ibis.schema(kinds), temp=True))
            others = {name: table for (name, _), table in zip(self.others, tables[1:], strict=True)}
            yield Connection(backend, tables[0] if self.view is None else self.view(tables[0], others))

    def first_line(self) -> list[str]:
        """The first line of a CSV file: names if it is a header. Whoever asks shows none of it before that is known."""
        with self.near() as near:
            file = near.place.paths()[0]
            return read_first_line(file, self.layout.delimiter or DELIMITERS[Path(file).suffix.lower()])

    def version(self, key: bytes) -> DataVersion:
        """Which state the data is in: as declared, or by what tells of writes. No row is read, and nobody can read
        anything off the fingerprint without the key.
        """
        if self.declared is not None:
            return self.declared
        sources = (("", self), *self.others)
        stamps = {name: source._stamp() for name, source in sources}
        facts: list[Json] = [[name, source.table, stamps[name].facts] for name, source in sources]
        kinds = {stamp.kind for stamp in stamps.values()}
        if "unversioned" in kinds:
            first = next(source for name, source in sources if stamps[name].kind == "unversioned")
            unknown = any(stamp.facts is None for stamp in stamps.values())
            return DataVersion.unversioned(first.described, None if unknown else facts, key)
        if kinds == {"table"}:
            return DataVersion.of_table([self.described, facts], key)
        return DataVersion.of_files(facts, key)

    def _stamp(self) -> Stamp:
        """What tells of writes to this source alone."""
        if isinstance(self.place, Files | Objects):
            return Stamp("files", [list(stamp) for stamp in self.place.stamps()])
        if isinstance(self.place, Frame):
            columns = self.place.arrow(rows=False).schema
            return Stamp("unversioned", [[field.name, str(field.type)] for field in columns])
        if self.kind == "postgres" and self.table is not None:
            counters = write_counters(self.place, self.table)
            return Stamp("unversioned" if counters is None else "table", counters)
        return files_read(self.place, self.table)

    @property
    def described(self) -> str:
        """What is read, for the record: a database without users and passwords, a table in memory by its kind."""
        if isinstance(self.place, Frame):
            return f"a {self.place.kind} table"
        if isinstance(self.place, str):
            kind, _, rest = self.place.partition("://")
            return f"table {self.table} of {kind}://{re.split('[?;]', rest.rpartition('@')[2])[0]}"
        return "a Spark table" if self.kind == "spark" else "files"

    @contextmanager
    def open(self) -> Iterator[Connection]:
        """The data itself. Called by the one door only, after the charge is durable."""
        with (
            self.near(rows=True) as near,
            Copies() as copies,
            near._connected(copies) as connection,
            interruptible(connection._backend),
            watched(connection._backend),
        ):
            yield connection

    def reach(self) -> None:
        """Have the data within reach, or say that it is not: before anything is spent, and without a look at a row."""
        if self.kind == "postgres":
            sessions.reach(self.place)
        elif self.kind == "spark":
            reach(self.place)
        else:
            with self.near(rows=True):
                pass

    @contextmanager
    def near(self, *, rows: bool = False) -> Iterator[Source]:
        """The same source with objects, its own and those it joins, as files of this machine for as long as this lasts.

        Without `rows` there are only names and types in them.
        """
        every = (self, *(other for _, other in self.others))
        if not any(isinstance(source.place, Objects) for source in every):
            yield self
            return
        with ExitStack() as stack:

            def local(source: Source) -> Source:
                if not isinstance(source.place, Objects):
                    return source
                copies = source.place.copied() if rows else source.place.outline()
                return replace(source, place=stack.enter_context(copies))

            found = replace(local(self), others=tuple((name, local(other)) for name, other in self.others))
            object.__setattr__(found, "cache", self.cache)
            yield found

    @contextmanager
    def _connected(self, copies: Copies | None) -> Iterator[Connection]:
        """Without `copies`, for names and types only."""
        import ibis

        if self.kind == "spark":
            with (
                shown(self.place, self.table, own=copies is not None) as (session, name),
                FrameCache(ibis.pyspark.connect(session)) as cache,
            ):
                table = with_zones(cache.backend.table(name), session, name)
                yield Connection(cache.backend, self._widened(cache.backend, table, copies), cache=cache)
            return  # the session is not ours to end
        if self.kind == "postgres":
            with sessions.lent(self.place) as backend:
                yield Connection(backend, self._widened(backend, self._read(backend, copies), copies), copies)
            return
        kinds = {self.kind, *(other.kind for _, other in self.others)}
        frames = "frame" in kinds
        if kinds <= _POOLED and stated_memory() is None:  # who limits memory wants none held between questions
            with engines.lent() as backend:
                mark = None if copies is None else self._mark()
                memory = None if mark is None else Memory(self.cache, mark, lambda: self._mark() == mark)

                def table() -> Any:
                    return self._widened(backend, self._read(backend, copies), copies)

                yield Connection(backend, table, copies, in_memory=frames, memory=memory)
            return
        with Spill() as spill:
            yield from self._local(str(spill.path), copies)

    def _local(self, spill: str, copies: Copies | None) -> Iterator[Connection]:
        """By a DuckDB of its own that spills to a folder nobody else can read."""
        limit = stated_memory()
        fixed = fixed_settings() | ({} if limit is None else {"memory_limit": f"'{limit}'"})
        settings = "; ".join(f"SET {name} = {value}" for name, value in fixed.items())
        settings = settings.format(spill=spill.replace("'", "''"))
        database = self.place.paths()[0] if self.kind == "duckdb" else ":memory:"
        backend = connect(database, read_only=self.kind == "duckdb")
        try:
            backend.raw_sql(settings)
            table = self._widened(backend, self._read(backend, copies), copies)
            frames = any(source.kind == "frame" for source in (self, *dict(self.others).values()))
            yield Connection(backend, table, copies, in_memory=frames)
        finally:
            backend.disconnect()

    def _read(self, backend: Any, copies: Copies | None) -> Any:
        import ibis

        if self.kind in ("postgres", "duckdb"):
            return named_types(backend.table(self.table))
        if self.kind == "csv":
            files, options = readable(self.place.paths(), self.names, copies, self.layout.delimiter)
            if copies is None:  # an engine need not be shown a name that it cannot write, such as one with a zero byte
                return ibis.memtable([], schema=dict.fromkeys(options["columns"], "string"))
            return self.layout.plain(copies.read(backend, "csv", files, **options), self.written)
        if self.kind == "parquet":
            return read_parquet(backend, self.place, copies or Copies()).table
        if copies is None:
            return ibis.memtable(self.place.arrow(rows=False))
        table = ibis.memtable(copies.arrow(self.place))
        copies.frames[table.get_name()] = self.place
        return table

    def _widened(self, backend: Any, table: Any, copies: Copies | None) -> Any:
        if self.view is None:
            return table
        return self.view(table, {name: other._read(backend, copies) for name, other in self.others})

    def beside(self, others: Mapping[str, Source]) -> Source:
        """This source with private tables to be joined to it; they must be within reach of the same engine."""
        files = ("csv", "parquet", "frame")
        for name, other in others.items():
            together = self.kind in files and other.kind in files
            same = self.kind in ("postgres", "duckdb") and (other.kind, other.place) == (self.kind, self.place)
            if not together and not same:
                hint = "Join them there on the person's id, and open the result."
                raise InputError(f"joins.{name}", other, f"a table within reach of {self!r}", hint)
        return replace(self, others=tuple(others.items()))


def source_of(place: Any, table: str | None = None) -> Source:
    """Read what a person named as their data."""
    if isinstance(place, Source):
        return place
    if isinstance(place, (str, os.PathLike)):
        named = os.fspath(place)
        return kind_for(named).open(named, table)
    if is_frame(place):
        return Source("spark", place)
    frame, kind = Frame.of(place), kind_of(place)
    del place  # it may be data of a kind we cannot read: no traceback is to show it
    if frame is None:
        raise InputError("source", kind, known_words())
    return Source("frame", frame)


def _files(place: str, table: str | None) -> Source:
    files = files_at(place, known_words())
    return Source(files.kind, files, _named(table, "table=") if files.kind == "duckdb" else None)


def _postgres(place: str, table: str | None) -> Source:
    address, named = _address(place)
    return Source(
        "postgres", Address(address), _named(table or named, "table=, or postgresql://.../database?table=NAME")
    )


def _spark(place: str, table: str | None) -> Source:
    address, _, named = place.partition("?table=")
    return Source("spark", address, _named(table or named, "table=, such as table='db.visits'"))


def _objects(place: str, table: str | None) -> Source:
    if table:
        raise InputError("table", table, "left out: an object store has files, and no tables")
    objects = objects_at(place, "CSV or Parquet files in an object store")
    return Source(objects.kind, objects)


def _address(place: str) -> tuple[str, str | None]:
    """A database's address without the name of the table, and that name if it was there."""
    parts = urlsplit(place)
    options = parse_qsl(parts.query, keep_blank_values=True)
    table = next((value for name, value in options if name == "table"), None)
    rest = urlencode([(name, value) for name, value in options if name != "table"])
    # By hand: with an empty host urlunsplit would drop the slashes.
    address = f"postgresql://{parts.netloc}{parts.path}" + (f"?{rest}" if rest else "")
    return address, table


def _named(table: str | None, how: str) -> str:
    if not table:
        raise InputError("table", table, f"the name of a table in the database ({how})")
    return table


_DISK = tuple(sorted(ending for endings in ENDINGS.values() for ending in endings))
register_source(SourceKind("files", "a CSV or Parquet file, glob or folder, a DuckDB file", _files, endings=_DISK))
register_source(SourceKind("postgres", "postgresql://...", _postgres, ("postgresql", "postgres")))
register_source(SourceKind("spark", "spark://..., sc://...", _spark, ("spark", "sc")))
register_source(SourceKind("objects", "s3://..., gs://..., az://...", _objects, OBJECT_STORES))
