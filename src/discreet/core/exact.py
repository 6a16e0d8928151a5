"""Numbers read exactly and rounded in a stated direction: the arithmetic under every guarantee.

`decimal` computes `exp` and `ln` correctly rounded to the precision asked for, so one step outward from its answer is
a true bound. Everything here returns such bounds; nothing here returns "about".
"""

from __future__ import annotations

import decimal
import math
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real

from discreet.errors import InputError

__all__ = [
    "Number",
    "as_written",
    "exactly",
    "exp_bounds",
    "exp_down",
    "exp_up",
    "exp_written",
    "log_down",
    "log_up",
    "negative_exp_bounds",
    "round_down",
    "round_up",
    "sqrt_down",
    "sqrt_up",
]

Number = int | float | Fraction | Decimal | str

# Derived losses are rounded up to this grid, so that sums of thousands of them keep small denominators.
GRID = 10**15

_LOGARITHM = re.compile(r"\s*(?:ln|log)\s*(?:(?P<bare>\d[\d./]*)|\(\s*(?P<of>\d[\d./eE+-]*)\s*\))\s*", re.IGNORECASE)

_EXPONENT = 4000  # of ten, in a number that is written out: Python's own limit on digits is near


def exactly(value: Number, field: str) -> Fraction:
    """`value` as the rational number it is: a float is taken bit for bit."""
    return _finite(value, field, written=False)


def as_written(value: Number, field: str) -> Fraction:
    """`value` as a person wrote it: the float 0.1 is one tenth, so ten of them make exactly one.

    An epsilon may be a logarithm, ln3 or log(3): the rational number above it in fifteen digits, which is what is
    charged and claimed.
    """
    return _finite(value, field, written=True)


def _finite(value: object, field: str, *, written: bool) -> Fraction:
    if type(value) is Fraction:  # most are one of these two, and to ask what kind a number is takes longest of all
        return value
    if type(value) is int:
        return Fraction(value)
    named = "epsilon" in field and written
    allowed = "a finite number, such as 0.1 or 1/3" + (", or a logarithm, such as ln3" if named else "")
    if isinstance(value, bool):
        raise InputError(field, value, allowed)
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    try:
        if named and (of := _inside_logarithm(value)) is not None:
            return round_up(log_up(of))
        if isinstance(value, (str, Decimal)) and not _towering(value):
            return Fraction(value)
        if isinstance(value, Real):
            number = float(value)
            if math.isfinite(number):
                if written:
                    return Fraction(repr(number))
                # A real longer than a float, such as numpy's long double, knows its own ratio.
                return Fraction(*getattr(value, "as_integer_ratio", number.as_integer_ratio)())
    except (ValueError, OverflowError, ZeroDivisionError):
        pass
    raise InputError(field, value, allowed)


def _inside_logarithm(value: object) -> Fraction | None:
    """The 3 of ln3; None where a value is no logarithm of a number."""
    inside = _LOGARITHM.fullmatch(value) if isinstance(value, str) else None
    of = "" if inside is None else str(inside["bare"] or inside["of"])
    return Fraction(of) if of and not _towering(of) else None


def _towering(value: str | Decimal) -> bool:
    """Whether a few letters stand for a number of very many digits: 1e999999999 would take hours and all memory."""
    if isinstance(value, Decimal):
        return value.is_finite() and abs(value.as_tuple().exponent) > _EXPONENT  # type: ignore[arg-type]
    _, _, power = value.lower().rpartition("e")
    digits = power.strip().lstrip("+-").replace("_", "").lstrip("0")
    return digits.isdecimal() and "e" in value.lower() and (len(digits) > 9 or int(digits) > _EXPONENT)


