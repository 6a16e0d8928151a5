"""Where private data lives. This is the only module that opens it, and the only one that runs an expression on it.

`Source.columns()` reads names and physical types, which are public; `Source.open()` is for the one door.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, MissingExtraError

__all__ = ["Connection", "Source", "source_of"]

_KINDS = "a CSV or Parquet file, glob or folder, a DuckDB file, postgresql://..., or an Arrow/pandas/Polars table"


class Connection:
    """Private data, opened. Lives inside the one door."""

    def __init__(self, backend: Any, table: Any) -> None:
        self._backend = backend
        self.table = table

    def integers(self, expression: Any) -> dict[str, NDArray[np.int64]]:
        """Run an expression whose columns are all integers."""
        answer = self._backend.to_pyarrow(expression)
        return {
            name: np.asarray(answer.column(name).cast("int64").to_numpy(zero_copy_only=False), dtype=np.int64)
            for name in answer.column_names
        }


@dataclass(frozen=True, slots=True, repr=False)
class Source:
    """A place private data can be opened from."""

    kind: str
    place: Any
    table: str | None = None

    def __repr__(self) -> str:
        return f"<private {self.kind}>"

    def columns(self) -> dict[str, str]:
        """Column names and physical types: public, and all there is to read without paying."""
        with self._connected() as connection:
            return {name: str(kind) for name, kind in connection.table.schema().items()}

    @contextmanager
    def open(self) -> Iterator[Connection]:
        """The data itself. Called by the one door only, after the charge is durable."""
        with self._connected() as connection:
            yield connection

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        import ibis

        if self.kind == "postgres":
            backend = _postgres(ibis, self.place)
            table = backend.table(_named(self.table, "postgresql://.../database?table=NAME"))
        elif self.kind == "duckdb":
            backend = ibis.duckdb.connect(self.place, read_only=True)
            table = backend.table(_named(self.table, "table=NAME"))
        else:
            backend = ibis.duckdb.connect()
            table = _in_memory(ibis, backend, self.kind, self.place)
        try:
            yield Connection(backend, table)
        finally:
            backend.disconnect()


def _in_memory(ibis: Any, backend: Any, kind: str, place: Any) -> Any:
    if kind == "csv":
        # Everything as text: types guessed from values would depend on them.
        return backend.read_csv(place, all_varchar=True, header=True)
    if kind == "parquet":
        return backend.read_parquet(place)
    return ibis.memtable(place)


def source_of(place: Any, table: str | None = None) -> Source:
    """Read what a person named as their data."""
    if isinstance(place, Source):
        return place
    if isinstance(place, (str, os.PathLike)):
        return _from_text(os.fspath(place), table)
    kind = type(place).__module__.split(".")[0]
    if kind in ("pandas", "polars", "pyarrow"):
        return Source("frame", _arrow(place, kind))
    raise InputError("source", type(place).__name__, _KINDS)


def _from_text(place: str, table: str | None) -> Source:
    if place.startswith(("postgresql://", "postgres://")):
        return Source("postgres", place, table)
    if "://" in place:
        raise InputError("source", place.split("://")[0] + "://...", _KINDS)
    path = Path(place)
    if any(mark in place for mark in "*?["):
        files = sorted(str(p) for p in _matching(place))
    elif path.is_dir():
        files = sorted(str(p) for p in path.rglob("*") if p.suffix in (".parquet", ".csv"))
    else:
        files = [place] if path.exists() else []
    if not files:
        raise InputError("source", place, f"{_KINDS}; nothing is there")
    endings = {Path(name).suffix.lower() for name in files}
    if endings <= {".parquet", ".pq"}:
        return Source("parquet", files)
    if endings <= {".csv", ".tsv"}:
        return Source("csv", files)
    if endings <= {".duckdb", ".ddb"}:
        return Source("duckdb", files[0], table)
    raise InputError("source", place, f"{_KINDS}; files here end in {', '.join(sorted(endings))}")


def _matching(pattern: str) -> Iterator[Path]:
    """Files a glob pattern names; what comes before its first wildcard is the folder to look in."""
    parts = Path(pattern).parts
    fixed = next(i for i, part in enumerate(parts) if any(mark in part for mark in "*?["))
    return Path(*parts[:fixed]).glob(str(Path(*parts[fixed:])))


def _arrow(frame: Any, kind: str) -> Any:
    import pyarrow

    if kind == "pandas":
        return pyarrow.Table.from_pandas(frame, preserve_index=False)
    if kind == "polars":
        return frame.collect().to_arrow() if hasattr(frame, "collect") else frame.to_arrow()
    return frame if isinstance(frame, pyarrow.Table) else frame.read_all()


def _named(table: str | None, how: str) -> str:
    if not table:
        raise InputError("table", table, f"the name of a table in the database ({how})")
    return table


def _postgres(ibis: Any, address: str) -> Any:
    try:
        return ibis.connect(address.replace("postgres://", "postgresql://", 1))
    except ImportError:
        raise MissingExtraError("postgres", "psycopg") from None
