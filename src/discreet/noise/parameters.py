"""What the samplers accept, and what they say when they do not."""

from __future__ import annotations

from fractions import Fraction

from discreet.core.exact import Number, exactly
from discreet.errors import InputError

__all__ = ["read_probability", "read_scale", "read_size"]

LARGEST = 2**40  # noise of this scale stays far inside 64 bits
SMALLEST = Fraction(1, 2**40)
_MOST_DRAWS = 2**30  # 8 GiB


def read_scale(value: Number, field: str = "scale") -> Fraction:
    """A noise scale, exact."""
    scale = exactly(value, field)
    if scale <= 0:
        raise InputError(field, value, "more than zero", "Without noise there is no privacy.")
    if scale > LARGEST:
        hint = "Measure in coarser steps (a Lattice with a larger exponent), so that less noise is needed."
        raise InputError(field, value, "at most 2**40 (about 1.1e12)", hint)
    if scale < SMALLEST:
        raise InputError(field, value, "at least 2**-40", "Noise this small is none.")
    return scale


def read_size(value: int | None) -> int:
    """How many draws; None stands for a single one."""
    if value is None:
        return 1
    count = exactly(value, "size")
    if count.denominator != 1 or count < 0:
        raise InputError("size", value, "a whole number, zero or more (or None for a single draw)")
    if count > _MOST_DRAWS:
        raise InputError("size", value, "at most 2**30", "Draw in several parts.")
    return int(count)


def read_probability(value: Number, field: str) -> Fraction:
    """A probability, exact."""
    probability = exactly(value, field)
    if not 0 <= probability <= 1:
        raise InputError(field, value, "between 0 and 1")
    return probability
