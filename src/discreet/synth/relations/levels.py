"""What two tables with a key between them are made of: parents, and the child rows that each of them has.

A parent is a person of the schema: its own columns, and how many child rows it has. A child row is counted together
with its parent's codes and, where rows follow each other in time, with the row before it and how long ago that was; the
first one then belongs to its parent.
Everything here follows from the schema and from what was asked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.data.column import Date, Integer, Timestamp
from discreet.data.schema import Schema
from discreet.errors import MISSING, InputError, kind_of
from discreet.marginals.counts import Columns
from discreet.marginals.domain import Attribute, Domain, lattice_of
from discreet.marginals.partition import Labels, Partition
from discreet.query.key import Key
from discreet.synth.parts import MadeColumn, made_columns, partitions_of
from discreet.synth.spikes import Spikes
from discreet.synth.workload import LARGEST, MERGED

__all__ = ["FANOUT", "Clock", "Levels", "read_levels"]

FANOUT = "number of child rows"
FIRST, GAP, BEFORE = "first: ", "time since the row before", "before: "
_SHORT = 24  # codes of a row that the next one is told by, one by one
_GROUPS = 16  # and longer columns in so many groups
_AROUND = 0.5  # how much a pair of conditions weighs
_FEW = 512  # times that are told apart one by one

Bins = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Clock:
    """By which column child rows follow each other: an attribute of them, cut into codes, and the finer one beside it.

    Times are points of the attribute's lattice; `minute` is the time of day that orders rows of one day.
    """

    column: str
    attribute: str
    cut: Partition
    minute: str | None = None

    @property
    def gaps(self) -> Partition:
        """How times between two rows are cut into codes: finely where they are short."""
        return Partition.scaled(Fraction(0), Fraction(1), self.cut.last)

    @property
    def points(self) -> Partition:
        """Every time by itself."""
        return Partition.points(self.cut.origin, self.cut.unit, self.cut.last)


@dataclass(frozen=True, slots=True)
class Levels:
    """Parents and child rows: their columns, the attributes these are made of, and how many child rows count."""

    parent: tuple[MadeColumn, ...]
    child: tuple[MadeColumn, ...]
    parent_columns: Domain
    child_columns: Domain
    limit: int
    clock: Clock | None = None

    @property
    def heads(self) -> tuple[Attribute, ...]:
        """What child rows are conditioned on of their parent: its columns, and at last how many child rows it has."""
        return (*self.parent_columns.attributes, _fanout(self.limit))

    @property
    def parents(self) -> Domain:
        """The codes of a parent: its columns, its number of child rows, and the first of them if they have an order.

        A parent has one first row at most, so that one person moves counts of these by no more than those of parents.
        """
        first = () if self.clock is None else self.child_columns.attributes
        return Domain((*self.heads, *(_optional(one) for one in first)))

    @property
    def steps(self) -> int:
        """How many rows of `children` one parent has at most: where they have an order, all but the first."""
        return self.limit if self.clock is None else self.limit - 1

    @property
    def own(self) -> tuple[Attribute, ...]:
        """What a child row is told by, but for its time."""
        named = None if self.clock is None else self.clock.attribute
        return tuple(one for one in self.child_columns.attributes if one.name != named)

    @property
    def children(self) -> Domain:
        """The codes of a child row: its parent's, its own, and, for one after another, the time since and that row."""
        return Domain((*self.heads, *self.own, *self._since()))

    def _since(self) -> list[Attribute]:
        """How long ago the row before was, and what it was told by, in few groups."""
        if self.clock is None:
            return []
        gaps = self.clock.gaps
        found = [Attribute(GAP, Key(GAP), Labels(gaps, False, "integer"), True, False, gaps)]
        for one, groups in zip(self.child_columns.attributes, self.groups, strict=True):
            name, many = f"{BEFORE}{one.name}", int(groups.max()) + 1
            found.append(Attribute(name, Key(name), tuple(range(many)), one.ordered, one.missing))
        return found

    @property
    def groups(self) -> tuple[Bins, ...]:
        """For every attribute of a child row, the group that each of its codes is in when the next row is told by it.

        It follows from the declaration: long columns with an order in groups of equally many codes.
        """
        return tuple(_groups(one) for one in self.child_columns.attributes)

    @property
    def targets(self) -> tuple[int, ...]:
        """Places in `children` of what is drawn for a row: its own codes, and the time since the row before."""
        first = len(self.heads)
        return tuple(range(first, first + len(self.own) + (self.clock is not None)))

    @property
    def conditions(self) -> tuple[int, ...]:
        """Places in `children` of what a row is conditioned on: the parent's codes, and the row before."""
        return tuple(place for place in range(len(self.children)) if place not in self.targets)

    @property
    def both(self) -> Domain:
        """The attributes of the columns of both tables."""
        return Domain((*self.parent_columns.attributes, *self.child_columns.attributes))

    def with_spikes(self, spikes: Spikes) -> Levels:
        """The same with steps and values of columns that were found."""
        above, below = (spikes.applied(one) for one in (self.parent_columns, self.child_columns))
        return replace(self, parent_columns=above, child_columns=below)

    def workload(self) -> dict[Columns, float]:
        """Pairs that child rows preserve. Those without anything that is drawn weigh less, and are not left out.

        Without them, what is told twice, by the parent and by the row before, would count twice.
        """
        children, targets = self.children, set(self.targets)
        pairs: dict[Columns, float] = {
            pair: 1.0 if targets.intersection(pair) else _AROUND
            for pair in itertools.combinations(range(len(children)), 2)
            if _cells(children, pair) <= LARGEST
        }
        return pairs or {(target,): 1.0 for target in self.targets}


