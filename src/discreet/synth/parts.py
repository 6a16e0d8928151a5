"""Columns that are made of parts: a timestamp of its day and its time of day, a column of another one and their
difference.

A dropoff drawn by itself would lie before its pickup every other time. Where two columns are alike, the second is made
as the first plus what lies between them, which is counted as a column of its own. Which columns are made so follows
from the schema, or is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from discreet.data.expression.node import quoted
from discreet.data.instant import DAY, changes
from discreet.data.schema import Schema
from discreet.errors import InputError, kind_of
from discreet.marginals.domain import Domain, lattice_of
from discreet.marginals.partition import Partition
from discreet.noise.replay import Replay, uniforms
from discreet.synth.rows import ColumnValues, draw_rows, on_lattice, seed_of, shown_times
from discreet.synth.sample import Codes

__all__ = [
    "MadeColumn",
    "agreed",
    "assemble",
    "draw_parts",
    "made_columns",
    "names_of",
    "partitions_of",
    "plain_columns",
    "taken_apart",
]

_MINUTES = 1440
_LIKE = Fraction(1, 2)
_QUARTER = 15  # minutes: how finely times of day are told apart


@dataclass(frozen=True, slots=True)
class MadeColumn:
    """A column of the table, and the attributes it is made of: itself, a day and a time, or a difference to `base`.

    Where the base may be missing, whether the column itself is goes with the difference: as a part of its own.
    """

    name: str
    parts: tuple[str, ...]
    base: str | None = None

    @property
    def plain(self) -> bool:
        """Whether it is one attribute as it is."""
        return self.base is None and len(self.parts) == 1

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"name": self.name, "parts": list(self.parts), "base": self.base}

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> MadeColumn:
        """What `to_json` made."""
        return cls(entry["name"], tuple(entry["parts"]), entry["base"])


def made_columns(
    schema: Schema, columns: Iterable[str] | None, differences: Mapping[str, str] | None
) -> tuple[MadeColumn, ...]:
    """How each column is made: `differences` says which as another plus a difference; None: days and times alike."""
    if isinstance(columns, str):
        raise InputError("columns", columns, "at least one column, in a list")
    named = [name for name in schema.columns if name != schema.unit.column] if columns is None else list(columns)
    named = [schema.canonical(name, "columns") for name in named]
    bases = _alike(named, schema) if differences is None else _stated(differences, named, schema)
    made = {name: _made(name, schema, bases.get(name)) for name in named}
    order = dict.fromkeys(named) if len(made) == len(named) else {}
    if not order:
        raise InputError(
            "columns", named, "a list with each column once" if named else "at least one column, in a list"
        )
    return tuple(made[name] for name in order)


def _made(name: str, schema: Schema, base: str | None) -> MadeColumn:
    if base is not None:
        apart = [f"{quoted(name)} IS NULL"] if schema.column(base).nullable else []
        pieces = [f"{quoted(name)} - {quoted(base)}", *apart]
        return MadeColumn(name, tuple(schema.canonical(text, "differences") for text in pieces), base)
    if isinstance(schema.column(name, "columns"), Timestamp):
        column = quoted(name)
        texts = [f"CAST({column} AS DATE)", f"HOUR({column}) * 60 + MINUTE({column})"]
        return MadeColumn(name, tuple(schema.canonical(text, "columns") for text in texts))
    return MadeColumn(name, (name,))


def _alike(named: list[str], schema: Schema) -> dict[str, str]:
    """Days with days and times with times whose bounds are nearly the same: all but the first are made from it."""
    first: list[str] = []
    found = {}
    for name in named:
        column = schema.column(name, "columns")
        if name not in schema.columns or not isinstance(column, Date | Timestamp):
            continue
        likeness = {base: _overlap(column, schema.column(base)) for base in first}
        # Where the base is missing there is nothing to add to: one that is complete comes first, if it may not be.
        gaps = {base: schema.column(base).nullable for base in first}
        alike = [base for base in first if likeness[base] >= _LIKE and gaps[base] <= column.nullable]
        if alike:
            found[name] = max(alike, key=lambda base: (not gaps[base], likeness[base]))
        else:
            first.append(name)
    return found


def _overlap(one: Column, two: Column) -> Fraction:
    """What part of the range of either both columns share; none if they are not of one kind."""
    if type(one) is not type(two):
        return Fraction(0)
    (low, high), (other_low, other_high) = _ends(one), _ends(two)
    shared = min(high, other_high) - max(low, other_low)
    return Fraction(max(shared, 0), max(high, other_high) - min(low, other_low))


def _ends(column: Any) -> tuple[int, int]:
    if isinstance(column, Date):
        return column.lower.toordinal(), column.upper.toordinal()
    return int(column.lower), int(column.upper)


def _stated(differences: Mapping[str, str], named: list[str], schema: Schema) -> dict[str, str]:
    if not isinstance(differences, Mapping):
        raise InputError("differences", differences, 'columns by what they are made from: {"dropoff": "pickup"}')
    found = {}
    for name, base in differences.items():
        for one in (name, base):
            if one not in named:
                raise InputError("differences", one, "a column that is made", among=named)
        column, other = schema.column(name), schema.column(base)
        alike = type(column) is type(other) or (
            isinstance(column, Integer | Real) and isinstance(other, Integer | Real)
        )
        if name == base or not alike or isinstance(column, Category | Boolean | Text):
            hint = "Both must be numbers, days or timestamps."
            raise InputError(f"differences.{name}", base, "another column of the same kind", hint)
        if other.nullable and not column.nullable:
            hint = f"Where {base} is missing, {name} would be too; declare {base} complete, or {name} nullable."
            raise InputError(f"differences.{name}", base, f"a column declared complete, as {name} is", hint)
        found[name] = base
    for name, base in found.items():
        if base in found:
            raise InputError(f"differences.{name}", base, "a column that is not itself made from another")
    return found


def partitions_of(made: Iterable[MadeColumn], schema: Schema) -> dict[str, Partition]:
    """How parts that are no columns of the table are cut into codes."""
    found: dict[str, Partition] = {}
    for one in made:
        column = schema.column(one.name)
        if one.base is not None:
            found[one.parts[0]] = _between(schema.column(one.parts[0]), column, schema.column(one.base))
        elif isinstance(column, Timestamp) and not one.plain:
            step = max((column.step or 60) // 60, 1)
            step = step if _MINUTES % step == 0 else 1
            width = max(_QUARTER // step, 1)
            found[one.parts[1]] = Partition.even(Fraction(0), Fraction(step), _MINUTES // step - 1, width)
    return found


def _between(difference: Column, column: Column, base: Column) -> Partition:
    """A difference, in the steps that both columns have: finely near zero."""
    if not isinstance(difference, Integer | Real):
        raise InputError("differences", kind_of(difference), "columns whose difference is a number")
    steps = [step for one in (column, base) if (step := getattr(one, "step", None)) is not None]
    unit = Fraction(1) if isinstance(difference, Integer) else lattice_of(difference)[1]
    if len(steps) == 2:
        unit = _common(Fraction(steps[0]), Fraction(steps[1]))
    origin = math.ceil(difference.lower / unit) * unit
    return Partition.scaled(origin, unit, int((difference.upper - origin) // unit))


def _common(one: Fraction, two: Fraction) -> Fraction:
    """The largest step that both steps are multiples of."""
    scale = math.lcm(one.denominator, two.denominator)
    return Fraction(math.gcd(int(one * scale), int(two * scale)), scale)


def plain_columns(domain: Domain) -> tuple[MadeColumn, ...]:
    """Every attribute as a column of its own."""
    return tuple(MadeColumn(name, (name,)) for name in domain.names)


def draw_parts(
    domain: Domain, made: Iterable[MadeColumn], columns: Mapping[str, Column], codes: Codes
) -> dict[str, ColumnValues]:
    """Values for every attribute of a table of codes, and seconds for the timestamps among its columns."""
    made = list(made)
    drawn, seed = draw_rows(domain, columns, codes), seed_of(codes)
    for one in made:
        column = columns[one.name]
        if isinstance(column, Timestamp) and one.base is None:
            step = column.step or 1
            many = max(60 // step, 1)
            share = uniforms(Replay(seed + f"{one.name}, seconds".encode()), len(codes))
            seconds = np.minimum((share * many).astype(np.int64), many - 1) * (step if step < 60 else 0)
            drawn[_seconds(one.name)] = ColumnValues(seconds, np.zeros(len(codes), dtype=bool))
    for one in made:
        if _stands_alone(one):
            _complete(one, next(other for other in made if other.name == one.base), columns, drawn, seed)
    return drawn


def _stands_alone(one: MadeColumn) -> bool:
    """Whether a column that is made from another may be there where that one is missing."""
    return one.base is not None and len(one.parts) == 2


def _complete(
    one: MadeColumn, base: MadeColumn, columns: Mapping[str, Column], drawn: dict[str, ColumnValues], seed: bytes
) -> None:
    """Draw what a column is made of where it is there and its difference is not: a difference, or all of a value."""
    below, difference = assemble([base], columns, drawn)[base.name], drawn[one.parts[0]]
    share = uniforms(Replay(seed + f"{one.name}, of other rows".encode()), len(below.values))
    there = drawn[one.parts[1]].values == 0
    lacking = there & ~below.missing & difference.missing  # where methods did not hold the parts together
    other = _borrowed(difference, share)
    filled = np.where(lacking, other.values, difference.values)
    drawn[one.parts[0]] = ColumnValues(filled, np.where(lacking, other.missing, difference.missing))
    total = _sum(below, drawn[one.parts[0]], columns[one.name])
    drawn[_instead(one.name)] = _borrowed(ColumnValues(total.values, total.missing | ~there), share)


def _borrowed(values: ColumnValues, share: NDArray[np.float64]) -> ColumnValues:
    """For every row the value of some row that has one; missing where none has."""
    donors = np.flatnonzero(~values.missing)
    if len(donors) == 0:
        return ColumnValues(values.values, np.ones(len(share), dtype=bool))
    return values.taken(donors[(share * len(donors)).astype(np.int64)])


def agreed(domain: Domain, made: Iterable[MadeColumn], codes: Codes) -> Codes:
    """Codes in which a timestamp has both a day and a time of day or neither: as often as the day is missing.

    A method that does not look at both together leaves out either. A day without a time gets that of another row.
    """
    halves = [one for one in made if one.base is None and len(one.parts) == 2]
    if not halves:
        return codes
    found, seed = codes.copy(), seed_of(codes)
    for one in halves:
        day, time = (domain.place(part) for part in one.parts)
        gaps = [domain.attributes[place].missing for place in (day, time)]
        if not all(gaps):
            continue
        no_day, no_time = (found[:, place] == domain.sizes[place] - 1 for place in (day, time))
        found[no_day, time] = domain.sizes[time] - 1
        donors, lone = np.flatnonzero(~no_day & ~no_time), np.flatnonzero(~no_day & no_time)
        if len(donors) == 0:
            found[lone, day] = domain.sizes[day] - 1
        else:
            share = uniforms(Replay(seed + f"{one.name}, agreed".encode()), len(lone))
            found[lone, time] = found[donors[(share * len(donors)).astype(np.int64)], time]
    return found


def names_of(one: MadeColumn) -> tuple[str, ...]:
    """The names under which a column's parts are drawn."""
    if one.base is not None:
        return (*one.parts, _instead(one.name)) if _stands_alone(one) else one.parts
    return one.parts if one.plain else (*one.parts, _seconds(one.name))


