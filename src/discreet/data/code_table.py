"""A table of small codes kept inside DuckDB for one run, so that many counts of it read the data once.

It is temporary: nothing of it is written to a file of ours, and it is gone with the connection. Other engines keep
none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CodeTable"]

Whole = NDArray[np.int64]


class CodeTable:
    """Columns c0, c1, ... of codes, none of them missing; rows may count as `many` each."""

    def __init__(self, backend: Any, name: str, *, limited: bool) -> None:
        self._backend, self._name, self._limited = backend, name, limited
        self._next = 0

    def tally(self, columns: Sequence[int], sizes: Sequence[int]) -> tuple[Whole, Whole]:
        """The cells of some columns that are not empty, the last column moving fastest, and how many rows each has."""
        cell = "0::BIGINT"
        for column in columns:
            cell = f"({cell} * {int(sizes[column])} + c{int(column)})"
        many = "sum(many)::BIGINT" if self._limited else "count(*)"
        found = self._backend.raw_sql(
            f"SELECT {cell} AS cell, {many} AS many FROM {self._name} GROUP BY 1"
        ).fetchnumpy()
        cells, counts = (found[name].astype(np.int64) for name in ("cell", "many"))
        order = np.argsort(cells)
        return cells[order], counts[order]

    def mapped(self, maps: Sequence[Whole]) -> CodeTable:
        """The same rows with every code replaced by what its column's map has in its place."""
        name = f"{self._name}_{self._next}"
        self._next += 1
        columns = [_looked_up(f"c{place}", one) for place, one in enumerate(maps)]
        also = ["many"] if self._limited else []
        self._backend.raw_sql(f"CREATE TEMP TABLE {name} AS SELECT {', '.join([*columns, *also])} FROM {self._name}")
        return CodeTable(self._backend, name, limited=self._limited)


def _looked_up(column: str, one: Whole) -> str:
    if np.array_equal(one, np.arange(len(one))):
        return column
    values = ", ".join(map(str, one.tolist()))
    # Widened first: the next number after the last of 32,768 codes is none of the short ones they are kept in.
    return f"([{values}])[{column}::INTEGER + 1]::{code_type(int(one.max()) + 1)} AS {column}"


def code_type(size: int) -> str:
    """The shortest whole numbers that hold so many codes."""
    return "SMALLINT" if size <= 2**15 else "INTEGER"
