"""What a question groups by. The list of groups is public before anything is read, unless keys are discovered."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from discreet.core.exact import Number, as_written
from discreet.data.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from discreet.data.expression import Expression, Name
from discreet.data.expression.time import next_day
from discreet.data.instant import Instant, read_instant
from discreet.data.schema import Schema
from discreet.errors import MISSING, InputError, Phrase
from discreet.query.duration import regular_instants

__all__ = ["Bin", "Key", "bins", "column_name", "discover", "key", "keys_of", "keys_under", "published"]

MOST_GROUPS = 1_000_000
MOST_EDGES = 2_000
_FEWER = f"a column of at most {MOST_GROUPS:,} groups"
_EVERY = ("day", "week", "month", "quarter", "year")


@dataclass(frozen=True, slots=True)
class Bin:
    """The numbers or days from `start` up to, and not including, `end` (the last bin includes its end)."""

    start: Any
    end: Any

    def __str__(self) -> str:
        return f"{_plain(self.start)}..{_plain(self.end)}"


def _plain(value: Any) -> str:
    if isinstance(value, Fraction):
        return str(value.numerator) if value.denominator == 1 else str(float(value))
    return str(value)


def published(label: Any) -> Any:
    """The label of a group as plain JSON: bins, days and times as text."""
    return str(label) if isinstance(label, Bin | date | Instant) else label


@dataclass(frozen=True, slots=True)
class Key:
    """One column to group by: its declared values, the `values` given, or the bins between `edges`.

    If `discovered`, nobody lists the values: those that enough units share are found, privately, in the data. What lies
    outside the declared bounds is in no group. Missing values of a nullable column are a group of their own, the last;
    without `missing` (the periods of a stream, bins whose column a condition says is there) they are in none.
    """

    column: str
    values: tuple[Any, ...] | None = None
    edges: tuple[Any, ...] | None = None
    discovered: bool = False
    missing: bool = True
    name: str | None = None
    """What the published column is called, if not as what it is grouped by."""

    @property
    def title(self) -> str:
        """The name of the published column."""
        return self.name or self.column

    def labels(self, schema: Schema) -> list[Any]:
        """The groups, in the order they are published; None stands for a missing value."""
        column = schema.column(self.column, "group_by")
        found: list[Any]
        if self.discovered:
            raise InputError(
                "group_by", self.column, "a key with listed values: those of a discovered key are in the data only"
            )
        if self.edges is not None:
            pairs = zip(self.edges[:-1], self.edges[1:], strict=True)
            bins_: list[Any] = [Bin(a, b) for a, b in pairs]
            return [*bins_, None] if column.nullable and self.missing else bins_
        if self.values is not None:
            return list(self.values)
        match column:
            case Category():
                found = list(column.values)
            case Boolean():
                found = [False, True]
            case Integer():
                if column.upper - column.lower >= MOST_GROUPS:
                    raise InputError("group_by", self.column, _FEWER, "Use bins.")
                found = list(range(int(column.lower), int(column.upper) + 1))
            case _:
                raise InputError("group_by", self.column, "a category, a boolean, an integer, or in bins")
        return [*found, None] if column.nullable else found

    def to_dict(self) -> dict[str, Any]:
        """The key as plain values."""
        entry: dict[str, Any] = {"column": self.column}
        if self.values is not None:
            entry["values"] = [_wire(value) for value in self.values]
        if self.edges is not None:
            entry["edges"] = [_wire(edge) for edge in self.edges]
        if self.discovered:
            entry["discover"] = True
        if not self.missing:
            entry["missing"] = False
        return entry | ({} if self.name is None else {"name": self.name})

    @classmethod
    def from_dict(cls, entry: dict[str, Any], schema: Schema) -> Key:
        """The key, checked against the schema as if a person had written it."""
        if not isinstance(entry, Mapping) or not isinstance(entry.get("column"), str):
            raise InputError("group_by", entry, "a column name, or {'column': ..., 'values' or 'edges': [...]}")
        known = ("column", "values", "edges", "discover", "name", "missing")
        if unknown := set(entry) - set(known):
            raise InputError.unknown(f"group_by.{min(unknown)}", known)
        if "name" in entry:
            rest = {field: value for field, value in entry.items() if field != "name"}
            return replace(cls.from_dict(rest, schema), name=_title(entry["name"]))
        if "missing" in entry:
            if not isinstance(entry["missing"], bool) or "edges" not in entry:
                raise InputError("group_by.missing", entry["missing"], "true or false, where there are edges")
            rest = {field: value for field, value in entry.items() if field != "missing"}
            return replace(cls.from_dict(rest, schema), missing=entry["missing"])
        if "discover" in entry:
            if entry["discover"] is not True or len(entry) > 2:
                raise InputError("group_by", entry, "{'column': ..., 'discover': true}, without values and edges")
            return discover(entry["column"]).checked(schema)
        for field in ("values", "edges"):
            if not isinstance(entry.get(field, []), list):
                raise InputError("group_by", entry, f"an object whose {field} are a list")
        if "edges" in entry:
            return bins(entry["column"], entry["edges"]).checked(schema)
        return key(entry["column"], entry.get("values")).checked(schema)

    def checked(self, schema: Schema) -> Key:
        """The same key with its values and edges read as the column's type; an error names what is not allowed."""
        name = schema.canonical(self.column, "group_by")
        if name != self.column:
            return replace(self, column=name).checked(schema)
        column = schema.column(name, "group_by")
        if name not in schema.columns and self.values is None and self.edges is None and not self.discovered:
            return replace(self, values=_listed(name, column, schema))
        if self.discovered:
            return _discoverable(self, column, schema)
        if self.edges is not None:
            return replace(self, edges=_edges(self.column, column, self.edges))
        if self.values is not None:
            return replace(self, values=_values(self.column, column, self.values))
        if isinstance(column, (Real, Date, Timestamp)):
            hint = f'Use bins("{self.column}", ...), or --by "{self.column}/WIDTH" in a shell: groups must be known.'
            raise InputError("group_by", self.column, "a category, a boolean, an integer, or in bins", hint)
        if isinstance(column, Text):
            shell = f"in a shell '{self.column}?' and --delta"
            hint = f'Use discover("{self.column}") and a delta ({shell}): values that enough units share are found.'
            raise InputError("group_by", self.column, "a column whose values are declared", hint)
        if len(self.labels(schema)) > MOST_GROUPS:
            raise InputError("group_by", self.column, _FEWER, "Use bins.")
        return self


