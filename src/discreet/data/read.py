"""How a stored value is read as what its column is declared to be: one rule for every row, on every engine.

No rule can fail on a row, whatever the row holds: what cannot be read is missing; what is out of bounds is moved to the
nearest bound where it is measured, and is compared as it is by a condition. Whether a *stored type* can be read at all
is settled by `problem`, before anything is spent.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from discreet.data.clock import Shown, as_seconds
from discreet.data.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from discreet.data.dialect import among, engine_of, in_micros
from discreet.data.instant import changes

__all__ = [
    "as_day",
    "as_declared",
    "as_label",
    "as_number",
    "as_stored",
    "as_text",
    "as_whole",
    "bounded",
    "closed",
    "identity",
    "problem",
    "spellings",
    "whole",
    "with_clocks",
    "with_seconds",
    "within_bounds",
]

Expression = Any  # ibis expressions carry no useful static types here

_WHOLE = {16: 2.0**11, 32: 2.0**24, 64: 2.0**53}  # beyond this, floats of so many bits skip whole numbers
_PLAIN = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?", re.ASCII)
_WRITTEN = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)  # as engines write whole numbers
_TOLD = 15  # digits that a float has for certain
_DIGITS = 38  # decimals with so many are within the range of floats
_FAR = Decimal(10**30)  # far outside any declared bound, and well inside a float
_NEAR = Decimal(1).scaleb(-30)
_MICRO = 6  # digits of a second


def problem(column: Column, stored: Any, *, tries: bool) -> str | None:
    """Why values of a stored type cannot be read as declared; None if they can.

    `tries` says whether the engine can turn text into a number or a date without failing on text that is neither.
    """
    plain = stored.is_boolean() or stored.is_numeric()
    words = stored.is_string()
    match column:
        case Integer() | Real():
            if words and not tries:
                return "stored as a number: this engine cannot read text as numbers without failing on a bad one"
            return None if plain or words else "stored as a number or as text"
        case Category() if plain and (alike := twins(column, stored)):
            return f"stored as text where two values declared are one number or truth value: {alike[0]}, {alike[1]}"
        case Category() | Boolean():
            return None if plain or words or stored.is_date() or stored.is_uuid() else "stored as text or as numbers"
        case Date():
            if words and not tries:
                return "stored as a date: this engine cannot read text as dates without failing on a bad one"
            return None if stored.is_date() or stored.is_timestamp() or words else "stored as a date, time or text"
        case Timestamp():
            if words and not tries:
                return "stored as a time: this engine cannot read text as times without failing on a bad one"
            if stored.is_integer():
                return "stored as a time, a date or text: a number does not say what it counts, or since when"
            return None if stored.is_date() or stored.is_timestamp() or words else "stored as a time, a date or text"
        case Text():
            exact = not stored.is_decimal() or stored.scale == 0  # 1.0 and 1.00 are equal, and not the same text
            same = (plain and exact) or words or stored.is_uuid() or stored.is_date() or stored.is_timestamp()
            return None if same else "stored as text or as whole numbers"


def closed(table: Expression) -> Expression:
    """The same table, whose columns are computed before what is made of them, and once."""
    # PostgreSQL would write them out wherever they are used, unless rows are counted; there are never so many.
    return table.limit(2**62) if engine_of(table) == "postgres" else table.view()


def with_seconds(table: Expression, columns: Mapping[str, Column]) -> Expression:
    """The table with its timestamps as whole seconds, as conditions compare them."""
    tries = engine_of(table) == "duckdb"
    times = {
        name: column
        for name, column in columns.items()
        if isinstance(column, Timestamp) and name in table.columns and not table[name].type().is_integer()
    }
    times = {name: each for name, each in times.items() if problem(each, table[name].type(), tries=tries) is None}
    wide, shown = with_clocks(table, times)
    read = {
        name: shown[name].seconds(column.naive, *column.reach) if name in shown else as_stored(wide[name], column)
        for name, column in times.items()
    }
    return closed(wide.mutate(**read).select(*table.columns)) if read else table


def with_clocks(table: Expression, columns: Mapping[str, Column]) -> tuple[Expression, dict[str, Shown]]:
    """The table, and of its timestamps without a zone what clocks showed: as columns, for it is compared with every
    change of the clocks."""
    changing = {
        name: Shown.of(table[name])
        for name, column in columns.items()
        if isinstance(column, Timestamp) and changes(column.naive, *column.reach).instants
    }
    known = {name: shown for name, shown in changing.items() if shown is not None}
    if not known:
        return table, {}
    slots = {
        name: [f"discreet shown {place} {part}" for part, value in shown._asdict().items() if value is not None]
        for place, (name, shown) in enumerate(known.items())
    }
    parts = {slot: value for name, own in slots.items() for slot, value in zip(own, known[name], strict=False)}
    wide = closed(table.mutate(**parts))
    return wide, {name: Shown(*(wide[slot] for slot in own)) for name, own in slots.items()}


def as_declared(raw: Expression, column: Column) -> Expression:
    """A column's value under the rule its declaration states; NULL where it is missing."""
    import ibis

    match column:
        case Integer() | Real():
            low, high, kind = float(column.lower), float(column.upper), "float64"
            if isinstance(column, Integer):
                low, high, kind = int(column.lower), int(column.upper), "int64"
            return bounded(
                raw,
                low,
                high,
                inside=whole if isinstance(column, Integer) else lambda number: number.cast("float64"),
                below=ibis.literal(low, kind),
                above=ibis.literal(high, kind),
                missing=ibis.null(kind),
            )
        case Category():
            word = as_label(raw, column)
            return among(word, column.values).ifelse(word, ibis.null("string"))
        case Boolean():
            if raw.type().is_boolean():
                return raw
            word = as_text(raw).lower()
            false = word.isin(["false", "f", "0", "no"])
            return word.isin(["true", "t", "1", "yes"]).ifelse(True, false.ifelse(False, ibis.null("boolean")))
        case Date():
            return _clamp(as_day(raw), column.lower, column.upper)
        case Timestamp():
            return as_seconds(raw, column.naive, int(column.lower), int(column.upper))
        case Text():
            return identity(raw)


