"""A priced release of population groups in adaptive detail: what is asked of each level, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.compose import compose
from discreet.core.digest import digest_of, text_of
from discreet.core.explanation import Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.note import Note
from discreet.core.packing import pack
from discreet.core.progress import notify
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.query.noisy_sums import NoisySums
from discreet.query.plan import noise_name
from discreet.query.price import Price
from discreet.query.table_plan import TablePlan, at_confidence
from discreet.trees.detail.count import GroupTabulation
from discreet.trees.detail.measurement import COUNT, KEYS, GroupMeasurement, asked_to
from discreet.trees.detail.stages import LevelStages, buy_level

__all__ = ["DetailPlan", "plan_detail"]

Whole = NDArray[np.int64]
_ROUGH = "Numbers of different regions and groups are estimated separately: they need not add up."


@dataclass(frozen=True, slots=True, eq=False)
class DetailPlan(TablePlan):
    """Groups of every region of every level, in as much detail as a noisy first look allows.

    Guarantee
        The noisy totals of the first look and all that is measured after it cost `cost` together, whatever was chosen.
        What is published is made of what was measured alone. Proof: docs/proofs/hierarchy.md.
    """

    kind: ClassVar[str] = "detail"
    version: ClassVar[int] = 1
    counted: GroupTabulation
    allotment: Allotment
    stages: tuple[LevelStages, ...]
    confidence: float

    @property
    def schema(self) -> Schema:
        """What is declared about the table."""
        return self.counted.finest.schema

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        return self.counted.columns

    @property
    def cost(self) -> Loss:
        """The price of both looks at all levels together."""
        return compose([stage.cost(self.allotment) for stage in self.stages])

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        named = dict.fromkeys(noise_name(one.noise) for stage in self.stages for one in stage.measures)
        return "; ".join(named) + "; detail by noisy totals"

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        return {"detail": self.counted.to_dict()}

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        asked = [
            [stage.level, [text_of(one.noise) for one in stage.measures], list(stage.thresholds)]
            for stage in self.stages
        ]
        return digest_of(
            {
                "schema": self.schema.to_dict(),
                "query": self.query,
                "tree": self.counted.finest.tree.digest,
                "asked": asked,
                "confidence": self.confidence,
            }
        )

    @property
    def notes(self) -> list[Note]:
        """What is left out, and what does not add up."""
        most = 0.4 * max(math.sqrt(stage.alone.noise.variance) for stage in self.stages)
        cut = (
            "Negative numbers are set to zero. So numbers of small groups are too large on average, by about "
            f"{float(f'{most:.2g}'):,g} for an empty group, and sums over many small groups are too large."
        )
        return [*self.counted.notes, Note("sums", _ROUGH, ()), Note("bias", cut, ())]

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        from discreet.trees.detail.explanation import explain_detail

        return explain_detail(self)

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count in the engine, look at totals, then at what they are large enough for. Called by the one door only."""
        notify("counting in the engine")
        return self.noisy(self.counted.count(data, bits), bits)

    def noisy(self, exact: Whole, bits: Bits) -> dict[str, Any]:
        """Both looks at every level, from the exact counts of leaf regions, groups and finest cells."""
        notify("adding noise")
        sums, levels = self.counted.finest.tree.sums(exact), []

        def drawn(measure: NoisySums, true: Whole) -> Whole:
            return measure.noise.release(true.ravel(), bits=bits).reshape(true.shape)

        for stage in self.stages:
            counts = sums[stage.level].reshape(-1, exact.shape[2])  # a row for each region and group
            totals = counts.sum(axis=1)
            first = drawn(stage.first, totals)
            # Nothing but the noisy totals decides: composition is adaptive.
            choice = stage.chosen(first)
            found: dict[str, Any] = {
                "first": pack(first),
                "alone": pack(drawn(stage.alone, totals[choice == 0])),
                "detailed": [],
            }
            for detail in range(len(stage.thresholds)):
                inside = choice == detail + 1
                cells = self.counted.details.add(detail, counts[inside])
                noisy = drawn(stage.total, totals[inside]), drawn(stage.detail, cells)
                found["detailed"].append([pack(one) for one in noisy])
            levels.append(found)
        return {"levels": levels}

    def publish(self, measured: Mapping[str, Any], *, confidence: float | None = None) -> dict[str, Any]:
        """One table of all groups, with intervals of the plan's confidence or of another one."""
        return at_confidence(self, confidence).table(measured)

    def table(self, measured: Mapping[str, Any]) -> dict[str, Any]:
        """The table, made from what was measured alone: regions, groups and cells in their declared order."""
        asked = asked_to(self.counted.finest.tree, self.stages)
        found = GroupMeasurement.read(asked, self.query["detail"], measured)
        return {
            "columns": found.columns(self.confidence),
            "keys": list(KEYS),
            "outputs": [COUNT],
            "confidence": self.confidence,
            "protects": str(self.unit),
            "notes": [note.to_dict() for note in self.notes],
            "asked": asked,
        }


def plan_detail(
    counted: GroupTabulation,
    allotment: Allotment,
    price: Price,
    shares: Mapping[int, Fraction],
    first: Fraction,
    thresholds: Sequence[int] | None,
) -> DetailPlan:
    """Price a release; `shares` are the parts of the price that levels get. Raises before any spending."""
    if allotment.kind == "plan":
        raise InputError("allotment", allotment.name, "a pure or zcdp allotment")
    moved, cells = counted.moved(), counted.details.sizes
    stages = tuple(
        buy_level(level, moved, allotment, price, share, first, cells, thresholds)
        for level, share in sorted(shares.items())
    )
    return DetailPlan(counted, allotment, stages, price.confidence)
