"""What happens to a released table: choose, filter, sort and cut rows. Free, because it is post-processing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from discreet.core.release import Release

__all__ = ["UNCHANGED", "Having", "Order", "Presentation"]

_TESTS: dict[str, Any] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@dataclass(frozen=True, slots=True)
class Having:
    """Keep the rows whose published value of `output` compares so with a constant."""

    output: str
    operator: str
    value: float

    def holds(self, row: dict[str, Any]) -> bool:
        """Whether a released row is kept."""
        return row[self.output] is not None and bool(_TESTS[self.operator](row[self.output], self.value))


@dataclass(frozen=True, slots=True)
class Order:
    """Sort by a published column; missing values come last."""

    column: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Presentation:
    """Steps on a released table, in the order SQL takes them, and the columns shown with their names."""

    shown: tuple[tuple[str, str], ...] = ()
    having: tuple[Having, ...] = ()
    order: tuple[Order, ...] = ()
    limit: int | None = None

    def apply(self, release: Release) -> Release:
        """The table a person asked to see. The stored release stays whole."""
        rows = [row for row in release.rows() if all(test.holds(row) for test in self.having)]
        for step in reversed(self.order):
            known = [row for row in rows if row[step.column] is not None]
            gaps = [row for row in rows if row[step.column] is None]
            rows = sorted(known, key=lambda row: row[step.column], reverse=step.descending) + gaps
        rows = rows if self.limit is None else rows[: self.limit]
        shown = self.shown or tuple((name, name) for name in (*release.keys, *release.outputs))
        columns: dict[str, list[Any]] = {}
        keys: list[str] = []
        outputs: list[str] = []
        for name, label in shown:
            ends = ("", "_lower", "_upper") if name in release.outputs else ("",)
            (outputs if name in release.outputs else keys).append(label)
            for end in ends:
                columns[label + end] = [row[name + end] for row in rows]
        labels = dict(shown)
        notes = [
            (note, replace(note, outputs=tuple(labels[name] for name in note.outputs if name in labels)))
            for note in release.notes
        ]
        told = tuple(new for old, new in notes if new.outputs or not old.outputs)
        return replace(release, columns=columns, keys=tuple(keys), outputs=tuple(outputs), notes=told)


UNCHANGED = Presentation()
"""Nothing is done: the table is shown as it was released."""
