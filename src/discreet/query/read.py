"""How a stored value is read as what its column is declared to be: one rule for every row, on every engine.

No rule can fail on a row, whatever the row holds: what cannot be read is missing, what is out of bounds is moved to the
nearest bound. Whether a *stored type* can be read at all is settled by `problem`, before anything is spent.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from discreet.query.column import Boolean, Category, Column, Date, Integer, Real, Text

__all__ = ["as_declared", "as_text", "clamp", "identity", "problem"]

Expression = Any  # ibis expressions carry no useful static types here

_WHOLE = 2.0**53  # beyond this, floats are not whole numbers any more but multiples of two
_FAR = Decimal(10**30)  # far outside any declared bound, and well inside a float
_NEAR = Decimal(1).scaleb(-30)


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
        case Category() | Boolean():
            return None if plain or words or stored.is_date() or stored.is_uuid() else "stored as text or as numbers"
        case Date():
            if words and not tries:
                return "stored as a date: this engine cannot read text as dates without failing on a bad one"
            return None if stored.is_date() or stored.is_timestamp() or words else "stored as a date, time or text"
        case Text():
            time = stored.is_date() or stored.is_timestamp()
            return None if plain or words or time or stored.is_uuid() else "stored as text or as numbers"


def as_declared(raw: Expression, column: Column) -> Expression:
    """A column's value under the rule its declaration states; NULL where it is missing."""
    import ibis

    match column:
        case Integer() | Real():
            bounded = clamp(_number(raw), float(column.lower), float(column.upper))
            # Halves up, on every engine: casts differ in how they round.
            return (bounded + 0.5).floor() if isinstance(column, Integer) else bounded
        case Category():
            word = as_text(raw)
            return word.isin(list(column.values)).ifelse(word, ibis.null("string"))
        case Boolean():
            if raw.type().is_boolean():
                return raw
            word = as_text(raw).lower()
            false = word.isin(["false", "f", "0", "no"])
            return word.isin(["true", "t", "1", "yes"]).ifelse(True, false.ifelse(False, ibis.null("boolean")))
        case Date():
            kind = raw.type()
            day = raw if kind.is_date() else raw.cast("date") if kind.is_timestamp() else raw.try_cast("date")
            return clamp(day, column.lower, column.upper)
        case Text():
            return identity(raw)


def as_text(raw: Expression) -> Expression:
    """A value as text. Floats and decimals count where they are whole: engines print the others differently."""
    import ibis

    kind = raw.type()
    if not (kind.is_floating() or kind.is_decimal()):
        return raw.cast("string")
    number = _number(raw)
    whole = (number == number.floor()) & (number.abs() < _WHOLE)
    return whole.ifelse(clamp(number, -_WHOLE, _WHOLE).cast("int64").cast("string"), ibis.null("string"))


def identity(raw: Expression) -> Expression:
    """The value that tells persons apart: a missing one, NaN included, is no person."""
    import ibis

    if raw.type().is_floating():
        return raw.isnan().ifelse(ibis.null(raw.type()), raw)
    return raw


def clamp(value: Expression, low: Any, high: Any) -> Expression:
    """Moved into bounds; missing stays missing (engines disagree about LEAST of NULL)."""
    import ibis

    bounded = (value < low).ifelse(ibis.literal(low), (value > high).ifelse(ibis.literal(high), value))
    return value.notnull().ifelse(bounded, ibis.null(value.type()))


def _number(raw: Expression) -> Expression:
    """A float, or NULL; never NaN."""
    import ibis

    kind = raw.type()
    if kind.is_boolean():
        return raw.cast("int64").cast("float64")
    if kind.is_integer():
        return raw.cast("float64")
    if kind.is_decimal():
        # One without declared digits may be too large or too small for a float, or a NaN that sorts above all numbers.
        tame = clamp(raw, ibis.literal(-_FAR), ibis.literal(_FAR))
        tame = (tame.abs() < ibis.literal(_NEAR)).ifelse(ibis.literal(0.0), tame.cast("float64"))
        return (raw.cast("string").lower() == "nan").ifelse(ibis.null("float64"), tame)
    number = raw.cast("float64") if kind.is_floating() else raw.try_cast("float64")
    return number.isnan().ifelse(ibis.null("float64"), number)
