"""A priced release of a whole hierarchy: what is asked of each level, the noise it gets, and what it costs together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.accounting.compose import compose
from discreet.core.digest import digest_of, text_of
from discreet.core.explanation import Accuracy, Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.packing import pack
from discreet.core.progress import notify
from discreet.core.release import percent, plural
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.mechanisms.inputs import read_confidence
from discreet.query.noisy_sums import NoisySums
from discreet.query.plan import noise_name
from discreet.query.price import Price
from discreet.query.table_plan import TablePlan
from discreet.trees.count import Tabulation
from discreet.trees.gls import gls
from discreet.trees.intervals.each import deviations
from discreet.trees.measurement import Level, Measurement
from discreet.trees.methods import check_rules, method_named, publish_counts
from discreet.trees.record import measured_from, measured_to, published_to
from discreet.trees.rules import Rules

__all__ = ["LevelMeasure", "TreePlan", "plan_tree"]


@dataclass(frozen=True, slots=True)
class LevelMeasure(NoisySums):
    """One question to one level: its counts, or its totals over all cells."""

    level: int
    totals: bool


@dataclass(frozen=True, slots=True, eq=False)
class TreePlan(TablePlan):
    """A release of all levels under one price. Nothing is read and nothing is spent by making one.

    Guarantee
        The noisy counts of all levels together cost `cost`: the composition of what is asked of each. What is then
        made of them, consistent whole numbers with intervals, sees nothing else. Proof: docs/proofs/hierarchy.md.
    """

    kind: ClassVar[str] = "tree"
    version: ClassVar[int] = 2
    counted: Tabulation
    allotment: Allotment
    measures: tuple[LevelMeasure, ...]
    method: str
    rules: Rules
    confidence: float

    @property
    def schema(self) -> Schema:
        """What is declared about the table."""
        return self.counted.schema

    @property
    def columns(self) -> list[str]:
        """The columns of the data it reads."""
        return self.counted.columns

    @property
    def identifiers(self) -> list[str]:
        """The columns whose stored values tell groups apart, whatever they are declared as."""
        return [] if self.counted.sizes is None else [self.counted.sizes.column]

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        return _explained(self)

    @property
    def cost(self) -> Loss:
        """The price of all levels together."""
        return compose([measure.loss for measure in self.measures])

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        return (
            "; ".join(dict.fromkeys(noise_name(measure.noise) for measure in self.measures)) + f"; then {self.method}"
        )

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        return {"tree": self.counted.to_dict(), "method": self.method}

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content = {
            "schema": self.counted.schema.to_dict(),
            "query": self.query,
            "tree": self.counted.tree.digest,
            "asked": [[measure.level, measure.totals, text_of(measure.noise)] for measure in self.measures],
            "rules": {
                name: {level: pack(np.asarray(value)) for level, value in getattr(self.rules, name).items()}
                for name in ("lower", "upper", "totals", "weights")
            },
            "confidence": self.confidence,
        }
        return digest_of(content)

    def measure(self, data: Connection, bits: Bits) -> dict[str, Any]:
        """Count in the engine, add the noise. Called by the one door only."""
        notify("counting in the engine")
        return measured_to(self.noisy(self.counted.count(data, bits), bits))

    def publish(
        self,
        measured: dict[str, Any],
        *,
        method: str | None = None,
        rules: Rules | None = None,
        confidence: float | None = None,
    ) -> dict[str, Any]:
        """Whole numbers that add up, by the plan's method and rules or by others."""
        found, name = measured_from(measured), self.method if method is None else method
        sure = self.confidence if confidence is None else float(read_confidence(confidence))
        kept = self.rules if rules is None else rules
        method_named(name, chain=found.chain)
        check_rules(found.tree, found.cells, kept, chain=found.chain)
        # If a method fails nothing is lost: `again` makes something else of what is on record.
        estimate = publish_counts(name, found, kept, sure)
        return {
            "tree": {
                "by": [[name, labels] for name, labels in self.counted.labels],
                "cumulative": found.chain,
                "confidence": sure,
                "published": None if estimate is None else published_to(estimate, name),
            },
            "notes": [note.to_dict() for note in self.counted.notes],
        }

    def noisy(self, exact: Any, bits: Bits) -> Measurement:
        """The noisy counts of every level, from the exact ones of the leaves."""
        notify("adding noise")
        tree = self.counted.tree
        sums = tree.sums(exact)
        levels = [Level() for _ in sums]
        for measure in self.measures:
            true = sums[measure.level].sum(axis=1) if measure.totals else sums[measure.level]
            noisy = measure.noise.release(true.ravel(), bits=bits).reshape(true.shape)
            old = levels[measure.level]
            levels[measure.level] = (
                Level(old.counts, old.noise, noisy, measure.noise)
                if measure.totals
                else Level(noisy, measure.noise, old.totals, old.totals_noise)
            )
        return Measurement(tree, tuple(levels), self.counted.chain)


