"""The house's own method: few codes, many small marginals, one tree, and weights for what the tree cannot hold.

1. Every column is measured alone, and its codes are merged where noise hides them (`compress`).
2. If the price allows it, all pairs of the workload are measured at once and those that differ from independence are
   kept ("flat"). Otherwise the marginals that the model gets most wrong are chosen, some at a time, and measured, with
   less noise once there is little left to see ("adaptive").
3. A junction tree of bounded size is fitted. Marginals that would make it too large are met by weighting its rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InputError
from discreet.synth.compress import compress
from discreet.synth.counts import Columns
from discreet.synth.junction import tree_cells
from discreet.synth.meter import Meter, Noisy
from discreet.synth.model import Model, fit, noisy_total, target_of
from discreet.synth.replay import Replay, key_of
from discreet.synth.reweight import Weighted, reweight
from discreet.synth.synthetic import Synthetic
from discreet.synth.target import Target
from discreet.synth.workload import Workload, closure, read_workload

__all__ = ["mosaic"]

CELLS = 20_000
"""How many cells the tree's cliques may have together."""
_PAIRS = Fraction(14, 17)  # of what single columns leave, the part that all pairs get at once
_SELECT = Fraction(1, 10)  # of what a pick costs, the part that goes into choosing
_BATCH = 6
_LATE = 8  # picks after all pairs were measured
_ROUND, _END, _WEIGH = 40, 300, 60  # steps of descent
_NOISE = math.sqrt(2 / math.pi)  # the mean of |x| for x normal


def mosaic(meter: Meter, workload: Workload, rows: int | None = None, way: str | None = None) -> Synthetic:
    """Rows made by the house's own method; `way` is "flat" or "adaptive", by default what the price suits.

    Guarantee
        Everything private is asked of the meter: the whole costs its price, and no more.
    """
    wanted = read_workload(workload, meter.domain)
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 0):
        raise InputError("rows", rows, "a whole number, 0 or more")
    if way not in (None, "flat", "adaptive"):
        raise InputError("way", way, '"flat", "adaptive" or None')
    return _Mosaic(meter, wanted, rows, way).made()


@dataclass(slots=True)
class _Pick:
    """A marginal measured in bins."""

    noisy: Noisy
    target: Target


