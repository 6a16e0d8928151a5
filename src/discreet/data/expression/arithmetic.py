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

__all__ = ["FUNCTIONS"]

_FEW = 4_096
_TINY = 1e-150
_HIGHEST_POWER = 8


def _numeric(*parts: Domain) -> Kind:
    for part in parts:
        if not part.numeric:
            raise UnsuitableError(f"of numbers, not of {part.kind}", "Use CAST(... AS ...), or compare it first.")
    return "integer" if all(part.kind == "integer" for part in parts) else "real"


def _found(
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
    kind = _numeric(a, b)
    (l1, u1), (l2, u2) = _exact(a), _exact(b)
    return _found(_add, (a, b), kind, *_ends(kind, [l1 + l2, u1 + u2]))


def _add(a: Any, b: Any) -> Any:
    return _shift(a, b) if isinstance(a, date) else a + b


def _subtract_domain(a: Domain, b: Domain) -> Domain:
    if a.kind == b.kind == "date":
        low, high = (a.lower - b.upper).days, (a.upper - b.lower).days
        return Domain("integer", low, high, None, a.missing or b.missing)
    if a.kind == "date" and b.kind == "integer":
        return _moved(a, -int(b.upper), -int(b.lower), b.missing)
    kind = _numeric(a, b)
    (l1, u1), (l2, u2) = _exact(a), _exact(b)
    return _found(_subtract, (a, b), kind, *_ends(kind, [l1 - u2, u1 - l2]))


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
    kind = _numeric(a, b)
    ends = [x * y for x in _exact(a) for y in _exact(b)]
    return _found(_multiply, (a, b), kind, *_ends(kind, ends))


def _tame(value: Any) -> Any:
    """A factor that no product makes too small for a float."""
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return 0.0 if abs(value) < _TINY else value
    return (value.abs() < _TINY).ifelse(0.0, value)


def _multiply(a: Any, b: Any) -> Any:
    return a * b if isinstance(a, int) and isinstance(b, int) else _tame(float(a)) * _tame(float(b))


def _multiply_engine(operands: Sequence[Operand], result: Domain) -> Any:
    if result.kind == "integer":
        return operands[0].engine * operands[1].engine
    parts = []
    for operand in operands:
        part = operand.engine.cast("float64")
        parts.append(part if operand.domain.kind == "integer" else _tame(part))
    return parts[0] * parts[1]


# Division.


def _divide_domain(a: Domain, b: Domain) -> Domain:
    _numeric(a, b)
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
        raise UnsuitableError("a division by what cannot be near zero", "Bound the divisor: GREATEST(x, 0.01).")
    else:
        parts = [low, high]
    if not parts:
        return Domain("nothing", values=(), missing=True)
    ends = [x / y for x in _exact(a) for y in parts]
    return _found(_divide, (a, b), "real", min(ends), max(ends), missing)


def _divide(a: Any, b: Any) -> Any:
    return None if b == 0 else _tame(float(a)) / float(b)


def _divide_engine(operands: Sequence[Operand], _: Domain) -> Any:
    a, b = (operand.engine.cast("float64") for operand in operands)
    a = a if operands[0].domain.kind == "integer" else _tame(a)
    zero = operands[1].domain.lower <= 0 <= operands[1].domain.upper
    return a / (b.nullif(0.0) if zero else b)


def _quotient_domain(a: Domain, b: Domain) -> Domain:
    if _numeric(a, b) == "real":
        return _divide_domain(a, b)
    outer = _divide_domain(a, b)
    if outer.kind == "nothing":
        return outer
    return _found(_quotient, (a, b), "integer", math.trunc(outer.lower), math.trunc(outer.upper), outer.missing)


def _quotient(a: Any, b: Any) -> Any:
    if not (isinstance(a, int) and isinstance(b, int)):
        return _divide(a, b)
    return None if b == 0 else int(math.copysign(1, a) * math.copysign(1, b)) * (abs(a) // abs(b))


def _quotient_engine(operands: Sequence[Operand], result: Domain) -> Any:
    ratio = _divide_engine(operands, result)
    return _toward_zero(ratio).cast("int64") if result.kind == "integer" else ratio


def _toward_zero(number: Any) -> Any:
    return (number < 0).ifelse(number.ceil(), number.floor())


def _remainder_domain(a: Domain, b: Domain) -> Domain:
    if _numeric(a, b) == "real":
        raise UnsuitableError(
            "of whole numbers", "Engines disagree about the remainder of others: use x - FLOOR(x / y) * y."
        )
    most = int(max(abs(b.lower), abs(b.upper))) - 1
    low = 0 if a.lower >= 0 else max(-most, int(a.lower))
    high = 0 if a.upper <= 0 else min(most, int(a.upper))
    return _found(_remainder, (a, b), "integer", min(low, 0), max(high, 0), b.lower <= 0 <= b.upper)


def _remainder(a: int, b: int) -> int | None:
    return None if b == 0 else a - _quotient(a, b) * b


def _remainder_engine(operands: Sequence[Operand], result: Domain) -> Any:
    a, b = (operand.engine for operand in operands)
    return a - _toward_zero(_divide_engine(operands, result)).cast("int64") * b


# Of one number.


def _negate_domain(a: Domain) -> Domain:
    kind = _numeric(a)
    return _found(lambda x: -x, (a,), kind, -a.upper, -a.lower)


def _abs_domain(a: Domain) -> Domain:
    kind = _numeric(a)
    ends = (abs(a.lower), abs(a.upper))
    low = 0 if a.lower <= 0 <= a.upper else min(ends)
    return _found(abs, (a,), kind, low, max(ends))


def _sign_domain(a: Domain) -> Domain:
    _numeric(a)
    return Domain("integer", _sign(a.lower), _sign(a.upper), None, a.missing)


def _sign(a: Any) -> int:
    return int(a > 0) - int(a < 0)


def _sign_engine(operands: Sequence[Operand], _: Domain) -> Any:
    import ibis

    number = operands[0].engine
    return ibis.cases((number > 0, 1), (number < 0, -1), (number == 0, 0), else_=ibis.null("int64")).cast("int64")


def _rounding(how: Callable[[Any], int], engine: Callable[[Any], Any]) -> Function:
    """A function that gives the whole number below, above or beside."""

    def domain(a: Domain) -> Domain:
        _numeric(a)
        return _found(how, (a,), "integer", how(a.lower), how(a.upper))

    def run(operands: Sequence[Operand], result: Domain) -> Any:
        number = operands[0].engine
        if operands[0].domain.kind == "integer":
            return number
        return engine(number).cast("int64") if result.kind == "integer" else engine(number)

    return Function(domain, how, run)


def _half_even(number: Any) -> Any:
    low = number.floor().cast("float64")
    rest = number - low
    odd = low - (low / 2.0).floor() * 2.0
    return low + (rest > 0.5).ifelse(1.0, (rest < 0.5).ifelse(0.0, odd))


AS_WHOLE = _rounding(round, _half_even)
"""The nearest whole number, halves to the even one."""


def _digits(d: Domain) -> int:
    if d.kind != "integer" or d.values is None or len(d.values) != 1 or not -15 <= d.values[0] <= 15:
        raise UnsuitableError("rounded to a constant number of digits from -15 to 15")
    return int(d.values[0])


def _round_domain(a: Domain, d: Domain) -> Domain:
    kind, digits = _numeric(a), _digits(d)
    if digits <= 0:
        kind = "integer"
    low, high = (_round(end if isinstance(end, int) else float(end), digits) for end in (a.lower, a.upper))
    return _found(lambda x: _round(x, digits), (a,), kind, low, high)


def _round(a: Any, digits: int = 0) -> Any:
    if isinstance(a, int) and digits >= 0:
        return a
    size = float(10 ** abs(digits))
    scaled = abs(float(a)) * size if digits >= 0 else abs(float(a)) / size
    low = math.floor(scaled)
    whole = float(low + (scaled - low >= 0.5))
    result = math.copysign(whole / size if digits >= 0 else whole * size, a)
    return int(result) if digits <= 0 else result


def _round_engine(operands: Sequence[Operand], result: Domain) -> Any:
    import ibis

    digits = _digits(operands[1].domain)
    if operands[0].domain.kind == "integer" and digits >= 0:
        return operands[0].engine
    number, size = operands[0].engine.cast("float64"), float(10 ** abs(digits))
    scaled = number.abs() * size if digits >= 0 else _tame(number.abs()) / size
    low = scaled.floor().cast("float64")
    whole = low + (scaled - low >= 0.5).ifelse(ibis.literal(1.0, "float64"), ibis.literal(0.0, "float64"))
    rounded = whole / size if digits >= 0 else whole * size
    signed = (number < 0).ifelse(-rounded, rounded)
    return signed.cast("int64") if result.kind == "integer" else signed


def _sqrt_domain(a: Domain) -> Domain:
    _numeric(a)
    if a.upper < 0:
        raise UnsuitableError("of a number that may be zero or more")
    low, high = (math.sqrt(max(0, end)) for end in (a.lower, a.upper))
    return _found(_sqrt, (a,), "real", low, high, a.lower < 0)


def _sqrt(a: Any) -> float | None:
    return math.sqrt(a) if a >= 0 else None


def _sqrt_engine(operands: Sequence[Operand], _: Domain) -> Any:
    import ibis

    number = operands[0].engine.cast("float64")
    return (number >= 0).ifelse((number >= 0).ifelse(number, 0.0).sqrt(), ibis.null("float64"))


def _power_domain(a: Domain, b: Domain) -> Domain:
    kind = _numeric(a, b)
    if b.kind != "integer" or b.values is None or len(b.values) != 1 or not 0 <= b.values[0] <= _HIGHEST_POWER:
        raise UnsuitableError(
            f"a power from 0 to {_HIGHEST_POWER}", "Engines disagree about others in the last digits."
        )
    low, high = _exact(a)
    ends = [low ** b.values[0], high ** b.values[0]]
    if low <= 0 <= high:
        ends.append(Fraction(0 if b.values[0] else 1))
    return _found(_power, (a, b), kind, *_ends(kind, ends))


def _power(a: Any, b: int) -> Any:
    result: Any = 1
    for _ in range(b):
        result = _multiply(result, a)
    return result


def _power_engine(operands: Sequence[Operand], result: Domain) -> Any:
    import ibis

    base, times = operands[0].engine, int((operands[1].domain.values or (0,))[0])
    base = base.cast("float64") if result.kind == "real" else base
    tame = base if result.kind == "integer" else _tame(base)
    whole: Any = ibis.literal(1, "int64") if result.kind == "integer" else ibis.literal(1.0, "float64")
    for _ in range(times):
        whole = whole * tame if result.kind == "integer" else _tame(whole) * tame
    return base.notnull().ifelse(whole, ibis.null(whole.type()))


def _mapped_only(value: Callable[[float], float | None], name: str) -> Function:
    """A function that engines compute differently in the last digit: of listed values only."""

    def domain(a: Domain) -> Domain:
        _numeric(a)
        found = image(value, (a,), "real") if a.listed(_FEW) is not None else None
        if found is None:
            hint = f"Engines disagree about {name} in the last digit. Round first: {name}(ROUND(x))."
            raise UnsuitableError(f"of a number with at most {_FEW:,} values", hint)
        return found

    return Function(domain, value)


def _extreme(pick: Callable[..., Any]) -> Function:
    """The least or the greatest of those that are there."""

    def domain(*parts: Domain) -> Domain:
        kind = union(*parts).kind
        if kind not in ("integer", "real", "date"):
            raise UnsuitableError("of numbers or days")
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


def _log(a: float) -> float | None:
    return math.log(a) if a > 0 else None


def _exp(a: float) -> float | None:
    return math.exp(a) if a < 100 else None


FUNCTIONS = {
    "add": Function(_add_domain, _add, lambda operands, result: _sum_engine(1)(operands, result)),
    "subtract": Function(_subtract_domain, _subtract, lambda operands, result: _sum_engine(-1)(operands, result)),
    "multiply": Function(_multiply_domain, _multiply, _multiply_engine),
    "divide": Function(_divide_domain, _divide, _divide_engine),
    "quotient": Function(_quotient_domain, _quotient, _quotient_engine),
    "remainder": Function(_remainder_domain, _remainder, _remainder_engine),
    "negate": Function(_negate_domain, lambda a: -a, _engine(lambda a: -a)),
    "abs": Function(_abs_domain, abs, _engine(lambda a: a.abs())),
    "sign": Function(_sign_domain, _sign, _sign_engine),
    "floor": _rounding(math.floor, lambda number: number.floor()),
    "ceil": _rounding(math.ceil, lambda number: number.ceil()),
    "trunc": _rounding(math.trunc, _toward_zero),
    "round": Function(_round_domain, _round, _round_engine),
    "sqrt": Function(_sqrt_domain, _sqrt, _sqrt_engine),
    "power": Function(_power_domain, _power, _power_engine),
    "ln": _mapped_only(_log, "LN"),
    "log10": _mapped_only(lambda a: math.log10(a) if a > 0 else None, "LOG10"),
    "log2": _mapped_only(lambda a: math.log2(a) if a > 0 else None, "LOG2"),
    "exp": _mapped_only(_exp, "EXP"),
    "least": _extreme(min),
    "greatest": _extreme(max),
}
