"""The mean of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, overload

import numpy as np

from discreet.core.exact import Number
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate.base import NUMERIC, SEARCHED, Floats, Limits, Moments, read_limits
from discreet.query.aggregate.shares import Share
from discreet.query.aggregate.vector_means import VectorMean, vector_mean
from discreet.query.function import Function, register
from discreet.query.measure import Measure
from discreet.query.sql_hint import refuse

__all__ = ["Mean", "mean"]


@register
@dataclass(frozen=True, slots=True)
class Mean(Moments):
    """The mean of a column: its noisy sum around the middle of the bounds, over the noisy count."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(
            name="mean",
            call="mean()",
            words="mean of",
            takes=NUMERIC,
            sql={"AVG": {}, "MEAN": {}},
            argument=SEARCHED,
            place=40,
        ),
    )

    @classmethod
    def read_sql(cls, node: Any, scope: Any) -> Self | None:
        """AVG(column) or MEAN(column); None also where it is of a condition: then it is a share."""
        from sqlglot import exp

        if isinstance(node, exp.Avg | exp.Anonymous) and any(
            type(each) is exp.Array for each in (node.this, *node.expressions)
        ):
            hint = "The mean of a vector is asked for by coordinates: VECTOR_MEAN(x, 2, x, y), VECTOR_MEAN(y, 2, x, y)."
            raise refuse(node, "an aggregate of one column or expression", hint)
        return None if Share.read_sql(node, scope) is not None else super(Mean, cls).read_sql(node, scope)

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        first = self.moment(schema, 1)
        return first, first.weight

    def estimate(self, schema: Schema, noisy: Sequence[Floats], excess: float = 0.0) -> Floats:
        """The answer from noisy measures, group by group."""
        first, (lower, upper) = self.moment(schema, 1), self.extent(schema)
        found = (noisy[0] / np.maximum(noisy[1], 1.0) + first.middle) * float(first.lattice.step)
        return np.clip(found, lower, upper)

    def extent(self, schema: Schema) -> tuple[float, float]:
        """The least and the most it can be."""
        lower, upper = self.limits(schema)
        return float(lower), float(upper)

    def widened(self, schema: Schema, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """An interval that also holds what rounding to the lattice may have done."""
        off = sum(self.rounded(schema))
        return lower - off, upper + off


@overload
def mean(column: str, bounds: Limits = None) -> Mean: ...
@overload
def mean(column: Sequence[str], *, norm: Number) -> dict[str, VectorMean]: ...
def mean(
    column: str | Sequence[str], bounds: Limits = None, *, norm: Number | None = None
) -> Mean | dict[str, VectorMean]:
    """The mean of a column; of several, `agg(**mean(["x", "y"], norm=5))`, that of the vector they are.

    With `norm`, the vector of each row is cut to that length, and noise is for the length, whatever the number of
    columns and their own bounds. Its coordinates are outputs `mean_x`, `mean_y`.
    """
    if norm is None and not isinstance(column, list | tuple):
        return Mean(column, read_limits(bounds))  # type: ignore[arg-type]  # what is no text is refused with the schema
    if norm is None or not isinstance(column, list | tuple) or bounds is not None:
        hint = 'Write mean("x"), or agg(**mean(["x", "y"], norm=5)).'
        raise InputError("norm", norm, "given with a list of columns, and without bounds", hint)
    return vector_mean(column, norm)
