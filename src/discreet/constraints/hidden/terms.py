"""What is said beside the price of hidden numbers, read as it is written, with every error before anything is spent."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.core.exact import Number, as_written
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.constraints.hidden.distance_plan import DistancePlan

__all__ = ["check_confidence", "check_noise", "check_steps", "read_part", "read_positive", "read_share"]

_LONGEST = 10**9  # steps between the bounds


def read_positive(value: Number, field: str) -> Fraction:
    """A number above zero."""
    found = as_written(value, field)
    if found <= 0:
        raise InputError(field, value, "more than zero")
    return found


def read_part(value: Number, field: str) -> Fraction:
    """How near to something, as a part of it."""
    found = read_positive(value, field)
    if found >= 1:
        raise InputError(field, value, "a part below 1, such as 0.01 for one per cent")
    return found


def read_share(value: Number, field: str) -> Fraction:
    """A share of the price."""
    share = as_written(value, field)
    if not 0 < share < 1:
        raise InputError(field, value, "a share of the price, strictly between 0 and 1")
    return share


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is none."""
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise InputError("confidence", confidence, "strictly between 0 and 1, such as 0.95")


def check_steps(least: int, most: int, step: Number, where: str) -> None:
    """Refuse steps of which none, or too many, fit where the numbers are."""
    if not 1 <= most - least <= _LONGEST or max(abs(least), abs(most)) > _LONGEST:
        raise InputError("step", step, f"a length that fits 1 to {_LONGEST:,} times {where}")


def check_noise(plan: DistancePlan, step: Number) -> None:
    """Refuse noise of a scale that cannot be drawn: what a person wrote is the step, the scale is not."""
    try:
        _ = plan.noise, plan.optimum_noise
    except InputError as problem:
        hint = "A larger step or epsilon, or a smaller alpha, needs noise of a smaller scale."
        raise InputError("step", step, f"such that the scale of the noise is {problem.allowed}", hint) from None
