"""Discreet's own method: few codes, many small marginals, one tree, and weights for what the tree cannot hold.

1. Every column is measured alone, and its codes are merged where noise hides them (`compress`). What has many codes
   and is used often is measured better (`allocate`).
2. If that promises the smaller error, all pairs of the workload are measured at once and those that differ from
   independence are kept ("flat"). Otherwise the marginals that the model gets most wrong are chosen, some at a time,
   and measured, with less noise once there is little left to see ("adaptive").
3. A junction tree of bounded size is fitted. Marginals that would make it too large are met by weighting its rows.

A table of many columns of which all pairs are asked for has too many pairs to choose from, and to hold. There all of
them are measured at once, and the few factors that stand out of their noise together make the rows ("factors").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from discreet.core.progress import notify
from discreet.errors import InputError
from discreet.marginals.counts import Columns
from discreet.marginals.meter import Meter, Noisy
from discreet.noise.replay import Replay, key_of
from discreet.synth.allocation import allocate
from discreet.synth.compression import BINS, compress
from discreet.synth.descent import Target, average_targets
from discreet.synth.factors import fit_factors
from discreet.synth.junction import Floats, tree_cells
from discreet.synth.method_option import MethodOption
from discreet.synth.model import Model, fit, noisy_total, simplex, target_of
from discreet.synth.sample import Codes
from discreet.synth.swaps import exchange_codes
from discreet.synth.synthetic import Synthetic, mean_noise, read_rows, row_count
from discreet.synth.weighting import WeightedRows, reweight
from discreet.synth.workload import Workload, closure, read_workload

__all__ = ["column_prices", "mosaic"]

CELLS = 60_000
"""How many cells the tree's cliques may have together."""
_WAYS = ("flat", "adaptive", "factors")
OPTIONS = (MethodOption("way", "How marginals are measured; by default what suits the price", words=_WAYS),)
_PAIRS = Fraction(14, 17)  # of what single columns leave, the part that all pairs get at once
_PICKS = {"rho": 80, "epsilon": 24}  # a first pick costs one part in so many
_SELECT = Fraction(1, 10)  # of what a pick costs, the part that goes into choosing
_BATCH = 6
_SEEN = {"rho": 48, "epsilon": 6}  # about how many chosen marginals share most of the price
_FALLING = {"rho": 0.5, "epsilon": 1.0}  # the power of its price by which the noise of a marginal falls
_UNSEEN = 0.08  # how far off a pair is taken to be, as a part of all rows, where it is not chosen
_HIDDEN = 0.16  # the same for a pair whose noise is larger than that: none of it is used
_LATE = 8  # picks after all pairs were measured
_ROUND, _END, _WEIGH, _AGAIN = 40, 300, 60, 20  # steps of descent, at most
_LOUDER = {"rho": 4, "epsilon": 2}  # how much more half the noise costs
_CANDIDATES = 1000
_MOST_ROWS, _LEAST_ROWS = 200_000, 20_000  # for weights, if the table has so many
_MOST_LOOKS = 12_000_000  # rows times marginals for weights
_FULL = 1024.0  # the heaviest weight as the meter gets it, which rounds them up to multiples of 1/64
_MOST_BINS, _LEAST_BINS = 64, 16  # of a long column: where pairs have little noise, and in a wide table
_FINE = 1.2  # bins of a long column, times the square root of a pair's noise as a part of all rows
_TINY = 1e-3  # noise that counts as none
_WIDE = 40  # columns from which on factors are looked for
_MOST_PAIRS = Fraction(1, 2)  # and the part of all pairs that must be asked for
_CODES = 2500  # bins of all columns together, at most, for factors
_NOISE = math.sqrt(2 / math.pi)  # the mean of |x| for x normal


def mosaic(meter: Meter, workload: Workload, rows: int | None = None, way: str | None = None) -> Synthetic:
    """Rows made by discreet's own method; `way` is "flat", "adaptive" or "factors", by default what suits the price.

    Guarantee
        Everything private is asked of the meter: the whole costs its price, and no more.
    """
    weighted = read_workload(workload, meter.domain)
    count = read_rows(rows)
    if way is not None:
        OPTIONS[0].check(way, len(meter.domain))
    return _Mosaic(meter, weighted, count, way).run()


def column_prices(meter: Meter, workload: Workload, *, way: str | None = None) -> list[Fraction]:
    """What each column is measured for alone, at first, whatever the way: the longer ones for more."""
    weighted, width = read_workload(workload, meter.domain), len(meter.domain)
    share = _alone(width) if closure(weighted, least=2) else Fraction(1)
    uses = _uses(weighted, [(column,) for column in range(width)])
    return allocate(share * meter.price, meter.domain.sizes, uses)


