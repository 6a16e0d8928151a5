"""Columns that the files of one folder store under several types: what that means for reading them.

An engine unites them by the widest type. Then one file changes how the rows of all others are read: ids of 64 bits
become floats, and persons beyond 2**53 become one. So types are united only where every value reads as it would in a
file of its own, and a column is refused, from types alone, where it is used for more than that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from discreet.data.column import Boolean, Column, Date, Integer, Real
from discreet.data.read import as_day, as_number

__all__ = ["Drift", "as_united", "united"]

Expression = Any  # ibis expressions carry no useful static types here


@dataclass(frozen=True, slots=True)
class Drift:
    """How the types of a column differ, in words, and what it can still be declared as."""

    words: str
    columns: tuple[type[Column], ...] = ()

    def allows(self, column: Column, *, identifies: bool) -> bool:
        """Whether a column declared so reads the same from every type; what identifies a person or a row never does."""
        return not identifies and isinstance(column, self.columns)


_NUMBERS = (Integer, Real, Boolean)
_DAYS = (Date,)


def united(kinds: Iterable[Any]) -> tuple[Any, Drift | None]:
    """The type that values of several stored types are read as, and what is lost by it; None where nothing is."""
    import ibis

    several = list(dict.fromkeys(kind.copy(nullable=True) for kind in kinds))
    if len(several) == 1:
        return several[0], None
    if all(kind.is_integer() and kind != ibis.dtype("uint64") for kind in several):
        return ibis.dtype("int64"), None
    names = sorted(map(str, several))
    words = f"{', '.join(names[:-1])} in some files and {names[-1]} in others"
    if all(kind.is_numeric() or kind.is_boolean() for kind in several):
        return ibis.dtype("float64"), Drift(words, _NUMBERS)
    if all(kind.is_date() or kind.is_timestamp() for kind in several):
        return ibis.dtype("date"), Drift(words, _DAYS)
    return ibis.dtype("string"), Drift(words)


def as_united(value: Expression, kind: Any) -> Expression:
    """A stored value under the type it is united to, by the rule that reads it where it is the only type."""
    import ibis

    stored = value.type().copy(nullable=True)
    if stored == kind:
        return value
    if kind.is_floating():
        return as_number(value)
    if kind.is_date():
        return as_day(value)
    return value.cast(kind) if kind.is_integer() and stored.is_integer() else ibis.null(kind)
