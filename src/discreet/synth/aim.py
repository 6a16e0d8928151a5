"""AIM, the adaptive and iterative mechanism (McKenna, Mullins, Sheldon and Miklau 2022), on discreet's own core.

Single columns are measured, and codes that noise hides are merged (as in MST; AIM as published keeps them all). Then,
round by round, the marginal that the model gets most wrong, seen against the noise it would be measured with and for
what the workload needs, is chosen, measured and fitted. When a measurement moved the model by no more than its noise,
later rounds pay more; the last one pays all that is left.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from discreet.core.progress import notify
from discreet.errors import InputError
from discreet.marginals.counts import ArrayCounts, Columns
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Meter, Noisy
from discreet.synth.compression import Compression, compress
from discreet.synth.junction import Floats, Junction, tree_cells
from discreet.synth.method_option import MethodOption
from discreet.synth.model import Model, fit, target_of
from discreet.synth.synthetic import Synthetic, draw_synthetic, mean_noise, read_rows
from discreet.synth.workload import Workload, closure, read_workload

__all__ = ["aim", "column_prices", "outline"]

CELLS = 200_000
"""How many cells the cliques of the model may have together, unless said otherwise."""
_MOST_CELLS = 2**24  # a marginal with more is not counted
_MEASURE = Fraction(9, 10)  # of what a round costs; the rest goes into choosing
_ROUNDS = {"rho": 4, "epsilon": 2}  # a column; published: 16, slower and on most tables tried farther off (TV)
_LOUDER = {"rho": 4, "epsilon": 2}  # how much more half the noise costs
_FULL = 1024.0  # the heaviest weight as the meter gets it, which rounds them up to multiples of 1/64
_ROUND, _END = 40, 300  # steps of descent
_MOST_ROWS = 2**20

OPTIONS = (
    MethodOption("rounds", "How many rounds the price is cut into at first", most=10_001, for_each=True),
    MethodOption("cells", f"How many cells the model may have; {CELLS:,} by default", most=_MOST_CELLS),
)


def aim(
    meter: Meter, workload: Workload, rows: int | None = None, *, rounds: int | None = None, cells: int = CELLS
) -> Synthetic:
    """Rows made by AIM. `rounds` is how many the price is cut into at first; `cells` bounds the model.

    In `rho` noise is Gaussian, as published. In `epsilon` it is Laplace, and costs follow from that: half the noise
    costs twice, not four times.

    Guarantee
        Everything private is asked of the meter: the whole costs its price, and no more.
        Proof: docs/proofs/synth-adaptive.md.
    """
    weighted = read_workload(workload, meter.domain)
    count = read_rows(rows)
    width = len(meter.domain)
    rounds = _ROUNDS[meter.currency] * width if rounds is None else rounds
    for one, value in zip(OPTIONS, (rounds, cells), strict=True):
        one.check(value, width)
    offered = _telling(weighted, meter.domain.sizes)
    countable = {columns for columns in closure(offered) if meter.domain.cells(columns) <= _MOST_CELLS}
    ones = [(column,) for column in range(width)]
    meter.prepare(ones)
    notify("measuring single columns")
    each = meter.left / rounds
    measured = [meter.measure(columns, _alone(meter, each, offered)) for columns in ones]
    bins = compress(meter.domain, [target_of(one) for one in measured], 0.0)
    # How many rounds there are comes out of the data, so nobody is told before all of it is recorded.
    notify("choosing and measuring marginals")
    inside = closure(_telling(offered, bins.sizes))
    fitting = {
        columns: weight
        for columns, weight in inside.items()
        if columns in countable and (len(columns) == 1 or _cells(columns, bins.sizes) <= cells)
    }
    if fitting:
        coarse = meter.merged(bins.bins)
        coarse.prepare(fitting)
        job = _Rounds(coarse, bins, fitting, cells)
        model = job.run(each)
        if len(fitting) < len(inside):
            job.notes.append(f"{len(inside) - len(fitting)} marginals were too large to be measured")
        return draw_synthetic("aim", model, count, [*measured, *job.measured], job.notes, bins, width)
    if meter.left > 0:  # noise hides all there is to choose from: single columns get the rest
        again = meter.left / width
        measured += [meter.measure(columns, again) for columns in ones]
    return draw_synthetic(
        "aim", fit(meter.domain.sizes, measured, steps=_END), count, measured, ["columns are independent"]
    )


def column_prices(meter: Meter, workload: Workload, *, rounds: int | None = None, cells: int = CELLS) -> list[Fraction]:
    """What each column is measured for alone, at first."""
    width = len(meter.domain)
    offered = _telling(read_workload(workload, meter.domain), meter.domain.sizes)
    each = meter.price / (_ROUNDS[meter.currency] * width if rounds is None else rounds)
    return [_alone(meter, each, offered)] * width


def outline(
    meter: Meter, workload: Workload, confidence: float, *, rounds: int | None = None, cells: int = CELLS
) -> list[str]:
    """What would be measured, and how far it would be off: public, and known before."""
    width = len(meter.domain)
    offered = _telling(read_workload(workload, meter.domain), meter.domain.sizes)
    off = meter.noise(column_prices(meter, workload, rounds=rounds)[0]).error(confidence)
    lines = [f"Measures {width:,} columns, one by one: a one-way count is off by +-{off:,}."]
    if offered:
        many = len(closure(offered))
        lines.append(
            f"Then chooses among {many:,} marginals, again and again: a count is off by that at first, or less."
        )
    return lines


class _Rounds:
    """Rounds of choosing, measuring and fitting, in bins, until nothing is left to spend."""

    def __init__(self, meter: Meter, bins: Compression, bearing: Mapping[Columns, float], cells: int) -> None:
        self.meter, self.bearing, self.cells = meter, bearing, cells
        self.sizes = bins.sizes
        self.held = list(bins.targets)
        self.measured: list[Noisy] = []
        self.notes: list[str] = []

    def run(self, each: Fraction) -> Model:
        """The model after the last round; the first costs `each`."""
        meter = self.meter
        model = fit(self.sizes, self.held, steps=_END)
        turn, off = 0, 0.0
        while meter.left > 0:
            turn += 1
            last = meter.left < 2 * each or len(self.bearing) == 1
            guess = _Guess(model, meter.domain)
            noisy = self.round(guess, model.tree, meter.left if last else each)
            before, noise = guess(noisy.columns), mean_noise(noisy.noise) * noisy.values.size
            off = float(np.abs(noisy.values - before).sum()) - noise
            model = fit(self.sizes, self.held, start=model, steps=_END if last else _ROUND)
            if float(np.abs(model.marginal(noisy.columns) - before).sum()) <= noise:
                each *= _LOUDER[meter.currency]
        share = min(max(off, 0.0) / (2 * model.total), 1.0)
        self.notes = [
            f"{turn} rounds, a tree of {model.cells:,} cells",
            f"the last marginal chosen was about {share:.1%} off before it was measured",
        ]
        return model

    def round(self, guess: _Guess, tree: Junction, amount: Fraction) -> Noisy:
        """Choose a marginal and measure it, for an amount together."""
        meter = self.meter
        candidates = self._bearable(tree)
        pay = _MEASURE * amount if len(candidates) > 1 else amount
        chosen = 0
        if len(candidates) > 1:
            noise = mean_noise(meter.noise(pay))
            heaviest = max(self.bearing[columns] for columns in candidates)
            chosen = meter.choose(
                candidates,
                guess,
                amount - pay,
                weights=[_FULL * self.bearing[columns] / heaviest for columns in candidates],
                penalties=[noise * meter.domain.cells(columns) for columns in candidates],
            )[0]
        noisy = meter.measure(candidates[chosen], pay)
        self.measured.append(noisy)
        self.held.append(target_of(noisy))
        return noisy

    def _bearable(self, tree: Junction) -> list[Columns]:
        """What the model could hold at its present size, or at the part of its full size that was paid for so far."""
        most = int(self.cells * self.meter.spent / self.meter.price)
        held = [one.columns for one in self.held]
        return [
            columns
            for columns in self.bearing
            if tree.home(columns) is not None or tree_cells(self.sizes, [*held, columns]) <= most
        ]


class _Guess:
    """What a model says of a marginal: worked out, or counted in its rows where that would take too large a table."""

    def __init__(self, model: Model, domain: Domain) -> None:
        self._model, self._domain = model, domain
        self._rows: ArrayCounts | None = None

    def __call__(self, columns: Columns) -> Floats:
        try:
            return self._model.marginal(columns)
        except InputError:
            return self._counted(columns)

    def _counted(self, columns: Columns) -> Floats:
        total = self._model.total
        count = min(max(round(total), 1), _MOST_ROWS)
        if self._rows is None:
            self._rows = ArrayCounts(self._domain, self._model.rows(count))
        return np.asarray(self._rows.marginal(columns) * (total / count), dtype=np.float64)


def _alone(meter: Meter, each: Fraction, offered: Mapping[Columns, float]) -> Fraction:
    """What a single column is measured for: as in a round, or all there is if there will be none."""
    return _MEASURE * each if offered else meter.left / len(meter.domain)


def _cells(columns: Columns, sizes: Sequence[int]) -> int:
    return math.prod(sizes[column] for column in columns)


def _telling(workload: Mapping[Columns, float], sizes: Sequence[int]) -> dict[Columns, float]:
    """The workload without columns of one code: they add nothing to a marginal."""
    found: dict[Columns, float] = {}
    for columns, weight in workload.items():
        left = tuple(column for column in columns if sizes[column] > 1)
        if left:
            found[left] = found.get(left, 0.0) + weight
    return found
