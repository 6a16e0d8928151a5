"""What a synthetic table is made of: columns with a short list of codes each, all of it public.

A code stands for a category, a number, a bin of numbers or days, or a missing value. Bins are even and fine; which of
them to merge is decided later, from noisy counts, under the budget. Nothing here is read off the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.column import Boolean, Category, Date, Integer, Real, Text, Timestamp
from discreet.data.expression.time import parts_hint
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase
from discreet.query.key import Bin, Key, bins

__all__ = ["Attribute", "Domain"]

BINS = 64
"""How many bins a column of numbers or days is cut into, unless said otherwise."""
_PLAIN = 128  # a column of so few whole numbers is not cut


@dataclass(frozen=True, slots=True)
class Attribute:
    """One column: how rows are sorted into codes (`key`), what each code stands for, whether codes have an order.

    If `missing`, the last code stands for a missing value; it has no place in the order.
    """

    name: str
    key: Key
    labels: tuple[Any, ...]
    ordered: bool
    missing: bool

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.labels)


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
    def of(cls, schema: Schema, columns: Iterable[str] | None = None, bins: int | dict[str, int] = BINS) -> Domain:
        """The domain that a schema declares, for all its columns or the ones named.

        Text is refused: a list of values that is not public cannot be made up. The column that names persons is left
        out if no columns are named; it can be made anew. `bins` are for numbers and days: for all such columns, or for
        the ones named. Columns of few whole numbers are cut only if fewer bins than they have values are asked for.
        """
        named = [name for name in schema.columns if name != schema.unit.column] if columns is None else list(columns)
        if isinstance(columns, str) or not named:
            raise InputError("columns", columns, "at least one column, in a list")
        named = [schema.canonical(name, "columns") for name in named]
        if len(set(named)) != len(named):
            raise InputError("columns", named, "a list with each column once")
        if isinstance(bins, dict) and (unknown := set(bins) - set(named)):
            raise InputError("bins", min(unknown), "given for columns of the table", among=named)
        return cls(tuple(_attribute(name, schema, bins) for name in named))

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
            labels = tuple(tuple(attribute.labels[code] for code in np.flatnonzero(bin_of == one)) for one in used)
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


def _attribute(name: str, schema: Schema, wanted: int | dict[str, int]) -> Attribute:
    column = schema.column(name, "columns")
    many = wanted.get(name, BINS) if isinstance(wanted, dict) else wanted
    if isinstance(many, bool) or not isinstance(many, int) or not 2 <= many <= 1000:
        raise InputError(f"bins.{name}", many, "from 2 to 1,000 bins")
    asked = name in wanted if isinstance(wanted, dict) else wanted != BINS
    match column:
        case Text():
            hint = "Declare its values as a category, leave it out, or have it made anew as a key."
            raise InputError(f"columns.{name}", Phrase("free text"), "a column whose values are declared", hint)
        case Timestamp():
            allowed = "a column of numbers, days or categories"
            raise InputError(f"columns.{name}", Phrase("a timestamp"), allowed, parts_hint(name))
        case Category() | Boolean():
            key = Key(name).checked(schema)
            return Attribute(name, key, tuple(key.labels(schema)), False, column.nullable)
        case Integer() if column.upper - column.lower < (many if asked else _PLAIN):
            key = Key(name).checked(schema)
            return Attribute(name, key, tuple(key.labels(schema)), True, column.nullable)
        case Integer() | Real() | Date():
            key = _even(name, column, many).checked(schema)
            labels: list[Bin | None] = [label for label in key.labels(schema) if isinstance(label, Bin)]
            return Attribute(name, key, (*labels, None) if column.nullable else tuple(labels), True, column.nullable)


def _even(name: str, column: Integer | Real | Date, many: int) -> Key:
    """About so many even bins between the declared bounds: whole numbers and days where the column has them."""
    if isinstance(column, Date):
        days = (column.upper - column.lower).days + 1
        return bins(name, width=max(1, -(-days // many)))
    width = column.upper - column.lower
    step = max(1, -(-width // many)) if isinstance(column, Integer) else width / many
    return bins(name, width=step)