def as_stored(raw: Expression, column: Column) -> Expression:
    """A column's value as a condition compares it: within the declared bounds or not; NULL where it is missing.

    Within the bounds of an integer column it is the nearest whole number, as everywhere else.
    """
    import ibis

    match column:
        case Integer() if not raw.type().is_integer():
            number, low, high = as_number(raw), int(column.lower), int(column.upper)
            return bounded(
                number,
                low,
                high,
                inside=lambda inner: whole(inner).cast("float64"),
                below=number,
                above=number,
                missing=ibis.null("float64"),
            )
        case Integer():
            return raw
        case Real():
            return as_number(raw)
        case Date():
            return as_day(raw)
        case Timestamp():
            return as_seconds(raw, column.naive, *column.reach)
        case _:
            return as_declared(raw, column)


def within_bounds(raw: Expression, column: Integer | Real | Date | Timestamp) -> Expression:
    """Whether a value lies within the declared bounds; not, where it is missing."""
    import ibis

    if isinstance(column, Date):
        day = as_day(raw)
        return day.notnull() & (day >= column.lower) & (day <= column.upper)
    if isinstance(column, Timestamp):
        second = as_stored(raw, column)
        return second.notnull() & (second >= int(column.lower)) & (second <= int(column.upper))
    yes, no = ibis.literal(True), ibis.literal(False)
    low, high = float(column.lower), float(column.upper)
    return bounded(raw, low, high, inside=lambda _: yes, below=no, above=no, missing=no)


def as_text(raw: Expression) -> Expression:
    """A value as text. Floats and decimals count where they are whole: engines print the others differently."""
    kind = raw.type()
    if not (kind.is_floating() or kind.is_decimal()):
        return raw.cast("string")
    return as_whole(raw).cast("string")


