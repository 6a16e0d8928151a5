"""How two columns vary together: covariance and correlation, of two columns or of each two of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate.base import NUMERIC, Derived, Floats, plain_names, setting
from discreet.query.aggregate.pairs import OTHER, Paired, read_switch
from discreet.query.function import Function, register
from discreet.query.measure import Measure

__all__ = ["Correlation", "Covariance", "correlation", "covariance", "covariances"]


@register
@dataclass(frozen=True, slots=True)
class Covariance(Paired):
    """The mean product of the distances of two columns from their means, or, of a `sample`, over n - 1."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(
            name="covariance",
            call="covariance()",
            words="covariance of",
            takes=NUMERIC,
            sql={"COVAR_POP": {}, "COVAR_SAMP": {"sample": True}},
            argument=OTHER,
            place=61,
        ),
    )

    sample: bool = field(default=False, kw_only=True, metadata=setting(read_switch))

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        first, count = self.moment(schema, self.column, 1), self.weight(schema)
        if self.column == self.other:
            return first, count, self.moment(schema, self.column, 2)
        return first, count, self.moment(schema, self.other, 1), self.cross(schema)

    def corrected(self, schema: Schema, noisy: Sequence[Floats], excess: Sequence[float]) -> Floats:
        """The answer, group by group, where noise has added `excess` to the square of each measure, on average."""
        if self.column == self.other:  # a variance: its square stands where the square of a pair does
            noisy, excess = [noisy[0], noisy[1], noisy[0], noisy[2], noisy[2]], [excess[0]] * 5
            found = self.spread(schema, noisy, excess).square
        else:
            found = self.spread(schema, noisy, excess).product
        if self.sample:
            rows = np.maximum(noisy[1], 2.0)
            found = found * (rows / (rows - 1))
        return np.clip(found, *self.extent(schema))

    def extent(self, schema: Schema) -> tuple[float, float]:
        """The least and the most it can be: half the values at each end; of a sample, one of two."""
        width, other = self.widths(schema)
        most = width * other / (2 if self.sample else 4)
        return 0.0 if self.column == self.other else -most, most

    @property
    def fewest(self) -> int:
        """Of fewer values than these it may be anything."""
        return 2 if self.sample else 1

    def rounding(self, schema: Schema, noisy: Sequence[Floats], excess: Sequence[float]) -> float:
        """How far rounding to the lattice can have moved it."""
        _, _, product, square, _ = self.moved(schema)
        return (square if self.column == self.other else product) * (2 if self.sample else 1)


@register
@dataclass(frozen=True, slots=True)
class Correlation(Paired):
    """The correlation of two columns: their covariance over both standard deviations; `squared`, its square."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(
            name="correlation",
            call="correlation()",
            words="correlation of",
            takes=NUMERIC,
            sql={"CORR": {}, "REGR_R2": {"squared": True}},
            argument=OTHER,
            place=62,
        ),
    )

    squared: bool = field(default=False, kw_only=True, metadata=setting(read_switch))

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        if self.column == self.other:
            raise InputError(self.named(), self.other, "another column: that of a column and itself is 1")
        names = (self.column, self.other)
        (first, second), squares = ([self.moment(schema, name, power) for name in names] for power in (1, 2))
        return first, self.weight(schema), second, self.cross(schema), *squares

    def corrected(self, schema: Schema, noisy: Sequence[Floats], excess: Sequence[float]) -> Floats:
        """The answer, group by group, where noise has added `excess` to the square of each measure, on average."""
        spread = self.spread(schema, noisy, excess)
        both = spread.square * spread.other_square
        known = (spread.square > 0) & (spread.other_square > 0)
        found = np.where(known, spread.product / np.sqrt(np.where(known, both, 1.0)), 0.0)
        clipped: Floats = np.clip(found**2 if self.squared else found, *self.extent(schema))
        return clipped

    @property
    def stated(self) -> tuple[Derived, float]:
        """By what its error is stated beforehand, and how many times that is: a square moves by up to two of it."""
        return Correlation(self.column, self.other, present=self.present), 2.0 if self.squared else 1.0

    def undefined(self, schema: Schema, noisy: Sequence[Floats], excess: Sequence[float]) -> NDArray[np.bool_]:
        """Where it may be anything: too few rows, or one of the columns does not vary."""
        spread = self.spread(schema, noisy, excess)
        return (noisy[1] < self.fewest) | (spread.square <= 0) | (spread.other_square <= 0)

    def extent(self, schema: Schema) -> tuple[float, float]:
        """The least and the most it can be."""
        return (0.0 if self.squared else -1.0), 1.0

    @property
    def fewest(self) -> int:
        """Of fewer values than these it may be anything."""
        return 2

    def rounding(self, schema: Schema, noisy: Sequence[Floats], excess: Sequence[float]) -> Floats:
        """How far rounding to the lattice can have moved it: more where the columns hardly vary."""
        spread, (_, _, product, square, other) = self.spread(schema, noisy, excess), self.moved(schema)
        first, second = (np.maximum(each, 1e-200) for each in (spread.square, spread.other_square))
        off = product / np.sqrt(first) / np.sqrt(second) + (square / first + other / second) / 2
        most: Floats = np.minimum(2 * off, 2.0)
        return most


def covariance(column: str, other: str, *, sample: bool = False) -> Covariance:
    """The covariance of two columns; with `sample`, the estimate from a sample, over n - 1."""
    return Covariance(column, other, sample=sample)


def correlation(column: str, other: str, *, squared: bool = False) -> Correlation:
    """The correlation of two columns, from -1 to 1; `squared`, its square."""
    return Correlation(column, other, squared=squared)


def covariances(*columns: str, sample: bool = False) -> dict[str, Covariance]:
    """The covariance matrix of several columns, as outputs: `agg(**covariances("age", "cost", "hours"))`.

    Only rows in which all of them have a value count. So n columns take n + n(n + 1)/2 measures, and a count.

    >>> list(covariances("age", "cost"))
    ['covariance_age_age', 'covariance_age_cost', 'covariance_cost_cost']
    """
    names = plain_names(columns)
    made: dict[str, Any] = {}
    for first, second in combinations_with_replacement(columns, 2):
        others = tuple(name for name in columns if name not in (first, second))
        made[f"covariance_{names[first]}_{names[second]}"] = Covariance(first, second, sample=sample, present=others)
    return made
