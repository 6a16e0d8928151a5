"""Published parents and child rows: two tables with a key that joins them, at no further cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.publication import Publication, rows_table
from discreet.core.release import Release, with_notes
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.door import Answer
from discreet.query.predicate import Predicate, checked, predicate_from
from discreet.synth.relations.exclusions import PossibleRows, possible_rows
from discreet.synth.relations.record import Level, level_from
from discreet.synth.rows import ColumnValues, key_column, to_arrow

__all__ = ["RelationsRelease"]

_SHOWN = 5


@dataclass(frozen=True)
class RelationsRelease(Publication):
    """Parents and child rows that are nobody's, as the ledger holds them: the same whenever they are read.

    `parents` and `children` are Arrow tables; both have the key, which was made anew.
    """

    above: Level
    below: Level
    key: tuple[str, str | int]
    limit: int
    """How many child rows of one parent counted."""
    total: float
    """How many parents the private table is estimated to have."""
    impossible: tuple[Predicate, ...] = ()
    """Conditions that no row meets."""

    @classmethod
    def read(cls, answer: Answer, cost: str, remaining: str) -> RelationsRelease:
        """From an answer on the ledger."""
        result: Any = answer.result
        entry = result["relations"]
        above, below = level_from(entry["parents"]), level_from(entry["children"])
        schema = Schema(answer.dataset, above.declared | below.declared)
        return cls(
            **answer.provenance(cost, remaining),
            above=above,
            below=below,
            key=tuple(entry["key"]),
            limit=entry["limit"],
            total=entry["total"],
            impossible=tuple(checked(predicate_from(one), schema) for one in entry.get("impossible", ())),
            stale=answer.stale,
            caveats=answer.caveats,
        )

    @cached_property
    def _keys(self) -> Any:
        return key_column(self.key[1], len(self.above.codes))

    @cached_property
    def parents(self) -> Any:
        """One row a parent: its key, and its columns."""
        return self._table(self.above, self._rows.parents, {self.key[0]: self._keys})

    @cached_property
    def children(self) -> Any:
        """One row a child row: its parent's key, and its columns; by parent, and in order where there is one."""
        return self._table(self.below, self._rows.children, {self.key[0]: self._keys.take(self._rows.owner)})

    @cached_property
    def _rows(self) -> PossibleRows:
        return possible_rows(self.above, self.below, self.impossible)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is left out of the rows, and how many were changed or left out because they could not be."""
        rows = self._rows
        changed = (f"{rows.changed:,} rows were impossible and were changed",) if rows.changed else ()
        lost = (f"{rows.left_out:,} child rows were impossible and were left out",) if rows.left_out else ()
        return (*changed, *lost, *super().notes)

    def _table(self, level: Level, drawn: dict[str, ColumnValues], keys: dict[str, Any]) -> Any:
        import pyarrow

        found = keys | {one.name: to_arrow(level.declared[one.name], drawn[one.name]) for one in level.parts}
        return with_notes(pyarrow.table(found), self.table_notes())

    @property
    def fan_out(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """How many child rows each parent has."""
        return np.bincount(self._rows.owner, minlength=len(self.above.codes))

    def __len__(self) -> int:
        return len(self.above.codes)

    def tables(self) -> dict[str, Release]:
        """Both, as tables."""
        found = {"parents": self.parents, "children": self.children}
        return {name: rows_table(table.to_pydict(), self) for name, table in found.items()}

    def to_dict(self) -> dict[str, Any]:
        """Plain values that say what it is, without its rows."""
        many = {"parents": len(self), "children": len(self._rows.owner)}
        columns = {"parents": self.parents.column_names, "children": self.children.column_names}
        return {**super().to_dict(), "rows": many, "columns": columns, "limit": self.limit, "notes": list(self.notes)}

    def save(self, folder: str | Path, format: str = "csv") -> list[Path]:
        """Write both tables to a folder: parents and children, as .csv or .parquet files."""
        if format not in ("csv", "parquet"):
            raise InputError("format", format, among=("csv", "parquet"))
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        paths = [place / f"{name}.{format}" for name in ("parents", "children")]
        if format == "csv":
            for path, table in zip(paths, self.tables().values(), strict=True):
                table.to_csv(path)
            return paths
        import pyarrow.parquet

        for path, rows in zip(paths, (self.parents, self.children), strict=True):
            pyarrow.parquet.write_table(rows, path)
        return paths

    @property
    def heading(self) -> str:
        """What it is, in a few words."""
        return "Synthetic parents and child rows"

    def __repr__(self) -> str:
        lines = []
        for name, table in (("parents", self.parents), ("children", self.children)):
            lines.append(f"{name}: {table.num_rows:,} rows")
            shown = [table.column_names, *([_cell(one) for one in row.values()] for row in _head(table))]
            widths = [max(len(row[place]) for row in shown) for place in range(table.num_columns)]
            lines += ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in shown]
        lines += [f"Note: {note.text}" for note in self.table_notes()]
        return "\n".join([*lines, f"[synthetic parents and child rows of {self.dataset!r}; {self.about}]"])


def _head(table: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.slice(0, _SHOWN).to_pylist()
    return rows


def _cell(value: Any) -> str:
    return "-" if value is None else f"{value:.12g}" if isinstance(value, float) else str(value)
