"""What a synthetic table is made of: columns with a short list of codes each, all of it public.

A code stands for a category, a number, a run of numbers or days, or a missing value. Runs are fine; which of them to
merge is decided later, from noisy counts, under the budget. Nothing here is read off the data.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.column import Boolean, Category, Date, Integer, Real, Text, Timestamp
from discreet.data.expression.time import parts_hint
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase
from discreet.marginals.multiples import Multiples
from discreet.marginals.partition import RUNS, Labels, Partition
from discreet.query.key import Bin, Key, bins

__all__ = ["Attribute", "Domain", "lattice_of"]

_PLAIN = 128  # a column of so few numbers is not cut
_DAYS = 400  # nor one of so few days
_POINTS = 2**19  # that real numbers are told apart by, unless a step is declared
_FARTHEST = 2**31
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Attribute:
    """One column: how rows are sorted into codes (`key`), what each code stands for, whether codes have an order.

    If `missing`, the last code stands for a missing value; it has no place in the order.
    """

    name: str
    key: Key
    labels: Sequence[Any]
    ordered: bool
    missing: bool
    partition: Partition | Multiples | None = None
    """How numbers or days are cut into codes, if not by the key."""

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.labels)

    @property
    def unknown(self) -> bool:
        """Whether no value is known, so that all of them count as missing."""
        return self.missing and self.size == 1

    def to_json(self) -> dict[str, Any]:
        """How the column is cut into codes, as plain values."""
        cut = self.partition
        return self.key.to_dict() | ({"partition": cut.to_json()} if isinstance(cut, Partition) else {})

    def apart(self, points: Iterable[int]) -> Attribute:
        """The same with some points of its partition as codes of their own."""
        if not isinstance(self.partition, Partition):
            return self
        return self.cut_by(self.partition.apart(points))

    def cut_by(self, partition: Partition) -> Attribute:
        """The same with another partition of its numbers or days."""
        kind = self.labels.kind if isinstance(self.labels, Labels) else "real"
        return replace(self, partition=partition, labels=Labels(partition, self.missing, kind))


@dataclass(frozen=True, slots=True)
class Domain:
    """The columns of a synthetic table, in order.

    >>> schema = Schema("t", {"age": Integer(0, 99, nullable=False), "sex": Category(["f", "m"])})
    >>> domain = Domain.of(schema)
    >>> domain.names, domain.sizes
    (('age', 'sex'), (100, 3))
    """

    attributes: tuple[Attribute, ...]

    @classmethod
    def of(
        cls,
        schema: Schema,
        columns: Iterable[str] | None = None,
        bins: int | dict[str, int] | None = None,
        partitions: Mapping[str, Partition] | None = None,
        discover: Collection[str] = (),
    ) -> Domain:
        """The domain that a schema declares, for all its columns or the ones named.

        Text is refused: a list of values that is not public cannot be made up. The column that names persons is left
        out if no columns are named; it can be made anew. Numbers and days are cut by their `partitions`, or by one that
        follows from the declaration. With `bins` all such columns, or the ones named, are cut into even bins instead;
        columns of few whole numbers only if fewer bins than they have values are asked for. The values of columns of
        text named in `discover` are found later; until then they have one code, for a missing value.
        """
        named = [name for name in schema.columns if name != schema.unit.column] if columns is None else list(columns)
        if isinstance(columns, str) or not named:
            raise InputError("columns", columns, "at least one column, in a list")
        named = [schema.canonical(name, "columns") for name in named]
        if len(set(named)) != len(named):
            raise InputError("columns", named, "a list with each column once")
        if isinstance(bins, dict) and (unknown := set(bins) - set(named)):
            raise InputError("bins", min(unknown), "given for columns of the table", among=named)
        given = {} if partitions is None else partitions
        return cls(
            tuple(
                _unknown(name) if name in discover else _attribute(name, schema, bins, given.get(name))
                for name in named
            )
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each column has."""
        return tuple(attribute.size for attribute in self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def cells(self, columns: Sequence[int]) -> int:
        """How many cells the table of these columns has."""
        return math.prod(self.attributes[column].size for column in columns)

    def place(self, name: str, field: str = "columns") -> int:
        """Which column has that name."""
        if name not in self.names:
            raise InputError(field, name, among=self.names)
        return self.names.index(name)

    def merged(self, bins: Sequence[NDArray[np.int64]]) -> Domain:
        """The domain of bins that codes are put together in: a bin's label is the tuple of its codes' labels."""
        if len(bins) != len(self):
            raise InputError("bins", Phrase(f"{len(bins)} of them"), f"one list for each of the {len(self)} columns")
        found = []
        for attribute, bin_of in zip(self.attributes, bins, strict=True):
            used = np.unique(bin_of)
            if len(bin_of) != attribute.size or not np.array_equal(used, np.arange(len(used))):
                raise InputError(
                    f"bins.{attribute.name}", Phrase("some list"), f"a bin for each of {attribute.size} codes, from 0"
                )
            inside: list[list[Any]] = [[] for _ in used]
            for one, label in zip(map(int, bin_of), attribute.labels, strict=True):
                inside[one].append(label)
            labels = tuple(map(tuple, inside))
            found.append(Attribute(attribute.name, attribute.key, labels, attribute.ordered, attribute.missing))
        return Domain(tuple(found))

    def check(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """A table of codes, one row a record, if every code is one of its column's."""
        table = np.asarray(codes)
        if table.ndim != 2 or table.shape[1] != len(self) or table.dtype.kind not in "iu":
            raise InputError(
                "codes", Phrase(f"{table.dtype} of shape {table.shape}"), f"whole numbers in {len(self)} columns"
            )
        for place, attribute in enumerate(self.attributes):
            column = table[:, place]
            if len(column) and (column.min() < 0 or column.max() >= attribute.size):
                raise InputError(
                    f"codes.{attribute.name}", Phrase("a code out of range"), f"from 0 to {attribute.size - 1}"
                )
        return table.astype(np.int64)


def _unknown(name: str) -> Attribute:
    return Attribute(name, Key(name), (None,), False, True)


def _attribute(
    name: str, schema: Schema, wanted: int | dict[str, int] | None, partition: Partition | None
) -> Attribute:
    column = schema.column(name, "columns")
    many = wanted.get(name) if isinstance(wanted, dict) else wanted
    if many is not None and (isinstance(many, bool) or not isinstance(many, int) or not 2 <= many <= 1000):
        raise InputError(f"bins.{name}", many, "from 2 to 1,000 bins")
    match column:
        case Text():
            hint = (
                "Declare its values as a category, have those that enough units share found (discover, with a delta), "
                "leave it out (columns), or have it made anew as a key (keys)."
            )
            raise InputError(f"columns.{name}", Phrase("free text"), "a column whose values are declared", hint)
        case Timestamp():
            allowed = "a column of numbers, days or categories"
            raise InputError(f"columns.{name}", Phrase("a timestamp"), allowed, parts_hint(name))
        case Category() | Boolean():
            key = Key(name).checked(schema)
            return Attribute(name, key, tuple(key.labels(schema)), False, column.nullable)
        case Integer() if _plain(column, many) and partition is None:
            key = Key(name).checked(schema)
            return Attribute(name, key, tuple(key.labels(schema)), True, column.nullable)
        case Integer() | Real() | Date() if many is None or partition is not None:
            cut = _partition(column) if partition is None else partition
            kind = "date" if isinstance(column, Date) else "real" if isinstance(column, Real) else "integer"
            return Attribute(name, Key(name), Labels(cut, column.nullable, kind), True, column.nullable, cut)
        case Integer() | Real() | Date():
            key = _even(name, column, many).checked(schema)
            labels: list[Bin | None] = [label for label in key.labels(schema) if isinstance(label, Bin)]
            return Attribute(name, key, (*labels, None) if column.nullable else tuple(labels), True, column.nullable)


def _plain(column: Integer, many: int | None) -> bool:
    """Whether the values of a column are few enough to be told apart one by one."""
    return column.step is None and column.upper - column.lower < (_PLAIN if many is None else many)


def lattice_of(column: Integer | Real | Date) -> tuple[Fraction, Fraction, int]:
    """The points that values of a column are told apart by: the first one, the step, and how many more there are.

    Without a declared step, real numbers are on the coarsest decimal one that tells some 50,000 to 500,000 apart.

    >>> [str(part) for part in lattice_of(Real(0, 500))]
    ['0', '1/1000', '500000']
    """
    if isinstance(column, Date):
        first = (column.lower - _EPOCH).days
        return Fraction(first), Fraction(1), (column.upper - column.lower).days
    lower, upper = column.lower, column.upper
    step = column.step if column.step is not None else Fraction(1) if isinstance(column, Integer) else None
    if step is None:
        told_apart = max((upper - lower) / _POINTS, 8 * Fraction(math.ulp(float(max(abs(lower), abs(upper))))))
        step = Fraction(10) ** math.ceil(math.log10(told_apart))
    lower = math.ceil(lower / step) * step  # points are multiples of the step: that is how values are rounded
    while (upper - lower) // step >= _FARTHEST:  # more than codes are numbered by
        step *= 10
    return lower, step, int((upper - lower) // step)


def _partition(column: Integer | Real | Date) -> Partition:
    """Every point where there are few, else runs that are longer far from zero; declared spikes by themselves."""
    origin, unit, last = lattice_of(column)
    if isinstance(column, Date):
        if last < _DAYS:
            return Partition.points(origin, unit, last)
        return Partition.even(origin, unit, last, -(-(last + 1) // (4 * RUNS)))
    cut = Partition.points(origin, unit, last) if last < _PLAIN else Partition.scaled(origin, unit, last)
    return cut.apart(min(max(round((spike - origin) / unit), 0), last) for spike in column.spikes)


def _even(name: str, column: Integer | Real | Date, many: int) -> Key:
    """About so many even bins between the declared bounds: whole numbers and days where the column has them."""
    if isinstance(column, Date):
        days = (column.upper - column.lower).days + 1
        return bins(name, width=max(1, -(-days // many)))
    width = column.upper - column.lower
    step = max(1, -(-width // many)) if isinstance(column, Integer) else width / many
    return bins(name, width=step)
