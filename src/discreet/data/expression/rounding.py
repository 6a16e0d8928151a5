"""Rounding, roots, powers, logarithms. What engines compute differently in the last digit is of listed values only."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from discreet.data.expression.arithmetic import few_or_between, multiply, need_numbers, tame, toward_zero
from discreet.data.expression.domain import Domain, UnsuitableError, image, listed_domain
from discreet.data.expression.function import Function, Operand

__all__ = ["AS_WHOLE", "FUNCTIONS", "MOST_DIGITS", "MOST_POWER"]

_FEW = 4_096
_FEW_REALS = 128
"""Rounded reals that are known one by one: engines are slow to map many of them."""
_HIGHEST_POWER = 8
MOST_POWER = 64
"""Of published numbers; of rows it is less."""
MOST_DIGITS = 15
"""That a number is rounded to, before and after the point."""
_EXACT = 2**52


def _need_exact(a: Domain, digits: int = 0) -> None:
    """Refuse reals so large that engines disagree about the whole number beside: Spark's is one of 64 bits."""
    most = _EXACT // 10 ** max(digits, 0)
    if a.kind == "real" and max(abs(a.lower), abs(a.upper)) > most:
        of = "a number" if digits <= 0 else f"a number with {digits} digits"
        raise UnsuitableError(f"of {of} within +-{float(most):.3g}", f"Bound it: LEAST(GREATEST(x, -{most}), {most}).")


def _rounding(how: Callable[[Any], int], engine: Callable[[Any], Any]) -> Function:
    """A function that gives the whole number below, above or beside."""

    def domain(a: Domain) -> Domain:
        need_numbers(a)
        _need_exact(a)
        return few_or_between(how, (a,), "integer", how(a.lower), how(a.upper))

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
    if d.kind != "integer" or d.values is None or len(d.values) != 1 or not -MOST_DIGITS <= d.values[0] <= MOST_DIGITS:
        raise UnsuitableError(f"rounded to a constant number of digits from -{MOST_DIGITS} to {MOST_DIGITS}")
    return int(d.values[0])


def _round_domain(a: Domain, d: Domain) -> Domain:
    kind, digits = need_numbers(a), _digits(d)
    _need_exact(a, digits)
    if digits <= 0:
        kind = "integer"
    low, high = (_round(end if isinstance(end, int) else float(end), digits) for end in (a.lower, a.upper))
    if digits > 0 and kind == "real" and a.values is None:
        size = 10**digits
        first, last = round(low * size), round(high * size)
        if last - first < _FEW_REALS:
            return listed_domain("real", (number / size for number in range(first, last + 1)), a.missing)
    return few_or_between(lambda x: _round(x, digits), (a,), kind, low, high)


def _round(a: Any, digits: int = 0) -> Any:
    if (isinstance(a, int) and digits >= 0) or digits > MOST_DIGITS:
        return a
    if digits < -MOST_DIGITS:
        return None
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
    scaled = number.abs() * size if digits >= 0 else tame(number.abs()) / size
    low = scaled.floor().cast("float64")
    whole = low + (scaled - low >= 0.5).ifelse(ibis.literal(1.0, "float64"), ibis.literal(0.0, "float64"))
    rounded = whole / size if digits >= 0 else whole * size
    signed = (number < 0).ifelse(-rounded, rounded)
    return signed.cast("int64") if result.kind == "integer" else signed


def _sqrt_domain(a: Domain) -> Domain:
    need_numbers(a)
    if a.upper < 0:
        raise UnsuitableError("of a number that may be zero or more")
    low, high = (math.sqrt(max(0, end)) for end in (a.lower, a.upper))
    return few_or_between(_sqrt, (a,), "real", low, high, a.lower < 0)


def _sqrt(a: Any) -> float | None:
    return math.sqrt(a) if a >= 0 else None


def _sqrt_engine(operands: Sequence[Operand], _: Domain) -> Any:
    import ibis

    number = operands[0].engine.cast("float64")
    return (number >= 0).ifelse((number >= 0).ifelse(number, 0.0).sqrt(), ibis.null("float64"))


def _power_domain(a: Domain, b: Domain) -> Domain:
    kind = need_numbers(a, b)
    if b.kind != "integer" or b.values is None or len(b.values) != 1 or not 0 <= b.values[0] <= _HIGHEST_POWER:
        raise UnsuitableError(
            f"a power from 0 to {_HIGHEST_POWER}", "Engines disagree about others in the last digits."
        )
    low, high = Fraction(a.lower), Fraction(a.upper)
    ends = [low ** b.values[0], high ** b.values[0]]
    if low <= 0 <= high:
        ends.append(Fraction(0 if b.values[0] else 1))
    ends = [int(end) if kind == "integer" else end for end in ends]
    return few_or_between(_power, (a, b), kind, min(ends), max(ends))


def _power(a: Any, b: int) -> Any:
    if not isinstance(b, int):
        raise TypeError("a whole power")
    if not 0 <= b <= MOST_POWER:  # of published numbers: a power of rows is a constant
        return None
    result: Any = 1
    for _ in range(b):
        result = multiply(result, a)
    return result


def _power_engine(operands: Sequence[Operand], result: Domain) -> Any:
    import ibis

    base, times = operands[0].engine, int((operands[1].domain.values or (0,))[0])
    base = base.cast("float64") if result.kind == "real" else base
    factor = base if result.kind == "integer" else tame(base)
    whole: Any = ibis.literal(1, "int64") if result.kind == "integer" else ibis.literal(1.0, "float64")
    for _ in range(times):
        whole = whole * factor if result.kind == "integer" else tame(whole) * factor
    return base.notnull().ifelse(whole, ibis.null(whole.type()))


def _mapped_only(value: Callable[[float], float | None], name: str) -> Function:
    """A function that engines compute differently in the last digit: of listed values only."""

    def domain(a: Domain) -> Domain:
        need_numbers(a)
        found = image(value, (a,), "real") if a.listed(_FEW) is not None else None
        if found is None:
            hint = f"Engines disagree about {name} in the last digit. Round first: {name}({_few(a)})."
            raise UnsuitableError(f"of a number with at most {_FEW:,} values", hint)
        return found

    return Function(domain, value)


def _few(a: Domain) -> str:
    """What leaves few values of a number, as people write it."""
    width = Fraction(a.upper) - Fraction(a.lower)
    digits = 6
    while width * Fraction(10) ** digits >= _FEW_REALS - 2:
        digits -= 1
    if digits < 0:
        return f"ROUND(x / {10**-digits}) * {10**-digits}"
    return f"ROUND(x, {digits})" if digits else "ROUND(x)"


def _log(a: float) -> float | None:
    return math.log(a) if a > 0 else None


def _exp(a: float) -> float | None:
    return math.exp(a) if a < 100 else None


FUNCTIONS = {
    "floor": _rounding(math.floor, lambda number: number.floor()),
    "ceil": _rounding(math.ceil, lambda number: number.ceil()),
    "trunc": _rounding(math.trunc, toward_zero),
    "round": Function(_round_domain, _round, _round_engine),
    "sqrt": Function(_sqrt_domain, _sqrt, _sqrt_engine),
    "power": Function(_power_domain, _power, _power_engine),
    "ln": _mapped_only(_log, "LN"),
    "log10": _mapped_only(lambda a: math.log10(a) if a > 0 else None, "LOG10"),
    "log2": _mapped_only(lambda a: math.log2(a) if a > 0 else None, "LOG2"),
    "exp": _mapped_only(_exp, "EXP"),
}
