"""What a person adds to a group, from the sums over their rows there: within the limits, and true to its meaning.

Counts and sums are cut at the limits. A moment is scaled down instead, by the same factor as the number of values it
belongs to, so that a mean made of the two stays a mean.
"""

from __future__ import annotations

from typing import Any

from discreet.core.unit import Unit
from discreet.query.measure import Measure, Moment, contribution

__all__ = ["limited"]

Expression = Any  # ibis expressions carry no useful static types here


def limited(measure: Measure, found: Expression, values: Expression, unit: Unit) -> Expression:
    """A person's sum `found` of a measure, made of so many `values`, as it counts under the unit's limits.

    Guarantee: the result lies within `contribution(measure, unit)`, whatever `found` and `values` are, and follows
    from them alone. Proof: docs/proofs/query.md.
    """
    import ibis

    low, high = contribution(measure, unit)
    if isinstance(measure, Moment):
        found = (values > unit.rows).ifelse(_scaled(measure.lowest, found, values, unit.rows), found)
    return ibis.greatest(ibis.least(found, high), low)


def _scaled(lowest: int, found: Expression, values: Expression, rows: int) -> Expression:
    """`found * rows / values` to the nearest whole number, halves up: in whole numbers alone, none of them negative.

    With found - lowest * values = whole * values + rest it is rows * (lowest + whole) + rest * rows / values, in
    which nothing is larger than 64 bits hold.
    """
    import ibis

    count = ibis.greatest(values, 1)
    above = found - lowest * count
    rest = above % count
    part = _divided(rest * (2 * rows) + count, count * 2)
    return (_divided(above, count) + lowest) * rows + part


def _divided(above: Expression, below: Expression) -> Expression:
    """The whole part of a quotient of two whole numbers, at least 0 and at least 1, if it is less than 2**50.

    A multiple is divided, so that the exact quotient is whole and floats, correct to 2**-52 of it, are nearest to it.
    """
    multiple = above - above % below
    return (multiple.cast("float64") / below.cast("float64") + 0.5).floor().cast("int64")
