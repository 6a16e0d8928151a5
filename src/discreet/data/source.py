"""Where private data lives. This is the only module that opens it, and the only one that runs an expression on it.

`Source.columns()` reads names and stored types, which are public; `Source.open()` is for the one door.
"""

from __future__ import annotations

import os
import re
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
from numpy.typing import NDArray

from discreet.core.version import DataVersion
from discreet.core.wire import Json
from discreet.data.code_table import CodeTable
from discreet.data.column import Column
from discreet.data.copies import Copies
from discreet.data.csv_file import read_first_line, readable
from discreet.data.dialect import named_types
from discreet.data.files import DELIMITERS, Files, files_at
from discreet.data.frame import Frame
from discreet.data.layout import Layout
from discreet.data.parquet_file import Drift, read_parquet
from discreet.data.pool import engines, fixed_settings, retire
from discreet.data.spark import FrameCache, files_read, is_frame, shown, with_zones
from discreet.data.spill import Spill
from discreet.data.stamp import Stamp, write_counters
from discreet.errors import DiscreetError, InputError, MissingExtraError, Phrase, kind_of

__all__ = ["Connection", "Source", "source_of"]

_KINDS = (
    "a CSV or Parquet file, glob or folder, a DuckDB file, postgresql://..., spark://..., sc://..., "
    "or an Arrow/pandas/Polars/Spark table"
)
Found = TypeVar("Found")
_DEEP = 20_000  # frames: what writes SQL calls itself for every piece of a nested expression
_WHOLE = ("tinyint", "smallint", "int", "bigint")  # as Spark calls them
_POSTGRES = "SET TimeZone = 'UTC'; SET default_transaction_read_only = on"


