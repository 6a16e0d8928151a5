"""Rows of persons put together by household, and counted in all tables of a census by the engine.

Which rows count, who is the householder and which members are within the limit follows from a household's own rows,
read as codes of what is counted: rows that tie are equal in all that is ever counted of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.join import sort_key
from discreet.data.read import identity
from discreet.data.source import Connection
from discreet.query.compile import GROUP, PERSON, chosen, with_condition
from discreet.query.group import group_codes
from discreet.query.key import Key
from discreet.query.predicate import Predicate, columns_of
from discreet.query.question import Query
from discreet.trees.census.part import Part

__all__ = ["Roster"]

Expression = Any  # ibis expressions carry no useful static types here

_HOUSE = "discreet house"
_OTHER = "discreet other"  # 0 for the householder's row, 1 for others
_TURN = "discreet turn"
_CELL = "discreet cell"


@dataclass(frozen=True, slots=True, eq=False)
class Roster:
    """The rows that all tables of a census are counted of."""

    parts: Mapping[str, Part]
    head: Predicate | None

    @property
    def first(self) -> Part:
        """Any of the tables: regions, households and conditions are the same in all."""
        return next(iter(self.parts.values()))

    @property
    def keys(self) -> dict[Key, str]:
        """All that any table is counted by, and the column of its code."""
        listed = dict.fromkeys(key for part in self.parts.values() for key in part.by)
        return {key: f"discreet code of {index}" for index, key in enumerate(listed)}

    @property
    def columns(self) -> list[str]:
        """The columns of the data that are read."""
        named = [name for part in self.parts.values() for name in part.columns]
        return [*named, self.first.household, *([] if self.head is None else columns_of(self.head))]

    @property
    def leads(self) -> dict[str, str]:
        """The table of every universe that its total is taken from: cumulative sizes, else the first."""
        found: dict[str, str] = {}
        for name, part in sorted(self.parts.items(), key=lambda item: not item[1].chain):
            found.setdefault(part.universe, name)
        return found

    def count(self, data: Connection) -> dict[str, NDArray[np.int64]]:
        """The exact counts of every table: private still. Called inside the one door only."""
        rows = self._rows(data)
        return {name: self._table(part, rows, data) for name, part in self.parts.items()}

    def _rows(self, data: Connection) -> Expression:
        """Every row that counts: its region, household, codes, turn in its household, and the householder's codes."""
        import ibis

        part, keys = self.first, self.keys
        schema = part.with_regions()
        unit, leaf = schema.unit, part.leaf
        table = chosen(Query(part.condition, (leaf, *keys)), schema, data.table)
        if self.head is not None:
            table = with_condition(table, self.head, schema, _OTHER)
        table, codes = group_codes((leaf, *keys), schema, table)
        named = {GROUP: codes[0].cast("int32"), _HOUSE: identity(table[part.household])}
        named |= {name: code.cast("int32") for name, code in zip(keys.values(), codes[1:], strict=True)}
        persons = unit.column is not None and not part.whole
        if persons:
            named[PERSON] = identity(table[unit.column])
        known = list(named)
        named[_OTHER] = ibis.literal(0, "int32") if self.head is None else table[_OTHER].ifelse(0, 1).cast("int32")
        rows = table.select(**named)
        for name in known:
            rows = rows.filter(rows[name].notnull())
        order = [_OTHER, *keys.values()]
        if persons:
            turns = ibis.window(
                group_by=rows[PERSON], order_by=[rows[GROUP], sort_key(rows[_HOUSE]), *_of(rows, order)]
            )
            once = rows.mutate(**{_TURN: ibis.row_number().over(turns)})
            rows = once.filter(once[_TURN] == 0).drop(_TURN, PERSON)
        if part.whole:
            first = rows.mutate(**{_TURN: rows[GROUP].min().over(ibis.window(group_by=_HOUSE))})
            rows = first.filter(first[GROUP] == first[_TURN]).drop(_TURN)
        turns = ibis.window(group_by=[GROUP, _HOUSE], order_by=order)
        heads = {_head(name): rows[name].first().over(turns) for name in keys.values()}
        return rows.mutate(**{_TURN: ibis.row_number().over(turns).cast("int64")}, **heads)

    def _table(self, part: Part, rows: Expression, data: Connection) -> NDArray[np.int64]:
        import ibis

        if part.sizes is not None:
            groups = rows.group_by([GROUP, _HOUSE]).aggregate(**{_CELL: rows.count()})
            cells = groups.select(GROUP, **{_CELL: ibis.least(groups[_CELL], part.sizes.largest) - 1})
        else:
            if part.counts == "households":
                rows = rows.filter(rows[_TURN] == 0)
            elif part.cut:
                rows = rows.filter(rows[_TURN] < part.most)
            cells = rows.select(GROUP, **{_CELL: _cell(part, self.keys, rows)})
        found = data.integers(cells.group_by([GROUP, _CELL]).aggregate(n=cells.count()))
        exact = np.zeros((part.tree.leaves, part.cells), dtype=np.int64)
        exact[found[GROUP], found[_CELL]] = found["n"]
        return exact[:, ::-1].cumsum(axis=1)[:, ::-1] if part.chain else exact


def _of(rows: Expression, names: Sequence[str]) -> list[Expression]:
    return [rows[name] for name in names]


def _head(name: str) -> str:
    return f"{name}, householder"


def _cell(part: Part, keys: Mapping[Key, str], rows: Expression) -> Expression:
    """The number of a row's cell: of its own codes, and of those of its householder."""
    import ibis

    cell, sizes = ibis.literal(0, "int64"), part.shape
    for place, key in enumerate(part.by):
        name = keys[key] if place < part.own else _head(keys[key])
        cell = cell + rows[name].cast("int64") * math.prod(sizes[place + 1 :])
    return cell