class _Mosaic:
    def __init__(self, meter: Meter, workload: dict[Columns, float], rows: int | None, way: str | None) -> None:
        self.meter, self.workload, self.wanted_rows, self.way = meter, workload, rows, way
        self.held: list[Target] = []  # in the tree
        self.loose: list[Target] = []  # not
        self.measured: list[Noisy] = []
        self.notes: list[str] = []
        self.model: Model | None = None

    def made(self) -> Synthetic:
        meter = self.meter
        width = len(meter.domain)
        bearing = closure(self.workload, least=2)
        meter.prepare([(column,) for column in range(width)])
        share = _alone(width) if bearing else Fraction(1)
        ones = [self._keep(meter.measure((column,), share * meter.price / width)) for column in range(width)]
        self.total = max(noisy_total(ones), 1.0)
        self.compressed = compress(meter.domain, ones, self.total)
        self.sizes = self.compressed.sizes
        self.coarse = meter.merged(self.compressed.bins)
        self.held = list(self.compressed.targets)
        if bearing:
            meter.prepare(bearing)
            pairs = [columns for columns in bearing if len(columns) == 2]
            amount = _PAIRS * (1 - share) * meter.price / len(pairs)
            flat = self.way == "flat" if self.way else self._suits(pairs, amount)
            self.notes.append("all pairs measured" if flat else "marginals chosen")
            if flat:
                self._flat(pairs, amount, bearing)
            else:
                self._adaptive(bearing)
        return self._finish()

    def _keep(self, noisy: Noisy) -> Target:
        self.measured.append(noisy)
        return target_of(noisy)

    def _suits(self, pairs: Sequence[Columns], amount: Fraction) -> bool:
        """Whether noise on all pairs leaves them good enough."""
        deviation = math.sqrt(self.meter.noise(amount).variance)
        cells = sum(self.coarse.domain.cells(columns) for columns in pairs) / len(pairs)
        return 0.4 * deviation * cells / self.total <= 0.08

    # All pairs at once.

    def _flat(self, pairs: Sequence[Columns], amount: Fraction, bearing: dict[Columns, float]) -> None:
        model = self._fitted(_ROUND)
        telling: list[tuple[float, Target]] = []
        for columns in pairs:
            target = self._keep(self.coarse.measure(columns, amount))
            off = target.values - model.marginal(columns)
            variance = float(target.variance)
            noise = math.sqrt(variance)
            if (off**2).sum() >= 1.5 * variance * off.size or np.abs(off).max() > 4 * noise:
                telling.append((float(np.abs(off).sum()) - _NOISE * noise * off.size, target))
        telling.sort(key=lambda one: -one[0])
        for _, target in telling:
            self._place(target)
        model = self._fitted(_ROUND * 2)
        known = self._weighted(model)
        self._batch(bearing, known, self.meter.left / _LATE, _LATE)

    def _place(self, target: Target) -> None:
        """Into the tree if it stays small enough, else to the marginals met by weights."""
        marginals = [one.columns for one in self.held]
        fits = tree_cells(self.sizes, [*marginals, target.columns]) <= CELLS
        (self.held if fits else self.loose).append(target)

    # Some at a time.

    def _adaptive(self, bearing: dict[Columns, float]) -> None:
        width = len(self.sizes)
        each = self.meter.price / (8 * width if self.meter.currency == "rho" else 2 * width)
        model = self._fitted(_ROUND)
        while self.meter.left > 0:
            last = self.meter.left < 2 * _BATCH * each
            amount = self.meter.left / _BATCH if last else each
            marginals = [one.columns for one in self.held]
            bearable = {
                columns: weight
                for columns, weight in bearing.items()
                if tree_cells(self.sizes, [*marginals, columns]) <= CELLS
            }
            before = model
            picks = self._batch(bearable or bearing, model, amount, _BATCH)
            model = self._fitted(_ROUND, model)
            little = 0
            for target in picks:
                moved = np.abs(model.marginal(target.columns) - before.marginal(target.columns)).sum()
                little += moved <= _NOISE * math.sqrt(float(target.variance)) * target.values.size
            if 2 * little > len(picks):
                each *= 4 if self.meter.currency == "rho" else 2
        self.notes.append(f"{len(self.measured) - width} marginals measured")

    def _batch(
        self, bearing: dict[Columns, float], known: Model | Weighted, amount: Fraction, many: int
    ) -> list[Target]:
        """Choose and measure some marginals, at `amount` each; if there are fewer to choose from, at more."""
        candidates = list(bearing)
        k = min(many, len(candidates))
        spent = amount * many
        pay = (1 - _SELECT) * spent / k
        deviation = math.sqrt(self.meter.noise(pay).variance)
        penalties = [_NOISE * deviation * self.coarse.domain.cells(columns) for columns in candidates]
        weights = list(bearing.values())
        heaviest = max(weights)
        chosen = self.coarse.choose(
            candidates,
            known.marginal,
            _SELECT * spent,
            k=k,
            weights=[weight / heaviest for weight in weights],
            penalties=penalties,
        )
        picks = [self._keep(self.coarse.measure(candidates[place], pay)) for place in chosen]
        for target in picks:
            self._place(target)
        return picks

    # From what was measured to rows.

    def _fitted(self, steps: int, start: Model | None = None) -> Model:
        self.model = fit(self.sizes, self.held, total=self.total, start=start, steps=steps)
        return self.model

    def _weighted(self, model: Model, steps: int = _WEIGH) -> Weighted | Model:
        if not self.loose:
            return model
        rows = model.rows(max(round(self.total), 1))
        return reweight(model, rows, [*self.held, *self.loose], steps=_WEIGH)

    def _finish(self) -> Synthetic:
        model = self._fitted(_END, self.model)
        count = max(round(self.total), 0) if self.wanted_rows is None else self.wanted_rows
        known = self._weighted(model)
        bits = Replay(key_of(list(model.potentials.values()), "mosaic"))
        self.notes.append(f"a tree of {model.cells:,} cells, {len(self.loose)} marginals beside it")
        if isinstance(known, Weighted):
            self.notes.append(f"{known.effective:.0%} of the weighted rows count")
        codes = self.compressed.expand(known.rows(count, bits), bits)
        return Synthetic(
            codes, self.total, tuple(self.measured), self.compressed.bins, len(self.sizes), tuple(self.notes)
        )


def _alone(width: int) -> Fraction:
    """The part of the price for single columns: more where there are many of them."""
    return min(max(Fraction(15, 100) + Fraction(25, 100) * Fraction(width - 14, 34), Fraction(15, 100)), Fraction(2, 5))
