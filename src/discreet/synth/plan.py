"""A priced synthetic table: its columns, what it is to preserve, by which method, and what it costs. One charge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

from discreet.accounting.compose import compose
from discreet.core.digest import digest_of
from discreet.core.explanation import Explanation
from discreet.core.loss import ZCDP, Loss, Pure
from discreet.core.mechanism import Bits
from discreet.core.progress import notify
from discreet.data.column import Column, column_to
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.marginals.counts import Columns
from discreet.marginals.domain import Domain
from discreet.marginals.engine import LARGEST, EngineCounts, moved_by
from discreet.marginals.meter import Meter
from discreet.marginals.partition import Partition
from discreet.query.discovery_plan import DiscoveryPlan
from discreet.query.predicate import Predicate, columns_of, predicate_to
from discreet.query.table_plan import TablePlan
from discreet.synth.discovery import SHARE as DISCOVERY
from discreet.synth.discovery import Found, find_values, found_column, searched_column, with_found
from discreet.synth.explanation import declared_notes, explained
from discreet.synth.measurement import Measurement, measured, no_counts
from discreet.synth.method_option import Options
from discreet.synth.methods import method_named, with_options
from discreet.synth.parts import MadeColumn, agreed
from discreet.synth.prior import PriorCodes
from discreet.synth.public_table import PublicTable
from discreet.synth.record import domain_to, synthetic_to
from discreet.synth.sampler import Sampler
from discreet.synth.spikes import SHARE, Spikes, find_spikes, most_found, searched
from discreet.synth.synthetic import check_rows
from discreet.synth.workload import bearable

__all__ = ["SynthPlan"]

_MERGED = 3  # marginals of so many columns are counted in merged codes only
_ASKED = "asked for"
_BINS = 64  # that numbers and days were cut into before they had values


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
    why: str = _ASKED
    """Why this method."""
    left_out: tuple[Columns, ...] = ()
    """What has more cells than `limit`, and is not preserved."""
    limit: int = 0
    searches: tuple[DiscoveryPlan, ...] = ()
    """How values that nobody listed are found, for each column of them."""
    prior: PublicTable | None = None
    """What the rows start from."""
    options: Options = ()
    """How the method works, where that was said."""

    @property
    def cost(self) -> Loss:
        """The price of the whole table: of the search for values that nobody listed, and of the rest."""
        rest = self.price - self.discovery
        counts: Loss = Pure(rest) if self.currency == "epsilon" else ZCDP(rest)
        return compose([*(one.cost for one in self.searches), counts]) if self.searches else counts

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        noise = "discrete Laplace" if self.currency == "epsilon" else "discrete Gaussian"
        found = "partition selection for values; " if self.searches else ""
        return f"{found}{noise} on marginals, chosen by the exponential mechanism where any are; then {self.method}"

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        names = self.domain.names
        return {
            "synth": {
                "columns": [one.to_json() for one in self.domain.attributes],
                "workload": [[[names[column] for column in one], weight] for one, weight in self.workload.items()],
                "rows": self.rows,
                "where": None if self.condition is None else predicate_to(self.condition),
                "impossible": [predicate_to(condition) for condition in self.impossible],
                "keys": [list(key) for key in self.keys],
                **self._inputs,
            },
            "method": self.method,
        }

    @property
    def _inputs(self) -> dict[str, Any]:
        """What earlier versions did not have, where there is any: parts, values to find, a prior, options."""
        made = [one.to_json() for one in self.made if not one.plain]
        found = [{"column": searched_column(one), **one.law} for one in self.searches]
        prior = {} if self.prior is None else {"prior": self.prior.digest}
        options = {"options": dict(self.options)} if self.options else {}
        return ({"made": made} if made else {}) | ({"discover": found} if found else {}) | prior | options

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content = {"schema": self.schema.to_dict(), "query": self.query, "price": [self.currency, str(self.price)]}
        return digest_of(content)

    @property
    def former(self) -> tuple[SynthPlan, ...]:
        """The same as earlier versions planned it: chosen methods were `mosaic`, numbers and days in 64 even bins."""
        if self.method == "aim" and self.why != _ASKED:
            other = self.by("mosaic", self.why)
            return (other, *other.former)
        cut = any(isinstance(one.partition, Partition) for one in self.domain.attributes)
        if not cut or self._inputs.keys() - {"made"} or len(self.domain) != len(self.made):
            return ()
        names = [one.name for one in self.made]
        even = Domain.of(self.schema, names, _BINS)
        return (replace(self, domain=even, made=tuple(MadeColumn(name, (name,)) for name in names)),)

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
    def discovery(self) -> Fraction:
        """The part of the price that looks for values that nobody listed."""
        return DISCOVERY * self.price if self.searches else Fraction(0)

    @property
    def search(self) -> Fraction:
        """The part of the price that looks for values that many rows share."""
        return SHARE * self.price if len(searched(self.domain)) else Fraction(0)

    def blank(self, domain: Domain | None = None) -> Meter:
        """A meter of what the method may spend, on no data: for asking how much noise an amount buys."""
        counts = no_counts(self.domain if domain is None else domain)
        return Meter(counts, moved_by(self.schema.unit), self.currency, self.price - self.search - self.discovery)

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count in the engine, measure what the method asks for. Called by the one door only."""
        notify("reading codes in the engine")

        def counts(domain: Domain) -> EngineCounts:
            return EngineCounts(domain, self.schema, data, bits, self.condition)

        found = find_values(self.searches, data, bits)
        whole, spikes = with_found(self.domain, found), Spikes()
        if self.search:
            moved = moved_by(self.schema.unit)
            pairs = [columns for columns in bearable(self.workload, whole) if len(columns) < _MERGED]
            most = most_found(whole, pairs, LARGEST)
            spikes = find_spikes(whole, counts, moved, self.currency, self.search, bits, most)
        domain = spikes.applied(whole)
        workload = bearable(self.workload, domain)
        method = with_options(method_named(self.method), self.options)
        record = measured(method, counts(domain), self.blank(domain), bits, workload)
        public: dict[str, Any] = {"spikes": spikes.to_json()}
        if found:
            public["found"] = found
        if self.prior is not None:
            public["prior"] = self.prior.encoded(domain, self.schema).to_json()
        return {**record.to_json(), **public}

    def publish(
        self, measured: dict[str, Any], *, rows: int | None = None, method: str | None = None
    ) -> dict[str, Any]:
        """Rows, by the plan's method or `independent`, as many as the plan says or another number."""
        check_rows(rows)
        notify("making rows")
        record, count = Measurement.from_json(measured), self.rows if rows is None else rows
        found: Found = measured.get("found", {})
        domain = Spikes.from_json(measured.get("spikes", {})).applied(with_found(self.domain, found))
        if method not in (None, self.method, "independent"):
            allowed = f"{self.method}, by which it was measured, or independent"
            raise InputError("method", method, allowed, "Another method asks for other marginals, which are charged.")
        blank, workload = self.blank(domain), bearable(self.workload, domain)
        sampler = Sampler(
            domain=domain,
            workload=workload,
            method=self.method,
            independent=method not in (None, self.method),
            currency=self.currency,
            price=blank.price,
            moved=blank.moved,
            record=record,
            prior=PriorCodes.from_json(measured["prior"]) if "prior" in measured else None,
            options=self.options,
        )
        made = sampler.rows(count)
        if lost := len(self.workload) - len(workload):
            note = f"with the values found, {lost:,} marginals had too many cells and were not preserved"
            made = replace(made, notes=(*made.notes, note))
        notify("recording")
        made = replace(made, codes=agreed(domain, self.made, made.codes))

        def column(name: str) -> Column:
            return found_column(name, self.schema.column(name), found)

        return {
            "synth": {
                "domain": domain_to(domain, {name: column(name) for name in domain.names}),
                "columns": [{**one.to_json(), "declared": column_to(column(one.name))} for one in self.made],
                "made": synthetic_to(made, record),
                "method": self.method if method is None else method,
                "sampler": sampler.to_json(),
                "impossible": [predicate_to(condition) for condition in self.impossible],
                "keys": [list(key) for key in self.keys],
            },
            "notes": [note.to_dict() for note in declared_notes(self)],
        }
