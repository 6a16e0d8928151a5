"""Relaxed adaptive projection (RAP): a table of undecided rows, bent by gradients until it agrees with noisy marginals.

1. Every column is measured alone. That says about how many rows there are, which codes noise hides (they are merged,
   see `compress`), and where to start.
2. Round by round, the marginals that the table gets most wrong, of the workload and the pairs in it, are chosen and
   measured with fresh noise, and the table is fitted to all that was measured so far. With one round nothing is chosen:
   the whole workload is measured.
3. Every undecided row becomes many decided ones: each column is dealt by the distribution that the row gives it.

After "Differentially Private Query Release Through Adaptive Projection" (Aydore et al., 2021), whose T, K and n' are
`rounds`, `per_round` and `relaxed_rows` here. Where this departs from what was published stands in
docs/guides/synthetic.md: whole marginals are chosen, not single cells of them; how many rows there are is private, and
measured; codes that noise hides are merged; marginals are fitted in parts of their variances.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from discreet.core.progress import notify
from discreet.marginals.counts import Columns
from discreet.marginals.meter import Meter, Noisy
from discreet.noise.replay import Replay, key_of
from discreet.synth.compression import compress
from discreet.synth.descent import Target, average_targets
from discreet.synth.junction import Floats
from discreet.synth.method_option import MethodOption
from discreet.synth.model import noisy_total, simplex, target_of
from discreet.synth.relaxation import PROJECTIONS, Projection, RelaxedTable, load
from discreet.synth.sample import Codes, deal
from discreet.synth.synthetic import Synthetic, mean_noise, read_rows, row_count
from discreet.synth.tiles import cut
from discreet.synth.workload import Workload, read_workload

__all__ = ["column_prices", "outline", "rap"]

_ALONE = Fraction(15, 100)  # of the price, the part for single columns
_SELECT = Fraction(1, 10)  # of what a pick costs, the part that goes into choosing
_MIXED = 0.9  # how undecided rows are to start with
_ROUND, _END = 150, 500  # steps of descent
_PACE: dict[Projection, float] = {"sparsemax": 0.05, "softmax": 0.2}
_ROUNDS = 5  # unless one is enough
_PICKS = 10  # in each of them
_RELAXED = 1000
_LEAST = 1e-3  # a variance that counts as none

OPTIONS = (
    MethodOption("rounds", "T: rounds of choosing and measuring; by default 1, or 5 where noise is much", most=1000),
    MethodOption("per_round", f"K: marginals chosen in a round; {_PICKS} by default", most=1000),
    MethodOption("relaxed_rows", f"n': undecided rows that are fitted; {_RELAXED:,} by default", most=2**17),
    MethodOption("projection", "How rows stay distributions; sparsemax by default", words=PROJECTIONS),
)


def rap(
    meter: Meter,
    workload: Workload,
    rows: int | None = None,
    *,
    relaxed_rows: int = _RELAXED,
    rounds: int | None = None,
    per_round: int = _PICKS,
    projection: Projection = "sparsemax",
) -> Synthetic:
    """Rows made by relaxed adaptive projection, on a GPU if JAX finds one.

    `relaxed_rows` are the undecided rows. In each of the `rounds`, `per_round` marginals are chosen; by default there
    is one round, in which the whole workload is measured, unless noise would then be as much as all rows. The
    `projection` makes distributions of what is fitted: "sparsemax" may rule codes out, "softmax" only makes them
    unlikely.

    Guarantee
        Everything private is asked of the meter: the whole costs its price, and no more. All chance after that follows
        from what was measured. Proof: docs/proofs/synth.md.
    """
    marginals = read_workload(workload, meter.domain)
    count = read_rows(rows)
    given = {"relaxed_rows": relaxed_rows, "per_round": per_round, "projection": projection, "rounds": rounds}
    for one in OPTIONS:
        if one.name != "rounds" or rounds is not None:
            one.check(given[one.name], len(meter.domain))
    load()  # what is missing is missed before anything is spent
    return _Rap(meter, marginals, count, relaxed_rows, rounds, per_round, projection).run()


def column_prices(meter: Meter, workload: Workload, **options: object) -> list[Fraction]:
    """What each column is measured for alone, at first, whatever the options are."""
    width = len(meter.domain)
    telling = any(len(columns) > 1 for columns in workload)
    return [(_ALONE if telling else Fraction(1)) * meter.price / width] * width


def outline(
    meter: Meter,
    workload: Workload,
    confidence: float,
    *,
    rounds: int | None = None,
    per_round: int = _PICKS,
    **options: object,
) -> list[str]:
    """What would be measured, and how far it would be off: public, and known before."""
    marginals = _telling(read_workload(workload, meter.domain))
    width = len(meter.domain)
    prices = column_prices(meter, marginals)
    off = meter.noise(prices[0]).error(confidence)
    lines = [f"Measures {width:,} columns, one by one: a one-way count is off by +-{off:,}."]
    if not marginals:
        return lines
    left = meter.price - sum(prices)
    if rounds is not None and rounds > 1:
        candidates = len(_with_pairs(marginals))
        many = min(per_round, candidates)
        off = meter.noise((1 - _SELECT) * left / (rounds * many)).error(confidence)
        chosen = f"Chooses {many:,} of {candidates:,} marginals in each of {rounds:,} rounds"
        return [*lines, f"{chosen}, and measures them: a count is off by +-{off:,}."]
    off = meter.noise(left / len(marginals)).error(confidence)
    measured = f"Measures all {len(marginals):,} marginals of the workload, a count off by +-{off:,}"
    return [*lines, f"{measured}{'.' if rounds else '; or, if that would be too much noise, those that matter.'}"]


def _telling(workload: Mapping[Columns, float]) -> dict[Columns, float]:
    """The marginals that single columns do not settle."""
    return {columns: weight for columns, weight in workload.items() if len(columns) > 1}


class _Rap:
    def __init__(
        self,
        meter: Meter,
        workload: dict[Columns, float],
        rows: int | None,
        relaxed_rows: int,
        rounds: int | None,
        per_round: int,
        projection: Projection,
    ) -> None:
        self.meter, self.wanted_rows = meter, rows
        self.relaxed_rows, self.rounds, self.per_round, self.projection = relaxed_rows, rounds, per_round, projection
        self.width = len(meter.domain)
        self.workload = _telling(workload)
        self.measured: list[Noisy] = []
        self.targets: dict[int, Target] = {}  # by place: single columns, then candidates

    def run(self) -> Synthetic:
        meter = self.meter
        ones: list[Columns] = [(column,) for column in range(self.width)]
        meter.prepare(ones)
        prices = column_prices(meter, self.workload)
        alone = [self._keep(meter.measure(*asked)) for asked in zip(ones, prices, strict=True)]
        self.total = max(noisy_total(alone), 1.0)
        compressed = compress(meter.domain, alone, self.total)
        self.sizes = compressed.sizes
        self.coarse = meter.merged(compressed.bins)
        self.targets.update(enumerate(compressed.targets))
        rounds = self._enough() if self.rounds is None else self.rounds
        weights = self.workload if rounds == 1 else _with_pairs(self.workload)
        self.candidates, self.weights = list(weights), list(weights.values())
        self.coarse.prepare(self.candidates)
        notify("measuring and fitting")  # once: how many rounds there are may follow from what was measured
        start = self._start(compressed.targets)
        self.table = RelaxedTable(cut(self.sizes, [*ones, *self.candidates]), start, self.projection)
        if self.candidates and rounds == 1:
            whole, left = sum(map(Fraction, self.weights)), meter.left
            for place, weight in enumerate(self.weights):
                self._measure(place, left * Fraction(weight) / whole)
        elif self.candidates:
            for number in range(rounds):
                self._round(rounds - number)
        off = self._fit(_END)
        notes = (
            f"{len(self.measured) - self.width} marginals measured",
            f"{self.relaxed_rows:,} undecided rows of {sum(self.sizes):,} features, {off:.2g} variances from them",
        )
        notify("making rows")
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
        """Rows that agree with single columns, and are independent: a little decided each, by chance."""
        bits, blocks = self._bits("start"), []
        for target in alone:
            shares = simplex(target.values, self.total) / self.total
            shares = 0.999 * shares + 0.001 / len(shares)  # nothing is ruled out yet
            codes = deal(shares[None], np.zeros(self.relaxed_rows, dtype=np.int64), bits)
            blocks.append((1 - _MIXED) * np.eye(len(shares))[:, codes] + _MIXED * shares[:, None])
        return np.concatenate(blocks)

    def _enough(self) -> int:
        """How many rounds: one if the whole workload can be measured with noise that is less than all rows."""
        if not self.workload:
            return 1
        noise = mean_noise(self.meter.noise(self.meter.left / len(self.workload)))
        cells = sum(self.coarse.domain.cells(columns) for columns in self.workload) / len(self.workload)
        return 1 if noise * cells / 2 <= self.total else _ROUNDS

    def _fit(self, steps: int) -> float:
        return self.table.fit(self.targets, self.total, steps, _PACE[self.projection])

    def _round(self, left: int) -> None:
        """Choose marginals that the table gets wrong and measure them; in the last round, for all that is left."""
        self._fit(_ROUND)
        many = min(self.per_round, len(self.candidates))
        amount = self.meter.left / left
        pay = (1 - _SELECT) * amount / many
        noise = mean_noise(self.meter.noise(pay))
        answers = dict(zip(self.candidates, self.table.answers()[self.width :], strict=True))
        chosen = self.coarse.choose(
            self.candidates,
            lambda columns: self.total * answers[columns],
            _SELECT * amount,
            k=many,
            weights=[weight / max(self.weights) for weight in self.weights],
            penalties=[noise * self.coarse.domain.cells(columns) for columns in self.candidates],
        )
        for place in chosen:
            self._measure(place, pay)

    def _measure(self, place: int, pay: Fraction) -> None:
        """A candidate, with fresh noise; if it was measured before, both count."""
        target = self._keep(self.coarse.measure(self.candidates[place], pay))
        before = self.targets.get(self.width + place)
        self.targets[self.width + place] = target if before is None else average_targets([before, target])[0]

    def _rows(self, bits: Replay) -> Codes:
        """Decided rows, about as many from each undecided one; those are in no order, so any may be left out."""
        count = row_count(self.wanted_rows, self.total)
        if count == 0:
            return np.zeros((0, self.width), dtype=np.int64)
        origin = np.arange(count) * self.relaxed_rows // count
        blocks = np.split(self.table.shares, np.cumsum(self.sizes)[:-1])
        return np.stack([deal(block.T, origin, bits) for block in blocks], axis=1)


def _with_pairs(workload: Mapping[Columns, float]) -> dict[Columns, float]:
    """The workload, and all pairs of columns in it: they are cheaper to tell from noise, and settle much.

    A pair matters as much as the marginal that matters most among those it is in.

    >>> _with_pairs({(0, 1, 2): 2.0, (0, 1): 3.0})
    {(0, 1): 3.0, (0, 2): 2.0, (1, 2): 2.0, (0, 1, 2): 2.0}
    """
    found: dict[Columns, float] = {}
    for columns, weight in workload.items():
        for pair in itertools.combinations(columns, 2):
            found[pair] = max(found.get(pair, 0.0), weight)
    larger = {columns: weight for columns, weight in workload.items() if len(columns) > 2}
    return {**dict(sorted(found.items())), **larger}
