"""A statement over tables in memory that an engine has planned: for a small table, planning takes most of the time.

DuckDB plans a statement with parameters anew each time. So the words of a salt are read by the plan when it runs, from
a table of one row whose numbers are replaced in place. Files are planned anew each time, whatever is kept.

A plan has a connection of its own, which is shown the tables of the statement and runs nothing else. It ends with its
engine, or with the statement, whichever goes first, and holds on to no table that the statement does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from discreet.data.statement import Statement

__all__ = ["KeptPlan", "KeptPlans"]

_MOST = 32  # plans of one engine
_SALT = "discreet_salt"


class KeptPlan:
    """A statement, planned for these very tables."""

    def __init__(self, connection: Any, statement: Statement, tables: Sequence[Any]) -> None:
        import pyarrow

        self.connection = connection
        self._tables = tuple(tables)
        self._words = {hole: np.zeros(1, dtype=np.int64) for hole in statement.names}
        columns = {
            hole: pyarrow.Array.from_buffers(pyarrow.int64(), 1, [None, pyarrow.py_buffer(word)])
            for hole, word in self._words.items()
        }
        self._salt = pyarrow.table(columns) if columns else None
        if self._salt is not None:
            connection.register(_SALT, self._salt)
        for (name, _, _), table in zip(statement.frames, self._tables, strict=True):
            connection.register(name, table)
        connection.execute("PREPARE question AS " + statement.filled(lambda hole: f'(SELECT "{hole}" FROM {_SALT})'))
        (self._run,) = connection.extract_statements("EXECUTE question")

    def of(self, tables: Sequence[Any]) -> bool:
        """Whether it is for these very objects."""
        return len(tables) == len(self._tables) and all(
            one is own for one, own in zip(tables, self._tables, strict=True)
        )

    def columns(self, parameters: dict[str, int]) -> dict[str, NDArray[Any]]:
        """The answer for a salt."""
        for hole, word in self._words.items():
            word[0] = parameters[hole]
        try:
            found: dict[str, NDArray[Any]] = self.connection.execute(self._run).fetchnumpy()
        finally:
            for word in self._words.values():
                word[0] = 0  # no salt is kept
        return found

    def close(self) -> None:
        """End it."""
        self.connection.close()


class KeptPlans:
    """The plans of one engine, which runs one question at a time."""

    def __init__(self, connect: Callable[[], Any]) -> None:
        """`connect` makes a connection to the engine, under the rules of one for a question."""
        self._connect = connect
        self._plans: WeakSet[KeptPlan] = WeakSet()

    def __len__(self) -> int:
        return len(self._plans)

    def plan(self, statement: Statement, tables: Sequence[Any]) -> KeptPlan | None:
        """The plan of a statement for these tables, made if there is none; None where none can be made."""
        known = statement.plans.get(self)
        if known is not None and known.of(tables):
            return known
        if known is not None:
            self.forget(statement)
        if len(self._plans) >= _MOST:
            return None
        connection = self._connect()
        try:
            found = KeptPlan(connection, statement, tables)
        except BaseException:
            connection.close()
            raise
        self._plans.add(found)
        statement.plans[self] = found
        return found

    def forget(self, statement: Statement) -> None:
        """End the plan of a statement."""
        if (known := statement.plans.pop(self, None)) is not None:
            self._plans.discard(known)
            known.close()

    def close(self) -> None:
        """End all."""
        for plan in list(self._plans):
            plan.close()
        self._plans.clear()
