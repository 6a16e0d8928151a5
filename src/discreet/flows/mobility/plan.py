"""A priced release of flows: counts of origin, destination and time window, and their sums, under one price."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.compose import compose
from discreet.core.digest import digest_of, text_of
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.packing import pack, unpack
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.flows.mobility.flows import CELLS, DESTINATIONS, ORIGINS, WINDOWS, ZONES, Layout, reconcile
from discreet.ledger.budget import Allotment
from discreet.mechanisms.blend import half_width
from discreet.noise.bits import words
from discreet.query.compatibility import columns_read
from discreet.query.compile import GROUP, compile_query, measure_name
from discreet.query.measure import Rows, sensitivity
from discreet.query.noisy_sums import NoisySums, moved_sums
from discreet.query.notes import cell_notes
from discreet.query.plan import noise_name
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.table_plan import TablePlan, at_confidence

__all__ = ["TOTAL", "FlowMeasure", "MobilityPlan", "plan_mobility"]

Whole = NDArray[np.int64]

TOTAL = "total"
_COUNT = "count"


@dataclass(frozen=True, slots=True)
class FlowMeasure(NoisySums):
    """One aggregation of flows, by name."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class MobilityPlan(TablePlan):
    """Flows and their sums, noisy once each, then made to agree. Nothing is read and nothing is spent by making one.

    Guarantee
        The noisy counts of all aggregations together cost `cost`, the composition of what each costs. What is made of
        them sees nothing else. Proof: docs/proofs/constraints.md.
    """

    kind: ClassVar[str] = "flows"
    version: ClassVar[int] = 1
    question: Query
    schema: Schema
    allotment: Allotment
    confidence: float
    layout: Layout
    zone_names: tuple[str, ...]
    measures: tuple[FlowMeasure, ...]
    windowed: bool

    @property
    def cost(self) -> Loss:
        """The price of all aggregations together."""
        return compose([measure.loss for measure in self.measures])

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        return "; ".join(dict.fromkeys(noise_name(measure.noise) for measure in self.measures)) + "; then made to agree"

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        zones: dict[str, Any] = {}
        if self.zone_names:
            zones = {
                "origin": [self.zone_names[zone] for zone in self.layout.origin_zones],
                "destination": [self.zone_names[zone] for zone in self.layout.destination_zones],
            }
        return {"mobility": self.question.to_dict(), "zones": zones}

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content = {
            "schema": self.schema.to_dict(),
            "query": self.query,
            "noise": [[measure.name, text_of(measure.noise)] for measure in self.measures],
            "confidence": self.confidence,
        }
        return digest_of(content)

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        return columns_read(self.question, self.schema)

    def explained(self) -> Explanation:
        """What there is to know before it is paid: the half-width of every table's intervals."""
        windows, origins, destinations = self.layout.shape
        when = f" in {windows:,} windows" if self.windowed else ""
        halves = self.half_widths()
        errors = [
            Accuracy(measure.name, noise_name(measure.noise), halves[measure.name], share=float(measure.share))
            for measure in self.measures
        ]
        if self.windowed:
            errors.append(Accuracy(TOTAL, "the sum of the windows", halves[TOTAL]))
        notes = ["These are the widths of the intervals. Cells that are mostly empty end up far nearer."]
        notes += [note.text for note in self.notes]
        return Explanation(
            title=f"Plan for flows in {self.dataset!r}",
            unit=str(self.schema.unit),
            shape=(
                f"Releases flows of {origins:,} origins to {destinations:,} destinations{when}: "
                "whole numbers that add up.",
            ),
            errors=tuple(errors),
            confidence=self.confidence,
            notes=tuple(notes),
            facts={"origins": origins, "destinations": destinations, "windows": windows},
        )

    @property
    def notes(self) -> list[Note]:
        """What is left out of every table."""
        of = " (origin, destination, window)" if self.windowed else " (origin, destination)"
        question, cells = self.question, math.prod(self.layout.shape)
        return cell_notes(self.schema, question.keys, question.condition, cells=cells, of=of, outputs=[_COUNT])

    def half_widths(self) -> dict[str, int]:
        """How far each published table's intervals reach either side of what was measured."""
        found = {measure.name: measure.noise.error(self.confidence) for measure in self.measures}
        windows = next(measure.noise for measure in self.measures if measure.name == WINDOWS)
        count = self.layout.windows
        found[TOTAL] = (
            found[WINDOWS]
            if count == 1
            else math.ceil(half_width(windows, np.ones(1), np.array([float(count)]), 1 - self.confidence))
        )
        return found

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count in the engine, add the noise. Called by the one door only."""
        salt = [int(word) & (2**31 - 1) for word in words(bits, 8)]
        found = data.integers(compile_query(self.question, self.schema, (Rows(),), data.table, salt))
        exact = np.zeros(math.prod(self.layout.shape), dtype=np.int64)
        exact[found[GROUP]] = found[measure_name(0)]
        windows, origins, destinations = self.layout.shape
        noisy = self.noisy(exact.reshape(origins, destinations, windows).transpose(2, 0, 1), bits)
        return {name: pack(counts) for name, counts in noisy.items()}

    def publish(self, measured: Mapping[str, Any], *, confidence: float | None = None) -> dict[str, Any]:
        """All tables, made to agree, with intervals of the plan's confidence or of another one."""
        return at_confidence(self, confidence).tables({name: unpack(entry) for name, entry in measured.items()})

    def noisy(self, exact: Whole, bits: Bits | None = None) -> dict[str, Whole]:
        """Every aggregation of the exact flows, with its noise."""
        sums = self.layout.sums(exact)
        return {
            measure.name: measure.noise.release(sums[measure.name].ravel(), bits=bits).reshape(sums[measure.name].shape)
            for measure in self.measures
        }

    def tables(self, noisy: Mapping[str, Whole]) -> dict[str, Any]:
        """All tables, made from noisy counts alone.

        An interval is the measured number and its noise's half-width, cut at zero, and widened where it must be to
        hold the published number: it covers the truth at least as often as it says.
        """
        flows = reconcile(self.layout, noisy, {measure.name: measure.noise for measure in self.measures})
        sums = self.layout.sums(flows)
        measured = {**noisy, TOTAL: noisy[WINDOWS].sum(keepdims=True)}
        values = {**sums, TOTAL: sums[WINDOWS].sum(keepdims=True)}
        halves, keys = self.half_widths(), self._keys()
        parts = {}
        for name in [*(measure.name for measure in self.measures), TOTAL]:
            if name == WINDOWS and not self.windowed:
                continue  # the total says it
            # Windows come first in the arrays and last in the tables, where they move fastest.
            value, seen = (np.moveaxis(array, 0, -1).ravel() for array in (values[name], measured[name]))
            low = np.minimum(np.maximum(seen - halves[name], 0), value)
            high = np.maximum(np.maximum(seen + halves[name], 0), value)
            columns = {
                **_crossed(keys[name]),
                _COUNT: value.tolist(),
                f"{_COUNT}_lower": low.tolist(),
                f"{_COUNT}_upper": high.tolist(),
            }
            parts[name] = {
                "columns": columns,
                "keys": list(keys[name]),
                "outputs": [_COUNT],
                "confidence": self.confidence,
                "notes": [note.to_dict() for note in self.notes],
            }
        return {"parts": parts}

    def _keys(self) -> dict[str, dict[str, list[Any]]]:
        """The keys of every table with their labels, in the order of publication."""
        named = [
            (key.column, [label if isinstance(label, (str, int, type(None))) else str(label) for label in labels])
            for key, labels in ((key, key.labels(self.schema)) for key in self.question.keys)
        ]
        origin, destination = (dict([pair]) for pair in named[:2])
        window = dict(named[2:])
        zones = [list(self.zone_names[:count]) for count in self.layout.zones]
        pair = {f"{named[0][0]}_zone": zones[0], f"{named[1][0]}_zone": zones[1]}
        return {
            CELLS: {**origin, **destination, **window},
            ORIGINS: {**origin, **window},
            DESTINATIONS: {**destination, **window},
            ZONES: {**pair, **window},
            WINDOWS: window,
            TOTAL: {},
        }


