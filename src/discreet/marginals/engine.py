"""Exact marginals counted where the data is: many in one pass, of one table whose rows are limited once.

A row counts if every column of the domain has a code for it; a person counts in at most `unit.groups` cells of the
whole table, as at most `unit.rows` rows in each. Both are settled before anything is counted, so that all marginals
are of the same rows and agree. Proof: docs/proofs/synth-counts.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.core.progress import notify
from discreet.core.sensitivity import Sensitivity
from discreet.core.unit import Neighbours, Unit
from discreet.data.code_table import CodeTable
from discreet.data.column import Date, Real
from discreet.data.dialect import added, engine_of
from discreet.data.expression.calendar import day_number
from discreet.data.read import as_declared, closed, identity
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.marginals.counts import Bins, Columns
from discreet.marginals.cover import cover
from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.marginal_index import MarginalIndex
from discreet.marginals.multiples import Multiples
from discreet.noise.bits import words
from discreet.query.compile import chosen
from discreet.query.contribution import order_of
from discreet.query.group import group_codes
from discreet.query.predicate import Predicate
from discreet.query.question import Query

__all__ = ["EngineCounts", "code_columns", "encode", "moved_by"]

Expression = Any  # ibis expressions carry no useful static types here
Cells = NDArray[np.int64]

LARGEST = 2**24
"""How many cells one marginal may have."""

_AT_ONCE = 128  # marginals in one query
_TOGETHER = 2**14  # cells of a table that holds several
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
        salt = [int(word) & _MASK for word in words(bits, 8)]
        rows = encode(domain, schema, data.table, salt, condition)
        self._begin(domain, data, data.cached(rows), data.store(rows))

    @classmethod
    def of_codes(cls, domain: Domain, data: Connection, rows: Expression) -> EngineCounts:
        """Counts of a table of codes, c0, c1, ..., none of them missing, that was made in the engine otherwise."""
        found = cls.__new__(cls)
        found._begin(domain, data, data.cached(rows), data.store(rows))
        return found

    def _begin(self, domain: Domain, data: Connection, rows: Expression, stored: CodeTable | None) -> None:
        self.domain = domain
        self._sizes = domain.sizes
        self._data = data
        self._rows = rows
        self._stored = stored
        self._found: dict[Columns, tuple[Cells, Cells]] = {}
        self._counted = MarginalIndex(self._sizes)
        self._told = False

    def merged(self, bins: Bins) -> EngineCounts:
        """Counts of the same table of codes, put together in bins by the engine."""
        maps = [np.asarray(one, dtype=np.int64) for one in bins]
        other = EngineCounts.__new__(EngineCounts)
        rows, stored = self._rows, self._stored
        if stored is None:
            binned = {_name(place): _binned(rows[_name(place)], one) for place, one in enumerate(maps)}
            rows = self._data.cached(rows.mutate(**binned))
        else:
            stored = stored.mapped(maps)
        other._begin(self.domain.merged(maps), self._data, rows, stored)
        # What was put together came out of the data, and so does how many marginals there are to count.
        other._told = True
        return other

    def prepare(self, marginals: Iterable[Columns]) -> None:
        """Count these now, all at once, because they will be asked for."""
        wanted: list[Columns] = []
        held = self._counted.copy()
        for columns in sorted(set(marginals), key=lambda one: (-len(one), one)):
            if self.domain.cells(columns) > LARGEST:
                named = ", ".join(self.domain.names[column] for column in columns)
                raise InputError("columns", named, f"columns of at most {LARGEST:,} cells together")
            if held.holder(columns) is None:
                wanted.append(columns)
                held.add(columns)
        if wanted and not self._told:  # once: listeners may know no more of it than what is public
            notify("counting in the engine")
            self._told = True
        if self._stored is None:
            self._count_together(wanted)
            return
        for columns in wanted:
            self._keep(columns, *self._stored.tally(columns, self._sizes))

    def marginal(self, columns: Columns) -> NDArray[np.int64]:
        """The counts, one axis a column."""
        held = self._counted.holder(columns)
        if held is None:
            self.prepare([columns])
            held = columns
        cells, counts = self._added_up(held, *self._found[held], columns)
        table = np.zeros(self.domain.cells(columns), dtype=np.int64)
        table[cells] = counts
        return table.reshape(tuple(self._sizes[column] for column in columns))

    def _keep(self, columns: Columns, cells: Cells, counts: Cells) -> None:
        self._found[columns] = cells, counts
        self._counted.add(columns)

    def _count_together(self, marginals: Sequence[Columns]) -> None:
        """Count tables that hold several marginals each, since a row is unfolded for each of them, and add these up."""
        tables = cover(self._sizes, marginals, _TOGETHER)
        for first in range(0, len(tables), _AT_ONCE):
            counted = self._count([columns for columns, _ in tables[first : first + _AT_ONCE]])
            for (held, places), (cells, counts) in zip(tables[first : first + _AT_ONCE], counted, strict=True):
                for place in places:
                    self._keep(marginals[place], *self._added_up(held, cells, counts, marginals[place]))

    def _added_up(self, held: Columns, cells: Cells, counts: Cells, columns: Columns) -> tuple[Cells, Cells]:
        """The cells of some columns that are not empty and their counts, from those of more columns."""
        if held == columns:
            return cells, counts
        codes = np.unravel_index(cells, tuple(self._sizes[column] for column in held))
        kept = tuple(code for column, code in zip(held, codes, strict=True) if column in columns)
        shape = tuple(self._sizes[column] for column in columns)
        inside = np.ravel_multi_index(kept, shape) if kept else np.zeros_like(cells)
        known, place = np.unique(inside, return_inverse=True)
        sums = np.zeros(len(known), dtype=np.int64)
        np.add.at(sums, place, counts)
        return known, sums

    def _count(self, marginals: Sequence[Columns]) -> list[tuple[Cells, Cells]]:
        """One query: every row is unfolded into its cell of each marginal, and cells are counted."""
        import ibis

        rows, starts = self._rows, np.cumsum([0, *(self.domain.cells(columns) for columns in marginals)])
        kind = "int32" if starts[-1] <= _MASK else "int64"
        cells = [
            _cell(rows, columns, self._sizes, kind) + ibis.literal(int(start), kind)
            for columns, start in zip(marginals, starts, strict=False)
        ]
        limited = [_MANY] if _MANY in rows.columns else []
        unfolded = rows.select(*limited, **{_CELL: ibis.array(cells).unnest()})
        many = added(unfolded[_MANY], engine_of(rows)) if limited else unfolded.count().cast("int64")
        found = self._data.integers(unfolded.group_by(_CELL).aggregate(**{_MANY: many}))
        order = np.argsort(found[_CELL])
        numbers, counts = found[_CELL][order], found[_MANY][order]
        ends = np.searchsorted(numbers, starts)
        slices = [slice(*pair) for pair in pairwise(ends)]
        return [(numbers[here] - start, counts[here]) for here, start in zip(slices, starts, strict=False)]


def encode(
    domain: Domain, schema: Schema, table: Expression, salt: Sequence[int], condition: Predicate | None = None
) -> Expression:
    """The table of codes, c0, c1, ...; where the unit is a person, its rows count as `many` each, within the limits.

    A row that some column has no code for, such as an undeclared value where none may be missing, is left out.
    """
    unit = schema.unit
    table, columns = code_columns(domain, schema, chosen(Query(condition), schema, table))
    names = list(columns)
    if unit.column is not None:
        columns[_PERSON] = identity(table[unit.column])
    rows = table.select(**columns)
    rows = rows.filter(*(rows[name].notnull() for name in columns))
    return rows if unit.column is None else _limited(rows, names, unit, salt)


def code_columns(domain: Domain, schema: Schema, table: Expression) -> tuple[Expression, dict[str, Expression]]:
    """A table, and the code of every attribute in each of its rows, c0, c1, ...; missing where a row has none."""
    import ibis

    keyed = [attribute for attribute in domain.attributes if attribute.partition is None and not attribute.unknown]
    keys = [attribute.key for attribute in keyed]
    table, codes = group_codes(keys, schema, table, clamped=True)
    slots = {attribute.name: f"discreet key {place}" for place, attribute in enumerate(keyed)}
    table = table.mutate(**dict(zip(slots.values(), codes, strict=True)))
    table, located = _located([one for one in domain.attributes if one.partition is not None], schema, table)
    columns: dict[str, Expression] = {}
    for place, attribute in enumerate(domain.attributes):
        if attribute.partition is not None:
            code = located[attribute.name]
        else:
            code = ibis.literal(0, "int64") if attribute.unknown else table[slots[attribute.name]]
        full = code.fill_null(attribute.size - 1) if attribute.missing else code
        columns[_name(place)] = full.cast("int16" if attribute.size <= 2**15 else "int32")
    return table, columns


def _located(
    attributes: Sequence[Attribute], schema: Schema, table: Expression
) -> tuple[Expression, dict[str, Expression]]:
    """Codes of numbers and days by the partitions of their columns; missing where they are.

    The table gets each value, and each point nearest to one, as a column: an engine would compute them again for every
    time that they are named.
    """
    import ibis

    columns = {one.key.column: schema.columns[one.key.column] for one in attributes}
    values = {name: f"discreet value {place}" for place, name in enumerate(columns)}
    read = {}
    for name, column in columns.items():
        value = as_declared(table[schema.slot(name)], column)
        read[values[name]] = day_number(value) if isinstance(column, Date) else value
    table = closed(table.mutate(**read)) if read else table
    points: dict[tuple[Any, ...], tuple[str, Expression]] = {}
    slots = {}
    for one in attributes:
        name, cut = one.key.column, one.partition
        if cut is not None:
            grid = cut.points if isinstance(cut, Multiples) else cut
            key = (name, grid.origin, grid.unit)
            whole = not isinstance(columns[name], Real)
            fresh = f"discreet point {len(points)}", grid.nearest(table[values[name]], whole=whole)
            slots[one.name] = points.setdefault(key, fresh)[0]
    table = closed(table.mutate(**dict(points.values()))) if points else table
    found = {}
    for one in attributes:
        value = table[values[one.key.column]]
        if one.partition is not None:
            code = one.partition.code(value, table[slots[one.name]])
            found[one.name] = value.notnull().ifelse(code, ibis.null("int64"))
    return table, found


def _binned(code: Expression, bins: NDArray[np.int64]) -> Expression:
    """The bin of a code: runs of codes in one bin are told apart by halves."""
    starts = np.flatnonzero(np.r_[True, bins[1:] != bins[:-1]])
    return _run(code, starts.tolist(), bins[starts].tolist()).cast("int32")


def _run(code: Expression, starts: Sequence[int], bins: Sequence[int]) -> Expression:
    import ibis

    if len(starts) == 1:
        return ibis.literal(bins[0], "int32")
    middle = len(starts) // 2
    left, right = _run(code, starts[:middle], bins[:middle]), _run(code, starts[middle:], bins[middle:])
    return (code < starts[middle]).ifelse(left, right)


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
