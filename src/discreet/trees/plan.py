"""A priced release of a whole hierarchy: what is asked of each level, the noise it gets, and what it costs together."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.accounting.compose import compose
from discreet.accounting.convert import pure
from discreet.core.decision import Decision
from discreet.core.digest import digest_of, text_of
from discreet.core.explanation import Explanation
from discreet.core.loss import Loss
from discreet.core.mechanism import Bits
from discreet.core.progress import notify
from discreet.data.schema import Schema
from discreet.data.source import Connection
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.mechanisms.inputs import read_confidence
from discreet.query.noisy_sums import NoisySums
from discreet.query.plan import noise_name
from discreet.query.price import Price
from discreet.query.table_plan import TablePlan
from discreet.trees.components import margin_of
from discreet.trees.count import Tabulation
from discreet.trees.declaration import resolve_rules
from discreet.trees.estimate import Estimate
from discreet.trees.grain import coarse_noise, coarse_values, rounding_notes, rules_in_steps, step_for, unit_for
from discreet.trees.measurement import Level, Margin, Measurement
from discreet.trees.methods import check_rules, method_named, publish_counts
from discreet.trees.record import measured_from, measured_to, published_to, rules_to
from discreet.trees.rules import Rules
from discreet.trees.shared_answers import COUNTS, TOTALS, Question, chains_of, draw_answers
from discreet.trees.targets import Family

__all__ = ["LevelMeasure", "Sparse", "TreePlan", "measured_as", "plan_tree"]


@dataclass(frozen=True, slots=True)
class LevelMeasure(NoisySums):
    """One question to one level: its counts, its totals over all cells, or the margin of some columns."""

    level: int
    totals: bool
    axes: tuple[int, ...] | None = None

    @property
    def kind(self) -> Hashable:
        """What is asked: cells, totals, or the margin of these columns."""
        return self.axes if self.axes is not None else TOTALS if self.totals else COUNTS

    def of(self, counts: Any, shape: tuple[int, ...]) -> Any:
        """What it asks for, of the counts of its level."""
        if self.axes is not None:
            return margin_of(counts, shape, self.axes)
        return counts.sum(axis=1) if self.totals else counts


@dataclass(frozen=True, slots=True)
class Sparse:
    """What is asked instead if the root's noisy total is below a public limit; its own question is the same."""

    below: int
    measures: tuple[LevelMeasure, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TreePlan(TablePlan):
    """A release of all levels under one price. Nothing is read and nothing is spent by making one.

    Guarantee
        The noisy counts of all levels together cost `cost`: the composition of what is asked of each. What is then
        made of them, consistent whole numbers with intervals, sees nothing else. Where `sparse` says so, the root's
        noisy total, asked first, decides how the rest is asked; each way costs at most `cost`. Proof:
        docs/proofs/hierarchy.md.
    """

    kind: ClassVar[str] = "tree"
    version: ClassVar[int] = 2
    counted: Tabulation
    allotment: Allotment
    measures: tuple[LevelMeasure, ...]
    method: str
    rules: Rules
    confidence: float
    sparse: tuple[Sparse, ...] = ()
    expected: float | None = None
    rounding: Fraction = Fraction(1)
    """What published numbers are multiples of: one, unless magnitudes are summed."""

    targets: tuple[Family, ...] = ()
    """Regions that are none of the tree's, published as sums of leaf regions."""

    given: TreePlan | None = None
    """What the given tree would have got at the same price, where another spine is asked. It is only told of."""

    pooled: bool = False
    """Whether regions with a single child are asked once, with the shares of both levels: at pure epsilon only."""

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

    @property
    def step(self) -> Fraction:
        """What one of the noisy numbers on record stands for, and one of those of the rules."""
        return step_for(self.counted.step, self.rounding)

    @property
    def grain(self) -> int:
        """How many such steps published numbers are multiples of."""
        return int(self.rounding / self.step)

    @property
    def fine(self) -> int:
        """How many steps of what the engine sums are one of these."""
        return int(self.step / self.counted.step)

    @property
    def ways(self) -> tuple[tuple[LevelMeasure, ...], ...]:
        """All that may be asked, one of which is."""
        return (self.measures, *(one.measures for one in reversed(self.sparse)))

    def explained(self) -> Explanation:
        """What there is to know before it is paid."""
        from discreet.trees.explanation import explain_tree

        return explain_tree(self)

    @property
    def single(self) -> dict[int, int]:
        """How many regions of each level would have the answer of their only child, were they asked once."""
        empty, found = np.zeros(0, np.int64), dict[int, int]()
        for measures in self.ways:
            asked = [Question(one.level, one.kind, one.noise, empty) for one in measures]
            for (_, level), one in chains_of(self.counted.tree, asked).items():
                found[level] = max(found.get(level, 0), int((one.only >= 0).sum()))
        return {level: many for level, many in sorted(found.items()) if many}

    @property
    def cost(self) -> Loss:
        """The price of all levels together: the most that any way of asking costs."""
        losses = [compose([measure.loss for measure in measures]) for measures in self.ways]
        most = max(losses, key=lambda loss: self.allotment.price(loss).amount)
        # One answer with the rates of two costs their epsilons, and no less at any delta.
        return pure(most) if self.pooled else most

    @property
    def former(self) -> tuple[TreePlan, ...]:
        """What earlier versions made of the same ask: every region was asked, those with a single child too."""
        return (replace(self, pooled=False),) if self.pooled else ()

    @property
    def mechanism(self) -> str:
        """What adds the noise, in words."""
        named = dict.fromkeys(noise_name(measure.noise) for measures in self.ways for measure in measures)
        return "; ".join(named) + f"; then {self.method}"

    @property
    def query(self) -> dict[str, Any]:
        """The question as plain values, for the record."""
        return {"tree": self.counted.to_dict(), "method": self.method}

    @property
    def digest(self) -> str:
        """A hash of everything that decides the law of the result."""
        content: dict[str, Any] = {
            "schema": self.counted.schema.to_dict(),
            "query": self.query,
            "tree": self.counted.tree.digest,
            "asked": _asked(self.measures),
            "rules": rules_to(self.rules),
            "confidence": self.confidence,
        }
        if self.targets:
            content["targets"] = [one.to_dict() for one in self.targets]
        if self.pooled:
            content["pooled"] = True
        if self.sparse:
            content["sparse"] = [[one.below, _asked(one.measures)] for one in self.sparse]
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
        kept = self.rules
        if rules is not None:
            kept = rules_in_steps(resolve_rules(rules, found.tree, self.counted.labels), self.step)
        method_named(name, chain=found.chain, sums=self.counted.magnitude is not None)
        check_rules(found.tree, found.cells, kept, chain=found.chain)
        # If a method fails nothing is lost: `again` makes something else of what is on record.
        estimate = publish_counts(name, found, kept, sure, self.grain)
        return {
            "tree": self.entry(estimate, name, kept, sure),
            "notes": [note.to_dict() for note in (*self.counted.notes, *rounding_notes(self.rounding, self.grain))],
        }

    def decide(
        self,
        sizes: Any,
        *,
        fund: float | None = None,
        threshold: float | None = None,
        by: Any = None,
        level: str | None = None,
        repair: str | None = None,
        blend: float = 0.0,
        draws: int = 16,
    ) -> Decision:
        """What it would do to a decision if leaf regions had these `sizes`: see `trees.decision.decide_plan`."""
        from discreet.trees.decision import decide_plan

        how = {"fund": fund, "threshold": threshold, "by": by, "repair": repair}
        return decide_plan(self, sizes, **how, level=level, blend=blend, draws=draws)

    def entry(self, estimate: Estimate | None, method: str, rules: Rules, confidence: float) -> dict[str, Any]:
        """What is published, as the record has it."""
        written = rules_to(rules)
        if rules.declared:
            written["declared"] = list(rules.declared)
        return {
            "by": [[name, labels] for name, labels in self.counted.labels],
            "cumulative": self.counted.chain,
            "confidence": confidence,
            "protects": str(self.unit),
            **({} if self.counted.magnitude is None else {"step": str(self.step), "rounding": str(self.rounding)}),
            **({"rules": written} if any(written.values()) else {}),
            **({"targets": [one.to_dict() for one in self.targets]} if self.targets else {}),
            "published": None if estimate is None else published_to(estimate, method),
        }

    def noisy(self, exact: Any, bits: Bits) -> Measurement:
        """The noisy counts of every level, from the exact ones of the leaves."""
        notify("adding noise")
        sums = self.counted.tree.sums(exact)

        def question(measure: LevelMeasure) -> Question:
            true = measure.of(sums[measure.level], self.counted.shape)
            return Question(measure.level, measure.kind, measure.noise, true)

        tree, pooled = self.counted.tree, self.pooled
        measures, known = self.measures, {}
        if self.sparse:
            first = next(measure for measure in self.measures if measure.totals)
            known = {first.level: draw_answers(tree, [question(first)], bits, pooled=False)[0]}
            # Nothing but the noisy total decides: composition is adaptive.
            total = int(known[first.level][0])
            measures = next((one.measures for one in self.sparse if total < one.below), self.measures)
        rest = [measure for measure in measures if not (measure.totals and measure.level in known)]
        fresh = iter(draw_answers(tree, [question(measure) for measure in rest], bits, pooled=pooled))
        answers = [
            known[measure.level] if measure.totals and measure.level in known else next(fresh) for measure in measures
        ]
        return measured_as(self.counted, measures, answers, self.fine, pooled=pooled)


def measured_as(
    counted: Tabulation,
    measures: Sequence[LevelMeasure],
    answers: Sequence[Any],
    grain: int = 1,
    *,
    pooled: bool = False,
) -> Measurement:
    """Answers to questions about levels, put together: in `grain` of the steps that they come in."""
    levels = [Level() for _ in counted.tree.names]
    for measure, answer in zip(measures, answers, strict=True):
        old, noisy, noise = levels[measure.level], coarse_values(answer, grain), coarse_noise(measure.noise, grain)
        if measure.axes is not None:
            levels[measure.level] = replace(old, margins=(*old.margins, Margin(measure.axes, noisy, noise)))
        elif measure.totals:
            levels[measure.level] = replace(old, totals=noisy, totals_noise=noise)
        else:
            levels[measure.level] = replace(old, counts=noisy, noise=noise)
    shape = counted.shape if any(level.margins for level in levels) else ()
    return Measurement(counted.tree, tuple(levels), counted.chain, shape, pooled)


def _asked(measures: Sequence[LevelMeasure]) -> list[Any]:
    return [[one.level, one.totals if one.axes is None else list(one.axes), text_of(one.noise)] for one in measures]


def plan_tree(
    counted: Tabulation,
    allotment: Allotment,
    price: Price,
    shares: Mapping[tuple[int, bool], Fraction],
    method: str,
    rules: Rules,
    sparse: Sequence[tuple[float, Mapping[tuple[int, bool], Fraction]]] = (),
    expected: float | None = None,
    margins: Mapping[tuple[int, tuple[int, ...]], Fraction] | None = None,
) -> TreePlan:
    """Price a release. `shares` says which part of the price goes to (level, totals or counts).

    `sparse` are other shares for small counts (`sparse_splits`). They are taken at once if `expected`, a public total
    of all counts, says so; else the root's noisy total will decide. `margins` are parts for (level, columns) more.
    """
    if allotment.kind == "plan":
        raise InputError("allotment", allotment.name, "a pure or zcdp allotment")
    more = margins or {}
    for parts in (shares, *(parts for _, parts in sparse)):
        if (whole := sum(parts.values()) + sum(more.values())) > 1:
            raise InputError("split", float(whole), "shares that add up to at most 1")
    measures = (*_margin_measures(counted, allotment, price, more), *_measures(counted, allotment, price, shares))
    deviation = math.sqrt(measures[-2 if measures[-1].totals else -1].noise.variance)
    several = counted.tree.leaves * counted.cells
    others = tuple(
        Sparse(math.floor(limit * deviation * several), _measures(counted, allotment, price, parts))
        for limit, parts in sparse
    )
    if expected is not None:
        measures = next((one.measures for one in others if expected / counted.step < one.below), measures)
        others = ()
    rounding = Fraction(1)
    if counted.magnitude is not None:
        asked = [one for way in (measures, *(other.measures for other in others)) for one in way]
        rounding = unit_for(counted.step, math.sqrt(min(one.noise.variance for one in asked)))
        rules = rules_in_steps(rules, step_for(counted.step, rounding))
    # Rules that nothing can meet must not be found out after spending.
    check_rules(counted.tree, counted.cells, rules, chain=counted.chain)
    plan = TreePlan(counted, allotment, measures, method, rules, price.confidence, others, expected, rounding)
    return replace(plan, pooled=allotment.kind == "pure" and bool(plan.single))


def _measures(
    counted: Tabulation, allotment: Allotment, price: Price, shares: Mapping[tuple[int, bool], Fraction]
) -> tuple[LevelMeasure, ...]:
    """The questions to levels, each with the noise that its share of the price buys; the leaves' come last."""
    measures = []
    for (level, totals), share in sorted(shares.items()):
        moved, merged = counted.moved(level, totals=totals)
        (noise,) = price.part(share).buys(allotment, [moved], [None])
        measures.append(LevelMeasure(share, noise, moved, merged, level, totals))
    return tuple(measures)


def _margin_measures(
    counted: Tabulation,
    allotment: Allotment,
    price: Price,
    margins: Mapping[tuple[int, tuple[int, ...]], Fraction],
) -> tuple[LevelMeasure, ...]:
    """The questions for margins: sums of cells, in which several cells of a unit may have merged."""
    measures = []
    for (level, axes), share in sorted(margins.items()):
        moved, merged = counted.moved(level, axes=axes)
        (noise,) = price.part(share).buys(allotment, [moved], [None])
        measures.append(LevelMeasure(share, noise, moved, merged, level, totals=False, axes=axes))
    return tuple(measures)
