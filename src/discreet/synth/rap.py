"""Relaxed adaptive projection (RAP): a table of undecided rows, bent by gradients until it agrees with noisy marginals.

1. Every column is measured alone. That says about how many rows there are, which codes noise hides (they are merged,
   see `compress`), and where to start.
2. Round by round, the marginals that the table gets most wrong are chosen and measured with fresh noise, and the table
   is fitted to all that was measured so far. With one round nothing is chosen: the whole workload is measured.
3. Every undecided row becomes many decided ones: each column is dealt by the distribution that the row gives it.

After "Differentially Private Query Release Through Adaptive Projection" (Aydore et al., 2021). Whole marginals are
chosen here, not single cells of them; how many rows there are is private, and measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.core.progress import tell
from discreet.errors import InputError
from discreet.synth.calibrate import Floats
from discreet.synth.compress import compress
from discreet.synth.counts import Columns
from discreet.synth.descent import Target, merged
from discreet.synth.meter import Meter, Noisy
from discreet.synth.model import noisy_total, target_of
from discreet.synth.relaxed import PROJECTIONS, Projection, Relaxed, load
from discreet.synth.replay import Replay, key_of
from discreet.synth.sample import Codes, deal
from discreet.synth.simplex import simplex
from discreet.synth.synthetic import Synthetic
from discreet.synth.tiles import cut
from discreet.synth.workload import Workload, read_workload

__all__ = ["rap"]

_ALONE = Fraction(15, 100)  # of the price, the part for single columns
_SELECT = Fraction(1, 10)  # of what a pick costs, the part that goes into choosing
_MIXED = 0.5  # how undecided rows are to start with
_ROUND, _END = 150, 500  # steps of descent
_PACE = 0.05
_LEAST = 1e-3  # a variance that counts as none
_NOISE = math.sqrt(2 / math.pi)  # the mean of |x| for x normal


def rap(
    meter: Meter,
    workload: Workload,
    rows: int | None = None,
    *,
    relaxed_rows: int = 1000,
    rounds: int = 10,
    per_round: int = 5,
    projection: Projection = "softmax",
) -> Synthetic:
    """Rows made by relaxed adaptive projection, on a GPU if JAX finds one.

    `relaxed_rows` are the undecided rows. In each of the `rounds`, `per_round` marginals are chosen. The `projection`
    makes distributions of what is fitted: "sparsemax" may rule codes out, "softmax" only makes them unlikely.

    Guarantee
        Everything private is asked of the meter: the whole costs its price, and no more.
    """
    wanted = read_workload(workload, meter.domain)
    if rows is not None:
        _check("rows", rows, 0)
    _check("relaxed_rows", relaxed_rows, 1)
    _check("rounds", rounds, 1)
    _check("per_round", per_round, 1)
    if projection not in PROJECTIONS:
        raise InputError("projection", projection, " or ".join(f'"{one}"' for one in PROJECTIONS))
    load()  # what is missing is missed before anything is spent
    return _Rap(meter, wanted, rows, relaxed_rows, rounds, per_round, projection).made()


def _check(field: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**31:
        raise InputError(field, value, f"a whole number, {least} or more")


class _Rap:
    def __init__(
        self,
        meter: Meter,
        workload: dict[Columns, float],
        rows: int | None,
        relaxed_rows: int,
        rounds: int,
        per_round: int,
        projection: Projection,
    ) -> None:
        self.meter, self.wanted_rows = meter, rows
        self.relaxed_rows, self.rounds, self.per_round, self.projection = relaxed_rows, rounds, per_round, projection
        self.width = len(meter.domain)
        self.workload = {columns: weight for columns, weight in workload.items() if len(columns) > 1}
        self.measured: list[Noisy] = []
        self.targets: dict[int, Target] = {}  # by place: single columns, then candidates

    def made(self) -> Synthetic:
        meter = self.meter
        ones: list[Columns] = [(column,) for column in range(self.width)]
        meter.prepare(ones)
        share = _ALONE if self.workload else Fraction(1)
        alone = [self._keep(meter.measure(columns, share * meter.price / self.width)) for columns in ones]
        self.total = max(noisy_total(alone), 1.0)
        compressed = compress(meter.domain, alone, self.total)
        self.sizes = compressed.sizes
        self.coarse = meter.merged(compressed.bins)
        self.targets.update(enumerate(compressed.targets))
        self.candidates = list(self.workload)
        meter.prepare(self.candidates)
        start = self._start(compressed.targets)
        self.table = Relaxed(cut(self.sizes, [*ones, *self.candidates]), start, self.projection)
        if self.candidates and self.rounds == 1:
            pay = meter.left / len(self.candidates)
            self._measure(range(len(self.candidates)), pay)
        elif self.candidates:
            for number in range(self.rounds):
                self._round(number)
        off = self.table.fit(self.targets, self.total, _END, _PACE, "fitting at the end")
        notes = (
            f"{len(self.measured) - self.width} marginals measured",
            f"{self.relaxed_rows:,} undecided rows of {sum(self.sizes):,} features, {off:.2g} variances from them",
        )
        tell("making rows")
        bits = self._bits("rows")
        codes = compressed.expand(self._rows(bits), bits)
        return Synthetic(codes, self.total, tuple(self.measured), compressed.bins, self.width, notes)

    def _keep(self, noisy: Noisy) -> Target:
        self.measured.append(noisy)
        target = target_of(noisy)
        return Target(target.columns, target.values, np.maximum(target.variance, _LEAST))

    def _bits(self, purpose: str) -> Replay:
        """Chance that follows from what was measured: public, and the same each time."""
        return Replay(key_of([target_of(one).values for one in self.measured], f"rap {purpose}"))

    def _start(self, alone: Sequence[Target]) -> Floats:
        """Rows that agree with single columns and are independent: half decided, half as undecided as the column."""
        bits, blocks = self._bits("start"), []
        for target in alone:
            shares = simplex(target.values, self.total) / self.total
            shares = 0.999 * shares + 0.001 / len(shares)  # nothing is ruled out yet
            codes = deal(shares[None], np.zeros(self.relaxed_rows, dtype=np.int64), bits)
            blocks.append((1 - _MIXED) * np.eye(len(shares))[:, codes] + _MIXED * shares[:, None])
        return np.concatenate(blocks)

    def _round(self, number: int) -> None:
        """Choose marginals that the table gets wrong and measure them; in the last round, for all that is left."""
        stage = f"fitting, round {number + 1} of {self.rounds}"
        self.table.fit(self.targets, self.total, _ROUND, _PACE, stage)
        many = min(self.per_round, len(self.candidates))
        amount = self.meter.left / (self.rounds - number)
        pay = (1 - _SELECT) * amount / many
        deviation = math.sqrt(self.meter.noise(pay).variance)
        answers = dict(zip(self.candidates, self.table.answers()[self.width :], strict=True))
        chosen = self.coarse.choose(
            self.candidates,
            lambda columns: self.total * answers[columns],
            _SELECT * amount,
            k=many,
            penalties=[_NOISE * deviation * self.coarse.domain.cells(columns) for columns in self.candidates],
        )
        self._measure(chosen, pay)

    def _measure(self, chosen: Sequence[int], pay: Fraction) -> None:
        for place in chosen:
            target = self._keep(self.coarse.measure(self.candidates[place], pay))
            before = self.targets.get(self.width + place)
            self.targets[self.width + place] = target if before is None else merged([before, target])[0]

    def _rows(self, bits: Replay) -> Codes:
        """Decided rows, about as many from each undecided one; those are in no order, so any may be left out."""
        count = max(round(self.total), 0) if self.wanted_rows is None else self.wanted_rows
        if count == 0:
            return np.zeros((0, self.width), dtype=np.int64)
        origin = np.arange(count) * self.relaxed_rows // count
        blocks = np.split(self.table.shares, np.cumsum(self.sizes)[:-1])
        return np.stack([deal(block.T, origin, bits) for block in blocks], axis=1)
