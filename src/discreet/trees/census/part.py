"""One table of a census, described and not yet counted: its cells, and how far one unit can move its numbers.

Two kinds of unit. A *person* (or a row): adding one adds one row to one household, and may change the household's
other columns with it. A *household*: adding one adds at most `most` rows in one region. Proof: docs/proofs/census.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from discreet.core.note import Note
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, Unit
from discreet.query.notes import condition_notes
from discreet.trees.count import Tabulation
from discreet.trees.sizes import move_sizes

__all__ = ["Part"]


@dataclass(frozen=True, slots=True, eq=False)
class Part(Tabulation):
    """A table of a census. The first `own` columns of `by` are the person's, the others the householder's."""

    counts: str = "persons"
    household: str = ""
    own: int = 0
    most: int | None = None

    @property
    def whole(self) -> bool:
        """Whether a household is the unit, rather than one of its members."""
        return self.schema.unit.column == self.household

    @property
    def universe(self) -> str:
        """What its numbers add up to: tables of one universe have the same total in every region."""
        if self.counts != "persons":
            return "households"
        return "persons" if self.whole or self.own == len(self.by) else "members"

    @property
    def cut(self) -> bool:
        """Whether at most `most` persons of a household count."""
        return self.whole or self.universe == "members"

    def moved(
        self, level: int, *, totals: bool = False, axes: tuple[int, ...] | None = None
    ) -> tuple[Sensitivity, bool]:
        """How far one unit can move the counts (or totals) of a level, and whether only norms are known of it."""
        each = 1 if totals else self.cells if axes is None else math.prod(self.shape[axis] for axis in axes)
        outputs, unit = self.tree.sizes[level] * each, self.schema.unit
        twice = 1 if unit.neighbours is Neighbours.ADD_REMOVE else 2
        if self.sizes is not None:
            return move_sizes(self.sizes, unit if self.whole else Unit(neighbours=unit.neighbours), outputs)
        most = 1 if self.counts == "households" else self.most or 1
        if self.whole:
            return Sensitivity(most, min(twice, outputs)), most > 1
        if each == 1 or self.universe == "persons":
            # One row more is one person more, and at most one household more: what moves between cells adds nothing.
            return Sensitivity(1, min(twice, outputs)), False
        # A household leaves its cell for another, with all of its members that count.
        return Sensitivity(twice * most, min(2, outputs)), twice * most > 1

    @property
    def notes(self) -> list[Note]:
        """What is left out of the counts of this table."""
        notes = [] if self.sizes is None else [self._largest(self.sizes.largest)]
        if self.counts == "persons" and self.cut:
            text = f"Of a {self.household} at most {self.most:,} persons count, the householder first."
            notes.append(Note("rows", text, ()))
        return notes

    def _largest(self, largest: int) -> Note:
        return Note("bounds", f"A {self.household} of more than {largest:,} counts as one of {largest:,}.", ())

    def shared_notes(self, head: str) -> list[Note]:
        """What holds for all tables of the census."""
        unit, named = self.schema.unit, ", ".join(dict.fromkeys([self.column, self.household]))
        notes = [
            Note("outside", f"Rows that fit no region, no {self.household}, or no cell of some table are left out.", ())
        ]
        if unit.column is not None and not self.whole:
            text = f"Each {unit.column} counts with one row, the first in the order of {named} and what is counted."
            notes += [Note("rows", text, ())]
        if self.whole:
            text = f"A {self.household} with rows in several regions counts in the first of them."
            notes.append(Note("groups", text, ()))
        if unit.column is not None:
            notes.append(Note("unidentified", f"Rows without a value of {unit.column} are left out.", ()))
        stands = f"where {head}" if head else "in the order of what is counted"
        text = (
            f"The householder is the first row of a {self.household} {stands}; where there is none, another stands in."
        )
        text = text if head else f"The householder is the first row of a {self.household} {stands}."
        return [*notes, Note("householder", text, ()), *condition_notes(self.condition, (), self.schema)]

    def to_dict(self) -> dict[str, Any]:
        """The table as plain values, for the record."""
        asked = Tabulation.to_dict(self)
        return {**asked, "counts": self.counts, "own": self.own, "household": self.household, "most": self.most}