def round_up(value: Fraction, grid: int = GRID) -> Fraction:
    """The smallest multiple of 1/grid that is not below `value`."""
    return Fraction(-((-value.numerator * grid) // value.denominator), grid)


def round_down(value: Fraction, grid: int = GRID) -> Fraction:
    """The largest multiple of 1/grid that is not above `value`."""
    return Fraction((value.numerator * grid) // value.denominator, grid)


def sqrt_up(value: Fraction, grid: int = GRID) -> Fraction:
    """A bound from above on the square root, within 1/grid; exact for squares of rationals."""
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if top * top == value.numerator and bottom * bottom == value.denominator:
        return Fraction(top, bottom)
    scaled = -((-value.numerator * grid * grid) // value.denominator)
    root = math.isqrt(scaled)
    return Fraction(root + (root * root < scaled), grid)


def sqrt_down(value: Fraction, grid: int = GRID) -> Fraction:
    """A bound from below on the square root, within 1/grid; exact for squares of rationals."""
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if top * top == value.numerator and bottom * bottom == value.denominator:
        return Fraction(top, bottom)
    return Fraction(math.isqrt(value.numerator * grid * grid // value.denominator), grid)


def _contexts(digits: int) -> tuple[decimal.Context, decimal.Context]:
    down = decimal.Context(digits, decimal.ROUND_FLOOR, decimal.MIN_EMIN, decimal.MAX_EMAX)
    up = decimal.Context(digits, decimal.ROUND_CEILING, decimal.MIN_EMIN, decimal.MAX_EMAX)
    return down, up


def _ratio(value: Fraction, context: decimal.Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


# Beyond this the exponential is below any probability (2**-1.4e6) or above any number in use here.
_EXPONENT_LIMIT = 1_000_000


def exp_bounds(value: Fraction, digits: int = 50) -> tuple[Fraction, Fraction]:
    """A true (lower, upper) pair around exp(value), `digits` digits close."""
    if value > _EXPONENT_LIMIT:
        raise InputError("exponent", float(value), f"at most {_EXPONENT_LIMIT}")
    if value == 0:
        return Fraction(1), Fraction(1)
    if value < -_EXPONENT_LIMIT:
        return Fraction(0), exp_bounds(Fraction(-_EXPONENT_LIMIT), digits)[1]
    # Digits before the point of the exponent are lost to the relative precision of the result.
    down, up = _contexts(digits + len(str(abs(value.numerator // value.denominator))))
    low = down.next_minus(down.exp(_ratio(value, down)))
    high = up.next_plus(up.exp(_ratio(value, up)))
    return Fraction(low), Fraction(high)


def exp_up(value: Fraction, digits: int = 50) -> Fraction:
    """A bound from above on exp(value)."""
    return exp_bounds(value, digits)[1]


def exp_written(value: Number, field: str) -> Fraction:
    """A bound from above on the exponential of a number as a person wrote it: of ln3 it is 3 itself.

    >>> exp_written("ln3", "epsilon"), exp_written(0, "epsilon")
    (Fraction(3, 1), Fraction(1, 1))
    """
    number = as_written(value, field)  # refuses what is no number
    of = _inside_logarithm(value)
    return exp_up(number) if of is None else of


def exp_down(value: Fraction, digits: int = 50) -> Fraction:
    """A bound from below on exp(value)."""
    return exp_bounds(value, digits)[0]


def negative_exp_bounds(value: Fraction, bits: int) -> tuple[int, int]:
    """Integers `low <= 2**bits * exp(-value) <= high` for value >= 0, two apart at most (equal at zero)."""
    one = 1 << bits
    if value == 0:
        return one, one
    if value > bits:  # exp(-value) < 2**-bits
        return 0, 1
    down, up = _contexts(bits * 302 // 1000 + 12)
    low = down.next_minus(down.exp(_ratio(value, up).copy_negate()))
    high = up.next_plus(up.exp(_ratio(value, down).copy_negate()))
    scale = Decimal(one)
    wide = decimal.Context(prec=bits + 40, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
    return (
        max(0, math.floor(wide.multiply(low, scale))),
        min(one, math.ceil(wide.multiply(high, scale))),
    )


def _log_bounds(value: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    if value <= 0:
        raise InputError("logarithm", str(value), "a positive number")
    if value == 1:
        return Fraction(0), Fraction(0)
    if abs(value - 1) < Fraction(1, 10 ** (digits // 2)):
        return 1 - 1 / value, value - 1  # true everywhere, and as close as the digits asked for this near to one
    down, up = _contexts(digits)
    low = down.next_minus(down.ln(_ratio(value, down)))
    high = up.next_plus(up.ln(_ratio(value, up)))
    return Fraction(low), Fraction(high)


def log_up(value: Fraction, digits: int = 50) -> Fraction:
    """A bound from above on the natural logarithm."""
    return _log_bounds(value, digits)[1]


def log_down(value: Fraction, digits: int = 50) -> Fraction:
    """A bound from below on the natural logarithm."""
    return _log_bounds(value, digits)[0]
