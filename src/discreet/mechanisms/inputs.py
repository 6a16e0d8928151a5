"""What the mechanisms accept, and what they say when they do not.

A message names the field and the rule. It never shows the values: they are private.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, as_written, exactly
from discreet.core.mechanism import Integers
from discreet.errors import InputError, Phrase, kind_of

__all__ = [
    "ROOM",
    "read_confidence",
    "read_count",
    "read_epsilon",
    "read_epsilon_or_none",
    "read_flag",
    "read_integer",
    "read_outputs",
    "read_probability_inside",
    "read_scores",
    "read_values",
]

# Values this far from zero leave the noise as much room again before 64 bits end.
ROOM = 2**62

_LATTICE = "Real values go through a Lattice first, which makes them whole steps."


def read_epsilon(value: Number, field: str = "epsilon") -> Fraction:
    """A privacy parameter as it was written: 0.1 is one tenth."""
    number = as_written(value, field)
    if number <= 0:
        raise InputError(field, value, "more than zero")
    return number


def read_epsilon_or_none(value: Number | None, field: str = "epsilon") -> Fraction | None:
    """A privacy parameter, where one is given."""
    return None if value is None else read_epsilon(value, field)


def read_count(value: int, field: str = "count", least: int = 1, most: int | None = None) -> int:
    """A whole number, `least` or more, and at most `most`."""
    number = exactly(value, field)
    if number.denominator != 1 or number < least or (most is not None and number > most):
        limit = "or more" if most is None else f"to {most:,}"
        raise InputError(field, value, f"a whole number, {least} {limit}")
    return int(number)


def read_outputs(value: int, field: str = "k") -> int:
    """How many outputs are to be right at once, or candidates there are."""
    number = read_count(value, field)
    if number > ROOM:
        raise InputError(field, value, "at most 2**62")
    return number


def read_flag(value: bool, field: str = "flag") -> bool:
    """True or False, and not something that merely looks like it."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(field, value, "True or False")
    return bool(value)


def read_probability_inside(value: Number, field: str = "probability") -> Fraction:
    """A probability that is neither 0 nor 1, as it was written."""
    number = as_written(value, field)
    if not 0 < number < 1:
        raise InputError(field, value, "strictly between 0 and 1")
    return number


def read_confidence(value: float) -> Fraction:
    """A confidence such as 0.95, as it was written."""
    return read_probability_inside(value, "confidence")


def read_integer(value: int, field: str = "value") -> int:
    """One integer with room for noise around it."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise InputError(field, kind_of(value), "an integer", _LATTICE)
    if abs(int(value)) > ROOM:
        raise InputError(field, Phrase("an integer beyond 2**62"), "at most 2**62 from zero")
    return int(value)


def read_values(values: Integers, field: str = "values") -> NDArray[np.int64]:
    """A list of integers with room for noise around each."""
    array = _whole(values, field)
    if array.size and max(abs(int(array.min())), abs(int(array.max()))) > ROOM:
        raise InputError(field, Phrase("integers beyond 2**62"), "at most 2**62 from zero", "Measure in coarser steps.")
    return array


def read_scores(scores: Integers) -> NDArray[np.int64]:
    """A non-empty list of integer scores."""
    array = _whole(scores, "scores")
    if array.size == 0:
        raise InputError("scores", Phrase("an empty list"), "at least one score")
    return array


def _whole(values: Any, field: str) -> NDArray[np.int64]:
    allowed = "a one-dimensional list of integers of at most 64 bits"
    try:
        array = np.asarray(values)
    except (ValueError, TypeError):
        raise InputError(field, kind_of(values), allowed) from None
    if array.ndim != 1:
        raise InputError(field, Phrase(f"an array of {array.ndim} dimensions"), allowed)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    mixed = not isinstance(values, np.ndarray) and any(isinstance(value, (bool, np.bool_)) for value in values)
    if array.dtype.kind not in "iu" or mixed:
        raise InputError(field, Phrase(f"an array of {array.dtype}"), allowed, _LATTICE)
    if array.dtype.kind == "u" and int(array.max()) >= 2**63:
        raise InputError(field, Phrase("integers beyond 2**63"), allowed)
    return array.astype(np.int64)
