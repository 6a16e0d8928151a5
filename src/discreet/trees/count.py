"""What is counted: rows by leaf region and cell, or groups by leaf region and size. The engine does it, in one query.

Where a magnitude is given, a column is summed instead, in whole steps of its lattice.

Regions above the leaves are sums of what the engine returned: a row is in a state because it is in one of its blocks,
whatever its own column of states may say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.release import plural
from discreet.core.sensitivity import Sensitivity
from discreet.data.column import Category, Text
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError, Phrase
from discreet.query.aggregate import count
from discreet.query.compile import GROUP, chosen, compile_query, measure_name
from discreet.query.contribution import fresh_salt
from discreet.query.group import group_number
from discreet.query.key import Bin, Key, keys_of
from discreet.query.measure import Rows, Total, sensitivity
from discreet.query.noisy_sums import moved_sums
from discreet.query.notation import write_condition
from discreet.query.notes import cell_notes, condition_notes, expression_notes, join_notes
from discreet.query.predicate import Predicate, checked, columns_of, predicate_from, predicate_to
from discreet.query.question import Query
from discreet.trees.magnitude import Magnitude
from discreet.trees.sizes import Sizes, count_sizes, move_sizes, size_notes
from discreet.trees.tree import Hierarchy

__all__ = ["Sizes", "Tabulation", "asked_from"]

MOST_CELLS = 2**31 - 1
# What the columns of a release's tables are called after the number's own name.
_ENDS = ("", "_lower", "_upper", "_typical_lower", "_typical_upper", "_quality")


@dataclass(frozen=True, slots=True, eq=False)
class Tabulation:
    """A table of leaf regions by cells, described and not yet counted."""

    schema: Schema
    tree: Hierarchy
    column: str
    by: tuple[Key, ...] = ()
    condition: Predicate | None = None
    sizes: Sizes | None = None
    magnitude: Magnitude | None = None

    def checked(self) -> Self:
        """The same, read against the schema. Every error comes from here, before anything is spent."""
        leaf = self.schema.column(self.column, "levels")
        if not isinstance(leaf, (Category, Text)):
            raise InputError(
                "levels", self.column, "a column of categories or text: codes of regions, with leading zeros"
            )
        if isinstance(leaf, Category) and (unknown := set(self.tree.codes[-1]) - set(leaf.values)):
            hint = "Declare it, or declare the column as text: the geography lists the regions then."
            raise InputError(f"geography.{self.column}", min(unknown), f"a declared value of {self.column}", hint)
        for key in self.by:
            if not isinstance(key, Key):
                raise InputError("by", key, "column names, bins(...) or key(...)")
            if key.column == self.column:
                raise InputError("by", key.column, "a column other than that of the regions")
        with keys_of("by"):
            by = tuple(key.checked(self.schema) for key in self.by)
        names = [key.column for key in by]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise InputError("by", repeated[0], "a list with each column once")
        magnitude = None if self.magnitude is None else self.magnitude.checked(self.schema)
        output = "count" if magnitude is None else magnitude.output
        taken_names = [output + end for end in _ENDS]
        for name in names:
            if name in (*self.tree.names[1:], *taken_names):
                hint = "It would be two columns of one table: give the level or the column another name."
                raise InputError("by", name, f"a column whose name is not that of a level, or {output}", hint)
        if taken := [name for name in self.tree.names[1:] if name in taken_names or (self.sizes and name == "size")]:
            raise InputError("levels", taken[0], "a name that no other column of the tables has")
        condition = None if self.condition is None else checked(self.condition, self.schema)
        read = replace(self, by=by, condition=condition, magnitude=magnitude)
        read.with_regions()  # which raises what a run would
        if self.sizes is not None:
            read._check_sizes(self.sizes)
        if read.tree.leaves * read.cells > MOST_CELLS:
            raise InputError(
                "by",
                Phrase(f"{read.tree.leaves * read.cells:,} numbers"),
                f"such that the tables have at most {MOST_CELLS:,} numbers",
            )
        return read

    def _check_sizes(self, sizes: Sizes) -> None:
        self.schema.column(sizes.column, "sizes")
        if self.by:
            raise InputError("by", self.by[0].column, "left out where groups are counted by size")
        if self.magnitude is not None:
            field = "weight" if self.magnitude.weight else "measure"
            raise InputError(field, self.magnitude.column, "left out where groups are counted by size")
        if isinstance(sizes.largest, bool) or not isinstance(sizes.largest, int) or not 1 <= sizes.largest <= 100_000:
            raise InputError("largest", sizes.largest, "the largest size with a count of its own, from 1 to 100,000")

    @property
    def labels(self) -> list[tuple[str, list[Any]]]:
        """The columns that tell cells apart, with their labels; the last moves fastest."""
        if self.sizes is not None:
            return [("size", list(range(1, self.sizes.largest + 1)))]
        return [
            (key.column, [str(label) if isinstance(label, Bin) else label for label in key.labels(self.schema)])
            for key in self.by
        ]

    @property
    def cells(self) -> int:
        """How many cells every region has."""
        return math.prod(len(labels) for _, labels in self.labels)

    @property
    def chain(self) -> bool:
        """Whether the cells are cumulative counts, which never rise from one to the next."""
        return self.sizes is not None and self.sizes.cumulative

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        named = [self.column, *(key.column for key in self.by)]
        named += [] if self.sizes is None else [self.sizes.column]
        named += [] if self.magnitude is None else [self.magnitude.column]
        named += [] if self.condition is None else columns_of(self.condition)
        return named if self.schema.unit.column is None else [*named, self.schema.unit.column]

    @property
    def notes(self) -> list[Note]:
        """What is left out of the counts."""
        region, many = f"Rows whose {self.column} is not one of the {plural(self.tree.leaves, 'region')}", self.sizes
        notes = [Note("outside", f"{region} are left out.{self._zeros_lost()}", ())]
        if many is not None:
            return [*notes, *size_notes(many, self.schema.unit), *condition_notes(self.condition, (), self.schema)]
        named = ", ".join([self.column, *(key.column for key in self.by)])
        cell, of = ("cell", f" ({named})") if self.by else ("region", "")
        cells = self.tree.leaves * self.cells
        found = cell_notes(self.schema, self.by, self.condition, cells=cells, cell=cell, of=of)
        if self.magnitude is None:
            return [*notes, *found]
        if self.schema.unit.rows_total is None:  # a sum is cut, and no row is left out of it
            found = [note for note in found if note.kind != "rows"]
        column = self.magnitude.column
        more = [*join_notes(self.schema, [column], ()), *expression_notes([(column, ())], self.schema)]
        found += [note for note in more if note not in found]
        return [*notes, *found, *self.magnitude.notes(self.schema, cell)]

    def _zeros_lost(self) -> str:
        """What happens to codes in data that have them as numbers, where that is not what the codes are."""
        codes = self.tree.codes[-1]
        padded = next((code for code in codes if code.isdigit() and len(code) > 1 and code.startswith("0")), None)
        return f" Data that hold {padded} as a number hold {int(padded)}, which is none of them." if padded else ""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each of the columns has that tell cells apart."""
        return tuple(len(labels) for _, labels in self.labels)

    def moved(
        self, level: int, *, totals: bool = False, axes: tuple[int, ...] | None = None
    ) -> tuple[Sensitivity, bool]:
        """How far one unit can move the counts (or totals, or a margin) of a level, and whether parts may have merged.

        A unit that counts in several leaf cells may find them in one region further up, where its moves add up. Then
        only the sum of all moves is bounded, which is what the second value says. Proof: docs/proofs/hierarchy.md.
        """
        unit = self.schema.unit
        each = 1 if totals else self.cells if axes is None else math.prod(self.shape[axis] for axis in axes)
        outputs = self.tree.sizes[level] * each
        if self.sizes is not None:
            return move_sizes(self.sizes, unit, outputs)
        if level == self.tree.depth - 1 and not totals and axes is None:
            return sensitivity(self.measure, unit, outputs), False
        return moved_sums(unit, self.tree.leaves * self.cells, outputs, self.measure.highest)

    @property
    def measure(self) -> Rows | Total:
        """What one row adds to its cell: one, or whole steps of a lattice, never less than nothing."""
        return Rows() if self.magnitude is None else self.magnitude.total(self.schema)

    @property
    def step(self) -> Fraction:
        """What one of the numbers that the engine returns stands for."""
        return self.measure.lattice.step if isinstance(self.measure, Total) else Fraction(1)

    def count(self, data: Connection, bits: Bits) -> NDArray[np.int64]:
        """The exact counts, one row a leaf and one column a cell: private still. Called inside the one door only."""
        salt = fresh_salt(bits)
        if self.sizes is not None:
            return self._count_sizes(data, self.sizes, salt)
        query, schema = self.question()
        found = data.integers(compile_query(query, schema, (self.measure,), data.table, salt))
        exact = np.zeros(self.tree.leaves * self.cells, dtype=np.int64)
        exact[found[GROUP]] = found[measure_name(0)]
        return exact.reshape(self.tree.leaves, self.cells)

    def _count_sizes(self, data: Connection, sizes: Sizes, salt: Sequence[int]) -> NDArray[np.int64]:
        schema = self.with_regions()
        table, number = group_number((self.leaf,), schema, chosen(Query(self.condition), schema, data.table))
        return count_sizes(sizes, schema.unit, table, number, self.tree.leaves, data, salt)

    def question(self) -> tuple[Query, Schema]:
        """What is counted by leaf region and cell, as a question, and the schema that it is asked of."""
        output = ("count", count()) if self.magnitude is None else self.magnitude.aggregate
        return Query(self.condition, (self.leaf, *self.by), (output,)), self.with_regions()

    @property
    def leaf(self) -> Key:
        """What a row's region is found by."""
        return Key(self.column, values=self.tree.codes[-1])

    def with_regions(self) -> Schema:
        """The schema with the leaf column as a category of exactly the regions there are."""
        schema = self.schema
        if isinstance(schema.columns[self.column], Category):
            return schema
        if self.column not in schema.stored:
            raise InputError("levels", self.column, "declared as a category where it is looked up, joined or derived")
        if not all(map(str.isprintable, self.tree.codes[-1])):
            odd = next(code for code in self.tree.codes[-1] if not code.isprintable())
            raise InputError(f"geography.{self.column}", odd, "codes of printable text")
        columns = {**schema.stored, self.column: Category(self.tree.codes[-1], nullable=False)}
        return Schema(schema.name, columns, schema.unit, schema.lookups, schema.derived, schema.joins)

    def to_dict(self) -> dict[str, Any]:
        """The question as plain values, for the record; the regions are in the answer."""
        entry = {
            "levels": list(self.tree.names),
            "regions": list(self.tree.sizes),
            "column": self.column,
            "by": [key.to_dict() for key in self.by],
            "where": None if self.condition is None else predicate_to(self.condition),
            "sizes": None
            if self.sizes is None
            else {"column": self.sizes.column, "largest": self.sizes.largest, "cumulative": self.sizes.cumulative},
        }
        return entry if self.magnitude is None else {**entry, "measure": self.magnitude.to_dict()}


def asked_from(query: Any) -> dict[str, Any]:
    """What a question on record counts, of which rows, and what it sums, if anything; early records say little."""
    found = query.get("tree") if isinstance(query, Mapping) else None
    asked = found if isinstance(found, Mapping) else {}
    groups, where = asked.get("sizes"), asked.get("where")
    return {
        "counted": f"groups of one {groups['column']}" if groups else "records",
        "largest": groups["largest"] if groups else None,
        "where": "" if where is None else write_condition(predicate_from(where)),
        "magnitude": Magnitude.from_dict(asked.get("measure")),
    }