def as_label(raw: Expression, column: Category) -> Expression:
    """A value as the text it is declared under, or as a text that is not declared.

    Numbers are compared as numbers (1.50 is 1.5, and 1.0 is 1) and truth values in any case. Of text, `1.0` is also 1,
    and `True` also true, where they are not declared themselves: so CSV files write what is stored elsewhere.
    """
    import ibis

    kind, word = raw.type(), as_text(raw)
    if kind.is_boolean():
        named = {value.lower(): value for value in column.values}
        yes, no = (ibis.literal(named.get(text), "string") for text in ("true", "false"))
        return ibis.cases((raw, yes), (~raw, no), else_=ibis.null("string"))
    if kind.is_numeric():
        number = raw if kind.is_integer() else as_number(raw)
        spelt = {value: amount for value, amount in _amounts(column).items() if not _is_whole(value, amount)}
        matches = [
            (number == (int(amount) if kind.is_integer() else _nearest(amount, kind)), value)
            for value, amount in spelt.items()
            if not kind.is_integer() or amount == int(amount)
        ]
        return ibis.cases(*matches, else_=word) if matches else word
    if not kind.is_string():
        return word
    numbers, truths = _spellings(tuple(column.values))
    cases = [(among(word, numbers), word.replace(".0", ""))] if numbers else []
    cases += [(word.isin(others), truth) for truth, others in truths]
    return ibis.cases(*cases, else_=word) if cases else word


def spellings(column: Category) -> dict[str, str]:
    """Other texts that stand for declared values where text is stored, each with its value."""
    numbers, truths = _spellings(tuple(column.values))
    return {text: text[:-2] for text in numbers} | {text: truth for truth, others in truths for text in others}


@lru_cache(maxsize=2)
def _spellings(values: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[tuple[str, tuple[str, ...]], ...]]:
    """Other texts that stand for declared values: whole numbers with `.0`, truth values in another case."""
    declared = set(values)
    numbers = (f"{value}.0" for value in values if _WRITTEN.fullmatch(value) and _is_told(value))
    told = tuple(text for text in numbers if text not in declared)
    named: dict[str, list[str]] = {"true": [], "false": []}
    for value in values:
        if len(value) <= len("false") and (same := value.lower()) in named:
            named[same].append(value)
    truths = []
    for truth, written in named.items():
        if len(written) == 1:
            others = (truth, truth.title(), truth.upper())
            truths.append((written[0], tuple(text for text in others if text != written[0])))
    return told, tuple(truths)


def twins(column: Category, stored: Any) -> tuple[str, str] | None:
    """Two values of a category that a stored number or truth value would both be; None if there are none."""
    named = {value: value.lower() for value in column.values if value.lower() in ("true", "false")}
    seen: dict[Any, str] = {}
    for value, same in (named if stored.is_boolean() else _amounts(column)).items():
        if (other := seen.setdefault(same, value)) != value:
            return other, value
    return None


def _amounts(column: Category) -> dict[str, Decimal]:
    """The declared values that are numbers without a needless zero in front, of no more digits than floats tell."""
    plain = (value for value in column.values if _PLAIN.fullmatch(value))
    return {value: Decimal(value) for value in plain if _is_told(value)}


def _is_told(value: str) -> bool:
    return len(value) <= _TOLD or len(value.strip("-0.").replace(".", "")) <= _TOLD


def _is_whole(value: str, amount: Decimal) -> bool:
    """Whether a declared number is written as engines write whole ones."""
    return amount == int(amount) and value == str(int(amount))


def _nearest(amount: Decimal, kind: Any) -> float:
    """The float of the stored width that is nearest to a declared number."""
    if kind.is_floating() and kind.nbytes < struct.calcsize("d"):
        return float(struct.unpack("f", struct.pack("f", amount))[0])
    return float(amount)