def plan_mobility(
    question: Query,
    schema: Schema,
    allotment: Allotment,
    price: Price,
    layout: Layout,
    zone_names: tuple[str, ...],
    shares: Mapping[str, Fraction],
) -> MobilityPlan:
    """Price a release; `shares` are the parts of the price that the aggregations get. Raises before any spending."""
    if allotment.kind == "plan":
        raise InputError(
            "allotment", allotment.name, "a pure or zcdp allotment: a plan allotment pays for one fixed plan"
        )
    if price.way == "within":
        hint = "Give epsilon, rho or share: print(offer) shows the error of every table before anything is spent."
        raise InputError("within", float(price.amount), "left out for flows", hint)
    cells = math.prod(layout.shape)
    windows, origins, destinations = layout.shape
    sizes = {
        ORIGINS: windows * origins,
        DESTINATIONS: windows * destinations,
        ZONES: windows * math.prod(layout.zones),
        WINDOWS: windows,
    }
    measures = []
    for name, share in shares.items():
        moved, merged = (
            (sensitivity(Rows(), schema.unit, cells), False)
            if name == CELLS
            else moved_sums(schema.unit, cells, sizes[name])
        )
        (noise,) = price.part(share).buys(allotment, [moved], [None])
        measures.append(FlowMeasure(share, noise, moved, merged, name))
    windowed = len(question.keys) == 3
    return MobilityPlan(question, schema, allotment, price.confidence, layout, zone_names, tuple(measures), windowed)


def _crossed(keys: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Every combination of labels, the last key moving fastest."""
    groups = repeat = math.prod(len(labels) for labels in keys.values())
    columns = {}
    for name, labels in keys.items():
        repeat //= len(labels)
        once = [label for label in labels for _ in range(repeat)]
        columns[name] = once * (groups // len(once))
    return columns