def _optional(attribute: Attribute) -> Attribute:
    """The same for a parent's first row, with a last code for a parent without rows."""
    name = f"{FIRST}{attribute.name}"
    return Attribute(name, Key(name), (*range(attribute.size), None), attribute.ordered, True)


def _cells(domain: Domain, columns: Sequence[int]) -> int:
    """Cells of a marginal in which long ordered columns are merged."""
    cells = 1
    for column in columns:
        one = domain.attributes[column]
        cells *= min(one.size, MERGED) if one.ordered else one.size
    return cells


def _fanout(limit: int) -> Attribute:
    return Attribute(FANOUT, Key(FANOUT), tuple(range(limit + 1)), True, False)


def _groups(attribute: Attribute) -> Bins:
    codes = np.arange(attribute.size, dtype=np.int64)
    known = attribute.size - attribute.missing
    if not attribute.ordered or known <= _SHORT:
        return codes
    found = codes * _GROUPS // known
    return np.where(codes < known, found, _GROUPS)


def read_levels(
    schema: Schema,
    parent: Iterable[str],
    child: Iterable[str] | None,
    order: str | None,
    limit: int | None,
    differences: Mapping[str, str] | None = None,
) -> Levels:
    """The two tables that a schema and an ask make."""
    person = schema.unit.column
    if person is None:
        hint = "Declare whose rows they are: [unit] column = ..., groups = ..., rows = ..."
        raise InputError("unit", MISSING, "a person with rows of their own, where parents have child rows", hint)
    most = schema.unit.most_total if limit is None else limit
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_CHILDREN:
        raise InputError("limit", most, f"a whole number from 1 to {MOST_CHILDREN:,}")
    above = _named(schema, parent, "parent")
    rest = [name for name in schema.columns if name not in (person, *above)]
    below = rest if child is None else _named(schema, child, "child")
    if order is not None:
        order = schema.canonical(order, "order")
        if order in above:
            raise InputError("order", order, "a column of the child rows", among=below)
        below = [order, *(name for name in below if name != order)]
    for name in (*above, *below):
        if name == person:
            raise InputError("parent" if name in above else "child", name, "left out: keys are made anew")
    if shared := [name for name in below if name in above]:
        raise InputError("child", shared[0], "a column that is not one of the parent's")
    if not below:
        raise InputError("child", [], "at least one column that is not the parent's")
    for name in differences if isinstance(differences, Mapping) else ():
        if name not in (*above, *below):
            raise InputError("differences", name, "a column that is made", among=[*above, *below])
    made_above, made_below = (_made(schema, names, differences) for names in (above, below))
    clock = None if order is None else _clock(schema, order, made_below[0])
    partitions = partitions_of(made_below, schema) | ({} if clock is None else {clock.attribute: clock.cut})
    children = Domain.of(schema, [part for one in made_below for part in one.parts], None, partitions)
    return Levels(
        parent=made_above,
        child=made_below,
        parent_columns=Domain.of(
            schema, [part for one in made_above for part in one.parts], None, partitions_of(made_above, schema)
        ),
        child_columns=Domain(tuple(_known(one) if _orders(one, clock) else one for one in children.attributes)),
        limit=most,
        clock=clock,
    )


MOST_CHILDREN = 1_000
"""How many child rows of one parent may count."""


def _named(schema: Schema, names: Iterable[str], field: str) -> list[str]:
    listed = [names] if isinstance(names, str) else list(names)
    if not listed:
        raise InputError(field, [], "at least one column, in a list")
    found = [schema.canonical(name, field) for name in listed]
    if len(set(found)) != len(found):
        raise InputError(field, found, "a list with each column once")
    return found


def _made(schema: Schema, names: list[str], differences: Mapping[str, str] | None) -> tuple[MadeColumn, ...]:
    some: Mapping[str, str] | None = differences
    if isinstance(differences, Mapping):
        some = {name: base for name, base in differences.items() if name in names}
    return made_columns(schema, names, some)


def _orders(attribute: Attribute, clock: Clock | None) -> bool:
    return clock is not None and attribute.name in (clock.attribute, clock.minute)


def _known(attribute: Attribute) -> Attribute:
    """The same without a code for what is missing: a row without a time has no place among the others."""
    labels = attribute.labels
    short = replace(labels, missing=False) if isinstance(labels, Labels) else tuple(labels)[: attribute.size - 1]
    return replace(attribute, labels=short, missing=False) if attribute.missing else attribute


def _clock(schema: Schema, name: str, made: MadeColumn) -> Clock:
    column = schema.column(name, "order")
    if made.base is not None or not isinstance(column, Integer | Date | Timestamp):
        raise InputError("order", kind_of(column), "a column of days, times or whole numbers")
    attribute = made.parts[0]
    day = schema.column(attribute, "order")
    if not isinstance(day, Integer | Date):
        raise InputError("order", kind_of(day), "a column of days, times or whole numbers")
    origin, unit, last = lattice_of(day)
    width = max(1, -(-(last + 1) // _FEW))
    cut = Partition.points(origin, unit, last) if width == 1 else Partition.even(origin, unit, last, width)
    return Clock(name, attribute, cut, made.parts[1] if len(made.parts) > 1 else None)
