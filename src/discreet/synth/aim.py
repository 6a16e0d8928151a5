"""AIM, the adaptive and iterative mechanism (McKenna, Mullins, Sheldon and Miklau 2022), on the house's own core.

Single columns are measured. Then, round by round, the marginal that the model gets most wrong, seen against the noise
it would be measured with and for what the workload needs, is chosen, measured and fitted. When a measurement moved the
model by no more than its noise, later rounds pay more; the last one pays all that is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

import numpy as np

from discreet.core.progress import tell
from discreet.errors import InputError
from discreet.synth.calibrate import Floats
from discreet.synth.counts import ArrayCounts, Columns
from discreet.synth.domain import Domain
from discreet.synth.drawn import drawn, mean_noise, read_rows
from discreet.synth.junction import Junction, tree_cells
from discreet.synth.meter import Meter, Noisy
from discreet.synth.model import Model, fit
from discreet.synth.synthetic import Synthetic
from discreet.synth.workload import Workload, closure, read_workload

__all__ = ["aim", "outline"]

CELLS = 200_000
"""How many cells the cliques of the model may have together, unless said otherwise."""
_MOST_CELLS = 2**24
_MEASURE = Fraction(9, 10)  # of what a round costs; the rest goes into choosing
_ROUNDS = {"rho": 4, "epsilon": 2}  # a column; published: 16, which left larger errors on the tables tried
_LOUDER = {"rho": 4, "epsilon": 2}  # how much more half the noise costs
_FULL = 1024.0  # the heaviest weight as the meter gets it, which rounds them up to multiples of 1/64
_ROUND, _END = 40, 300  # steps of descent
_MOST_ROWS = 2**20


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
    wanted = read_workload(workload, meter.domain)
    count = read_rows(rows)
    width = len(meter.domain)
    if rounds is None:
        rounds = _ROUNDS[meter.currency] * width
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not width <= rounds <= 10_000 + width:
        hint = "Every column is measured at the price of a round before the first."
        raise InputError("rounds", rounds, f"a whole number from {width} to {10_000 + width}", hint)
    if isinstance(cells, bool) or not isinstance(cells, int) or not 1 <= cells <= _MOST_CELLS:
        raise InputError("cells", cells, f"a whole number from 1 to {_MOST_CELLS:,}")
    return _Aim(meter, wanted, rounds, cells).run(count)


def outline(meter: Meter, workload: Workload, confidence: float) -> list[str]:
    """What would be measured, and how far it would be off: public, and known before."""
    width = len(meter.domain)
    method = _Aim(meter, read_workload(workload, meter.domain), _ROUNDS[meter.currency] * width, CELLS)
    off = meter.noise(method.alone).error(confidence)
    told = [f"Measures {width:,} columns, one by one: a one-way count is off by +-{off:,}."]
    if method.bearing:
        many = len(method.bearing)
        told.append(
            f"Then chooses among {many:,} marginals, again and again: a count is off by that at first, then by less."
        )
    return told


class _Aim:
    def __init__(self, meter: Meter, workload: Mapping[Columns, float], rounds: int, cells: int) -> None:
        self.meter, self.cells = meter, cells
        self.sizes = meter.domain.sizes
        every = closure(_telling(workload, self.sizes))
        self.bearing = {
            one: weight for one, weight in every.items() if meter.domain.cells(one) <= cells or len(one) == 1
        }
        self.too_large = len(every) - len(self.bearing)
        self.each = meter.left / rounds
        self.alone = _MEASURE * self.each if self.bearing else meter.left / len(self.sizes)
        self.measured: list[Noisy] = []

    def run(self, rows: int | None) -> Synthetic:
        meter = self.meter
        ones = [(column,) for column in range(len(self.sizes))]
        meter.prepare([*ones, *self.bearing])
        tell("measuring single columns")
        self.measured = [meter.measure(columns, self.alone) for columns in ones]
        model = fit(self.sizes, self.measured, steps=_END)
        turn, off, each = 0, 0.0, self.each
        # How many rounds there are depends on what comes out of them, so nobody is told before all of it is recorded.
        tell("choosing and measuring marginals")
        while self.bearing and meter.left > 0:
            turn += 1
            last = meter.left < 2 * each or len(self.bearing) == 1
            guess = _Guess(model, meter.domain)
            noisy = self._round(guess, model.tree, meter.left if last else each)
            before, noise = guess(noisy.columns), mean_noise(noisy.noise) * noisy.values.size
            off = float(np.abs(noisy.values - before).sum()) - noise
            model = fit(self.sizes, self.measured, start=model, steps=_END if last else _ROUND)
            if float(np.abs(model.marginal(noisy.columns) - before).sum()) <= noise:
                each *= _LOUDER[meter.currency]
        return drawn("aim", model, rows, self.measured, self._notes(turn, off, model))

    def _round(self, guess: _Guess, tree: Junction, amount: Fraction) -> Noisy:
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
        self.measured.append(meter.measure(candidates[chosen], pay))
        return self.measured[-1]

    def _bearable(self, tree: Junction) -> list[Columns]:
        """What the model could hold at its present size, or at the part of its full size that was paid for so far."""
        most = int(self.cells * self.meter.spent / self.meter.price)
        held = [one.columns for one in self.measured]
        return [
            columns
            for columns in self.bearing
            if tree.home(columns) is not None or tree_cells(self.sizes, [*held, columns]) <= most
        ]

    def _notes(self, turn: int, off: float, model: Model) -> list[str]:
        notes = [f"{turn} rounds, a tree of {model.cells:,} cells"]
        if turn:
            share = min(max(off, 0.0) / (2 * model.total), 1.0)
            notes.append(f"the last marginal chosen was about {share:.1%} off before it was measured")
        if self.too_large:
            notes.append(f"{self.too_large} marginals were too large to be measured")
        return notes


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


def _telling(workload: Mapping[Columns, float], sizes: Iterable[int]) -> dict[Columns, float]:
    """The workload without columns of one code: they add nothing to a marginal."""
    known = tuple(sizes)
    found: dict[Columns, float] = {}
    for columns, weight in workload.items():
        left = tuple(column for column in columns if known[column] > 1)
        if left:
            found[left] = found.get(left, 0.0) + weight
    return found