@contextmanager
def keys_of(field: str) -> Iterator[None]:
    """Errors about a key name the field that it was given in, which is `group_by` for questions only."""
    try:
        yield
    except InputError as problem:
        head, dot, rest = problem.field.partition(".")
        if head != "group_by":
            raise
        raise problem.about(f"{field}{dot}{rest}") from None


def keys_under(schema: Schema, **keys: Key | None) -> list[Key]:
    """The keys that were given, each checked under the name of its field; their values are listed."""
    checked = []
    for field, given in keys.items():
        if given is not None:
            with keys_of(field):
                checked.append(given.checked(schema))
                checked[-1].labels(schema)  # a discovered key has no list of values
    return checked


def key(column: str | Expression, values: Sequence[Any] | None = None, *, name: str | None = None) -> Key:
    """Group by a column's declared values, or by the ones listed (rows with other values are left out).

    `name` is what the published column is called: `key(col("age") // 10 * 10, name="decade")`.
    """
    if values is not None and (isinstance(values, str) or not hasattr(values, "__iter__")):
        raise InputError("group_by", values, "a list of values")
    return Key(column_name(column), values=None if values is None else tuple(values), name=_title(name))


def _title(name: Any) -> str | None:
    if name is not None and (not isinstance(name, str) or not name):
        raise InputError("group_by.name", name, "the name of a column, as text")
    return name


