"""Made-up tables for a schema, and their neighbours: to try a question on, where no private row may be read.

Values are those where bugs live: at the bounds and far beyond, missing, NaN, two zeros, infinities, undeclared
categories; people with many more rows than count, many of them in one group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any, TypeVar, assert_never

from discreet.audit.seam import Tape
from discreet.core.release import plural
from discreet.core.unit import Neighbours, Unit
from discreet.data.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from discreet.data.schema import Schema
from discreet.noise.uniform import uniform

__all__ = ["Chance", "Tables", "make_tables", "neighbours"]

Row = dict[str, Any]
One = TypeVar("One")

_PEOPLE = 5
_MOST_ROWS = 8  # of one person
_TRIED = 6  # neighbours of one table
_WHOLE = 2**62  # numbers an engine holds
_WORDS = ("a", "A", "\u00e9", "e\u0301", "", "a ", "zz")


class Chance:
    """Choices that follow from a name: the same tables again, whenever a fault is looked at."""

    def __init__(self, name: str) -> None:
        self._bits = Tape(name)

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`."""
        return low + uniform(high - low + 1, bits=self._bits)

    def choice(self, some: Sequence[One]) -> One:
        """One of them."""
        return some[self.between(0, len(some) - 1)]

    def sample(self, some: Sequence[One], many: int) -> list[One]:
        """So many of them, in any order."""
        left = list(some)
        return [left.pop(self.between(0, len(left) - 1)) for _ in range(many)]

    def coin(self) -> bool:
        """Yes or no."""
        return self.between(0, 1) == 1


@dataclass(frozen=True)
class Tables:
    """Rows of the table, and of those that are joined to it."""

    schema: Schema
    rows: tuple[Row, ...]
    joined: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)

    def arrow(self) -> Any:
        """The table as an engine reads it."""
        return _arrow(self.rows, self.schema.stored)

    def beside(self) -> dict[str, Any]:
        """The joined tables."""
        return {name: _arrow(rows, _joined_columns(self.schema, name)) for name, rows in self.joined.items()}


def make_tables(chance: Chance, schema: Schema) -> Tables:
    """A few people with a few rows each; of the identifying column, where there is one, also rows of nobody."""
    rows: list[Row] = []
    joined: dict[str, list[Row]] = {name: [] for name in schema.joins}
    people = [*chance.sample(_people(schema), chance.between(1, _PEOPLE)), None]
    for person in people:
        mine, theirs = _of_person(chance, schema, person)
        rows += mine
        for name, others in theirs.items():
            joined[name] += others
    return _shuffled(chance, schema, rows, joined)


def neighbours(chance: Chance, whole: Tables) -> Iterator[tuple[Tables, str]]:
    """Tables that differ from these in one unit, rows in another order; and how, in words."""
    schema, unit = whole.schema, whole.schema.unit
    replaced = unit.neighbours is Neighbours.REPLACE
    if unit.column is None:
        yield from _of_rows(chance, whole, unit, replaced)
        return
    listed = _people(schema)
    for person in chance.sample(listed, len(listed)):
        there = [row for row in whole.rows if row[unit.column] == person]
        others = {name: [row for row in rows if row[unit.column] != person] for name, rows in whole.joined.items()}
        known = bool(there) or any(len(others[name]) < len(rows) for name, rows in whole.joined.items())
        if replaced and not known:
            continue
        rest = [row for row in whole.rows if row[unit.column] != person]
        words = f"without the {len(there)} rows of {unit.column} {person!r}"
        if replaced or not known:
            mine, theirs = _of_person(chance, schema, person)
            rest = rest + mine
            others = {name: others[name] + theirs[name] for name in others}
            words = f"with {'other' if replaced else 'the'} {len(mine)} rows of {unit.column} {person!r}"
        yield _shuffled(chance, schema, rest, others), words


def _of_rows(chance: Chance, whole: Tables, unit: Unit, replaced: bool) -> Iterator[tuple[Tables, str]]:
    """One row, or any so many of them, come, go or change."""
    for _ in range(_TRIED):
        many = min(unit.rows, len(whole.rows))
        gone = set(chance.sample(range(len(whole.rows)), many))
        rest = [row for place, row in enumerate(whole.rows) if place not in gone]
        new = [_row(chance, whole.schema.stored) for _ in range(many if replaced else unit.rows)]
        if chance.coin():  # all of them alike, so in one group
            new = [dict(new[0]) for _ in new]
        if replaced:
            yield _shuffled(chance, whole.schema, rest + new, {}), f"with {plural(many, 'row')} of other values"
        else:
            yield _shuffled(chance, whole.schema, rest, {}), f"without {plural(many, 'row')}"
            yield _shuffled(chance, whole.schema, [*whole.rows, *new], {}), f"with {plural(len(new), 'row')} more"


