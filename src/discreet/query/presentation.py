"""What happens to a released table: compute, choose, filter, sort and cut rows. Free, because it is post-processing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet.core.note import Note
from discreet.core.release import Release
from discreet.data.expression import Expression
from discreet.data.expression.domain import value_of
from discreet.data.expression.node import columns_in
from discreet.query.formula import Formula, check_kinds
from discreet.query.totals import Totals

__all__ = ["UNCHANGED", "Order", "Presentation"]

_FEWEST = 2
_ABSENT = ""
"""Where a row says, while it is worked on, which columns it does not have."""
_EMPTY = (
    "Computed over the {groups:,} groups that are published, any without rows among them; a database has only groups "
    "with rows."
)
_GAPS = " WHERE column IS NOT NULL leaves out the group of missing values."


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
    chosen: Expression | None = None
    """Which rows there are to compute with."""
    once: tuple[str, ...] | None = None
    """Keep the first row of each combination of these columns; one row, if there are none."""
    totals: Totals | None = None
    """Rows that are totals, and become columns of the others first of all."""
    then: Presentation | None = None
    """What happens to the table that this makes."""

    def tied(self, before: Collection[str] = ()) -> set[str]:
        """Which columns of the last table have noise in common from row to row: windows and totals are in them."""
        found = {*before, *(self.totals.names if self.totals is not None else ())}
        for each in self.formulas:
            if each.overs or found.intersection(columns_in(each.expression)):
                found.add(each.name)
        left = {label for name, label in self.shown if name in found}
        return left if self.then is None else self.then.tied(left)

    def apply(self, release: Release) -> Release:
        """The table a person asked to see. The stored release stays whole."""
        made = self._applied(release)
        return made if self.then is None else self.then.apply(made)

    def try_on(self, rows: Sequence[Mapping[str, Any]], outputs: Sequence[str]) -> None:
        """Compute everything once of made-up rows, whichever they choose; what makes no sense raises here."""
        made, numbers = [dict(row) for row in rows], list(outputs)
        if self.totals is not None:
            beside = {name + end: 1.5 for name in self.totals.names for end in ("", "_lower", "_upper")}
            made, numbers = [{**beside, **row} for row in made], [*numbers, *self.totals.names]
        conditions = [self.chosen] if self.chosen is not None else []
        for formula in self.formulas:
            columns = formula.columns(made, numbers)
            for row in made:
                check_kinds(formula.expression, {**{over.name: 3.0 for over in formula.overs}, **row})
            made = [{**row, **{name: values[at] for name, values in columns.items()}} for at, row in enumerate(made)]
            numbers += [formula.name] if formula.is_number else []
        for condition in [*conditions, *([self.having] if self.having is not None else [])]:
            if any(not isinstance(value_of(condition, row), bool | None) for row in made):
                raise TypeError("a condition is true or false")
            for row in made:
                check_kinds(condition, row)
        if self.then is not None:
            shown = [(name, label, end) for name, label in self.shown for end in ("", "_lower", "_upper")]
            left = [{label + end: row.get(name + end) for name, label, end in shown} for row in made]
            self.then.try_on(left, [label for name, label in self.shown if name in numbers])

    def _applied(self, release: Release) -> Release:
        rows = [{**row, _ABSENT: []} for row in release.rows()]
        for name, places in release.absent.items():
            for place in places:
                rows[place][_ABSENT].append(name)
        if self.totals is not None:
            rows = self.totals.beside(rows)
            outputs = [name for name in release.outputs if name not in self.totals.names]
            release = replace(release, outputs=(*outputs, *self.totals.names))
        if self.chosen is not None:
            rows = [row for row in rows if value_of(self.chosen, row) is True]
        for formula in self.formulas:
            made = formula.columns(rows, release.outputs)
            release = replace(release, notes=(*release.notes, *formula.note(made)))
            rows = [{**row, **{name: values[index] for name, values in made.items()}} for index, row in enumerate(rows)]
        release = replace(release, notes=(*release.notes, *self._empty(release, rows)))
        if self.having is not None:
            rows = [row for row in rows if value_of(self.having, row) is True]
        if self.once is not None:
            rows = list({tuple(row[name] for name in self.once): row for row in reversed(rows)}.values())[::-1]
        for step in reversed(self.order):
            known = [row for row in rows if row[step.column] is not None]
            gaps = [row for row in rows if row[step.column] is None]
            known = sorted(known, key=lambda row: row[step.column], reverse=step.descending)
            rows = gaps + known if step.missing_first else known + gaps
        rows = rows[self.offset :] if self.limit is None else rows[self.offset : self.offset + self.limit]
        return self._shown(release, rows)

    def _empty(self, release: Release, rows: Sequence[Mapping[str, Any]]) -> list[Note]:
        """What is to be said where numbers are computed over groups: those that nobody is in are among them."""
        names = tuple(each.name for each in self.formulas if any(over.counts_groups for over in each.overs))
        keys = release.query.get("group_by")
        found = keys and all(isinstance(key, Mapping) and key.get("discover") for key in keys)
        if not names or len(rows) < _FEWEST or found:  # of keys that are found, each group has rows
            return []
        gaps = any(row[key] is None for row in rows for key in release.keys)
        return [Note("empty", _EMPTY.format(groups=len(rows)) + (_GAPS if gaps else ""), names)]

    def _shown(self, release: Release, rows: list[dict[str, Any]]) -> Release:
        made = [formula.name for formula in self.formulas if formula.is_number]
        shown = self.shown or tuple((name, name) for name in (*release.keys, *release.outputs))
        columns: dict[str, list[Any]] = {}
        keys: list[str] = []
        outputs: list[str] = []
        absent: dict[str, list[int]] = {}
        for name, label in shown:
            if places := [place for place, row in enumerate(rows) if name in row[_ABSENT]]:
                absent[label] = places
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
        table = replace(release, columns=columns, keys=tuple(keys), outputs=tuple(outputs), notes=kept)
        return replace(table, absent=absent)


UNCHANGED = Presentation()
"""Nothing is done: the table is shown as it was released."""