class _Mosaic:
    def __init__(self, meter: Meter, workload: dict[Columns, float], rows: int | None, way: str | None) -> None:
        self.meter, self.workload, self.wanted_rows, self.way = meter, workload, rows, way
        self.held: list[Target] = []  # in the tree
        self.loose: list[Target] = []  # not
        self.fine = 0
        self.measured: list[Noisy] = []
        self.notes: list[str] = []
        self.model: Model | None = None

    def run(self) -> Synthetic:
        meter, width = self.meter, len(self.meter.domain)
        alone = [(column,) for column in range(width)]
        meter.prepare(alone)
        notify("measuring single columns")
        prices = column_prices(meter, self.workload)
        share = sum(prices) / meter.price
        ones = [self._keep(meter.measure(*asked)) for asked in zip(alone, prices, strict=True)]
        self._merge(ones)
        bearing = self._bearing()
        notify("measuring marginals")  # also where there turn out to be none: a stage says nothing of the table
        if bearing:
            pairs = [columns for columns in bearing if len(columns) == 2]
            amounts = self._amounts(pairs, _PAIRS * (1 - share) * meter.price)
            way = self.way or self._suited(pairs, amounts)
            self.coarse.prepare(pairs if way == "factors" else bearing)
            if way == "flat":
                self._flat(pairs, amounts, bearing)
            elif way == "adaptive":
                self._adaptive(bearing)
            else:
                return self._factors(pairs, sum(amounts, Fraction(0)) / len(pairs))
        elif meter.left:  # nothing to tell apart in any two columns: better single ones then
            left = meter.left / width
            self._merge([*ones, *(self._keep(meter.measure(columns, left)) for columns in alone)])
        self.fine = width if bearing else len(self.measured)
        return self._finish()

    def _merge(self, ones: Sequence[Target]) -> None:
        """Put codes together that single columns, as measured, do not tell apart."""
        self.total = max(noisy_total(ones), 1.0)
        self.compressed = compress(self.meter.domain, average_targets(ones), self.total, self._parts())
        self.sizes = self.compressed.sizes
        self.coarse = self.meter.merged(self.compressed.bins)
        self.held = list(self.compressed.targets)

    def _parts(self) -> int:
        """How many bins a long column gets: more where pairs will have little noise, fewer where there are many."""
        many = sum(len(columns) == 2 for columns in closure(self.workload, least=2))
        if many == 0 or self.meter.left == 0:
            return BINS
        noise = math.sqrt(self.meter.noise(_PAIRS * self.meter.left / many).variance)
        least = _LEAST_BINS if self._wide(many) else BINS
        return min(max(round(_FINE * math.sqrt(self.total / max(noise, _TINY))), least), _MOST_BINS)

    def _wide(self, pairs: int) -> bool:
        """Whether there are so many columns, and pairs of them asked for, that factors are the way."""
        width = len(self.meter.domain)
        wanted = self.way in (None, "factors")
        return wanted and width >= _WIDE and pairs >= _MOST_PAIRS * math.comb(width, 2)

    def _bearing(self) -> dict[Columns, float]:
        """The marginals that may be measured: small ones first, and no more than can be looked at every time."""
        telling: dict[Columns, float] = {}
        for columns, weight in self.workload.items():
            left = tuple(column for column in columns if self.sizes[column] > 1)
            if len(left) > 1:
                telling[left] = telling.get(left, 0.0) + weight
        found = closure(telling, least=2)
        order = sorted(found, key=lambda columns: (len(columns) > 2, self.coarse.domain.cells(columns)))
        pairs = sum(len(columns) == 2 for columns in order)
        return {columns: found[columns] for columns in order[: max(pairs, _CANDIDATES)]}

    def _keep(self, noisy: Noisy) -> Target:
        self.measured.append(noisy)
        return target_of(noisy)

    def _amounts(self, pairs: Sequence[Columns], price: Fraction) -> list[Fraction]:
        """A price divided among pairs of bins."""
        cells = [self.coarse.domain.cells(columns) for columns in pairs]
        return allocate(price, cells, _uses(self.workload, pairs))

    def _suited(self, pairs: Sequence[Columns], amounts: Sequence[Fraction]) -> str:
        """The way that promises the smaller mean error of pairs, as parts of all rows.

        Measured at once, pairs are as far off as noise makes them; one that has so much of it that nothing is seen is
        taken to be independent, and is off by what dependence it has. Of chosen marginals there are fewer, so each has
        less noise, and it is the pairs that are not chosen that are off by their dependence.
        """
        off = [
            _NOISE / 2 * math.sqrt(self.meter.noise(amount).variance) * self.coarse.domain.cells(columns) / self.total
            for columns, amount in zip(pairs, amounts, strict=True)
        ]
        chosen = min(_SEEN[self.meter.currency] / len(pairs), 1.0)
        less = chosen ** _FALLING[self.meter.currency]  # of the noise
        flat, fewer = (math.fsum(min(part * one, _HIDDEN) for one in off) / len(off) for part in (1.0, less))
        if flat <= chosen * fewer + (1 - chosen) * _UNSEEN:
            return "flat"
        return "factors" if self._wide(len(pairs)) and sum(self.sizes) <= _CODES else "adaptive"

    # Many columns.

    def _factors(self, pairs: Sequence[Columns], amount: Fraction) -> Synthetic:
        """All pairs once, what they show together, and what is left of the price for the pairs that this gets wrong."""
        targets = [self._keep(self.coarse.measure(columns, amount)) for columns in pairs]
        shares = [simplex(one.values, self.total) / self.total for one in self.compressed.targets]
        bits = Replay(key_of([one.values for one in targets], "factors"))
        found = fit_factors(shares, targets, self.total, bits)
        rows = found.rows(min(max(round(self.total), 1), _MOST_ROWS), bits)
        known = WeightedRows(self.sizes, rows, np.full(len(rows), 1 / len(rows)), self.total, {})
        late = self._batch(dict.fromkeys(pairs, 1.0), _Guess(known), self.meter.left / _LATE, _LATE)
        known = reweight(known, rows, [*self.compressed.targets, *late], steps=_WEIGH)
        count = row_count(self.wanted_rows, self.total)
        self.notes.append(f"all {len(pairs)} pairs measured, {found.many} factors distinguished from noise")
        self.notes.append(f"{known.effective:.0%} of the weighted rows count")
        codes = self.compressed.expand(known.rows(count, bits), bits)
        return Synthetic(
            codes, self.total, tuple(self.measured), self.compressed.bins, len(self.sizes), tuple(self.notes)
        )

    # All pairs at once.

    def _flat(self, pairs: Sequence[Columns], amounts: Sequence[Fraction], bearing: dict[Columns, float]) -> None:
        guess = _Guess(self._fitted(_ROUND))
        telling: list[tuple[float, Target]] = []
        for columns, amount in zip(pairs, amounts, strict=True):
            target = self._keep(self.coarse.measure(columns, amount))
            off = target.values - guess(columns)
            variance = float(target.variance)
            noise = math.sqrt(variance)
            if (off**2).sum() >= 1.5 * variance * off.size or np.abs(off).max() > 4 * noise:
                telling.append((float(np.abs(off).sum()) - _noise(target), target))
        telling.sort(key=lambda one: -one[0])
        for _, target in telling:
            self._place(target)
        model = self._fitted(_ROUND * 2)
        self._batch(bearing, self._weighted_guess(model), self.meter.left / _LATE, _LATE)
        self.notes.append(f"all {len(pairs)} pairs measured, {len(telling)} of them tell something")

    def _place(self, target: Target) -> None:
        """Into the tree if it stays small enough, else to the marginals met by weights."""
        marginals = [one.columns for one in self.held]
        fits = tree_cells(self.sizes, [*marginals, target.columns]) <= CELLS
        (self.held if fits else self.loose).append(target)

    # Some at a time.

    def _adaptive(self, bearing: dict[Columns, float]) -> None:
        each = self.meter.price / _PICKS[self.meter.currency]
        model = self._fitted(_ROUND)
        while self.meter.left > 0:
            last = self.meter.left < 2 * _BATCH * each
            beside = {one.columns for one in self.loose}  # the model knows nothing of these: once is enough
            candidates = {columns: weight for columns, weight in bearing.items() if columns not in beside}
            then, amount = _Guess(model), self.meter.left / _BATCH if last else each
            picks = self._batch(candidates or bearing, then, amount, _BATCH)
            model = self._fitted(_ROUND, model)
            guess = _Guess(model)
            still = sum(self._change(one, then, guess) <= _noise(one) for one in picks)
            if 2 * still > len(picks):  # little is left to see with this much noise
                each *= _LOUDER[self.meter.currency]
        self.notes.append(f"{len(self.measured) - len(self.sizes)} marginals chosen and measured")

    def _change(self, pick: Target, then: _Guess, guess: _Guess) -> float:
        """How far a measurement moved the model; beside the tree, how far it is from the model, less its noise."""
        if any(pick is one for one in self.loose):
            return float(np.abs(pick.values - then(pick.columns)).sum()) - _noise(pick)
        return float(np.abs(guess(pick.columns) - then(pick.columns)).sum())

    def _batch(
        self, bearing: dict[Columns, float], guess: Callable[[Columns], Floats], amount: Fraction, many: int
    ) -> list[Target]:
        """Choose and measure some marginals, at `amount` each; if there are fewer to choose from, at more."""
        candidates, spent = list(bearing), amount * many
        chosen = list(range(len(candidates)))
        pay = spent / len(candidates)
        if len(candidates) > many:
            pay = (1 - _SELECT) * amount
            noise = mean_noise(self.meter.noise(pay))
            heaviest = max(bearing.values())
            chosen = self.coarse.choose(
                candidates,
                guess,
                _SELECT * spent,
                k=many,
                weights=[_FULL * weight / heaviest for weight in bearing.values()],
                penalties=[noise * self.coarse.domain.cells(columns) for columns in candidates],
            )
        picks = [self._keep(self.coarse.measure(candidates[place], pay)) for place in chosen]
        for target in picks:
            self._place(target)
        return picks

    # From what was measured to rows.

    def _fitted(self, steps: int, start: Model | None = None) -> Model:
        self.model = fit(self.sizes, self.held, total=self.total, start=start, steps=steps)
        return self.model

    def _weighted(self, model: Model) -> WeightedRows | Model:
        if not self.loose:
            return model
        looks = len(self.held) + len(self.loose)
        most = min(max(_MOST_LOOKS // looks, _LEAST_ROWS), _MOST_ROWS)
        return self._reweighted(model, model.rows(min(max(round(self.total), 1), most)))

    def _weighted_guess(self, model: Model) -> Callable[[Columns], Floats]:
        """What weighted rows say of a marginal. They are made when it is asked for: a choice on record asks nothing."""
        known: list[_Guess] = []

        def guess(columns: Columns) -> Floats:
            if not known:
                known.append(_Guess(self._weighted(model)))
            return known[0](columns)

        return guess

    def _reweighted(self, model: Model, rows: Codes, known: WeightedRows | None = None) -> WeightedRows:
        room = max(_MOST_LOOKS // len(rows) - len(self.held), 1)  # the first ones tell most
        targets = [*self.held, *self.loose[:room]]
        if known is None:
            return reweight(model, rows, targets, steps=_WEIGH)
        return reweight(model, rows, targets, known.potentials, steps=_AGAIN)

    def _rows(self, model: Model, known: WeightedRows | Model, count: int, bits: Replay) -> Codes:
        """So many rows. More than were weighed would be the same ones again: others are weighed, from there on."""
        if isinstance(known, Model) or count <= len(known.codes):
            return known.rows(count, bits)
        sizes = [len(part) for part in np.array_split(np.empty(count), -(-count // len(known.codes)))]
        drawn = (self._reweighted(model, model.rows(size, bits), known).rows(size, bits) for size in sizes)
        return np.concatenate(list(drawn))

    def _finish(self) -> Synthetic:
        self.total = max(noisy_total(self.measured), 1.0)  # pairs of few cells know it best
        model = self._fitted(_END, self.model)
        count = row_count(self.wanted_rows, self.total)
        known = self._weighted(model)
        bits = Replay(key_of(list(model.potentials.values()), "mosaic"))
        self.notes.append(f"a tree of {model.cells:,} cells, {len(self.loose)} marginals beside it")
        if isinstance(known, WeightedRows):
            self.notes.append(f"{known.effective:.0%} of the weighted rows count")
        codes = self.compressed.expand(self._rows(model, known, count, bits), bits)
        codes = exchange_codes(codes, self.compressed, self.meter.domain.sizes, self.workload, bits)
        return Synthetic(codes, self.total, tuple(self.measured), self.compressed.bins, self.fine, tuple(self.notes))


class _Guess:
    """What is known of a marginal: worked out, or counted in sampled rows where that would take too large a table."""

    def __init__(self, known: Model | WeightedRows) -> None:
        self._known = known
        self._rows: WeightedRows | None = None

    def __call__(self, columns: Columns) -> Floats:
        try:
            return self._known.marginal(columns)
        except InputError:
            if self._rows is None:
                rows = self._known.rows(min(max(round(self._known.total), 1), _MOST_ROWS), Replay(b"guess"))
                self._rows = WeightedRows(self._known.sizes, rows, np.ones(len(rows)), self._known.total, {})
            return self._rows.marginal(columns)


def _noise(target: Target) -> float:
    """The L1 norm that noise alone gives a measured marginal."""
    return _NOISE * math.sqrt(float(target.variance)) * target.values.size


def _uses(workload: dict[Columns, float], marginals: Sequence[Columns]) -> list[float]:
    """How much of the workload holds each of some marginals."""
    sets = [(frozenset(columns), weight) for columns, weight in workload.items()]
    return [math.fsum(weight for columns, weight in sets if columns.issuperset(part)) for part in marginals]


def _alone(width: int) -> Fraction:
    """The part of the price for single columns: more where there are many of them."""
    share = Fraction(9, 40) + Fraction(7, 40) * Fraction(width - 14, 16)
    return min(max(share, Fraction(9, 40)), Fraction(9, 20))