class Connection:
    """Private data, opened. Lives inside the one door."""

    def __init__(
        self,
        backend: Any,
        table: Any,
        copies: Copies | None = None,
        cache: FrameCache | None = None,
        in_memory: bool = False,
    ) -> None:
        self._backend = backend
        self._cache = cache
        self._in_memory = in_memory
        self._copies = copies
        self.table = table

    def integers(self, expression: Any) -> dict[str, NDArray[np.int64]]:
        """Run an expression whose columns are all integers."""
        return self._run(self._integers, expression)

    def values(self, expression: Any) -> dict[str, list[Any]]:
        """Run an expression whose columns are integers or bytes; a missing value is None."""
        return self._run(self._values, expression)

    def store(self, codes: Any) -> CodeTable | None:
        """Have the engine keep a table of codes, c0, c1, ..., for as long as it is open; None where it keeps none."""
        if self._backend.name != "duckdb":
            return None
        retire(self._backend)
        name = f"codes_{uuid.uuid4().hex}"  # an engine may be open more than once
        self._run(lambda expression: self._backend.create_table(name, expression, temp=True), codes)
        return CodeTable(self._backend, name, limited="many" in codes.columns)

    def cached(self, codes: Any) -> Any:
        """The same table, which Spark computes once while it is open; `store` is for other engines."""
        return codes if self._cache is None else self._cache.cached(codes)

    def bind(self) -> None:
        """Have the engine compile the table; no row of it is read."""
        self._fetched(self.table.limit(0))

    def _run(self, run: Callable[[Any], Found], expression: Any) -> Found:
        """Once more, if it failed on a value that the engine could not read: no value may make a run fail."""
        try:
            return run(expression)
        except RecursionError:
            sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEEP))
        except Exception:
            if self._copies is None or not self._copies.reread(self._backend):
                raise
        return run(expression)

    def _integers(self, expression: Any) -> dict[str, NDArray[np.int64]]:
        if self._in_memory:  # only ibis knows how to show the engine such a table
            answer = self._backend.to_pyarrow(expression)
            return {name: answer.column(name).to_numpy().astype(np.int64) for name in answer.column_names}
        if self._backend.name == "duckdb":
            columns = self._backend.raw_sql(self._backend.compile(expression)).fetchnumpy()
            return {name: column.astype(np.int64) for name, column in columns.items()}
        if self._backend.name == "pyspark" and (columns := self._columns(expression)) is not None:
            return columns
        names, rows = self._fetched(expression)
        # As plain tuples: numpy would ask every one of Spark's rows whether it is an array.
        found = np.array(list(map(tuple, rows)), dtype=np.int64).reshape(-1, len(names))
        return {name: found[:, place] for place, name in enumerate(names)}

    def _columns(self, expression: Any) -> dict[str, NDArray[np.int64]] | None:
        """Whole columns from Spark, where its version hands them over: millions of numbers, not so many rows."""
        answer = self._backend.raw_sql(self._backend.compile(expression))
        if not hasattr(answer, "toArrow") or any(kind not in _WHOLE for _, kind in answer.dtypes):
            return None
        found = answer.toArrow()
        return {name: found.column(name).to_numpy().astype(np.int64) for name in found.column_names}

    def _values(self, expression: Any) -> dict[str, list[Any]]:
        if self._in_memory:
            answer = self._backend.to_pyarrow(expression)
            return {name: answer.column(name).to_pylist() for name in answer.column_names}
        names, rows = self._fetched(expression)
        return {
            name: [bytes(row[place]) if isinstance(row[place], bytearray) else row[place] for row in rows]
            for place, name in enumerate(names)
        }

    def _fetched(self, expression: Any) -> tuple[list[str], list[Any]]:
        """Past ibis, which would load pandas for this: that takes longer than most questions."""
        answer = self._backend.raw_sql(self._backend.compile(expression))
        if self._backend.name == "pyspark":
            return answer.columns, answer.collect()
        return [column[0] for column in answer.description], answer.fetchall()


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
            with self._connected(None) as connection:
                return {name: str(kind) for name, kind in connection.table.schema().items()}
        except DiscreetError:
            raise
        except Exception:
            hint = "Check the address, the name of the table, and that the file is whole."
            problem = InputError("source", self, "data that can be opened", hint)
        # Outside the handler: what an engine says about a file may quote a line of it.
        raise problem

    def drift(self) -> dict[str, Drift]:
        """The columns that files of one folder do not store alike: public, as their types are."""
        if self.kind != "parquet":
            return {}
        with engines.lent() as backend:
            return dict(read_parquet(backend, self.place, Copies()).drift)

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
        file = self.place.paths()[0]
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
        if isinstance(self.place, Files):
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
        with Copies() as copies, self._connected(copies) as connection:
            yield connection

    @contextmanager
    def _connected(self, copies: Copies | None) -> Iterator[Connection]:
        """Without `copies`, for names and types only."""
        import ibis

        if self.kind == "spark":
            with shown(self.place, self.table) as (session, name), FrameCache(ibis.pyspark.connect(session)) as cache:
                table = with_zones(cache.backend.table(name), session, name)
                yield Connection(cache.backend, self._widened(cache.backend, table, copies), cache=cache)
            return  # the session is not ours to end
        kinds = {self.kind, *(other.kind for _, other in self.others)}
        frames = "frame" in kinds
        if (
            kinds <= {"csv", "parquet", "frame"} and not _memory()
        ):  # who limits memory wants none held between questions
            with engines.lent() as backend:
                table = self._widened(backend, self._read(backend, copies), copies)
                yield Connection(backend, table, copies, in_memory=frames)
            return
        with Spill() as spill:
            yield from self._local(str(spill.path), copies)

    def _local(self, spill: str, copies: Copies | None) -> Iterator[Connection]:
        """By PostgreSQL, or a DuckDB of its own that spills to a folder nobody else can read."""
        import ibis

        if self.kind == "postgres":
            try:
                backend = ibis.connect(self.place)
            except ImportError:
                raise MissingExtraError("postgres", "psycopg") from None
            settings = _POSTGRES
        else:
            settings = "; ".join(f"SET {name} = {value}" for name, value in fixed_settings().items())
            settings = settings.format(spill=spill.replace("'", "''")) + _memory()
            database = self.place.paths()[0] if self.kind == "duckdb" else ":memory:"
            backend = ibis.duckdb.connect(database, read_only=self.kind == "duckdb")
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
        return ibis.memtable(self.place.arrow(rows=copies is not None))

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


def _memory() -> str:
    """How much memory DuckDB may take, if the environment says so."""
    limit = os.environ.get("DISCREET_MEMORY", "")
    if not limit:
        return ""
    if not re.fullmatch(r"[1-9]\d*(\.\d+)? ?[KMGT]i?B", limit, re.ASCII):
        raise InputError("DISCREET_MEMORY", limit, "an amount of memory, such as 4GB")
    return f"; SET memory_limit = '{limit}'"


def source_of(place: Any, table: str | None = None) -> Source:
    """Read what a person named as their data."""
    if isinstance(place, Source):
        return place
    if isinstance(place, (str, os.PathLike)):
        return _from_text(os.fspath(place), table)
    if is_frame(place):
        return Source("spark", place)
    frame, kind = Frame.of(place), kind_of(place)
    del place  # it may be data of a kind we cannot read: no traceback is to show it
    if frame is None:
        raise InputError("source", kind, _KINDS)
    return Source("frame", frame)


def _from_text(place: str, table: str | None) -> Source:
    if place.startswith(("postgresql://", "postgres://")):
        address, named = _address(place)
        return Source("postgres", address, _named(table or named, "table=, or postgresql://.../database?table=NAME"))
    if place.startswith(("spark://", "sc://")):
        address, _, named = place.partition("?table=")
        return Source("spark", address, _named(table or named, "table=, such as table='db.visits'"))
    if "://" in place:
        raise InputError("source", place.split("://")[0] + "://...", _KINDS)
    files = files_at(place, _KINDS)
    return Source(files.kind, files, _named(table, "table=") if files.kind == "duckdb" else None)


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