def plan_tree(
    counted: Tabulation,
    allotment: Allotment,
    price: Price,
    shares: Mapping[tuple[int, bool], Fraction],
    method: str,
    rules: Rules,
) -> TreePlan:
    """Price a release. `shares` says which part of the price goes to (level, totals or counts)."""
    if allotment.kind == "plan":
        raise InputError("allotment", allotment.name, "a pure or zcdp allotment")
    if sum(shares.values()) > 1:
        raise InputError("split", float(sum(shares.values())), "shares that add up to at most 1")
    # Rules that nothing can meet must not be found out after spending.
    check_rules(counted.tree, counted.cells, rules, chain=counted.chain)
    measures = []
    for (level, totals), share in sorted(shares.items()):
        moved, merged = counted.moved(level, totals=totals)
        (noise,) = price.part(share).buys(allotment, [moved], [None])
        measures.append(LevelMeasure(share, noise, moved, merged, level, totals))
    return TreePlan(counted, allotment, tuple(measures), method, rules, price.confidence)


def _explained(plan: TreePlan) -> Explanation:
    """Half-widths for a typical region once the levels inform each other.

    Bounds and whole numbers, which come after, mostly narrow them where counts are small.
    """
    counted, tree = plan.counted, plan.counted.tree
    levels, errors = _levels(plan), []
    several = counted.cells > 1 and counted.sizes is None
    for index, row in enumerate(levels):
        cells_noise, totals_noise = (
            [noise_name(one.noise) for one in plan.measures if one.level == index and one.totals == totals]
            for totals in (False, True)
        )
        unasked = _unasked(plan, row["level"])
        name = f"{row['level']}, a cell" if several else str(row["level"])
        noise = "; ".join(cells_noise if several else cells_noise + totals_noise) or unasked
        errors.append(Accuracy(name, noise, row["cell"], share=row["share"]))
        if several:
            errors.append(Accuracy(f"{row['level']}, a total", "; ".join(totals_noise) or unasked, row["total"]))
    cells = "one number" if counted.cells == 1 else f"{counted.cells:,} cells"
    numbers = sum(tree.sizes) * counted.cells
    regions = ", ".join(f"{row['level']} ({plural(row['regions'], 'region')})" for row in levels)
    notes = [
        f"Errors are {percent(plan.confidence)} half-widths of the best linear estimate, before bounds are used.",
        *(note.text for note in counted.notes),
    ]
    return Explanation(
        title=f"Plan for a hierarchy of {plan.dataset!r}",
        unit=str(counted.schema.unit),
        shape=(
            f"Releases {numbers:,} whole numbers that add up: {cells} a region. Method: {plan.method}.",
            f"Levels: {regions}.",
        ),
        errors=tuple(errors),
        confidence=plan.confidence,
        notes=tuple(notes),
        facts={"method": plan.method, "cells": counted.cells, "levels": levels},
    )


def _levels(plan: TreePlan) -> list[dict[str, Any]]:
    """Of every level its name, regions, share of the price and noise, and the half-widths of a cell and of a total."""
    tree, cells = plan.counted.tree, plan.counted.cells
    levels = [Level() for _ in tree.names]
    for measure in plan.measures:
        old = levels[measure.level]
        if measure.totals:
            nothing = np.zeros(tree.sizes[measure.level], np.int64)
            levels[measure.level] = Level(old.counts, old.noise, nothing, measure.noise)
        else:
            nothing = np.zeros((tree.sizes[measure.level], cells), np.int64)
            levels[measure.level] = Level(nothing, measure.noise, old.totals, old.totals_noise)
    measured = Measurement(tree, tuple(levels))
    best, z = gls(measured), deviations(measured, 1 - plan.confidence)
    rows = []
    for index, name in enumerate(tree.names):
        here = [measure for measure in plan.measures if measure.level == index]
        rows.append(
            {
                "level": name,
                "regions": tree.sizes[index],
                "share": float(sum(measure.share for measure in here)),
                "noise": "; ".join(noise_name(a.noise) + (" for totals" if a.totals else "") for a in here),
                "cell": z * math.sqrt(float(np.median(best.variance[index]))),
                "total": z * math.sqrt(float(np.median(best.total_variance[index]))),
            }
        )
    return rows


def _unasked(plan: TreePlan, level: str) -> str:
    tree = plan.counted.tree
    alike = tree.distinct[tree.level(level)]
    return "not asked" if tree.names[alike] == level else f"the regions of {tree.names[alike]}, asked once"
