"""The sum of a column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.core.unit import Neighbours
from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.query.aggregate.base import NUMERIC, SEARCHED, Additive, Bounded, Limits, Pair, read_limits
from discreet.query.function import Function, register
from discreet.query.measure import Measure, Total, lattice_for

__all__ = ["Sum", "total"]


@register
@dataclass(frozen=True, slots=True)
class Sum(Bounded, Additive):
    """The sum of a column."""

    functions: ClassVar[tuple[Function, ...]] = (
        Function(
            name="sum", call="total()", words="sum of", takes=NUMERIC, sql={"SUM": {}}, argument=SEARCHED, place=30
        ),
    )

    def measures(self, schema: Schema) -> tuple[Measure, ...]:
        """What must be measured: sums with noise, from which the answer is made."""
        return (self.total(schema),)

    def total(self, schema: Schema) -> Total:
        """Its one measure."""
        column = schema.numeric(self.column, "sum")
        return Total(self.column, lattice_for(column, *self.limits(schema)))

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
        text = (
            f"A sum takes the sum of all rows of each {who} in a group, cut at what {rows} can add at most: it is not "
            "the sum of the rows that are counted."
        )
        return "rows", text


def total(column: str, bounds: Limits = None) -> Sum:
    """The sum of a column; `bounds` tighter than the declared ones mean less noise and more clipping.

    With `bounds="private"` a part of the price pays for a search for them.
    """
    return Sum(column, read_limits(bounds))
