"""Functions of numbers. Whole numbers stay whole; others are floats, computed alike on every engine.

What has no value is missing: a division by zero, the root of a negative number. PostgreSQL fails where a product of
floats is too small to be one: such factors count as zero everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from discreet.data.expression.domain import Domain, Kind, UnsuitableError, image, union
from discreet.data.expression.function import Function, Operand

__all__ = ["FUNCTIONS", "few_or_between", "multiply", "need_numbers", "tame", "toward_zero"]

_FEW = 4_096
_SMALL = 1e-130


def need_numbers(*parts: Domain) -> Kind:
    """Whether numbers are whole or real; refuses what is no number."""
    for part in parts:
        if not part.numeric:
            raise UnsuitableError(f"of numbers, not of {part.kind}", "Use CAST(... AS ...), or compare it first.")
    return "integer" if all(part.kind == "integer" for part in parts) else "real"


def few_or_between(
    value: Callable[..., Any], parts: Sequence[Domain], kind: Kind, lower: Any, upper: Any, missing: bool = False
) -> Domain:
    """The values themselves where there are few, else the bounds."""
    lists = [part.listed(_FEW) for part in parts]
    if all(each is not None for each in lists) and math.prod(len(each or ()) for each in lists) <= _FEW:
        known = image(value, parts, kind)
        if known is not None:
            return known
    return Domain(kind, lower, upper, None, missing or any(part.missing for part in parts))


def _exact(part: Domain) -> tuple[Fraction, Fraction]:
    return Fraction(part.lower), Fraction(part.upper)


def _ends(kind: Kind, ends: Sequence[Fraction]) -> tuple[Any, Any]:
    low, high = min(ends), max(ends)
    return (int(low), int(high)) if kind == "integer" else (low, high)


def _engine(compute: Callable[..., Any]) -> Callable[[Sequence[Operand], Domain], Any]:
    """An operation on whole numbers where the result is whole, else on floats."""

    def run(operands: Sequence[Operand], result: Domain) -> Any:
        parts = [operand.engine for operand in operands]
        if result.kind == "real":
            parts = [part.cast("float64") for part in parts]
        return compute(*parts)

    return run


# Sums, differences, products; days and numbers of days.


def _shift(day: date, days: int) -> date | None:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def _moved(day: Domain, low: int, high: int, missing: bool) -> Domain:
    first, last = _shift(day.lower, low), _shift(day.upper, high)
    if first is None or last is None:
        raise UnsuitableError("a day between the years 1 and 9999")
    return Domain("date", first, last, None, day.missing or missing)


def _add_domain(a: Domain, b: Domain) -> Domain:
    if a.kind == "date" and b.kind == "integer":
        return _moved(a, int(b.lower), int(b.upper), b.missing)
    kind = need_numbers(a, b)
    (l1, u1), (l2, u2) = _exact(a), _exact(b)
    return few_or_between(_add, (a, b), kind, *_ends(kind, [l1 + l2, u1 + u2]))


def _add(a: Any, b: Any) -> Any:
    return _shift(a, b) if isinstance(a, date) else a + b


def _subtract_domain(a: Domain, b: Domain) -> Domain:
    if a.kind == b.kind == "date":
        low, high = (a.lower - b.upper).days, (a.upper - b.lower).days
        return Domain("integer", low, high, None, a.missing or b.missing)
    if a.kind == "date" and b.kind == "integer":
        return _moved(a, -int(b.upper), -int(b.lower), b.missing)
    kind = need_numbers(a, b)
    (l1, u1), (l2, u2) = _exact(a), _exact(b)
    return few_or_between(_subtract, (a, b), kind, *_ends(kind, [l1 - u2, u1 - l2]))


def _subtract(a: Any, b: Any) -> Any:
    if isinstance(a, date):
        return (a - b).days if isinstance(b, date) else _shift(a, -b)
    return a - b


def _sum_engine(sign: int) -> Callable[[Sequence[Operand], Domain], Any]:
    from discreet.data.expression.calendar import day_number, day_of

    def run(operands: Sequence[Operand], result: Domain) -> Any:
        a, b = operands
        if a.domain.kind == "date":
            other = day_number(b.engine) if b.domain.kind == "date" else b.engine
            days = day_number(a.engine) + sign * other
            return days if result.kind == "integer" else day_of(days)
        return _engine(lambda x, y: x + y if sign > 0 else x - y)(operands, result)

    return run


def _multiply_domain(a: Domain, b: Domain) -> Domain:
    kind = need_numbers(a, b)
    ends = [x * y for x in _exact(a) for y in _exact(b)]
    return few_or_between(multiply, (a, b), kind, *_ends(kind, ends))


def tame(value: Any) -> Any:
    """A factor that no product makes too small for a float: what is lost beside `_SMALL` is zero.

    Written with the value once: what is nested would grow beyond measure.
    """
    return value if isinstance(value, int) else value + _SMALL - _SMALL


def multiply(a: Any, b: Any) -> Any:
    """A product, of floats as every engine has it."""
    return a * b if isinstance(a, int) and isinstance(b, int) else tame(float(a)) * tame(float(b))


def _multiply_engine(operands: Sequence[Operand], result: Domain) -> Any:
    if result.kind == "integer":
        return operands[0].engine * operands[1].engine
    parts = []
    for operand in operands:
        part = operand.engine.cast("float64")
        parts.append(part if operand.domain.kind == "integer" else tame(part))
    return parts[0] * parts[1]


# Division.


def _divide_domain(a: Domain, b: Domain) -> Domain:
    need_numbers(a, b)
    low, high = _exact(b)
    missing = low <= 0 <= high
    parts: list[Fraction] = []
    if b.kind == "integer":
        parts = [Fraction(end) for end in (low, min(high, Fraction(-1))) if low <= end <= -1]
        parts += [Fraction(end) for end in (max(low, Fraction(1)), high) if 1 <= end <= high]
    elif b.values is not None:
        parts = [Fraction(value) for value in b.values if value]
        missing = 0 in b.values
    elif missing:
        hint = "Bound the divisor: GREATEST(x, 0.01), or CASE WHEN x >= 0.01 THEN y / x END."
        raise UnsuitableError("a division by what cannot be near zero", hint)
    else:
        parts = [low, high]
    if not parts:
        return Domain("nothing", values=(), missing=True)
    ends = [x / y for x in _exact(a) for y in parts]
    return few_or_between(_divide, (a, b), "real", min(ends), max(ends), missing)


def _divide(a: Any, b: Any) -> Any:
    return None if b == 0 else tame(float(a)) / float(b)


def _divide_engine(operands: Sequence[Operand], _: Domain) -> Any:
    a, b = (operand.engine.cast("float64") for operand in operands)
    a = a if operands[0].domain.kind == "integer" else tame(a)
    return a / b.nullif(0.0)  # whatever its domain: the least of it may be too small for a float


def _quotient_domain(a: Domain, b: Domain) -> Domain:
    if need_numbers(a, b) == "real":
        return _divide_domain(a, b)
    outer = _divide_domain(a, b)
    if outer.kind == "nothing":
        return outer
    return few_or_between(_quotient, (a, b), "integer", math.trunc(outer.lower), math.trunc(outer.upper), outer.missing)


def _quotient(a: Any, b: Any) -> Any:
    if not (isinstance(a, int) and isinstance(b, int)):
        return _divide(a, b)
    return None if b == 0 else int(math.copysign(1, a) * math.copysign(1, b)) * (abs(a) // abs(b))


def _quotient_engine(operands: Sequence[Operand], result: Domain) -> Any:
    ratio = _divide_engine(operands, result)
    return toward_zero(ratio).cast("int64") if result.kind == "integer" else ratio


def toward_zero(number: Any) -> Any:
    """The whole number beside, on the side of zero."""
    return (number < 0).ifelse(number.ceil(), number.floor())


def _remainder_domain(a: Domain, b: Domain) -> Domain:
    if need_numbers(a, b) == "real":
        raise UnsuitableError(
            "of whole numbers", "Engines disagree about the remainder of others: use x - FLOOR(x / y) * y."
        )
    most = int(max(abs(b.lower), abs(b.upper))) - 1
    low = 0 if a.lower >= 0 else max(-most, int(a.lower))
    high = 0 if a.upper <= 0 else min(most, int(a.upper))
    return few_or_between(_remainder, (a, b), "integer", min(low, 0), max(high, 0), b.lower <= 0 <= b.upper)


def _remainder(a: int, b: int) -> int | None:
    return None if b == 0 else a - _quotient(a, b) * b


def _remainder_engine(operands: Sequence[Operand], result: Domain) -> Any:
    a, b = (operand.engine for operand in operands)
    return a - toward_zero(_divide_engine(operands, result)).cast("int64") * b


# Of one number.


def _negate_domain(a: Domain) -> Domain:
    kind = need_numbers(a)
    return few_or_between(lambda x: -x, (a,), kind, -a.upper, -a.lower)


def _abs_domain(a: Domain) -> Domain:
    kind = need_numbers(a)
    ends = (abs(a.lower), abs(a.upper))
    low = 0 if a.lower <= 0 <= a.upper else min(ends)
    return few_or_between(abs, (a,), kind, low, max(ends))


def _sign_domain(a: Domain) -> Domain:
    need_numbers(a)
    return Domain("integer", _sign(a.lower), _sign(a.upper), None, a.missing)


def _sign(a: Any) -> int:
    return int(a > 0) - int(a < 0)


def _sign_engine(operands: Sequence[Operand], _: Domain) -> Any:
    import ibis

    number = operands[0].engine
    return ibis.cases((number > 0, 1), (number < 0, -1), (number == 0, 0), else_=ibis.null("int64")).cast("int64")


def _extreme(pick: Callable[..., Any]) -> Function:
    """The least or the greatest of those that are there."""

    def domain(*parts: Domain) -> Domain:
        kind = union(*parts).kind
        if kind not in ("integer", "real", "date", "timestamp"):
            raise UnsuitableError("of numbers, days or times")
        some = [part for part in parts if part.kind != "nothing"]
        sure = [part for part in some if not part.missing] or some
        if pick is min:
            low, high = min(part.lower for part in some), min(part.upper for part in sure)
        else:
            low, high = max(part.lower for part in sure), max(part.upper for part in some)
        if any(part.missing for part in some) and len(sure) == len(some):
            low, high = min(part.lower for part in some), max(part.upper for part in some)
        return Domain(kind, low, high, None, all(part.missing for part in some))

    def value(*values: Any) -> Any:
        return pick((value for value in values if value is not None), default=None)

    def engine(operands: Sequence[Operand], result: Domain) -> Any:
        whole: Any = None
        for operand in operands:
            if operand.domain.kind == "nothing":
                continue
            part = operand.engine.cast("float64") if result.kind == "real" else operand.engine
            if whole is None:
                whole = part
                continue
            first = (part < whole) if pick is min else (part > whole)
            whole = (whole.isnull() | first).fill_null(False).ifelse(part, whole)
        return whole

    return Function(domain, value, engine, strict=False)


def _clip_domain(a: Domain, low: Domain, high: Domain) -> Domain:
    kind = need_numbers(a, low, high)
    if any(end.values is None or len(end.values) != 1 or end.missing for end in (low, high)) or low.lower > high.upper:
        raise UnsuitableError("clipped to two constants, the lower one first")
    ends = [min(max(end, low.lower), high.upper) for end in (a.lower, a.upper)]
    return few_or_between(_clip, (a, low, high), kind, *ends)


def _clip(a: Any, low: Any, high: Any) -> Any:
    inside = low if a < low else high if a > high else a
    return inside if all(isinstance(each, int) for each in (a, low, high)) else float(inside)


def _clip_engine(operands: Sequence[Operand], result: Domain) -> Any:
    import ibis

    def compute(a: Any, low: Any, high: Any) -> Any:
        return ibis.cases((a < low, low), (a > high, high), else_=a)

    return _engine(compute)(operands, result)


FUNCTIONS = {
    "clip": Function(_clip_domain, _clip, _clip_engine),
    "add": Function(_add_domain, _add, lambda operands, result: _sum_engine(1)(operands, result), loose=True),
    "subtract": Function(
        _subtract_domain, _subtract, lambda operands, result: _sum_engine(-1)(operands, result), loose=True
    ),
    "multiply": Function(_multiply_domain, multiply, _multiply_engine),
    "divide": Function(_divide_domain, _divide, _divide_engine),
    "quotient": Function(_quotient_domain, _quotient, _quotient_engine),
    "remainder": Function(_remainder_domain, _remainder, _remainder_engine),
    "negate": Function(_negate_domain, lambda a: -a, _engine(lambda a: -a)),
    "abs": Function(_abs_domain, abs, _engine(lambda a: a.abs())),
    "sign": Function(_sign_domain, _sign, _sign_engine),
    "least": _extreme(min),
    "greatest": _extreme(max),
}