def column_name(column: Any) -> Any:
    """A column or an expression as text."""
    return column.name if isinstance(column, Name) else str(column) if isinstance(column, Expression) else column


def discover(column: str | Expression) -> Key:
    """Group by values that nobody declared: only those that enough units share appear, and it takes a delta.

    >>> discover("zip").to_dict()
    {'column': 'zip', 'discover': True}
    """
    return Key(column_name(column), discovered=True)


def bins(
    column: str | Expression,
    edges: Sequence[Any] | None = None,
    *,
    width: Number | str | timedelta | None = None,
    every: str | None = None,
) -> Key:
    """Group numbers, dates or timestamps into bins between `edges`, of equal `width`, or `every` day, week, month,
    quarter or year.

    `width` and `every` start at the column's declared lower bound. Of timestamps a width is a duration, such as
    `"6 hours"` or a `timedelta`, and `every` may also be an hour, on the clocks of their zone. Weeks begin on Monday.

    >>> bins("age", [0, 18, 65, 120]).edges
    (0, 18, 65, 120)
    """
    given = [name for name, value in (("edges", edges), ("width", width), ("every", every)) if value is not None]
    if len(given) != 1:
        raise InputError(
            "bins", Phrase(" and ".join(given)) if given else MISSING, "exactly one of edges, width, every"
        )
    if edges is not None:
        if isinstance(edges, str) or not hasattr(edges, "__iter__"):
            raise InputError("bins.edges", edges, "a list of edges")
        edges = tuple(edges)
        if len(edges) < 2:
            raise InputError("bins.edges", list(edges), "at least two edges")
        return Key(column_name(column), edges=tuple(edges))
    if isinstance(width, timedelta):
        width = f"{width.total_seconds():g} seconds"
    return Key(column_name(column), edges=("width", width) if width is not None else ("every", every))


def _discoverable(key: Key, column: Column, schema: Schema) -> Key:
    if key.values is not None or key.edges is not None:
        raise InputError("group_by", key.column, "either discovered or listed")
    if key.column == schema.unit.column:
        raise InputError("group_by", key.column, "a column that does not identify a person")
    if isinstance(column, Real):
        hint = f'Use bins("{key.column}", ...), so that the groups are known beforehand.'
        raise InputError("group_by", key.column, "a column of text, categories, booleans, integers or dates", hint)
    return key


def _edges(name: str, column: Column, edges: tuple[Any, ...]) -> tuple[Any, ...]:
    if not isinstance(column, (Integer, Real, Date, Timestamp)):
        raise InputError("bins", name, "a column of numbers, dates or timestamps")
    if edges[0] in ("width", "every") and len(edges) == 2:
        made = _regular(column, *edges)
    elif isinstance(column, Date):
        made = tuple(_day(edge) for edge in edges)
    elif isinstance(column, Timestamp):
        made = tuple(read_instant(edge, column.timezone, "bins.edges") for edge in edges)
    else:
        made = tuple(as_written(edge, "bins.edges") for edge in edges)
    if any(a >= b for a, b in itertools.pairwise(made)):
        raise InputError("bins.edges", Phrase(", ".join(str(edge) for edge in made[:20])), "in rising order")
    if len(made) - 1 > MOST_GROUPS:
        raise InputError("bins", Phrase(f"{len(made) - 1} bins"), f"at most {MOST_GROUPS:,} groups")
    if len(made) > MOST_EDGES and len({b - a for a, b in itertools.pairwise(made[:-1])}) > 1:
        raise InputError("bins", Phrase(f"{len(made) - 1} bins"), f"at most {MOST_EDGES:,} edges, unless evenly spaced")
    return made


