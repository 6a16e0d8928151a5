"""The straight line through two columns by least squares: its slope and its intercept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.data.expression import Call, Constant
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate.base import ENDLESS, NUMERIC, Floats
from discreet.query.aggregate.means import Mean
from discreet.query.aggregate.pairs import OTHER, Paired, Spread, read_pair
from discreet.query.aggregate.rows import Count
from discreet.query.function import Function, register
from discreet.query.measure import Measure

_OF_PAIRS = ("REGR_COUNT", "REGR_AVGX", "REGR_AVGY")
__all__ = ["Intercept", "Slope", "intercept", "slope"]


@dataclass(frozen=True, slots=True)
class _Line(Paired):
    """The line of `column`, the outcome, on `other`, the predictor."""

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made. The predictor comes first."""
        if self.column == self.other:
            raise InputError(self.named(), self.other, "another column: the line of a column on itself is known")
        turned = self._turned
        first, second = (turned.moment(schema, name, 1) for name in (self.other, self.column))
        return first, self.weight(schema), second, turned.cross(schema), turned.moment(schema, self.other, 2)

    @property
    def _turned(self) -> Paired:
        return type(self)(self.other, self.column, present=self.present)

    def _spread(self, schema: Schema, noisy: Sequence[Floats], excess: Sequence[float]) -> tuple[Spread, Floats]:
        """What is known of the predictor and the outcome, and the slope; 0 where there is none."""
        spread = self._turned.spread(schema, noisy, excess)
        known = spread.square > 0
        return spread, np.where(known, spread.product / np.where(known, spread.square, 1.0), 0.0)

    def undefined(self, schema: Schema, noisy: Sequence[Floats], excess: Sequence[float]) -> NDArray[np.bool_]:
        """Where it may be anything: too few rows, or the predictor does not vary."""
        return (noisy[1] < self.fewest) | (self._turned.spread(schema, noisy, excess).square <= 0)

    def extent(self, schema: Schema) -> tuple[float, float]:
        """It has no ends."""
        return -ENDLESS, ENDLESS

    @property
    def fewest(self) -> int:
        """Of fewer values than these it may be anything."""
        return 2

    def _slope_moved(self, schema: Schema, spread: Spread, slope: Floats) -> Floats:
        _, _, product, square, _ = self._turned.moved(schema)
        return 2 * (product + np.abs(slope) * square) / np.maximum(spread.square, 1e-300)


@register
@dataclass(frozen=True, slots=True)
class Slope(_Line):
    """How much `column` changes with one of `other`: their covariance over the variance of `other`."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(
            name="slope",
            call="slope()",
            words="regression slope of",
            takes=NUMERIC,
            sql={"REGR_SLOPE": {}},
            argument=OTHER,
            place=63,
        ),
    )

    @classmethod
    def read_sql(cls, node: Any, scope: Any) -> Any:
        """REGR_SLOPE(y, x), and what else is asked of complete pairs: REGR_COUNT, REGR_AVGX and REGR_AVGY."""
        name, pair = read_pair(node, _OF_PAIRS, scope)
        if pair is None:
            return super(Slope, cls).read_sql(node, scope)
        of, other = (scope.schema.expression(each, "sql") for each in (pair[::-1] if name == "REGR_AVGX" else pair))
        complete = Call("case", (other.missing(), Constant(None), of))
        text = scope.schema.canonical(str(complete), "sql")
        return Count(text) if name == "REGR_COUNT" else Mean(text)

    def corrected(self, schema: Schema, noisy: Sequence[Floats], excess: Sequence[float]) -> Floats:
        """The answer, group by group, where noise has added `excess` to the square of each measure, on average."""
        return self._spread(schema, noisy, excess)[1]

    def rounding(self, schema: Schema, noisy: Sequence[Floats], excess: Sequence[float]) -> Floats:
        """How far rounding to the lattice can have moved it."""
        return self._slope_moved(schema, *self._spread(schema, noisy, excess))


@register
@dataclass(frozen=True, slots=True)
class Intercept(_Line):
    """Where the line of `column` on `other` is at zero."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(
            name="intercept",
            call="intercept()",
            words="regression intercept of",
            takes=NUMERIC,
            sql={"REGR_INTERCEPT": {}},
            argument=OTHER,
            place=64,
        ),
    )
    tail: ClassVar[float] = 0.6  # it is no ratio of two measures: draws alone hold it up to 2 points too rarely

    def corrected(self, schema: Schema, noisy: Sequence[Floats], excess: Sequence[float]) -> Floats:
        """The answer, group by group, where noise has added `excess` to the square of each measure, on average."""
        spread, slope = self._spread(schema, noisy, excess)
        return spread.other_mean - slope * spread.mean

    def rounding(self, schema: Schema, noisy: Sequence[Floats], excess: Sequence[float]) -> Floats:
        """How far rounding to the lattice can have moved it."""
        spread, slope = self._spread(schema, noisy, excess)
        mean, outcome, *_ = self._turned.moved(schema)
        moved = self._slope_moved(schema, spread, slope)
        return outcome + np.abs(slope) * mean + (np.abs(spread.mean) + mean) * moved


def slope(column: str, other: str) -> Slope:
    """The slope of the least-squares line of `column` on `other`: REGR_SLOPE(column, other) in SQL."""
    return Slope(column, other)


def intercept(column: str, other: str) -> Intercept:
    """The intercept of the least-squares line of `column` on `other`: REGR_INTERCEPT(column, other) in SQL."""
    return Intercept(column, other)
