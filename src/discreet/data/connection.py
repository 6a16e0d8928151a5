"""Private data, opened: the only module that runs an expression on it."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.deadline import passed
from discreet.data.code_table import CodeTable
from discreet.data.copies import Copies
from discreet.data.pool import interrupted, plans_of, restart, retire
from discreet.data.source_cache import SourceCache
from discreet.data.spark import FrameCache
from discreet.data.statement import Statement, probe_salt, statement_of

__all__ = ["Connection", "Memory"]

Found = TypeVar("Found")
_DEEP = 20_000  # frames: what writes SQL calls itself for every piece of a nested expression
_WHOLE = ("tinyint", "smallint", "int", "bigint")  # as Spark calls them
_ASKED, _UNFIT = "asked", "unfit"  # once so far; nothing that could be kept
_VIEWS = "SELECT view_name, sql FROM duckdb_views() WHERE temporary AND NOT internal ORDER BY view_name"
_LONG = 200_000  # letters of a text that is kept
_LARGE = 1_000_000  # together with the names of its files


@dataclass(frozen=True, slots=True)
class Memory:
    """Where the SQL of questions is remembered, and of which state of the data."""

    cache: SourceCache
    mark: Hashable
    still: Callable[[], bool]
    """Whether the data is still in that state."""


class Connection:
    """Private data, opened. Lives inside the one door."""

    def __init__(
        self,
        backend: Any,
        table: Any,
        copies: Copies | None = None,
        cache: FrameCache | None = None,
        in_memory: bool = False,
        memory: Memory | None = None,
    ) -> None:
        """`table` is an expression, or what makes it when it is first needed."""
        self._backend = backend
        self._cache = cache
        self._in_memory = in_memory
        self._copies = copies
        self._memory = memory
        self._show = table if callable(table) else lambda: table
        self._table: Any = None
        self._shown: set[str] = set()

    @property
    def table(self) -> Any:
        """The table, as an expression."""
        if self._table is None:
            self._table = self._show()
        return self._table

    def integers(self, expression: Any) -> dict[str, NDArray[np.int64]]:
        """Run an expression whose columns are all integers."""
        return self._run(self._integers, expression)

    def counted(
        self, shape: str, compiled: Callable[[Any, Sequence[int]], Any], salt: Sequence[int]
    ) -> dict[str, NDArray[np.int64]]:
        """Run what `compiled` makes of the table and a salt, an expression whose columns are all integers.

        Its SQL is kept from the second time on, under `shape`: everything else that it follows from, beside the table
        and the salt. A text that fails is forgotten, and the expression is run as if there had been none.
        """
        memory = self._memory
        if memory is None:
            return self.integers(compiled(self.table, salt))
        key = ("statement", memory.mark, shape, len(salt))
        known = memory.cache.get(key)
        if isinstance(known, Statement):
            try:
                return self._stated(known, salt)
            except Exception as problem:
                _check_stopped(problem)
                memory.cache.put(key, _UNFIT)
                self._table, self._shown = None, set()
                restart(self._backend)
        expression = compiled(self.table, salt)
        found = self.integers(expression)
        if known is None:
            memory.cache.put(key, _ASKED)
        elif known == _ASKED:
            self._keep(memory, key, expression, lambda words: compiled(self.table, words), salt)
        return found

    def _keep(
        self, memory: Memory, key: Hashable, expression: Any, again: Callable[[Sequence[int]], Any], salt: Sequence[int]
    ) -> None:
        """Keep the SQL of an expression that has run. Nothing that goes wrong here takes back what was counted."""
        kept = None
        with suppress(Exception):
            kept = self._statement(again(probe_salt(len(salt))), expression, salt)
        if kept is None or kept.letters > _LARGE:
            memory.cache.put(key, _UNFIT)
        elif memory.still():  # or nobody knows which state of the data it was written for
            memory.cache.put(key, kept, kept.letters)
            self._shown.update(kept.views, (name for name, _, _ in kept.frames))

    def _statement(self, probe: Any, expression: Any, salt: Sequence[int]) -> Statement | None:
        """What is kept of an expression that has run; None where the engine was shown more than files and tables."""
        if self._copies is None or self._copies.made:  # copies of files are gone with this connection
            return None
        sql, other = (str(self._backend.compile(each)) for each in (expression, probe))
        found = statement_of(other, len(salt), sql, salt) if len(sql) <= _LONG else None
        if found is None:
            return None
        # Of the views of this connection only those that the text names: others were shown for another question, and
        # that of a table in memory is nothing that a later connection could be shown by its text.
        listed = self._backend.con.execute(_VIEWS).fetchall()
        views = [view for name, view in listed if name in self._copies.views and name in sql]
        frames = [
            (name, frame, frame.arrow(rows=False).schema) for name, frame in self._copies.frames.items() if name in sql
        ]
        (parsed,) = self._backend.con.extract_statements(found.template)
        return replace(found, parsed=parsed, views=tuple(views), frames=tuple(frames))

    def _stated(self, statement: Statement, salt: Sequence[int]) -> dict[str, NDArray[np.int64]]:
        """Run a text that was kept: as the engine has planned it, or else once it was shown what the text reads."""
        columns = self._planned(statement, salt)
        if columns is None:
            columns = self._shown_and_run(statement, salt)
        return {name: column.astype(np.int64) for name, column in columns.items()}

    def _planned(self, statement: Statement, salt: Sequence[int]) -> dict[str, NDArray[Any]] | None:
        """Run the plan of a text over tables in memory that stay the same objects; None where there can be none."""
        plans = plans_of(self._backend)
        if plans is None or self._copies is None or statement.views or not statement.frames:
            return None
        tables = [self._copies.arrow(frame) for _, frame, _ in statement.frames]
        for table, (_, frame, stored) in zip(tables, statement.frames, strict=True):
            if not frame.holds(table) or not table.schema.equals(stored):  # made anew for each release
                return None
        plan = plans.plan(statement, tables)
        if plan is None:
            return None
        own, self._backend.con = self._backend.con, plan.connection  # what is interrupted is what runs
        try:
            return plan.columns(statement.parameters(salt))
        except BaseException:
            plans.forget(statement)
            raise
        finally:
            self._backend.con = own

    def _shown_and_run(self, statement: Statement, salt: Sequence[int]) -> dict[str, NDArray[Any]]:
        for view in statement.views:
            if view not in self._shown:
                self._backend.con.execute(view)
                self._shown.add(view)
        for name, frame, stored in statement.frames:
            if name not in self._shown and self._copies is not None:
                rows = self._copies.arrow(frame)
                if not rows.schema.equals(stored):
                    raise TypeError("a table in memory has other columns than before")
                self._backend.con.register(name, rows)
                self._shown.add(name)
        found: dict[str, NDArray[Any]] = self._backend.con.execute(
            statement.parsed, statement.parameters(salt)
        ).fetchnumpy()
        return found

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
        except Exception as problem:
            _check_stopped(problem)
            if self._copies is None or not self._copies.reread(self._backend):
                raise
            self._shown = set()
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


def _check_stopped(problem: Exception) -> None:
    """Who stops a run stops it: at its time limit, from another thread or by a signal. Nothing is run in its place."""
    if not passed() and not interrupted(problem):
        return
    if isinstance(problem, RuntimeError) and not passed():  # a signal, as it is told where no engine runs
        raise KeyboardInterrupt from None
    raise problem
