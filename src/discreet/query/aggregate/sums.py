"""The sum of a column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Self

from discreet.core.exact import Number
from discreet.core.unit import Neighbours
from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.data.text import read_constant
from discreet.errors import InputError
from discreet.query.aggregate.base import (
    NUMERIC,
    SEARCHED,
    Additive,
    Bounded,
    Limits,
    Pair,
    plain_names,
    read_limits,
    read_pair,
    setting,
    write_pair,
)
from discreet.query.function import Function, register
from discreet.query.measure import Measure, Total, lattice_for
from discreet.query.sql_hint import only, refuse

__all__ = ["PERSON_BOUNDS", "Sum", "total", "vector_sum"]

PERSON_BOUNDS = "PERSON_BOUNDS"
"""SUM(PERSON_BOUNDS(x, 0, 500)) in SQL: the sum of x, with what one person adds to a group cut to that pair."""
_FARTHEST = 2**50  # steps that one person adds: as far as the limits on rows reach


def _read_person(bounds: Any) -> Pair:
    return read_pair(bounds, "person")


@register
@dataclass(frozen=True, slots=True)
class Sum(Bounded, Additive):
    """The sum of a column. With `person`, what one person adds to a group is cut to that pair."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(
            name="sum", call="total()", words="sum of", takes=NUMERIC, sql={"SUM": {}}, argument=SEARCHED, place=30
        ),
    )

    person: Pair | None = field(default=None, metadata=setting(_read_person, write_pair))

    def __post_init__(self) -> None:
        if self.person is not None and self.private:
            hint = "Give bounds as a pair, or none."
            raise InputError("person", write_pair(self.person), "left out where bounds are private", hint)

    @classmethod
    def read_sql(cls, node: Any, scope: Any) -> Self | None:
        """SUM(x), or SUM(PERSON_BOUNDS(x, 0, 500)); None if it is none of them."""
        from sqlglot import exp

        inner = node.this if type(node) is exp.Sum else None
        if type(inner) is not exp.Anonymous or str(inner.this).upper() != PERSON_BOUNDS:
            return super(Sum, cls).read_sql(node, scope)
        only(node, "this")
        if len(inner.expressions) != 3:
            raise refuse(node, f"SUM({PERSON_BOUNDS}(column, 0, 500))")
        column, *ends = inner.expressions
        pair = _read_person([read_constant(end, "sql") for end in ends])
        return cls(scope.column(column, number=True), None, pair)

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        return (self.total(schema),)

    def total(self, schema: Schema) -> Total:
        """Its one measure."""
        column = schema.numeric(self.column, "sum")
        lattice = lattice_for(column, *self.limits(schema))
        return Total(self.column, lattice, None if self.person is None else self._steps(schema, lattice.step))

    def _steps(self, schema: Schema, step: Fraction) -> tuple[int, int]:
        """The bounds on a person's sum in whole steps, none beyond them."""
        low, high = self.person or (Fraction(0), Fraction(0))
        given = [float(low), float(high)]
        if schema.unit.column is None:
            hint = "Give bounds=(lower, upper) for the values, or declare the person: [unit] column = ..."
            raise InputError("person", given, "left out: the unit of this schema is a row", hint)
        least, most = math.ceil(low / step), math.floor(high / step)
        if least > most or not 1 <= max(-least, most) <= _FARTHEST:
            allowed = f"a pair that holds some multiple of {float(step):g} beside zero, and none beyond 2**50 of it"
            raise InputError("person", given, allowed)
        return least, most

    def step(self, schema: Schema) -> float:
        """The size of one step of its measure."""
        return float(self.total(schema).lattice.step)

    def whole(self, schema: Schema) -> bool:
        """Whether it is a whole number: steps of one, of whole numbers."""
        return self.step(schema) == 1 and isinstance(schema.columns[self.column], Integer)

    def stretched(self, low: Fraction, high: Fraction, schema: Schema) -> Pair:
        """Bounds that were found, stretched to zero, which adds no noise and clips less."""
        declared = schema.numeric(self.column, "sum")
        return min(low, max(declared.lower, Fraction(0))), max(high, min(declared.upper, Fraction(0)))

    def unit(self, schema: Schema) -> tuple[float, str]:
        """What its error is a multiple of where bounds are private, and how large that is for the declared ones."""
        low, high, lower, upper = self.declared(schema)
        if schema.unit.neighbours is Neighbours.ADD_REMOVE:
            return max(abs(low), abs(high)), f"times the larger of |{lower}| and |{upper}|"
        return max(high, 0.0) - min(low, 0.0), f"times the distance of {lower} and {upper}, zero included"

    def limited(self, who: str, rows: str) -> tuple[str, str]:
        """What the limit on the rows of one person does to it."""
        if self.person is not None:
            low, high = (f"{float(end):.15g}" for end in self.person)
            text = (
                f"The sum of the rows of each {who} in a group is clipped to {low}..{high}. The interval does not "
                "cover the clipping error."
            )
            return "clipped", text
        text = (
            f"The sum of the rows of each {who} in a group is clipped to the most that {rows} can add. It is not the "
            "sum over the rows that are counted."
        )
        return "rows", text


def total(column: str, bounds: Limits = None, *, person: Sequence[Number] | None = None) -> Sum:
    """The sum of a column; `bounds` tighter than the declared ones mean less noise and more clipping.

    With `bounds="private"` a part of the price pays for a search for them. `person=(0, 500)` cuts what one person adds
    to a group to that pair, instead of what the limit on rows allows: noise is for the larger of its ends.
    """
    return Sum(column, read_limits(bounds), None if person is None else _read_person(person))


def vector_sum(*columns: str, bounds: Limits = None) -> dict[str, Sum]:
    """The sums of several columns, as outputs: `agg(**vector_sum("cost", "hours"))`.

    Each column keeps its own bounds. With Gaussian noise and equal widths the even split of the price is the noise that
    the joint L2 sensitivity asks for: of m sums, each gets sigma^2 = m width^2 / (2 rho).

    >>> list(vector_sum("cost", "hours"))
    ['sum_cost', 'sum_hours']
    """
    return {f"sum_{name}": total(column, bounds) for column, name in plain_names(columns).items()}