def _regular(column: Integer | Real | Date | Timestamp, how: str, size: Any) -> tuple[Any, ...]:
    if isinstance(column, Date):
        if how == "width":
            step = as_written(size, "bins.width")
            if step.denominator != 1 or step < 1:
                raise InputError("bins.width", size, "a whole number of days", "Or use every='month'.")
            return _days(column, lambda day: day + timedelta(days=min(int(step), 10**7)))
        if size not in _EVERY:
            raise InputError("bins.every", size, among=_EVERY)
        return _days(column, lambda day: next_day(size, day))
    if isinstance(column, Timestamp):
        return regular_instants(column, how, size, MOST_GROUPS)
    if how == "every":
        raise InputError("bins.every", size, "left out unless the column holds dates", "Use width for numbers.")
    step = as_written(size, "bins.width")
    if step <= 0:
        raise InputError("bins.width", size, "more than zero")
    count = -((column.lower - column.upper) // step)
    if count > MOST_GROUPS:
        raise InputError("bins.width", size, f"wide enough for at most {MOST_GROUPS:,} bins")
    return tuple(column.lower + i * step for i in range(int(count) + 1))


def _days(column: Date, after: Callable[[date], date]) -> tuple[date, ...]:
    edges = [column.lower]
    while edges[-1] <= column.upper:
        try:
            edges.append(after(edges[-1]))
        except (ValueError, OverflowError):  # past the last day there is: the last bin includes its end
            return tuple(edges) if edges[-1] == date.max else (*edges, date.max)
    return tuple(edges)


def _listed(name: str, column: Column, schema: Schema) -> tuple[Any, ...]:
    """What an expression can be, as the list of its groups."""
    domain = schema.domain(name, "group_by")
    values = domain.listed(MOST_GROUPS)
    if values is None or domain.kind == "real":
        hint = f'Use bins("{name}", ...), or round it: groups must be known beforehand.'
        raise InputError("group_by", name, "an expression with few values", hint)
    return (*values, None) if domain.missing else values


def _values(name: str, column: Column, values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values:
        raise InputError("group_by", name, "a key with at least one value in its list")
    match column:
        case Category():
            read: tuple[Any, ...] = tuple(None if value is None else str(value) for value in values)
            known: set[Any] = set(column.values) | {None}
        case Boolean():
            read = tuple(values)
            known = {False, True, None}
            if any(value is not None and not isinstance(value, bool) for value in read):
                raise InputError("group_by", list(values)[:20], f"a list of true or false, since {name} is boolean")
        case Integer():
            read = values
            if any(value is not None and (isinstance(value, bool) or not isinstance(value, int)) for value in read):
                raise InputError("group_by", list(values)[:20], f"a list of whole numbers, since {name} is an integer")
            known = {value for value in read if value is None or column.lower <= value <= column.upper}
        case Date():
            read = tuple(None if value is None else _day(value) for value in values)
            known = {value for value in read if value is None or column.lower <= value <= column.upper}
        case Timestamp():
            read = tuple(
                None if value is None else read_instant(value, column.timezone, "group_by") for value in values
            )
            known = {value for value in read if value is None or column.lower <= value <= column.upper}
        case _:
            raise InputError("group_by", name, "a category, a boolean, an integer or a date when values are listed")
    if len(read) > MOST_GROUPS:
        raise InputError("group_by", Phrase(f"{len(read):,} values"), f"at most {MOST_GROUPS:,} groups")
    if unknown := [value for value in read if value not in known]:
        raise InputError(
            "group_by", unknown[0], f"a declared value of {name}", among=[value for value in known if value is not None]
        )
    if len(set(read)) != len(read):
        raise InputError("group_by", list(values)[:20], "a list with each value once")
    return read


def _day(value: Any) -> date:
    try:
        if isinstance(value, datetime):
            raise ValueError
        return value if isinstance(value, date) else date.fromisoformat(value)
    except (TypeError, ValueError):
        raise InputError("bins.edges", value, "dates such as 2024-12-31") from None


def _wire(edge: Any) -> Any:
    return str(edge) if isinstance(edge, (Fraction, Decimal, date, Instant)) else edge
