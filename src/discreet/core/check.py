"""What a frozen value says when it is given something that is not allowed: converters and validators for attrs.

    @frozen(field_transformer=named)
    class Coin:
        heads: Fraction = field(converter=exact, validator=within(above=0, below=1))

A converter reads what a person wrote into the one type that is kept; a validator compares that with what is allowed.
Both name the field, in an `InputError`. What depends on several fields is checked in `__attrs_post_init__`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from attrs import Attribute

from discreet.core.exact import Number, as_written
from discreet.errors import InputError

__all__ = [
    "AUTO",
    "at_least",
    "exact",
    "exact_or_none",
    "named",
    "one_of",
    "plain",
    "real",
    "real_or_none",
    "settle",
    "whole",
    "whole_or_none",
    "within",
]

Validator = Callable[[Any, "Attribute[Any]", Any], None]


_LARGEST = 10**300  # in a float, with room

AUTO: Any = None
"""The default of a field that follows from the others: `__attrs_post_init__` settles it."""


def settle(value: Any, **fields: Any) -> None:
    """Set fields of a frozen value that is being made."""
    for name, each in fields.items():
        object.__setattr__(value, name, each)


def named(owner: type, fields: list[Attribute[Any]]) -> list[Attribute[Any]]:
    """Tell every converter that has a parameter `field` which field it reads."""
    return [_with_name(one) for one in fields]


def _with_name(one: Attribute[Any]) -> Attribute[Any]:
    converter: Any = one.converter
    code = getattr(converter, "__code__", None)
    if code is None or "field" not in code.co_varnames[: code.co_argcount]:
        return one
    return one.evolve(converter=partial(converter, field=one.name))


def exact(value: Number, field: str = "value") -> Fraction:
    """A number as a person wrote it: 0.1 is one tenth."""
    return as_written(value, field)


def exact_or_none(value: Number | None, field: str = "value") -> Fraction | None:
    """A number as a person wrote it, where one is given."""
    return None if value is None else as_written(value, field)


def real(value: Number, field: str = "value") -> float:
    """A number as a float."""
    number = as_written(value, field)
    if abs(number) > _LARGEST:
        raise InputError(field, value, "a number below 1e300")
    return float(number)


def whole(value: Number, field: str = "value") -> int:
    """A whole number that a float still holds exactly."""
    try:
        number = as_written(value, field)
    except InputError:
        number = Fraction(1, 2)
    if number.denominator != 1 or abs(number) > 2**53:
        raise InputError(field, value, "a whole number")
    return int(number)


def real_or_none(value: Number | None, field: str = "value") -> float | None:
    """A number as a float, where one is given."""
    return None if value is None else real(value, field)


def whole_or_none(value: Number | None, field: str = "value") -> int | None:
    """A whole number, where one is given."""
    return None if value is None else whole(value, field)


def within(
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    below: float = math.inf,
    most: float = math.inf,
    hint: str = "",
) -> Validator:
    """Numbers between two ends; None passes."""
    ends = [("more than", above, -math.inf), ("at least", least, -math.inf)]
    ends += [("less than", below, math.inf), ("at most", most, math.inf)]
    allowed = " and ".join(f"{words} {_end(end)}" for words, end, free in ends if end != free)

    def check(owner: Any, attribute: Attribute[Any], value: Any) -> None:
        if value is not None and not (above < value < below and least <= value <= most):
            raise InputError(attribute.name, plain(value), allowed, hint)

    return check


def at_least(least: int) -> Validator:
    """Whole numbers from `least` on; None passes."""

    def check(owner: Any, attribute: Attribute[Any], value: Any) -> None:
        if value is not None and value < least:
            raise InputError(attribute.name, value, f"a whole number, {least} or more")

    return check


def one_of(*allowed: str | None) -> Validator:
    """One of a few words."""
    words = [word for word in allowed if word is not None]

    def check(owner: Any, attribute: Attribute[Any], value: Any) -> None:
        if value not in allowed:
            raise InputError(attribute.name, value, among=words)

    return check


def _end(end: float) -> str:
    return "zero" if end == 0 else f"{end:,}" if isinstance(end, int) else f"{end:g}"


def plain(value: Any) -> Any:
    """A number as a message shows it."""
    if not isinstance(value, Fraction):
        return value
    if value.denominator == 1:
        return int(value)
    return float(value) if abs(value) < _LARGEST else value
