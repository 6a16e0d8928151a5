"""Priced parents and child rows: what is counted of either, for which part of the price. One charge."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from discreet.synth.exclusions import repaired
from discreet.synth.measurement import Measurement, RecordedMeter, measured, no_counts
from discreet.synth.mosaic import mosaic
from discreet.synth.relations.chain import bearable_parents, child_rows, deck_size
from discreet.synth.relations.coarse import child_bins, coarsened
from discreet.synth.relations.codes import child_moved, encode_levels, parent_moved
from discreet.synth.relations.exclusions import parent_conditions
from discreet.synth.relations.explanation import declared_notes, explained, size_notes
from discreet.synth.relations.gaps import Gaps, octaves
from discreet.synth.relations.level_spikes import SearchParts, find_level_spikes
from discreet.synth.relations.levels import Levels
from discreet.synth.relations.record import level_to
from discreet.synth.rescue import run_with_rescue
from discreet.synth.rows import shuffled
from discreet.synth.sample import Codes
from discreet.synth.spikes import Spikes
from discreet.synth.synthetic import check_rows
from discreet.synth.workload import WorkloadMarginals, bearable

__all__ = ["RelationsPlan"]

_MASK = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False)
class RelationsPlan(TablePlan):
    """Parents and child rows under one fixed price. Nothing is read and nothing is spent by making one.

    Guarantee
        Everything released costs `cost`: marginals of parents, of which a person moves one cell by one, for one part of
        the price; marginals of child rows, of which a person has at most `levels.steps` (`levels.limit` where values
        that many rows share are looked for), for the rest. What is made of them sees nothing else.
        Proof: docs/proofs/synth-relations.md.
    """

    kind: ClassVar[str] = "relations"
    version: ClassVar[int] = 2
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
    impossible: tuple[Predicate, ...] = ()
    searched: bool = True
    """Whether a part of the price looks for values that many rows share, and counts gaps coarsely."""

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
                **({"impossible": self._impossible} if self.impossible else {}),
            }
        }

    @property
    def _impossible(self) -> list[Any]:
        return [predicate_to(condition) for condition in self.impossible]

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

    def parent_meter(self, levels: Levels | None = None) -> Meter:
        """A meter of what parents may cost, on no data; in the codes of other levels than the plan's if any are."""
        moved = parent_moved(self.schema.unit)
        counts = no_counts((self.levels if levels is None else levels).parents)
        return Meter(counts, moved, self.currency, self.parent_price - self.parts.parents)

    @property
    def parent_price(self) -> Fraction:
        """What parents may cost: all of the price where nobody has a second row."""
        return self.parent_share * self.price if self.levels.steps else self.price

    def child_meter(self, domain: Domain | None = None) -> Meter:
        """A meter of what child rows may cost, on no data."""
        moved = child_moved(self.schema.unit, self.levels.steps)
        counts = no_counts(self.levels.children if domain is None else domain)
        left = self.price - self.parent_price - self.parts.children - self.parts.gaps
        return Meter(counts, moved, self.currency, left)

    @property
    def parts(self) -> SearchParts:
        """What looking for values that many rows share may cost, and counting gaps coarsely."""
        parts = SearchParts.of(self.levels, self.parent_price, self.price - self.parent_price)
        return parts if self.searched else SearchParts()

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count parents and then child rows in the engine, with noise. Called by the one door only."""
        notify("reading codes in the engine")
        salt = [int(word) & _MASK for word in words(bits, 8)]

        def encode(levels: Levels) -> tuple[Any, Any]:
            return encode_levels(levels, self.schema, data.table, salt, self.condition)

        spikes = find_level_spikes(self.levels, self.schema.unit, self.currency, self.parts, data, encode, bits)
        levels = self.levels.with_spikes(spikes)
        parents, children = encode(levels)
        notify("measuring parents")
        counts = EngineCounts.of_codes(levels.parents, data, parents)
        wanted = bearable(self.preserved.marginals, levels.parents)
        above = measured(mosaic, counts, self.parent_meter(levels), bits, wanted)
        found = {"parents": above.to_json(), "children": None, "spikes": spikes.to_json()}
        if not levels.steps:
            return found
        notify("measuring child rows")
        below = EngineCounts.of_codes(levels.children, data, children)
        gaps = self._gaps(levels, below, bits)
        bins = child_bins(levels, _single(above), None if gaps is None else gaps[1].bins)
        meter = self.child_meter(coarsened(levels.children, bins))
        found["children"] = measured(mosaic, below.merged(bins), meter, bits, levels.workload()).to_json()
        return found | ({} if gaps is None else {"gaps": gaps[0].to_json()})

    def _possible(self, levels: Levels, codes: Codes) -> Codes:
        """Parents that meet no condition about them, before they get child rows."""
        many, named = len(levels.parent_columns), [*levels.parent_columns.names, *(one.name for one in levels.parent)]
        own = parent_conditions(self.impossible, named)
        if not own:
            return codes
        declared = {name: self.schema.column(name) for name in named}
        mended, _, _ = repaired(levels.parent_columns, declared, codes[:, :many], own, levels.parent)
        return np.concatenate([mended, codes[:, many:]], axis=1)

    def _gaps(self, levels: Levels, counts: EngineCounts, bits: Bits) -> tuple[Measurement, Gaps] | None:
        """Gaps counted by octaves, and the codes that come out of it."""
        if levels.clock is None:
            return None
        place = levels.targets[-1]
        bins = [np.arange(size, dtype=np.int64) for size in levels.children.sizes]
        bins[place] = octaves(levels.clock.gaps)
        moved = child_moved(self.schema.unit, levels.steps)
        meter = Meter(counts.merged(bins), moved, self.currency, self.parts.gaps, bits)
        noisy = meter.measure((place,), self.parts.gaps)
        return Measurement(((None, noisy),), ()), Gaps.of(levels.clock.gaps, noisy)

    def publish(self, measured: dict[str, Any], *, rows: int | None = None) -> dict[str, Any]:
        """Parents, as many as the plan says or another number, and a child row for each that they have."""
        check_rows(rows)
        notify("making parents")
        # Where it was measured without a search, all of the price was for marginals.
        plan = self if "spikes" in measured else replace(self, searched=False)
        levels = self.levels.with_spikes(Spikes.from_json(measured.get("spikes", {})))
        above = Measurement.from_json(measured["parents"])
        gaps = _gaps_of(levels, measured)
        bins = child_bins(levels, _single(above), None if gaps is None else gaps.bins)
        with listening(lambda stage, done: None):  # its stages were told when it was measured
            meter = RecordedMeter(plan.parent_meter(levels), above)
            count = self.rows if rows is None else rows
            wanted = bearable(self.preserved.marginals, levels.parents)
            parents = run_with_rescue(mosaic, meter, wanted, count)
        codes = self._possible(levels, shuffled(parents.codes))
        codes = codes[: bearable_parents(codes[:, len(levels.heads) - 1])]
        notify("making child rows")
        pool = no_codes(levels.children)
        if levels.steps:
            with listening(lambda stage, done: None):
                below = Measurement.from_json(measured["children"])
                again = RecordedMeter(plan.child_meter(coarsened(levels.children, bins)), below)
                size = deck_size(int(codes[:, len(levels.heads) - 1].sum()))
                pool = run_with_rescue(mosaic, again, levels.workload(), size).codes
        if gaps is not None:
            pool = gaps.calibrated(pool, levels.targets[-1])
        made = child_rows(levels, codes, bins, shuffled(pool), gaps)
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
                "impossible": self._impossible,
            },
            "notes": [note.to_dict() for note in (*size_notes(parents, len(codes)), *declared_notes(self))],
        }


def _gaps_of(levels: Levels, measured: dict[str, Any]) -> Gaps | None:
    """The codes of gaps that follow from what was measured, where they were counted by octaves."""
    if levels.clock is None or "gaps" not in measured:
        return None
    (_, noisy), *_ = Measurement.from_json(measured["gaps"]).answers
    return Gaps.of(levels.clock.gaps, noisy)


def _single(measurement: Measurement) -> list[Noisy]:
    """Single columns as they were measured, in all their codes."""
    return [noisy for bins, noisy in measurement.answers if bins is None and len(noisy.columns) == 1]


def no_codes(domain: Domain) -> Codes:
    """A table of codes without rows."""
    return np.zeros((0, len(domain)), dtype=np.int64)
