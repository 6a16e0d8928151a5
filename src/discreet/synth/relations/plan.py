"""Priced parents and child rows: what is counted of either, for which part of the price. One charge."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.core.digest import digest_of
from discreet.core.explanation import Explanation
from discreet.core.loss import ZCDP, Loss, Pure
from discreet.core.mechanism import Bits
from discreet.core.packing import pack
from discreet.core.progress import listening, notify
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.ledger.budget import Allotment
from discreet.marginals.domain import Domain
from discreet.marginals.engine import EngineCounts
from discreet.marginals.meter import Meter, Noisy
from discreet.noise.bits import words
from discreet.query.predicate import Predicate, columns_of, predicate_to
from discreet.query.table_plan import TablePlan
from discreet.synth.measurement import Measurement, RecordedMeter, measured, no_counts
from discreet.synth.mosaic import mosaic
from discreet.synth.relations.chain import child_rows, deck_size
from discreet.synth.relations.coarse import child_bins, coarsened
from discreet.synth.relations.encoding import child_moved, encode_levels, parent_moved
from discreet.synth.relations.explanation import declared_notes, explained
from discreet.synth.relations.levels import Levels
from discreet.synth.relations.record import level_to
from discreet.synth.rescue import run_with_rescue
from discreet.synth.rows import shuffled
from discreet.synth.sample import Codes
from discreet.synth.synthetic import check_rows
from discreet.synth.workload import WorkloadMarginals

__all__ = ["RelationsPlan"]

_MASK = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False)
class RelationsPlan(TablePlan):
    """Parents and child rows under one fixed price. Nothing is read and nothing is spent by making one.

    Guarantee
        Everything released costs `cost`: marginals of parents, of which a person moves one cell by one, for one part of
        the price; marginals of child rows, of which a person has at most `levels.steps`, for the rest. What is made of
        them sees nothing else. Proof: docs/proofs/synth-relations.md.
    """

    kind: ClassVar[str] = "relations"
    version: ClassVar[int] = 1
    schema: Schema
    levels: Levels
    allotment: Allotment
    currency: Literal["epsilon", "rho"]
    price: Fraction
    parent_share: Fraction
    preserved: WorkloadMarginals
    """Of parents."""
    key: str | int
    rows: int | None = None
    condition: Predicate | None = None
    confidence: float = 0.95

    @property
    def cost(self) -> Loss:
        """The price of both tables."""
        return Pure(self.price) if self.currency == "epsilon" else ZCDP(self.price)

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        noise = "discrete Laplace" if self.currency == "epsilon" else "discrete Gaussian"
        return f"{noise} on marginals of parents and of child rows; then mosaic"

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        levels, clock = self.levels, self.levels.clock
        return {
            "relations": {
                "parent": [one.to_json() for one in levels.parent_columns.attributes],
                "child": [one.to_json() for one in levels.child_columns.attributes],
                "made": [one.to_json() for one in (*levels.parent, *levels.child) if not one.plain],
                "order": None if clock is None else clock.column,
                "limit": levels.limit,
                "parent_share": str(self.parent_share),
                "rows": self.rows,
                "where": None if self.condition is None else predicate_to(self.condition),
                "key": self.key,
            }
        }

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content = {"schema": self.schema.to_dict(), "query": self.query, "price": [self.currency, str(self.price)]}
        return digest_of(content)

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        made = (*self.levels.parent, *self.levels.child)
        named = [name for one in made for name in (one.name, *one.parts)]
        named += [] if self.condition is None else columns_of(self.condition)
        return list(dict.fromkeys([*named, str(self.schema.unit.column)]))

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        return explained(self)

    def parent_meter(self) -> Meter:
        """A meter of what parents may cost, on no data."""
        moved = parent_moved(self.schema.unit)
        return Meter(no_counts(self.levels.parents), moved, self.currency, self.parent_price)

    @property
    def parent_price(self) -> Fraction:
        """What parents may cost: all of the price where nobody has a second row."""
        return self.parent_share * self.price if self.levels.steps else self.price

    def child_meter(self, domain: Domain | None = None) -> Meter:
        """A meter of what child rows may cost, on no data."""
        moved = child_moved(self.schema.unit, self.levels.steps)
        counts = no_counts(self.levels.children if domain is None else domain)
        return Meter(counts, moved, self.currency, self.price - self.parent_price)

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count parents and then child rows in the engine, with noise. Called by the one door only."""
        notify("reading codes in the engine")
        salt = [int(word) & _MASK for word in words(bits, 8)]
        parents, children = encode_levels(self.levels, self.schema, data.table, salt, self.condition)
        notify("measuring parents")
        counts = EngineCounts.of_codes(self.levels.parents, data, parents)
        above = measured(mosaic, counts, self.parent_meter(), bits, self.preserved.marginals)
        if not self.levels.steps:
            return {"parents": above.to_json(), "children": None}
        bins = child_bins(self.levels, _single(above))
        meter = self.child_meter(coarsened(self.levels.children, bins))
        notify("measuring child rows")
        below = EngineCounts.of_codes(self.levels.children, data, children).merged(bins)
        found = measured(mosaic, below, meter, bits, self.levels.workload())
        return {"parents": above.to_json(), "children": found.to_json()}

    def publish(self, measured: dict[str, Any], *, rows: int | None = None) -> dict[str, Any]:
        """Parents, as many as the plan says or another number, and a child row for each that they have."""
        check_rows(rows)
        notify("making parents")
        levels = self.levels
        above = Measurement.from_json(measured["parents"])
        bins = child_bins(levels, _single(above))
        with listening(lambda stage, done: None):  # its stages were told when it was measured
            meter = RecordedMeter(self.parent_meter(), above)
            count = self.rows if rows is None else rows
            parents = run_with_rescue(mosaic, meter, self.preserved.marginals, count)
        codes = shuffled(parents.codes)
        notify("making child rows")
        pool = no_codes(levels.children)
        if levels.steps:
            with listening(lambda stage, done: None):
                below = Measurement.from_json(measured["children"])
                again = RecordedMeter(self.child_meter(coarsened(levels.children, bins)), below)
                size = deck_size(int(codes[:, len(levels.heads) - 1].sum()))
                pool = run_with_rescue(mosaic, again, levels.workload(), size).codes
        made = child_rows(levels, codes, bins, shuffled(pool))
        notify("recording")
        return {
            "relations": {
                "parents": level_to(
                    self.schema, levels.parent, levels.parent_columns, codes[:, : len(levels.parent_columns)]
                ),
                "children": level_to(self.schema, levels.child, levels.child_columns, made.codes, levels.clock)
                | {"owner": pack(made.owner), "times": None if made.times is None else pack(made.times)},
                "key": [str(self.schema.unit.column), self.key],
                "limit": levels.limit,
                "total": float(parents.total),
            },
            "notes": [note.to_dict() for note in declared_notes(self)],
        }


def _single(measurement: Measurement) -> list[Noisy]:
    """Single columns as they were measured, in all their codes."""
    return [noisy for bins, noisy in measurement.answers if bins is None and len(noisy.columns) == 1]


def no_codes(domain: Domain) -> Codes:
    """A table of codes without rows."""
    return np.zeros((0, len(domain)), dtype=np.int64)
