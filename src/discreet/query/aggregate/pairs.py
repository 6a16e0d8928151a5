"""What every statistic of two columns is made of: their moments, and that of their products, over the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate.base import Derived, Floats, setting
from discreet.query.function import Argument
from discreet.query.measure import Complete, Cross, Moment, Rows, moment_lattice
from discreet.query.sql_hint import only, refuse

__all__ = ["OTHER", "Paired", "Spread", "read_name", "read_pair", "read_switch"]


def read_name(value: object) -> str:
    """The name of a column as JSON and the command line have it, there perhaps in double quotes."""
    if not isinstance(value, str) or not value:
        raise InputError("outputs", value, "the name of a column, as text")
    quoted = len(value) > 1 and value[0] == value[-1] == '"'
    return value[1:-1].replace('""', '"') if quoted else value


def read_switch(value: object) -> bool:
    """A setting that is on or off."""
    if not isinstance(value, bool):
        raise InputError("outputs", value, "true or false")
    return value


def _read_names(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise InputError("present", value, "a list of columns")
    return tuple(read_name(each) for each in value)


OTHER = Argument("other", "hours", "another column", required=True, read=read_name, column=True)


@dataclass(frozen=True, slots=True)
class Spread:
    """What noisy measures say of two columns, in their own units."""

    mean: Floats
    other_mean: Floats
    product: Floats
    """The mean product of the distances from the two means."""
    square: Floats
    """The mean squared distance from the first mean; nothing where it was not measured."""
    other_square: Floats


@dataclass(frozen=True, slots=True)
class Paired(Derived):
    """A statistic of two numeric columns. Rows in which one of them is missing do not count."""

    column: str
    other: str = field(metadata=setting(read_name))
    present: tuple[str, ...] = field(default=(), kw_only=True, metadata=setting(_read_names, list))
    """Further columns that must have a value where a row is to count: so statistics of several share their rows."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns and expressions it is of."""
        return tuple(dict.fromkeys((self.column, self.other, *self.present)))

    def canonical(self, schema: Schema) -> Self:
        """The same, its columns under the one name that each has."""
        column, other, *present = (
            schema.canonical(each, self.named()) for each in (self.column, self.other, *self.present)
        )
        return replace(self, column=column, other=other, present=tuple(present))

    def weight(self, schema: Schema) -> Rows | Complete:
        """How many rows it is of."""
        optional = tuple(sorted(name for name in self.columns if schema.column(name, self.named()).nullable))
        return Complete(optional) if optional else Rows()

    def moment(self, schema: Schema, column: str, power: int) -> Moment:
        """The sum of a power of the distance from the middle of a column's bounds."""
        declared = schema.numeric(column, self.named())
        lattice = moment_lattice(declared, declared.lower, declared.upper, whole=schema.unit.column is None)
        return Moment(column, lattice, power, self.weight(schema))

    def cross(self, schema: Schema) -> Cross:
        """The sum of products of both distances."""
        return Cross(self.moment(schema, self.column, 1), self.moment(schema, self.other, 1))

    def spread(
        self,
        schema: Schema,
        noisy: Sequence[Floats],
        excess: Sequence[float],
    ) -> Spread:
        """Means, mean product and mean squares, from the measures (sum, count, other sum, product, square, square).

        Noise adds its variance to the square of a noisy sum, on average, and nothing to a product of two sums.
        """
        cross, rows = self.cross(schema), np.maximum(noisy[1], 1.0)
        steps = [float(each.lattice.step) for each in (cross.first, cross.second)]
        means = [noisy[0] / rows, noisy[2] / rows]
        squares = []
        for place, (column, at) in enumerate(((self.column, 0), (self.other, 2))):
            if len(noisy) <= 4 + place:
                squares.append(np.full_like(rows, np.nan))
                continue
            moment = self.moment(schema, column, 2)
            second = (noisy[4 + place] / rows + moment.centre) * 2.0**moment.shift
            squares.append((second - means[place] ** 2 + excess[at] / rows**2) * steps[place] ** 2)
        product = (noisy[3] / rows * 2.0**cross.shift - means[0] * means[1]) * steps[0] * steps[1]
        middles = [each.middle for each in (cross.first, cross.second)]
        plain = [(mean + middle) * step for mean, middle, step in zip(means, middles, steps, strict=True)]
        return Spread(plain[0], plain[1], product, squares[0], squares[1])

    def estimate(self, schema: Schema, noisy: Sequence[Floats], excess: float = 0.0) -> Floats:
        """The answer from noisy measures, group by group."""
        return self.corrected(schema, noisy, [0.0] * len(noisy))

    def widths(self, schema: Schema) -> tuple[float, float]:
        """How far apart the bounds of the two columns are."""
        first, second = (schema.numeric(name, self.named()) for name in (self.column, self.other))
        return float(first.upper - first.lower), float(second.upper - second.lower)

    def moved(self, schema: Schema) -> tuple[float, float, float, float, float]:
        """How far rounding moves the means, the mean product and the mean squares at most.

        A value moves by at most half a step, none if it is whole; a person's part of a sum by half a step more, a
        product by half of what it is rounded to. A standard deviation is at most half the width of the bounds.
        """
        cross, (width, other), person = self.cross(schema), self.widths(schema), schema.unit.column is not None
        both = (cross.first, cross.second)
        steps = [float(each.lattice.step) for each in both]
        off = [0.0 if self._whole(schema, each) else step / 2 for each, step in zip(both, steps, strict=True)]
        mean, other_mean = (each + (step / 2 if person else 0.0) for each, step in zip(off, steps, strict=True))

        def rounded(shift: int, unit: float) -> float:
            return 2.0**shift / 2 * unit * ((shift > 0) + person)

        product = mean * other + other_mean * width + mean * other_mean + rounded(cross.shift, steps[0] * steps[1])
        squares = [
            2 * each * wide + each**2 + rounded(self.moment(schema, name, 2).shift, step**2)
            for each, wide, name, step in (
                (mean, width, self.column, steps[0]),
                (other_mean, other, self.other, steps[1]),
            )
        ]
        return mean, other_mean, product, squares[0], squares[1]

    def _whole(self, schema: Schema, moment: Moment) -> bool:
        return isinstance(schema.columns[moment.column], Integer) and moment.lattice.step <= 1

    def clipped(self, schema: Schema) -> str:
        """What becomes of values that are not declared, in words."""
        said = []
        for name in sorted({self.column, self.other}):
            declared = schema.numeric(name, self.named())
            said.append(f"{name} outside {float(declared.lower):.15g}..{float(declared.upper):.15g}")
        return f"Values of {' and of '.join(said)} are clipped to the nearer bound."

    @classmethod
    def read_sql(cls, node: Any, scope: Any) -> Self | None:
        """The statistic that NAME(column, column) in SQL stands for; None if the name is none of its names."""
        named = cls.functions[0].sql
        name, pair = read_pair(node, named, scope)
        return None if pair is None else cls(*pair, **named[name])


def read_pair(node: Any, names: Iterable[str], scope: Any) -> tuple[str, tuple[str, str] | None]:
    """Which of these names NAME(column, column) in SQL has, and its columns; no columns if it has none of them."""
    from sqlglot import exp

    unknown = type(node) is exp.Anonymous  # to the parser
    written = [str(node.this).upper()] if unknown else node.sql_names() if isinstance(node, exp.Func) else []
    name = next((each for each in names if each in written), "")
    if not name:
        return "", None
    only(node, "this", "expressions" if unknown else "expression")
    inner = node.expressions if unknown else [node.this, node.args.get("expression")]
    if len(inner) != 2 or None in inner or any(type(each) is exp.Distinct for each in inner):
        raise refuse(node, f"{name} of two columns or expressions")
    first, second = (scope.column(each, number=True) for each in inner)
    return name, (first, second)