def _seconds(name: str) -> str:
    """A name that no column has: theirs are written in one line."""
    return f"seconds of\n{name}"


def _instead(name: str) -> str:
    """Where a row's value is that is taken where there is none to add a difference to."""
    return f"instead of\n{name}"


def assemble(
    made: Iterable[MadeColumn], declared: Mapping[str, Column], drawn: Mapping[str, ColumnValues]
) -> dict[str, ColumnValues]:
    """The columns of the table from what was drawn for their parts."""
    waiting, found = list(made), dict[str, ColumnValues]()
    for one in sorted(waiting, key=lambda each: each.base is not None):
        column, parts = declared[one.name], [drawn[name] for name in names_of(one)]
        if one.base is not None:
            total = _sum(found[one.base], parts[0], column)
            found[one.name] = _beside(total, parts[1], parts[2]) if _stands_alone(one) else total
        elif isinstance(column, Timestamp):
            found[one.name] = _time(parts[0], parts[1], parts[2], column)
        else:
            found[one.name] = parts[0]
    return {one.name: found[one.name] for one in waiting}


def taken_apart(
    made: Iterable[MadeColumn], declared: Mapping[str, Column], values: Mapping[str, ColumnValues]
) -> dict[str, ColumnValues]:
    """The parts of columns whose values are given: the way back of `assemble`."""
    found = {}
    for one in made:
        column, value = declared[one.name], values[one.name]
        if one.base is not None:
            base = values[one.base]
            found[one.parts[0]] = ColumnValues(value.values - base.values, value.missing | base.missing)
            if _stands_alone(one):
                found[one.parts[1]] = ColumnValues(value.missing.astype(np.int64), np.zeros_like(value.missing))
        elif isinstance(column, Timestamp) and not one.plain:
            local = shown_times(value.values.astype(np.int64), column, column.timezone)
            found[one.parts[0]] = ColumnValues(local // DAY, value.missing)
            found[one.parts[1]] = ColumnValues(local % DAY // 60, value.missing)
    return found


def _sum(base: ColumnValues, difference: ColumnValues, column: Any) -> ColumnValues:
    missing = base.missing | difference.missing
    total = base.values + difference.values
    if isinstance(column, Real):
        origin, unit, last = lattice_of(column)
        index = np.rint((total - float(origin)) / float(unit))
        return ColumnValues(on_lattice(np.clip(index, 0, last).astype(np.int64), origin, unit), missing)
    return ColumnValues(np.clip(total, *_limits(column)), missing)


def _beside(total: ColumnValues, gone: ColumnValues, instead: ColumnValues) -> ColumnValues:
    """A column that is missing where it is itself; where only its base is, the value of another row."""
    values = np.where(total.missing, instead.values, total.values)
    return ColumnValues(values, (gone.values != 0) | (total.missing & instead.missing))


def _limits(column: Any) -> tuple[int, int]:
    """The first and the last value there may be: days, or instants at which clocks show a multiple of the step."""
    if isinstance(column, Date):
        first, last = ((bound - date(1970, 1, 1)).days for bound in (column.lower, column.upper))
        return first, last
    low, high = int(column.lower), int(column.upper)
    if isinstance(column, Timestamp) and column.step is not None:
        inside = low + -column.lower.local % column.step, high - column.upper.local % column.step
        return inside if inside[0] <= inside[1] else (low, high)
    return low, high


def _time(day: ColumnValues, minute: ColumnValues, second: ColumnValues, column: Timestamp) -> ColumnValues:
    """Instants from what the clocks of the zone show."""
    step = column.step or 1
    shown = (minute.values.astype(np.int64) * 60 + second.values) // step * step  # also one of 45 or 90 seconds
    local = day.values.astype(np.int64) * DAY + shown
    instants = np.clip(_instants(local, column), *_limits(column))
    return ColumnValues(instants, day.missing | minute.missing)


def _instants(local: NDArray[np.int64], column: Timestamp) -> NDArray[np.int64]:
    """Local times as instants: with the offset from before a change of clocks, where it repeats or leaves one out."""
    moves = changes(column.timezone, int(column.lower) - 2 * DAY, int(column.upper) + 2 * DAY)
    offsets = np.array(moves.offsets, dtype=np.int64)
    ends = np.array(moves.local, dtype=np.int64)
    return np.asarray(local - offsets[np.searchsorted(ends, local, side="right")], dtype=np.int64)
