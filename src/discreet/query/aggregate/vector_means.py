"""The mean of a vector of columns whose length is cut: noise for one length, and not for each column's own bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from discreet.core.exact import Number, as_written, sqrt_up
from discreet.core.lattice import Lattice
from discreet.data.schema import Schema
from discreet.data.text import read_constant
from discreet.errors import InputError
from discreet.query.aggregate.base import NUMERIC, Derived, Floats, plain_names, setting
from discreet.query.aggregate.pairs import read_name
from discreet.query.function import Function, register
from discreet.query.measure import Complete, Coordinate, Measure, Rows
from discreet.query.sql_hint import only, refuse

__all__ = ["VectorMean", "vector_mean"]

_MOST = 64
_STEPS = 2**18
"""No coordinate and no radius is more steps: squares of 64 of them add up to at most 2**42."""


def _read_names(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not 2 <= len(value) <= _MOST:
        raise InputError("vector", value, f"a list of 2 to {_MOST} columns")
    return tuple(read_name(each) for each in value)


def _read_norm(value: Any) -> Fraction:
    norm = as_written(value, "norm")
    if norm <= 0:
        raise InputError("norm", value, "more than zero")
    return norm


@register
@dataclass(frozen=True, slots=True)
class VectorMean(Derived):
    """One coordinate of the mean of a vector of columns, rows longer than `norm` being made as long as that.

    Of a person with more rows than count in a group, the mean of the rows counts as often as these.

    Guarantee: with Gaussian noise all coordinates together cost what one number of that bound costs.
    Proof: docs/proofs/query.md.
    """

    functions: ClassVar[tuple[Function, ...]] = (
        Function(
            name="vector_mean",
            call="mean([...], norm=...)",
            words="coordinate of a mean vector",
            takes=NUMERIC,
            sql={"VECTOR_MEAN": {}},
            shown=("VECTOR_MEAN(x, length, x, y)",),
            listed=False,
            place=1010,
        ),
    )
    gaps: ClassVar[str] = "as zero"

    column: str
    vector: tuple[str, ...] = field(metadata=setting(_read_names, list))
    norm: Fraction = field(metadata=setting(_read_norm, str))

    @property
    def label(self) -> str:
        """What it is called in SQL where it has no other name."""
        return "mean"

    @classmethod
    def read_sql(cls, node: Any, scope: Any) -> Self | None:
        """VECTOR_MEAN(coordinate, length, vector): x of the mean of (x, y) is VECTOR_MEAN(x, 2, x, y)."""
        from sqlglot import exp

        if type(node) is not exp.Anonymous or str(node.this).upper() not in cls.functions[0].sql:
            return None
        only(node, "this", "expressions")
        form = "VECTOR_MEAN of a coordinate, a length, and the columns of the vector: VECTOR_MEAN(x, 2, x, y)"
        if len(node.expressions) < 4:
            raise refuse(node, form)
        coordinate, length, *vector = node.expressions
        try:
            norm = _read_norm(read_constant(length, "sql"))
        except InputError:
            raise refuse(length, f"a length, more than zero, in {form}") from None
        return cls(scope.column(coordinate, number=True), _read_names([scope.column(one) for one in vector]), norm)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns and expressions it is of."""
        return self.vector

    def canonical(self, schema: Schema) -> Self:
        """The same, its columns under the one name that each has."""
        names = tuple(schema.canonical(each, "mean") for each in self.vector)
        if len(set(names)) != len(names) or (own := schema.canonical(self.column, "mean")) not in names:
            raise InputError("vector", list(names), f"different columns, {self.column} among them")
        return replace(self, column=own, vector=names)

    def coordinate(self, schema: Schema) -> Coordinate:
        """Its first measure."""
        ends = {name: schema.numeric(name, "mean") for name in self.vector}
        farthest = [max(abs(Fraction(one.lower)), abs(Fraction(one.upper))) for one in ends.values()]
        radius = min(self.norm, sqrt_up(sum((each * each for each in farthest), Fraction(0))))
        exponent = -60
        while max(radius, *farthest) / Fraction(2) ** exponent > _STEPS:
            exponent += 1
        lattices = tuple(Lattice(Fraction(one.lower), Fraction(one.upper), exponent) for one in ends.values())
        steps = int(radius / Fraction(2) ** exponent)
        if steps < 1:
            allowed = "larger: within it no value of these columns differs from zero"
            raise InputError("norm", float(self.norm), allowed)
        optional = tuple(sorted(name for name in self.vector if schema.column(name, "mean").nullable))
        weight = Complete(optional) if optional else Rows()
        return Coordinate(self.vector, lattices, steps, self.vector.index(self.column), weight)

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: its own coordinate, how many rows, and the others, without which it has no price."""
        own = self.coordinate(schema)
        return own, own.weight, *(each for each in own.vector if each != own)

    def estimate(self, schema: Schema, noisy: Sequence[Floats], excess: float = 0.0) -> Floats:
        """The answer from noisy measures, group by group."""
        step = float(self.coordinate(schema).lattices[0].step)
        return np.clip(noisy[0] / np.maximum(noisy[1], 1.0) * step, *self.extent(schema))

    def extent(self, schema: Schema) -> tuple[float, float]:
        """The least and the most it can be."""
        own = self.coordinate(schema)
        step = float(own.lattices[0].step)
        return own.lowest * step, own.highest * step

    def widened(self, schema: Schema, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """An interval that also holds what rounding may have done: half a step of a value, one of its cut, and one of
        what a person with many rows adds."""
        off = (1.5 if schema.unit.column is None else 2.5) * float(self.coordinate(schema).lattices[0].step)
        return lower - off, upper + off

    def clipped(self, schema: Schema) -> str:
        """What becomes of long vectors, in words."""
        return (
            f"Rows whose vector of {', '.join(self.vector)} is longer than {float(self.norm):.15g} are scaled down to "
            "that length. The interval of the mean does not cover this clipping error."
        )


def vector_mean(columns: Sequence[str], norm: Number) -> dict[str, VectorMean]:
    """The mean of a vector of columns, as outputs: `agg(**mean(["x", "y"], norm=5))`.

    >>> list(vector_mean(["x", "y"], norm=5))
    ['mean_x', 'mean_y']
    """
    bound, names = _read_norm(norm), plain_names(list(columns))
    return {f"mean_{name}": VectorMean(column, _read_names(list(names)), bound) for column, name in names.items()}
