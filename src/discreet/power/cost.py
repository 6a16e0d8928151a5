"""What feeding the true loads costs, as a custodian declares it: public anyway, and not paid for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.core.exact import Number, as_written
from discreet.errors import InputError
from discreet.power.repair import Repair

__all__ = ["digit_notes", "read_costs"]

_PLAIN = 4  # digits of a cost that is public anyway
_DIGITS = 17


def read_costs(cost: Number | str, repair: Repair, times: int) -> tuple[Fraction, ...]:
    """Costs that a custodian declares public, one for each time. Each must be one that some loads can have."""
    if times == 1:
        return (_one_declared(cost, repair),)
    parts = [part.strip() for part in str(cost).split(",")]
    if len(parts) != times:
        allowed = f"'measured', or {times:,} numbers with commas between them, one for each time"
        raise InputError("cost", cost, allowed)
    return tuple(_one_declared(part, repair) for part in parts)


def _one_declared(cost: Number | str, repair: Repair) -> Fraction:
    hint = "Give the public cost as a number, or 'measured' to pay for it from the budget."
    try:
        number = as_written(cost, "cost")
    except InputError:
        raise InputError("cost", cost, "a number or 'measured'", hint) from None
    if not max(0.0, repair.cheapest) <= number <= repair.dearest or number <= 0:
        ends = f"{max(0.0, repair.cheapest):.6g} to {repair.dearest:.6g}"
        raise InputError("cost", cost, f"from {ends}, what feeding loads can cost in this grid", hint)
    return number


def _digits(number: Fraction) -> int:
    """How many significant digits a number is written with; so many at least where they do not end.

    >>> _digits(Fraction("7640")), _digits(Fraction("7642.59"))
    (3, 6)
    """
    scaled = number
    for _ in range(_DIGITS):
        if scaled.denominator == 1:
            break
        scaled *= 10
    return len(str(int(scaled)).rstrip("0"))


def digit_notes(costs: Sequence[Fraction]) -> tuple[str, ...]:
    """What is to be said of costs with more digits than a public figure has; nothing if there are none."""
    many = max((_digits(cost) for cost in costs), default=0)
    if many <= _PLAIN:
        return ()
    least = "at least " if many >= _DIGITS else ""
    return (
        (
            f"The declared cost has {least}{many} digits. If it was computed from these loads, every digit tells about "
            f"them, and none is paid for. A figure that is public anyway seldom has more than {_PLAIN}: declare it "
            'rounded, or say "measured".'
        ),
    )
