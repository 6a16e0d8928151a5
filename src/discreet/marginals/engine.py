"""Exact marginals counted where the data is: many in one pass, of one table whose rows are limited once.

A row counts if every column of the domain has a code for it; a person counts in at most `unit.groups` cells of the
whole table, as at most `unit.rows` rows in each. Both are settled before anything is counted, so that all marginals
are of the same rows and agree. Proof: docs/proofs/synth-counts.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.core.progress import notify
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, Unit
from discreet.data.dialect import added, engine_of
from discreet.data.read import identity
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.marginals.counts import Columns
from discreet.marginals.domain import Domain
from discreet.noise.bits import words
from discreet.query.compile import chosen
from discreet.query.contribution import order_of
from discreet.query.group import group_codes
from discreet.query.predicate import Predicate
from discreet.query.question import Query

__all__ = ["EngineCounts", "encode", "moved_by"]

Expression = Any  # ibis expressions carry no useful static types here

LARGEST = 2**24
"""How many cells one marginal may have."""

_AT_ONCE = 128  # marginals in one query
_CELL, _MANY, _PERSON, _ORDER, _PLACE = "cell", "many", "person", "order", "place"
_BITS = 31
_MASK = 2**_BITS - 1


def moved_by(unit: Unit) -> Sensitivity:
    """How far one unit can move any one marginal, whichever codes are counted together.

    A person's rows may all be in one cell of it, so only their number is bounded: `groups * rows`. Replaced, a unit
    takes its rows from some cells and adds as many to others.
    """
    return Sensitivity(unit.groups * unit.rows, 1 if unit.neighbours is Neighbours.ADD_REMOVE else 2)


class EngineCounts:
    """Counts of a private table, made by its engine. Lives inside the one door; for the meter only.

    Guarantee
        Whatever marginals are asked for, they are those of one table of codes, fixed by the data and a salt drawn when
        this was made; and one unit adds at most `moved_by(unit).each` rows to that table.
    """

    def __init__(
        self, domain: Domain, schema: Schema, data: Connection, bits: Bits, condition: Predicate | None = None
    ) -> None:
        self.domain = domain
        self._data = data
        salt = [int(word) & _MASK for word in words(bits, 8)]
        self._rows = encode(domain, schema, data.table, salt, condition)
        self._found: dict[Columns, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    def prepare(self, marginals: Iterable[Columns]) -> None:
        """Count these now, all at once, because they will be asked for."""
        wanted: list[Columns] = []
        for columns in sorted(set(marginals), key=lambda one: (-len(one), one)):
            if self.domain.cells(columns) > LARGEST:
                named = ", ".join(self.domain.names[column] for column in columns)
                raise InputError("columns", named, f"columns of at most {LARGEST:,} cells together")
            if self._holder(columns, [*self._found, *wanted]) is None:
                wanted.append(columns)
        for first in range(0, len(wanted), _AT_ONCE):
            notify("counting in the engine")
            self._count(wanted[first : first + _AT_ONCE])

    def marginal(self, columns: Columns) -> NDArray[np.int64]:
        """The counts, one axis a column."""
        held = self._holder(columns, self._found)
        if held is None:
            self.prepare([columns])
            held = columns
        cells, counts = self._found[held]
        sizes = self.domain.sizes
        shape = tuple(sizes[column] for column in columns)
        if held != columns:
            codes = np.unravel_index(cells, tuple(sizes[column] for column in held))
            kept = tuple(code for column, code in zip(held, codes, strict=True) if column in columns)
            cells = np.ravel_multi_index(kept, shape) if kept else np.zeros_like(cells)
        table = np.zeros(self.domain.cells(columns), dtype=np.int64)
        np.add.at(table, cells, counts)
        return table.reshape(shape)

    def _holder(self, columns: Columns, among: Iterable[Columns]) -> Columns | None:
        """The smallest marginal among those given that holds these columns, itself first."""
        held = [one for one in among if set(columns) <= set(one)]
        return min(held, key=self.domain.cells, default=None)

    def _count(self, marginals: Sequence[Columns]) -> None:
        """One query: every row is unfolded into its cell of each marginal, and cells are counted."""
        import ibis

        rows, starts = self._rows, np.cumsum([0, *(self.domain.cells(columns) for columns in marginals)])
        kind = "int32" if starts[-1] <= _MASK else "int64"
        cells = [
            _cell(rows, columns, self.domain.sizes, kind) + ibis.literal(int(start), kind)
            for columns, start in zip(marginals, starts, strict=False)
        ]
        limited = [_MANY] if _MANY in rows.columns else []
        unfolded = rows.select(*limited, **{_CELL: ibis.array(cells).unnest()})
        many = added(unfolded[_MANY], engine_of(rows)) if limited else unfolded.count().cast("int64")
        found = self._data.integers(unfolded.group_by(_CELL).aggregate(**{_MANY: many}))
        order = np.argsort(found[_CELL])
        numbers, counts = found[_CELL][order], found[_MANY][order]
        ends = np.searchsorted(numbers, starts)
        for place, columns in enumerate(marginals):
            here = slice(ends[place], ends[place + 1])
            self._found[columns] = (numbers[here] - starts[place], counts[here])


def encode(
    domain: Domain, schema: Schema, table: Expression, salt: Sequence[int], condition: Predicate | None = None
) -> Expression:
    """The table of codes, c0, c1, ...; where the unit is a person, its rows count as `many` each, within the limits.

    A row that some column has no code for, such as an undeclared value where none may be missing, is left out.
    """
    unit = schema.unit
    keys = [attribute.key for attribute in domain.attributes]
    table, codes = group_codes(keys, schema, chosen(Query(condition), schema, table), clamped=True)
    columns: dict[str, Expression] = {}
    for place, (attribute, code) in enumerate(zip(domain.attributes, codes, strict=True)):
        full = code.fill_null(attribute.size - 1) if attribute.missing else code
        columns[_name(place)] = full.cast("int32")
    names = list(columns)
    if unit.column is not None:
        columns[_PERSON] = identity(table[unit.column])
    rows = table.select(**columns)
    rows = rows.filter(*(rows[name].notnull() for name in columns))
    return rows if unit.column is None else _limited(rows, names, unit, salt)


def _limited(rows: Expression, names: Sequence[str], unit: Unit, salt: Sequence[int]) -> Expression:
    """A person's cells in the order of a keyed hash; the first `unit.groups` count, as at most `unit.rows` rows each.

    The hash is taken row by row and the least one kept: what counts is then a function of the person's rows alone, even
    where the engine takes "a" and "A" for one person. Cells that share a hash are in the order of their codes.
    """
    import ibis

    folded = ibis.literal(0, "int64")
    factor = (salt[5] & _MASK) | 2**30 | 1
    for name in names:
        folded = (folded * factor + rows[name].cast("int64") + salt[6]) & _MASK
    rows = rows.mutate(**{_ORDER: order_of(rows[_PERSON], folded, _BITS, salt)})
    cells = rows.group_by([_PERSON, *names]).aggregate(**{_MANY: rows.count(), _ORDER: rows[_ORDER].min()})
    place = ibis.row_number().over(ibis.window(group_by=_PERSON, order_by=[_ORDER, *names]))
    cells = cells.mutate(**{_PLACE: place})
    kept = cells.filter(cells[_PLACE] < unit.groups)
    return kept.select(*names, **{_MANY: ibis.least(kept[_MANY], unit.rows).cast("int32")})


def _cell(rows: Expression, columns: Columns, sizes: Sequence[int], kind: str) -> Expression:
    """The place of a row's cell in a marginal, the last column moving fastest."""
    import ibis

    number: Expression = ibis.literal(0, kind)
    for column in columns:
        # Typed, and cast back: ibis widens, and then the engine would, for every row and marginal.
        number = (number * ibis.literal(sizes[column], kind) + rows[_name(column)]).cast(kind)
    return number


def _name(place: int) -> str:
    return f"c{place}"
