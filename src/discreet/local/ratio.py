"""Likelihood ratios: the exact rational numbers that stand for e^epsilon.

e^epsilon is irrational, and what a phone or a browser flips is not. Every mechanism here has a rational `ratio`, the
largest quotient of two people's probabilities of one report, chosen just below e^epsilon: the loss is ln(ratio), never
more than epsilon, and every probability is a fraction that can be drawn exactly.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from discreet.core.check import plain
from discreet.core.exact import Number, as_written, exp_down, log_up, round_up, sqrt_down
from discreet.errors import InputError

__all__ = ["LARGEST", "SMALLEST", "epsilon_of", "ratio_below", "read_epsilon", "read_ratio", "root_below"]

_DIGITS = 32  # significant bits of a ratio: what is lost of epsilon is below 1e-9
LARGEST = 32  # e^32 is 10^14: such a report is the truth
SMALLEST = Fraction(1, 10**6)


def read_epsilon(value: Number, field: str = "epsilon") -> Fraction:
    """The privacy parameter of a report, as it was written."""
    number = as_written(value, field)
    if number < SMALLEST:
        hint = "At zero a report says nothing."
        raise InputError(field, value, f"{float(SMALLEST):g} or more", hint)
    if number > LARGEST:
        raise InputError(field, value, f"at most {LARGEST}", "Beyond that a report is as good as the truth.")
    return number


@lru_cache(maxsize=256)
def ratio_below(epsilon: Fraction) -> Fraction:
    """The largest short fraction that is not above e^epsilon.

    >>> ratio_below(Fraction(1)), float(ratio_below(Fraction(1)))
    (Fraction(364841611, 134217728), 2.718281827867031)
    """
    return _short(exp_down(epsilon))


@lru_cache(maxsize=256)
def root_below(epsilon: Fraction) -> Fraction:
    """The largest short fraction whose square is not above e^epsilon."""
    return _short(sqrt_down(exp_down(epsilon), 1 << 80))


def epsilon_of(ratio: Fraction) -> Fraction:
    """ln(ratio), rounded up."""
    return round_up(log_up(ratio))


def read_ratio(epsilon: Number | None, ratio: Number | None) -> tuple[Fraction, Fraction]:
    """(epsilon, ratio) of a mechanism given one of them, or both if they agree."""
    if ratio is None:
        if epsilon is None:
            raise InputError("epsilon", epsilon, "a number more than zero")
        asked = read_epsilon(epsilon)
        return asked, ratio_below(asked)
    exact = as_written(ratio, "ratio")
    if exact <= 1:
        raise InputError("ratio", plain(ratio), "more than 1", "At 1 a report says nothing.")
    spent = read_epsilon(epsilon_of(exact), "ratio")
    if epsilon is None:
        return spent, exact
    asked = read_epsilon(epsilon)
    if log_up(exact) > asked and exact > exp_down(asked):
        raise InputError("ratio", plain(ratio), f"at most e^epsilon, epsilon = {float(asked):g}")
    return asked, exact


def _short(value: Fraction) -> Fraction:
    shift = max(0, _DIGITS - math.floor(value).bit_length())
    return Fraction(math.floor(value * (1 << shift)), 1 << shift)
