"""A priced synthetic table: its columns, what it is to preserve, by which method, and what it costs. One charge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

from discreet.core.digest import digest_of
from discreet.core.explanation import Explanation
from discreet.core.loss import ZCDP, Loss, Pure
from discreet.core.mechanism import Bits
from discreet.core.progress import listening, notify
from discreet.data.column import column_to
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.marginals.counts import Columns
from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.engine import LARGEST, EngineCounts, moved_by
from discreet.marginals.meter import Meter
from discreet.marginals.partition import Partition
from discreet.query.predicate import Predicate, columns_of, predicate_to
from discreet.query.table_plan import TablePlan
from discreet.synth.explanation import declared_notes, explained
from discreet.synth.measurement import Measurement, RecordedMeter, measured, no_counts
from discreet.synth.methods import method_named
from discreet.synth.parts import MadeColumn, agreed
from discreet.synth.record import domain_to, synthetic_to
from discreet.synth.rescue import independent_rows, run_with_rescue
from discreet.synth.rows import shuffled
from discreet.synth.spikes import SHARE, Spikes, find_spikes, most_found, searched
from discreet.synth.synthetic import check_rows

__all__ = ["SynthPlan"]


@dataclass(frozen=True, slots=True, eq=False)
class SynthPlan(TablePlan):
    """A synthetic table under one fixed price. Nothing is read and nothing is spent by making one.

    Guarantee
        Everything released costs `cost`: rows and measurements come out of a meter with that price, and what is made
        of them sees nothing else. Proof: docs/proofs/synth.md and docs/proofs/synth-counts.md.
    """

    kind: ClassVar[str] = "synth"
    version: ClassVar[int] = 3
    schema: Schema
    made: tuple[MadeColumn, ...]
    """The columns of the table, and what each is made of."""
    domain: Domain
    allotment: Allotment
    currency: Literal["epsilon", "rho"]
    price: Fraction
    method: str
    workload: Mapping[Columns, float]
    rows: int | None = None
    condition: Predicate | None = None
    impossible: tuple[Predicate, ...] = ()
    keys: tuple[tuple[str, str | int], ...] = ()
    confidence: float = 0.95
    why: str = "asked for"
    """Why this method."""
    left_out: tuple[Columns, ...] = ()
    """What has more cells than `limit`, and is not preserved."""
    limit: int = 0

    @property
    def cost(self) -> Loss:
        """The price of the whole table."""
        return Pure(self.price) if self.currency == "epsilon" else ZCDP(self.price)

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        noise = "discrete Laplace" if self.currency == "epsilon" else "discrete Gaussian"
        return f"{noise} on marginals, chosen by the exponential mechanism where any are; then {self.method}"

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        names = self.domain.names
        return {
            "synth": {
                "columns": [_cut(one) for one in self.domain.attributes],
                "made": [one.to_json() for one in self.made if not one.plain],
                "workload": [[[names[column] for column in one], weight] for one, weight in self.workload.items()],
                "rows": self.rows,
                "where": None if self.condition is None else predicate_to(self.condition),
                "impossible": [predicate_to(condition) for condition in self.impossible],
                "keys": [list(key) for key in self.keys],
            },
            "method": self.method,
        }

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content = {"schema": self.schema.to_dict(), "query": self.query, "price": [self.currency, str(self.price)]}
        return digest_of(content)

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        named = [name for one in self.made for name in (one.name, *one.parts)]
        named += [] if self.condition is None else columns_of(self.condition)
        named += [] if self.schema.unit.column is None else [self.schema.unit.column]
        return list(dict.fromkeys(named))

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        return explained(self)

    def by(self, method: str, why: str) -> SynthPlan:
        """The same by another method."""
        return replace(self, method=method, why=why)

    @property
    def search(self) -> Fraction:
        """The part of the price that looks for values that many rows share."""
        return SHARE * self.price if len(searched(self.domain)) else Fraction(0)

    def blank(self, domain: Domain | None = None) -> Meter:
        """A meter of what the method may spend, on no data: for asking how much noise an amount buys."""
        counts = no_counts(self.domain if domain is None else domain)
        return Meter(counts, moved_by(self.schema.unit), self.currency, self.price - self.search)

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count in the engine, measure what the method asks for. Called by the one door only."""
        notify("reading codes in the engine")

        def counts(domain: Domain) -> EngineCounts:
            return EngineCounts(domain, self.schema, data, bits, self.condition)

        spikes = Spikes()
        if self.search:
            moved = moved_by(self.schema.unit)
            most = most_found(self.domain, self.workload, LARGEST)
            spikes = find_spikes(self.domain, counts, moved, self.currency, self.search, bits, most)
        domain = spikes.applied(self.domain)
        found = measured(method_named(self.method), counts(domain), self.blank(domain), bits, self.workload)
        return {**found.to_json(), "spikes": spikes.to_json()}

    def publish(
        self, measured: dict[str, Any], *, rows: int | None = None, method: str | None = None
    ) -> dict[str, Any]:
        """Rows, by the plan's method or `independent`, as many as the plan says or another number."""
        check_rows(rows)
        notify("making rows")
        record, count = Measurement.from_json(measured), self.rows if rows is None else rows
        domain = Spikes.from_json(measured.get("spikes", {})).applied(self.domain)
        meter = RecordedMeter(self.blank(domain), record)
        if method in (None, self.method):
            with listening(lambda stage, done: None):  # its stages were told when it was measured
                made = run_with_rescue(method_named(self.method), meter, self.workload, count)
        elif method == "independent":
            made = independent_rows(meter, count, "every column alone: columns are independent")
        else:
            allowed = f"{self.method}, by which it was measured, or independent"
            raise InputError("method", method, allowed, "Another method asks for other marginals, which are charged.")
        notify("recording")
        made = replace(made, codes=agreed(domain, self.made, shuffled(made.codes)))
        return {
            "synth": {
                "domain": domain_to(domain, {name: self.schema.column(name) for name in domain.names}),
                "columns": [
                    {**one.to_json(), "declared": column_to(self.schema.column(one.name))} for one in self.made
                ],
                "made": synthetic_to(made, record),
                "method": self.method if method is None else method,
                "impossible": [predicate_to(condition) for condition in self.impossible],
                "keys": [list(key) for key in self.keys],
            },
            "notes": [note.to_dict() for note in declared_notes(self)],
        }


def _cut(attribute: Attribute) -> dict[str, Any]:
    """How a column is cut into codes, as plain values."""
    cut = attribute.partition
    return attribute.key.to_dict() | ({"partition": cut.to_json()} if isinstance(cut, Partition) else {})
