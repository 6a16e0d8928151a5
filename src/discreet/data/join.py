"""A second private table about the same persons, joined to each row by the person's id.

Only rows of one and the same person ever meet, so what a person's joined rows are depends on that person alone, and the
limits on contributions hold as they do for one table: docs/proofs/query.md, "Views".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.data.column import Column, column_to
from discreet.data.dialect import as_bytes, engine_of
from discreet.data.read import as_whole, identity
from discreet.errors import InputError, Phrase

__all__ = ["Join", "sort_key"]

Expression = Any  # ibis expressions carry no useful static types here

_PLACE = "discreet place"
_PERSON = "discreet person"


@dataclass(frozen=True, slots=True)
class Join:
    """Columns of another private table that has the same person column; at most `rows` of its rows a person count.

    A person's rows there are kept in the order of their values (of the columns listed, in that order; what is missing
    first), so that which ones are kept follows from them alone. A person without rows there gets missing values; one
    with several is repeated, once for each.
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
        mine, theirs = _persons(table[person], other[person], f"joins.{name}.columns.{person}")
        # By all columns that leave the table: rows that tie are equal in everything that is ever read of them.
        order = [sort_key(other[column]) for column in self.columns]
        ranked = other.select(
            **{who: theirs, _PLACE: ibis.row_number().over(ibis.window(group_by=theirs, order_by=order))},
            **{short: identity(other[column]) for column, short in names.items()},
        )
        kept = ranked.filter((ranked[_PLACE] < self.rows) & ranked[who].notnull()).drop(_PLACE)
        own = list(table.columns)
        wide = table.mutate(**{_PERSON: mine}).left_join(kept, [(_PERSON, who)])
        return wide.select(*own, **{column: wide[short] for column, short in names.items()})


def _persons(mine: Expression, theirs: Expression, field: str) -> tuple[Expression, Expression]:
    """A person as the two tables name them, comparable without loss: the same number, the same bytes, the same type.

    Engines compare a whole number with a float as floats, which takes many persons for one beyond 2**53 (2**24 for
    those of 32 bits). So floats are read as whole numbers where the other table has those, or floats of another width:
    one that is none, or lies beyond, is nobody there.
    """
    pair = identity(mine), identity(theirs)
    kinds = [person.type() for person in (mine, theirs)]
    if all(kind.is_string() for kind in kinds):
        first, second = (as_bytes(person, engine_of(person)) for person in pair)
        return first, second
    if all(kind.is_floating() or kind.is_integer() for kind in kinds):
        if all(kind.is_floating() for kind in kinds) and kinds[0].nbytes == kinds[1].nbytes:
            return pair
        first, second = (as_whole(person) if person.type().is_floating() else person for person in (mine, theirs))
        return first, second
    if kinds[0].copy(nullable=True) != kinds[1].copy(nullable=True):
        hint = "Convert the column in one of the tables, and open the result."
        raise InputError(field, Phrase(theirs.type()), f"stored as in the first table, as {mine.type()}", hint)
    return pair


def sort_key(raw: Expression) -> Expression:
    """What a stored value is ordered by: text by its bytes, all else as itself, what is missing (NaN too) first.

    The order is total, the same on every engine, and ties only values that are read alike. Where an order leaves a tie,
    the engine breaks it by what lies around a row, and that is other people's rows: docs/proofs/same-integers.md.
    """
    import ibis

    value, kind = identity(raw), raw.type()
    if not (kind.is_numeric() or kind.is_boolean() or kind.is_date() or kind.is_timestamp()):
        # Bytes: a rule of the column may take "a" for "A". A uuid is ordered by its text: engines store it differently.
        value = as_bytes(value if kind.is_string() else value.cast("string"), engine_of(raw))
    return ibis.asc(value, nulls_first=True)