def as_whole(raw: Expression) -> Expression:
    """A float or decimal as the whole number that it is; missing where it is none, or may stand for several."""
    import ibis

    kind, number = raw.type(), as_number(raw)
    last = _WHOLE[8 * kind.nbytes if kind.is_floating() else 64]
    within = (number > -last) & (number < last)
    near = within.ifelse(number, 0.0)  # what is rounded must fit an integer
    return (within & (near == near.floor())).ifelse(near.cast("int64"), ibis.null("int64"))


def identity(raw: Expression) -> Expression:
    """The value that tells persons apart: a missing one, NaN included, is no person."""
    import ibis

    if raw.type().is_floating():
        return raw.isnan().ifelse(ibis.null(raw.type()), raw + 0.0)  # which makes one zero of two
    return raw


def bounded(
    raw: Expression,
    low: float,
    high: float,
    *,
    inside: Callable[[Expression], Expression],
    below: Expression,
    above: Expression,
    missing: Expression,
) -> Expression:
    """A number by where it lies: what becomes of it within the bounds, and what stands for the others.

    One CASE whose first branch takes nearly every row: the engine reads the number once, without detours.
    """
    import ibis

    number, kind = raw, raw.type()
    if kind.is_boolean():
        number = _bit(raw)
    elif kind.is_decimal():
        number = as_number(raw)
    elif not kind.is_numeric():
        number = raw.try_cast("float64")
    # NaN is above every number on some engines and compares with none on others: it must be caught before `above`.
    caught = [(number.isnan(), missing)] if number.type().is_floating() else []
    within = (number >= low) & (number <= high)
    return ibis.cases((within, inside(number)), (number < low, below), *caught, (number > high, above), else_=missing)


def as_day(raw: Expression) -> Expression:
    """The day of a date, a moment or a text; missing where a text is none."""
    kind = raw.type()
    if kind.is_date():
        return raw
    coarse = kind.is_timestamp() and kind.scale is not None and kind.scale < _MICRO
    if kind.is_timestamp() and kind.scale is not None and kind.scale > _MICRO:
        return in_micros(raw).cast("date")
    # A moment in seconds or milliseconds may be too far away for a date; DuckDB alone stores such.
    return raw.cast("date") if kind.is_timestamp() and not coarse else raw.try_cast("date")


def _bit(raw: Expression) -> Expression:
    """True as one, false as zero, by comparison: PostgreSQL refuses the cast."""
    import ibis

    return ibis.cases((raw, ibis.literal(1, "int64")), (~raw, ibis.literal(0, "int64")), else_=ibis.null("int64"))


def whole(number: Expression) -> Expression:
    """A number within bounds as an integer: halves up, on every engine (casts differ in how they round)."""
    return number.cast("int64") if number.type().is_integer() else (number + 0.5).floor().cast("int64")


def _clamp(value: Expression, low: Any, high: Any) -> Expression:
    """Moved into bounds; missing stays missing (engines disagree about LEAST of NULL)."""
    import ibis

    bounded = (value < low).ifelse(ibis.literal(low), (value > high).ifelse(ibis.literal(high), value))
    return value.notnull().ifelse(bounded, ibis.null(value.type()))


def as_number(raw: Expression) -> Expression:
    """A float, or NULL; never NaN."""
    import ibis

    kind = raw.type()
    if kind.is_boolean():
        return _bit(raw).cast("float64")
    if kind.is_integer():
        return raw.cast("float64")
    if kind.is_decimal() and (kind.precision is None or kind.precision > _DIGITS):
        # It may be too large or too small for a float, or a NaN that sorts above all numbers.
        tame = _clamp(raw, ibis.literal(-_FAR), ibis.literal(_FAR))
        tame = (tame.abs() < ibis.literal(_NEAR)).ifelse(ibis.literal(0.0), tame.cast("float64"))
        return (raw.cast("string").lower() == "nan").ifelse(ibis.null("float64"), tame)
    number = raw.cast("float64") if kind.is_floating() or kind.is_decimal() else raw.try_cast("float64")
    return number.isnan().ifelse(ibis.null("float64"), number)
