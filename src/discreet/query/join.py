"""A second private table about the same persons, joined to each row by the person's id.

Only rows of one and the same person ever meet, so what a person's joined rows are depends on that person alone, and the
limits on contributions hold as they do for one table: docs/proofs/query.md, "Views".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.errors import InputError
from discreet.query.column import Column, column_to
from discreet.query.dialect import as_bytes, engine_of
from discreet.query.read import as_text, identity

__all__ = ["Join"]

Expression = Any  # ibis expressions carry no useful static types here

_PLACE = "discreet place"
_PERSON = "discreet person"


@dataclass(frozen=True, slots=True)
class Join:
    """Columns of another private table that has the same person column; at most `rows` of its rows a person count.

    A person's rows there are kept in the order of their values, so that which ones are kept follows from them alone. A
    person without rows there gets missing values; one with several is repeated, once for each.
    """

    columns: Mapping[str, Column]
    rows: int = 1

    def __post_init__(self) -> None:
        if not self.columns:
            raise InputError("join.columns", {}, "at least one column")
        if isinstance(self.rows, bool) or not isinstance(self.rows, int) or not 1 <= self.rows <= 2**20:
            raise InputError("join.rows", self.rows, "a whole number from 1 to 2**20")
        object.__setattr__(self, "columns", dict(self.columns))

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"rows": self.rows, "columns": {name: column_to(column) for name, column in self.columns.items()}}

    def joined(self, name: str, place: int, table: Expression, other: Expression, person: str) -> Expression:
        """The table with this one's columns beside it."""
        import ibis

        stored = set(other.columns)
        for column in (person, *self.columns):
            if column not in stored:
                raise InputError(f"joins.{name}.columns", column, "a column the joined table has")
        clash = set(self.columns) & set(table.columns)
        if clash:
            raise InputError(f"joins.{name}.columns", min(clash), "names the first table does not have itself")
        names = {column: f"discreet join {place} {column}" for column in self.columns}
        who = f"{_PERSON} {place}"
        mine, theirs = _person(table[person]), _person(other[person])
        if mine.type().is_numeric() != theirs.type().is_numeric():
            raise InputError(f"joins.{name}.columns.{person}", str(other[person].type()), "stored alike in both tables")
        order = [as_text(other[column]) for column in self.columns]
        ranked = other.select(
            **{who: theirs, _PLACE: ibis.row_number().over(ibis.window(group_by=theirs, order_by=order))},
            **{short: other[column] for column, short in names.items()},
        )
        kept = ranked.filter((ranked[_PLACE] < self.rows) & ranked[who].notnull()).drop(_PLACE)
        own = list(table.columns)
        wide = table.mutate(**{_PERSON: mine}).left_join(kept, [(_PERSON, who)])
        return wide.select(*own, **{column: wide[short] for column, short in names.items()})


def _person(raw: Expression) -> Expression:
    """What is compared: the same bytes, or the same number."""
    found = identity(raw)
    return as_bytes(found, engine_of(raw)) if found.type().is_string() else found