def _shuffled(chance: Chance, schema: Schema, rows: list[Row], joined: Mapping[str, list[Row]]) -> Tables:
    def mixed(some: list[Row]) -> tuple[Row, ...]:
        return tuple(chance.sample(some, len(some)))

    return Tables(schema, mixed(rows), {name: mixed(others) for name, others in joined.items()})


def _of_person(chance: Chance, schema: Schema, person: Any) -> tuple[list[Row], dict[str, list[Row]]]:
    column = schema.unit.column
    mark = {} if column is None else {column: person}
    rows = [{**_row(chance, schema.stored), **mark} for _ in range(chance.between(1, _MOST_ROWS))]
    if chance.coin():  # many rows in one group: alike in all columns but one
        other = chance.choice([name for name in rows[0] if name != column] or list(rows[0]))
        rows = [{**rows[0], other: row[other]} for row in rows]
    theirs = {
        name: [{**_row(chance, _joined_columns(schema, name)), **mark} for _ in range(chance.between(0, 4))]
        for name in schema.joins
    }
    return rows, theirs


def _joined_columns(schema: Schema, name: str) -> dict[str, Column]:
    person = str(schema.unit.column)
    return {person: schema.columns[person], **schema.joins[name].columns}


def _people(schema: Schema) -> list[Any]:
    """Who may be there; of tables whose unit is a row, as many of nobody's rows."""
    column = schema.unit.column
    if column is None:
        return [None] * (_PEOPLE + 1)
    match schema.columns[column]:
        case Integer(lower, upper):
            low, high = _whole(lower), _whole(upper)
            return sorted({*range(low, min(high, low + _PEOPLE) + 1), high})
        case _:
            return ["ann", "Ann", "bea", "\u00e9", "e\u0301", "7"]


def _row(chance: Chance, columns: Mapping[str, Column]) -> Row:
    return {name: chance.choice(_pool(column)) for name, column in columns.items()}


def _pool(column: Column) -> list[Any]:
    """Values of a column, likely and not; a bound is likelier than the rest, for there a row counts most."""
    match column:
        case Integer(lower, upper):
            low, high = _whole(lower), _whole(upper)
            return [low, low, high, high, high, (low + high) // 2, min(low + 1, high), low - 1, high + 1, _WHOLE, None]
        case Real(lower, upper):
            least, most = float(lower), float(upper)
            far = [float("nan"), float("inf"), -float("inf"), 1e300, -1e300, -0.0, 5e-324, None]
            return [least, least, least, most, most, most, most, least + (most - least) / 3, *far]
        case Category(values):
            return [*values[:6], *values[:2], values[-1], "another value", None]
        case Boolean():
            return [True, True, False, False, None]
        case Date(lower, upper):
            days = [lower, upper, lower + (upper - lower) // 2]
            return [*days, *days, _moved(lower, -40), _moved(upper, 40), None]
        case Timestamp():
            first, last = (datetime.fromtimestamp(int(end), UTC) for end in (column.lower, column.upper))
            return [first, last, first + (last - first) / 2, _moved(first, -40), _moved(last, 40), None]
        case Text():
            return [*_WORDS, None]
        case _:
            assert_never(column)


def _whole(bound: Fraction) -> int:
    """A bound, as far as an engine holds it."""
    return max(-_WHOLE, min(_WHOLE, int(bound)))


def _moved(when: Any, days: int) -> Any:
    """So many days later, or as it is where the calendar ends."""
    try:
        return when + timedelta(days=days)
    except OverflowError:
        return when


def _arrow(rows: tuple[Row, ...], columns: Mapping[str, Column]) -> Any:
    import pyarrow

    def kind(column: Column) -> Any:
        match column:
            case Integer():
                return pyarrow.int64()
            case Real():
                return pyarrow.float64()
            case Category() | Text():
                return pyarrow.string()
            case Boolean():
                return pyarrow.bool_()
            case Date():
                return pyarrow.date32()
            case Timestamp():
                return pyarrow.timestamp("us", "UTC")
            case _:
                assert_never(column)

    return pyarrow.table(
        {name: pyarrow.array([row[name] for row in rows], kind(column)) for name, column in columns.items()}
    )
