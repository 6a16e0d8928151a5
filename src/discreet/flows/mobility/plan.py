"""A priced release of flows: counts of origin, destination and time window, and their sums, under one price."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from discreet.core.packing import crossed, pack, unpack
from discreet.core.release import number, percent
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.flows.mobility.flows import reconcile
from discreet.flows.mobility.layout import CELLS, DESTINATIONS, ORIGINS, PILOT, WINDOWS, ZONES, Layout
from discreet.flows.mobility.stages import (
    TOTAL,
    FlowMeasure,
    Stages,
    buy_measures,
    buy_stages,
    centre,
    reaches,
)
from discreet.flows.mobility.windows import DayWindows
from discreet.ledger.budget import Allotment
from discreet.noise.bits import words
from discreet.query.compatibility import columns_read
from discreet.query.compile import GROUP, count_groups, measure_name
from discreet.query.key import Bin
from discreet.query.measure import Rows
from discreet.query.notes import cell_notes
from discreet.query.plan import noise_name
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.table_plan import TablePlan, at_confidence

__all__ = ["MobilityPlan", "plan_mobility"]

Whole = NDArray[np.int64]

_COUNT = "count"
_LONG = 200_000  # rows of a table that are recorded in short: labels once, and numbers packed


@dataclass(frozen=True, slots=True, eq=False)
class MobilityPlan(TablePlan):
    """Flows and their sums, noisy once each, then made to agree. Nothing is read and nothing is spent by making one.

    Guarantee
        The noisy counts of all aggregations together cost `cost`: the composition of what each costs, and where a noisy
        first look decides what is measured after it, that of the dearer way. What is made of them sees nothing else.
        Proof: docs/proofs/constraints.md.
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
    stages: Stages | None = None  # None where shares were fixed: `measures` is then everything
    day: DayWindows | None = None  # None where windows are not those of a day

    @property
    def cost(self) -> Loss:
        """The price of all aggregations together."""
        if self.stages is not None:
            return self.stages.cost(self.allotment)
        return compose([measure.loss for measure in self.measures])

    @property
    def former(self) -> tuple[MobilityPlan, ...]:
        """What earlier versions made of the same ask: shares were fixed, whatever cells held."""
        return () if self.stages is None else (replace(self, stages=None),)

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        measures = self.measures if self.stages is None else self.stages.measures
        found = "; ".join(dict.fromkeys(noise_name(measure.noise) for measure in measures))
        return found + ("; " if self.stages is None else "; shares by a noisy total; ") + "then made to agree"

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        zones: dict[str, Any] = {}
        if self.zone_names:
            zones = {
                "origin": [self.zone_names[zone] for zone in self.layout.origin_zones],
                "destination": [self.zone_names[zone] for zone in self.layout.destination_zones],
            }
        every = {} if self.day is None else {"every": f"{self.day.minutes} minutes"}
        return {"mobility": self.question.to_dict(), "zones": zones, **every}

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content: dict[str, Any] = {
            "schema": self.schema.to_dict(),
            "query": self.query,
            "noise": _noise_texts(self.measures),
            "confidence": self.confidence,
        }
        if (stages := self.stages) is not None:
            ways = {"sparse": _noise_texts(stages.sparse), "dense": _noise_texts(stages.dense)}
            content["stages"] = {"pilot": text_of(stages.pilot.noise), "limit": stages.limit, **ways}
        return digest_of(content)

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        return columns_read(self.question, self.schema)

    def explained(self) -> Explanation:
        """What there is to know before it is paid: the half-width of every table's intervals."""
        windows, origins, destinations = self.layout.shape
        when = f" in {windows:,} windows" if self.windowed else ""
        errors, steps = self._errors(self.measures, ""), []
        facts: dict[str, Any] = {"origins": origins, "destinations": destinations, "windows": windows}
        if (stages := self.stages) is not None:
            cells = math.prod(self.layout.shape)
            steps = [
                f"First {percent(float(stages.pilot.share))} of the price counts rows"
                f"{' of each window' if self.windowed else ''}. If that finds more than {stages.limit:,} "
                f"({number(stages.limit / cells)} a cell), flows are dense.",
                "Where they are dense, cells get the rest, and sums are added up from them; otherwise it is shared.",
            ]
            errors = self._errors((stages.pilot, *stages.sparse), ", if sparse")
            errors += self._errors((stages.pilot, *stages.dense), ", if dense")
            facts["dense_from"] = stages.limit + 1
        notes = [
            (
                "These are the half-widths of the intervals. In mostly empty tables the actual errors of cells are far "
                "smaller."
            )
        ]
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
            steps=tuple(steps),
            notes=tuple(notes),
            facts=facts,
        )

    @property
    def notes(self) -> list[Note]:
        """What is left out of every table."""
        of = " (origin, destination, window)" if self.windowed else " (origin, destination)"
        question, cells = self.question, math.prod(self.layout.shape)
        keys = question.keys if self.day is None else question.keys[:2]
        notes = cell_notes(self.schema, keys, question.condition, cells=cells, of=of, outputs=[_COUNT])
        return notes if self.day is None else [*notes, self.day.note(self.schema, (_COUNT,))]

    def _errors(self, measures: Sequence[FlowMeasure], way: str) -> list[Accuracy]:
        """The half-widths of all tables, if this is what is measured."""
        by_name, reach = (
            {measure.name: measure for measure in measures},
            reaches(self.layout, measures, self.confidence),
        )
        tables = self._tables if way else [*by_name, *([TOTAL] if self.windowed else [])]
        found = []
        for table in tables:
            source, half = reach[table]
            if (measure := by_name.get(table)) is not None:
                noise, share = noise_name(measure.noise), float(measure.share)
            else:
                noise, share = f"the sum of the {source}", None
            found.append(Accuracy(f"{table}{way}", noise, int(half.max()), share=share))
        return found

    @property
    def _tables(self) -> list[str]:
        """What is published, in order; without windows the total says what there is of them."""
        zones, windows = [ZONES] * bool(self.zone_names), [WINDOWS] * self.windowed
        return [CELLS, ORIGINS, DESTINATIONS, *zones, *windows, TOTAL]

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count in the engine, add the noise. Called by the one door only."""
        salt = [int(word) & (2**31 - 1) for word in words(bits, 8)]
        found = count_groups(data, self.question, self.schema, (Rows(),), salt)
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
        sums[PILOT] = sums[WINDOWS]

        def drawn(measure: FlowMeasure) -> Whole:
            return measure.noise.release(sums[measure.name].ravel(), bits=bits).reshape(sums[measure.name].shape)

        if self.stages is None:
            return {measure.name: drawn(measure) for measure in self.measures}
        pilot = drawn(self.stages.pilot)
        return {PILOT: pilot, **{measure.name: drawn(measure) for measure in self.stages.after(pilot)}}

    def tables(self, noisy: Mapping[str, Whole]) -> dict[str, Any]:
        """All tables, made from noisy counts alone.

        An interval is the measured number and its noise's half-width, cut at zero, and widened where it must be to
        hold the published number: it covers the truth at least as often as it says.
        """
        measures = self.measures
        if (stages := self.stages) is not None:
            measures = (stages.pilot, *stages.after(noisy[PILOT]))
        flows = reconcile(self.layout, noisy, {measure.name: measure.noise for measure in measures})
        sums = self.layout.sums(flows)
        values = {**sums, TOTAL: sums[WINDOWS].sum(keepdims=True)}
        reach, keys = reaches(self.layout, measures, self.confidence), self._keys()
        parts = {}
        for name in self._tables:
            source, half = reach[name]
            around = centre(self.layout, noisy, name, source)
            # Windows come first in the arrays and last in the tables, where they move fastest.
            value, seen, far = (
                np.moveaxis(array, 0, -1).ravel()
                for array in (values[name], around, np.broadcast_to(half, around.shape))
            )
            low = np.minimum(np.maximum(seen - far, 0), value)
            high = np.maximum(np.maximum(seen + far, 0), value)
            counts = {_COUNT: value, f"{_COUNT}_lower": low, f"{_COUNT}_upper": high}
            if len(value) > _LONG:
                packed = {end: pack(column, quick=True) for end, column in counts.items()}
                table: dict[str, Any] = {"labels": keys[name], "packed": packed}
            else:
                plain = {end: column.tolist() for end, column in counts.items()}
                table = {"columns": {**crossed(keys[name]), **plain}}
            parts[name] = {
                **table,
                "keys": list(keys[name]),
                "outputs": [_COUNT],
                "confidence": self.confidence,
                "notes": [note.to_dict() for note in self.notes],
            }
        return {"parts": parts}

    def _label(self, label: Any) -> str | int | None:
        if self.day is not None and isinstance(label, Bin):
            return self.day.label(label)
        return label if isinstance(label, (str, int, type(None))) else str(label)

    def _keys(self) -> dict[str, dict[str, list[Any]]]:
        """The keys of every table with their labels, in the order of publication."""
        named = [(key.title, [self._label(label) for label in key.labels(self.schema)]) for key in self.question.keys]
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
    *,
    staged: bool = False,
    day: DayWindows | None = None,
) -> MobilityPlan:
    """Price a release; `shares` are the parts of the price that the aggregations get. Raises before any spending.

    If `staged`, they get them only where a noisy first look finds that cells hold little.
    """
    if allotment.kind == "plan":
        raise InputError(
            "allotment", allotment.name, "a pure or zcdp allotment: a plan allotment pays for one fixed plan"
        )
    if price.way == "within":
        hint = "Give epsilon, rho or share: print(offer) shows the error of every table before anything is spent."
        raise InputError("within", float(price.amount), "left out for flows", hint)
    bought = (schema.unit, allotment, price, layout, shares)
    measures, windowed = buy_measures(*bought), len(question.keys) == 3
    plan = MobilityPlan(question, schema, allotment, price.confidence, layout, zone_names, measures, windowed)
    return replace(plan, stages=buy_stages(*bought) if staged else None, day=day)


def _noise_texts(measures: Sequence[FlowMeasure]) -> list[list[str]]:
    return [[measure.name, text_of(measure.noise)] for measure in measures]
