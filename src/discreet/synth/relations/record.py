"""Parents and child rows as plain values for the ledger, and back again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.packing import pack, unpack
from discreet.data.column import Column, column_from, column_to
from discreet.data.schema import Schema
from discreet.marginals.domain import Domain
from discreet.synth.parts import MadeColumn, assemble, draw_parts, names_of
from discreet.synth.record import domain_from, domain_to
from discreet.synth.relations.levels import Clock
from discreet.synth.rows import ColumnValues
from discreet.synth.sample import Codes

__all__ = ["Level", "level_from", "level_to"]


def level_to(
    schema: Schema, made: Sequence[MadeColumn], domain: Domain, codes: Codes, clock: Clock | None = None
) -> dict[str, Any]:
    """A table of codes, how its columns are declared, and which of them orders it."""
    known = () if clock is None else (clock.attribute, clock.minute, clock.column)

    def declared(name: str) -> Column:
        column = schema.column(name)
        return replace(column, nullable=False) if name in known else column

    entry: dict[str, Any] = {
        "domain": domain_to(domain, {name: declared(name) for name in domain.names}),
        "columns": [{**one.to_json(), "declared": column_to(declared(one.name))} for one in made],
        "codes": [pack(column) for column in codes.T],
        "rows": len(codes),
    }
    if clock is not None:
        cut = clock.cut
        entry["clock"] = {"attribute": clock.attribute, "minute": clock.minute, "column": clock.column}
        entry["clock"] |= {"origin": str(cut.origin), "unit": str(cut.unit)}
    return entry


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """One of the two tables: its codes, what its columns are made of, and the times of its rows, if they have any."""

    domain: Domain
    declared: dict[str, Column]
    parts: tuple[MadeColumn, ...]
    codes: Codes
    clock: Mapping[str, Any] | None = None
    times: Codes | None = None
    owner: Codes | None = None

    def values(self) -> dict[str, ColumnValues]:
        """Values of its columns, as numbers."""
        return assemble(self.parts, self.declared, self.drawn())

    def times_of(self) -> tuple[str, ...]:
        """The columns and parts that put its rows in their order."""
        if self.clock is None:
            return ()
        column = next(one for one in self.parts if one.name == (self.clock or {})["column"])
        return (column.name, *names_of(column))

    def drawn(self) -> dict[str, ColumnValues]:
        """Values of what its columns are made of, as numbers."""
        drawn = draw_parts(self.domain, self.parts, self.declared, self.codes)
        if self.clock is not None and self.times is not None and self.owner is not None:
            origin, unit = Fraction(self.clock["origin"]), Fraction(self.clock["unit"])
            there = np.zeros(len(self.times), dtype=bool)
            drawn[self.clock["attribute"]] = ColumnValues(self.times * int(unit) + int(origin), there)
            if self.clock["minute"] is not None:
                self._in_order(drawn, self.times, self.owner)
        return drawn

    def _in_order(self, drawn: dict[str, ColumnValues], times: Codes, owner: Codes) -> None:
        """Times of day of one parent's rows of one day, in their order: the rows are told by the ones before them."""
        column = next(one for one in self.parts if one.name == (self.clock or {})["column"])
        late = names_of(column)[1:]
        order = np.lexsort([*(drawn[name].values for name in reversed(late)), times, owner])
        for name in late:
            drawn[name] = drawn[name].taken(order)


def level_from(entry: dict[str, Any]) -> Level:
    """What `level_to` made, and whose rows they are."""
    domain, declared = domain_from(entry["domain"])
    declared |= {one["name"]: column_from(one["name"], one["declared"]) for one in entry["columns"]}
    columns = [unpack(column) for column in entry["codes"]]
    return Level(
        domain=domain,
        declared=declared,
        parts=tuple(MadeColumn.from_json(one) for one in entry["columns"]),
        codes=np.stack(columns, axis=1) if columns else np.zeros((entry["rows"], 0), dtype=np.int64),
        clock=entry.get("clock"),
        times=None if entry.get("times") is None else unpack(entry["times"]),
        owner=None if "owner" not in entry else unpack(entry["owner"]),
    )
