"""More rows of a release, from what is on record: as many as are asked for, and only those that meet a condition.

The method is run again on the answers that it had, so nothing private is seen and nothing is spent. The same request
gives the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.core.progress import listening
from discreet.core.sensitivity import Sensitivity
from discreet.data.schema import Schema
from discreet.errors import InputError, Phrase
from discreet.marginals.counts import Columns
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Currency, Meter
from discreet.query.parse import parse_condition
from discreet.query.predicate import And, Compare, IsIn, IsMissing, Predicate, checked, columns_of
from discreet.synth.measurement import Measurement, RecordedMeter, no_counts
from discreet.synth.method_option import Options
from discreet.synth.methods import method_named, with_options
from discreet.synth.prior import PriorCodes, started_from
from discreet.synth.rescue import independent_rows, run_with_rescue
from discreet.synth.rows import shuffled
from discreet.synth.synthetic import MOST_ROWS, Synthetic

__all__ = ["Sampler", "draw_until", "read_subset"]

_FIRST = 20_000  # rows that are drawn at least, to see how rare a condition is
_SPARE = 1.25  # more than are expected to do
_RAREST = 1_000_000  # rows that are drawn at most to meet a condition, unless more are asked for
_INDEPENDENT = "every column alone: columns are independent"


@dataclass(frozen=True, slots=True, eq=False)
class Sampler:
    """What was measured for a synthetic table, and the method that makes rows of it."""

    domain: Domain
    workload: Mapping[Columns, float]
    method: str
    """By which it was measured."""
    independent: bool
    """Whether rows are made of single columns only, although more was measured."""
    currency: Currency
    price: Fraction
    moved: Sensitivity
    record: Measurement
    prior: PriorCodes | None = None
    """A public table that stands in where noise hides dependence."""
    options: Options = ()
    """How the method works, where that was said."""

    def rows(self, count: int | None) -> Synthetic:
        """So many rows of codes, in an order that says nothing; None: as many as there seem to be."""
        blank = Meter(no_counts(self.domain), self.moved, self.currency, self.price)
        meter = RecordedMeter(blank, self.record)
        with listening(lambda stage, done: None):  # its stages were told when it was measured
            if self.independent:
                made = independent_rows(meter, count, _INDEPENDENT)
            else:
                method = with_options(method_named(self.method), self.options)
                made = run_with_rescue(method, meter, self.workload, count)
                if self.prior is not None:
                    made = started_from(self.prior, made, self.domain, self.record)
        return replace(made, codes=shuffled(made.codes))

    def to_json(self) -> dict[str, Any]:
        """Plain values: what is not in the question, the domain or the measurement."""
        return {
            "method": self.method,
            "currency": self.currency,
            "price": str(self.price),
            "moved": [self.moved.each, self.moved.outputs],
            **({"options": dict(self.options)} if self.options else {}),
        }

    @classmethod
    def from_json(
        cls, entry: dict[str, Any], domain: Domain, workload: list[Any], measured: dict[str, Any], method: str
    ) -> Sampler:
        """What `to_json` made, with the workload by names and the `method` that rows were made by."""
        return cls(
            domain=domain,
            workload={tuple(domain.place(name) for name in names): weight for names, weight in workload},
            method=entry["method"],
            independent=method != entry["method"],
            currency=entry["currency"],
            price=Fraction(entry["price"]),
            moved=Sensitivity(*entry["moved"]),
            record=Measurement.from_json(measured),
            prior=PriorCodes.from_json(measured["prior"]) if "prior" in measured else None,
            options=tuple(entry.get("options", {}).items()),
        )


def read_subset(where: str | Predicate | Mapping[str, Any], schema: Schema, columns: list[str]) -> Predicate:
    """A condition on the columns of a synthetic table: as text, as an expression, or as values by column.

    >>> from discreet.data.column import Category
    >>> read_subset({"sex": "f"}, Schema("t", {"sex": Category(["f", "m"])}), ["sex"])
    Compare(column='sex', operator='==', value='f')
    """
    try:
        read = checked(_condition(where), schema)
    except InputError as problem:
        raise problem.about("where") from None
    for name in columns_of(read):
        if name not in columns:
            raise InputError("where", name, "about columns of the synthetic table", among=columns)
    return read


def _condition(where: str | Predicate | Mapping[str, Any]) -> Predicate:
    if isinstance(where, str):
        return parse_condition(where)
    if not isinstance(where, Mapping):
        return where
    if not where:
        raise InputError("where", {}, 'at least one column with its value, such as {"sector": "care"}')
    parts = tuple(_equal(name, value) for name, value in where.items())
    return parts[0] if len(parts) == 1 else And(parts)


def _equal(name: str, value: Any) -> Predicate:
    if value is None:
        return IsMissing(name)
    if isinstance(value, list | tuple | set | frozenset):
        return IsIn(name, tuple(value))
    return Compare(name, "==", value)


def draw_until(draw: Callable[[int], int], rows: int) -> int:
    """How many rows to draw so that at least so many meet a condition: `draw` says how many of a number do.

    >>> draw_until(lambda drawn: drawn // 100, 1_000)
    125000
    """
    most = min(max(_RAREST, rows), MOST_ROWS)
    drawn = min(max(_FIRST, rows), most)
    met = draw(drawn)
    while met < rows:
        if drawn == most:
            raise _too_rare(met, drawn, rows)
        share = max(met, 1) / drawn
        drawn = most if met == 0 else min(max(int(rows / share * _SPARE), 2 * drawn), most)
        met = draw(drawn)
    return drawn


def _too_rare(met: int, drawn: int, rows: int) -> InputError:
    found = "none" if met == 0 else f"{met:,}"
    hint = "It may be impossible here." if met == 0 else f"Ask for at most {met:,} rows, or for a wider condition."
    allowed = f"a condition that {rows:,} of {drawn:,} rows meet: {found} of them did"
    return InputError("where", Phrase("this condition"), allowed, f"{hint} Nothing was spent.")
