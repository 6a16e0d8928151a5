"""What happens to a released table: compute, choose, filter, sort and cut rows. Free, because it is post-processing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from discreet.core.release import Release
from discreet.data.expression import Constant, Expression
from discreet.data.expression.domain import value_of
from discreet.query.formula import Formula

__all__ = ["UNCHANGED", "Order", "Presentation"]


@dataclass(frozen=True, slots=True)
class Order:
    """Sort by a published column; missing values come last, unless they are asked for first."""

    column: str
    descending: bool = False
    missing_first: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Presentation:
    """Steps on a released table, in the order SQL takes them, and the columns shown with their names."""

    shown: tuple[tuple[str, str], ...] = ()
    formulas: tuple[Formula, ...] = ()
    having: Expression | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0

    def apply(self, release: Release) -> Release:
        """The table a person asked to see. The stored release stays whole."""
        rows = release.rows()
        for formula in self.formulas:
            made = formula.columns(rows, release.outputs)
            rows = [{**row, **{name: values[index] for name, values in made.items()}} for index, row in enumerate(rows)]
        if self.having is not None:
            rows = [row for row in rows if value_of(self.having, row) is True]
        for step in reversed(self.order):
            known = [row for row in rows if row[step.column] is not None]
            gaps = [row for row in rows if row[step.column] is None]
            known = sorted(known, key=lambda row: row[step.column], reverse=step.descending)
            rows = gaps + known if step.missing_first else known + gaps
        rows = rows[self.offset :] if self.limit is None else rows[self.offset : self.offset + self.limit]
        return self._shown(release, rows)

    def _shown(self, release: Release, rows: list[dict[str, Any]]) -> Release:
        made = [formula.name for formula in self.formulas if not isinstance(formula.expression, Constant)]
        shown = self.shown or tuple((name, name) for name in (*release.keys, *release.outputs))
        columns: dict[str, list[Any]] = {}
        keys: list[str] = []
        outputs: list[str] = []
        for name, label in shown:
            published = name in release.outputs or name in made
            (outputs if published else keys).append(label)
            for end in ("", "_lower", "_upper") if published else ("",):
                columns[label + end] = [row[name + end] for row in rows]
        labels = dict(shown)
        notes = [
            (note, replace(note, outputs=tuple(labels[name] for name in note.outputs if name in labels)))
            for note in release.notes
        ]
        kept = tuple(new for old, new in notes if new.outputs or not old.outputs or made)
        return replace(release, columns=columns, keys=tuple(keys), outputs=tuple(outputs), notes=kept)


UNCHANGED = Presentation()
"""Nothing is done: the table is shown as it was released."""
