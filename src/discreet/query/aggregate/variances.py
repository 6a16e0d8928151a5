"""The variance of a column, and its root, the standard deviation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate.base import NUMERIC, SEARCHED, Floats, Limits, Moments, read_limits, setting
from discreet.query.function import Function, register
from discreet.query.measure import Measure

__all__ = ["Std", "Variance", "std", "variance"]


def _read_sample(value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError("sample", value, "true or false")
    return value


@dataclass(frozen=True, slots=True)
class _OfSample(Moments):
    """What may be estimated for a larger table of which the rows are a `sample`: over n - 1."""

    sample: bool = field(default=False, metadata=setting(_read_sample))

    @property
    def fewest(self) -> int:
        """Of fewer values than these it may be anything."""
        return 2 if self.sample else 1


@register
@dataclass(frozen=True, slots=True)
class Variance(_OfSample):
    """The variance of a column: the mean squared distance from the mean, or, of a `sample`, over n - 1."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(
            name="variance",
            call="variance()",
            words="variance of",
            takes=NUMERIC,
            sql={"VAR_POP": {}, "VAR_SAMP": {"sample": True}, "VARP": {}, "VAR": {"sample": True}},
            argument=SEARCHED,
            place=50,
        ),
    )

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        first = self.moment(schema, 1)
        return first, first.weight, self.moment(schema, 2)

    def estimate(self, schema: Schema, noisy: Sequence[Floats], excess: float = 0.0) -> Floats:
        """The variance; `excess` is what noise has added to the square of the sum, on average."""
        squares, rows = self.moment(schema, 2), np.maximum(noisy[1], 1.0)
        second = (noisy[2] / rows + squares.centre) * 2.0**squares.shift
        found = (second - (noisy[0] / rows) ** 2 + excess / rows**2) * float(squares.lattice.step) ** 2
        if self.sample:
            found = found * (np.maximum(rows, 2.0) / (np.maximum(rows, 2.0) - 1))
        return np.clip(found, *self.extent(schema))

    def extent(self, schema: Schema) -> tuple[float, float]:
        """The least and the most it can be: half the values at each end; of a sample, one of two."""
        lower, upper = self.limits(schema)
        return 0.0, float(upper - lower) ** 2 / (2 if self.sample else 4)

    def unit(self, schema: Schema) -> tuple[float, str]:
        """What its error is a multiple of where bounds are private, and how large that is for the declared ones."""
        low, high, lower, upper = self.declared(schema)
        return (high - low) ** 2, f"times ({upper} - {lower})^2"

    def widened(self, schema: Schema, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """An interval that also holds what rounding to the lattice may have done.

        A value moved by at most q moves a standard deviation by at most q. What rounding does to squares, and to sums
        of one person, is added as it is.
        """
        squares, (value, person) = self.moment(schema, 2), self.rounded(schema)
        square = 2.0**squares.shift / 2 * float(squares.lattice.step) ** 2
        once = (square if squares.shift else 0.0) + (0.0 if person == 0 else square)
        low, high = self.limits(schema)
        off = 2 * value * np.sqrt(np.maximum(upper, 0.0)) + value**2 + once + float(high - low) * person
        return lower - off, upper + off


@register
@dataclass(frozen=True, slots=True)
class Std(_OfSample):
    """The standard deviation of a column, the root of its variance."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(
            name="std",
            call="std()",
            words="standard deviation of",
            takes=NUMERIC,
            sql={"STDDEV": {"sample": True}, "STDDEV_POP": {}, "STDDEV_SAMP": {"sample": True}, "STDEVP": {}},
            argument=SEARCHED,
            place=60,
        ),
    )

    @property
    def squared(self) -> Variance:
        """What this is the root of."""
        return Variance(self.column, self.bounds, self.sample)

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        schema.numeric(self.column, "std")
        return self.squared.measures(schema)

    def estimate(self, schema: Schema, noisy: Sequence[Floats], excess: float = 0.0) -> Floats:
        """The answer from noisy measures, group by group."""
        return np.sqrt(self.squared.estimate(schema, noisy, excess))

    def extent(self, schema: Schema) -> tuple[float, float]:
        """The least and the most it can be."""
        return 0.0, self.squared.extent(schema)[1] ** 0.5

    def widened(self, schema: Schema, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """An interval that also holds what rounding to the lattice may have done."""
        low, high = self.squared.widened(schema, lower**2, upper**2)
        return np.sqrt(np.maximum(low, 0.0)), np.sqrt(high)


def variance(column: str, bounds: Limits = None, *, sample: bool = False) -> Variance:
    """The variance of a column; with `sample`, the estimate from a sample, over n - 1."""
    return Variance(column, read_limits(bounds), sample)


def std(column: str, bounds: Limits = None, *, sample: bool = False) -> Std:
    """The standard deviation of a column; with `sample`, the estimate from a sample, over n - 1."""
    return Std(column, read_limits(bounds), sample)
