"""What is counted: rows of every group by leaf region and finest cell. The engine does it, in one query.

A row may be in several groups, and counts in each of them; one that is in more than `overlap` counts in none. Where the
unit is a person, one choice of the person's cells is made for all groups together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.release import plural
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.query.compile import chosen, measure_name, measured, summed
from discreet.query.contribution import GROUP, PERSON, contributions, fresh_salt
from discreet.query.group import group_number
from discreet.query.measure import Rows
from discreet.query.noisy_sums import moved_sums
from discreet.query.notes import expression_notes
from discreet.query.question import Query
from discreet.trees.count import Tabulation
from discreet.trees.detail.refinement import Refinement

__all__ = ["GroupTabulation", "compile_members"]

Whole = NDArray[np.int64]
_HELD = "discreet groups"


@dataclass(frozen=True, slots=True, eq=False)
class GroupTabulation:
    """Leaf regions by groups by finest cells, described and not yet counted."""

    finest: Tabulation
    """Leaf regions by finest cells, of all rows."""
    details: Refinement
    groups: tuple[tuple[str, str], ...]
    """Names and conditions."""
    members: tuple[str, ...]
    """Expressions that have a value in the rows of each group."""
    overlap: int

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads, and the expressions."""
        return list(dict.fromkeys([*self.finest.columns, *self.members]))

    def moved(self) -> Sensitivity:
        """How far one unit can move the counts of the groups of all regions of one level, at any levels of detail.

        A row is in one region of the level, in at most k groups and in one cell of each: the rows of a unit, R in all,
        move each number by at most R, and their moves add up to at most k R. A person whose rows are cut in each group
        alone may be in every group. Proof: docs/proofs/hierarchy.md.
        """
        unit, finest = self.finest.schema.unit, self.finest
        by_row = unit.column is None or unit.rows_total is not None
        several = self.overlap if by_row else len(self.members)
        cells = finest.tree.leaves * finest.cells
        each = moved_sums(unit, cells, cells)[0].each
        twice = 1 if unit.neighbours is Neighbours.ADD_REMOVE else 2
        return Sensitivity(each=each, outputs=twice * several)

    @property
    def notes(self) -> list[Note]:
        """What is left out of the counts."""
        named = [condition for _, condition in self.groups]
        notes = [*self.finest.notes, *expression_notes([(one, ()) for one in named], self.finest.schema)]
        if self.overlap < len(self.members):
            said = f"Rows that are in more than {plural(self.overlap, 'group')} are left out of all of them."
            notes.append(Note("groups", said, ()))
        return notes

    def count(self, data: Connection, bits: Bits) -> Whole:
        """The exact counts by leaf region, group and finest cell: private still. Called inside the one door only."""
        query, schema = self.finest.question()
        salt = fresh_salt(bits)
        found = data.integers(compile_members(query, schema, self.members, self.overlap, data.table, salt))
        exact = np.zeros((self.finest.tree.leaves * self.finest.cells, len(self.members)), np.int64)
        for place in range(len(self.members)):
            exact[found[GROUP], place] = found[measure_name(place)]
        return exact.reshape(self.finest.tree.leaves, self.finest.cells, -1).transpose(0, 2, 1)

    def to_dict(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        details = self.details
        return {
            **self.finest.to_dict(),
            "groups": [list(one) for one in self.groups],
            "overlap": self.overlap,
            "details": [
                [name, list(labels), places.tolist()]
                for name, labels, places in zip(details.names, details.labels, details.places, strict=True)
            ],
        }


def compile_members(
    query: Query, schema: Schema, members: Sequence[str], overlap: int, table: Any, salt: Sequence[int]
) -> Any:
    """The expression whose rows are (cell, members of the first group, of the second, ...)."""
    table, number = group_number(query.keys, schema, chosen(query, schema, table))
    measures = [Rows(name) for name in members]
    names = [measure_name(place) for place in range(len(members))]
    rows = measured({GROUP: number}, schema, measures, table)
    rows = rows.filter(rows[GROUP].notnull())
    rows = rows.mutate(**{_HELD: reduce(add, [rows[name].cast("int64") for name in names])})
    # Decided by the row alone, and before a person's cells are: nobody else's rows have a say in it.
    rows = rows.filter((rows[_HELD] >= 1) & (rows[_HELD] <= overlap)).drop(_HELD)
    if schema.unit.column is not None:
        rows = rows.filter(rows[PERSON].notnull())
        rows = contributions(rows, dict(zip(names, measures, strict=True)), schema.unit, query.groups(schema), salt)
    return summed(rows, len(members))
