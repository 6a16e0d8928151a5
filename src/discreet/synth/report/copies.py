"""Other synthetic tables from the same noisy counts: how much is due to the draw, and how much to the noise.

Nothing is spent: the noisy counts are published, and what is drawn here is drawn from them. A *draw* is another table
from a model fitted to the same noisy counts. A *trial* asks what would have come out if the private table were the
synthetic one: its marginals, the ones that were measured, get fresh noise of the same law, a model is fitted, a table
drawn. How far its answers are from the ones it should have given is how far answers stray, as far as noise and draws
go; what no measured marginal shows is in neither.

The model is a tree and weights, as in `mosaic`, whatever method made the release, and which marginals are measured is
not chosen anew: that would take the price and the workload, and for some methods minutes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.mechanism import Bits
from discreet.data.column import Column
from discreet.marginals.counts import ArrayCounts, Bins, MergedCounts
from discreet.marginals.domain import Domain
from discreet.marginals.meter import Noisy
from discreet.query.predicate import Predicate
from discreet.synth.compression import Compression
from discreet.synth.exclusions import repaired
from discreet.synth.junction import Floats, tree_cells
from discreet.synth.model import Model, fit, noisy_total, simplex, target_of
from discreet.synth.parts import MadeColumn, agreed
from discreet.synth.rows import ColumnValues
from discreet.synth.sample import Codes
from discreet.synth.synthetic import Synthetic
from discreet.synth.weighting import WeightedRows, reweight

if TYPE_CHECKING:
    from discreet.synth.descent import Target

__all__ = ["Copy", "draws", "trials"]

_TREE, _FINE_TREE = 20_000, 200_000  # cells of the cliques: of merged codes, and of all of them
_FIRST, _END, _WEIGH = 40, 200, 60  # steps of descent
_NOISE = math.sqrt(2 / math.pi)  # the mean of |x| for x normal


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """A synthetic table: codes, and the values drawn for them."""

    codes: Codes
    drawn: dict[str, ColumnValues]


class _Source:
    """Rows from a model of noisy counts."""

    def __init__(self, domain: Domain, made: Synthetic, measured: Sequence[Noisy]) -> None:
        self.bins: Bins = made.bins if made.bins is not None else [np.arange(size) for size in domain.sizes]
        self.sizes = tuple(int(one.max()) + 1 for one in self.bins)
        fine = len(measured) if made.bins is None else made.fine
        targets = [
            _merged(target_of(one), self.bins) if place < fine else target_of(one) for place, one in enumerate(measured)
        ]
        self.total = max(noisy_total(targets[: len(domain)]), 1.0)
        self.shares = _shares(domain, measured[:fine], self.bins)
        self.known = self._fitted(targets, _TREE if made.bins is not None else _FINE_TREE)

    def _fitted(self, targets: Sequence[Target], most: int) -> Model | WeightedRows:
        held = [one for one in targets if len(one.columns) == 1]
        model = fit(self.sizes, held or targets[:1], total=self.total, steps=_FIRST)
        loose: list[Target] = []
        for target in sorted(targets, key=lambda one: -_excess(one, model)):
            if len(target.columns) < 2 or _excess(target, model) <= 0:
                continue
            small = tree_cells(self.sizes, [*(one.columns for one in held), target.columns]) <= most
            (held if small else loose).append(target)
        if len(held) > len(self.sizes):
            model = fit(self.sizes, held, total=self.total, start=model, steps=_END)
        if not loose:
            return model
        rows = model.rows(max(round(self.total), 1))
        return reweight(model, rows, [*held, *loose], steps=_WEIGH)

    def rows(self, count: int, bits: Bits) -> Codes:
        return Compression(tuple(self.bins), (), self.shares).expand(self.known.rows(count, bits), bits)


def draws(
    domain: Domain,
    declared: Mapping[str, Column],
    impossible: Sequence[Predicate],
    made: Synthetic,
    many: int,
    bits: Bits,
    parts: Sequence[MadeColumn] = (),
) -> Iterator[Copy]:
    """Other tables from the same noisy counts, as many rows each as the release has."""
    source = _Source(domain, made, made.measured) if many and made.measured and len(made.codes) else None
    for _ in range(many if source else 0):
        if source is not None:
            yield _copy(domain, declared, impossible, source.rows(len(made.codes), bits), parts)


def trials(
    domain: Domain,
    declared: Mapping[str, Column],
    impossible: Sequence[Predicate],
    made: Synthetic,
    codes: Codes,
    many: int,
    bits: Bits,
    parts: Sequence[MadeColumn] = (),
) -> Iterator[Copy]:
    """Tables that would have come out if `codes` were the private table: the same measurements, with fresh noise."""
    if not made.measured or not len(codes):
        return
    plain = ArrayCounts(domain, codes)
    coarse = plain if made.bins is None else MergedCounts(plain, made.bins)
    scale = made.total / len(codes)
    exact = []
    for place, one in enumerate(made.measured):
        table = (plain if made.bins is None or place < made.fine else coarse).marginal(one.columns)
        exact.append(np.rint(table * scale).astype(np.int64))  # as many rows as there seem to be: noise is as large
    for _ in range(many):
        noisy = [
            Noisy(one.columns, one.noise.release(table.ravel(), bits=bits).reshape(table.shape), one.noise)
            for one, table in zip(made.measured, exact, strict=True)
        ]
        source = _Source(domain, made, noisy)
        yield _copy(domain, declared, impossible, source.rows(len(codes), bits), parts)


def _copy(
    domain: Domain,
    declared: Mapping[str, Column],
    impossible: Sequence[Predicate],
    codes: Codes,
    parts: Sequence[MadeColumn],
) -> Copy:
    fixed, drawn, _ = repaired(domain, declared, agreed(domain, parts, codes), impossible, parts)
    return Copy(fixed, drawn)


def _merged(target: Target, bins: Bins) -> Target:
    """A measured marginal of codes as one of bins; sums of counts have the sum of their variances."""
    values, variance = target.values, np.broadcast_to(target.variance, target.values.shape)
    for axis, column in enumerate(target.columns):
        values, variance = (_folded(one, axis, bins[column]) for one in (values, variance))
    return replace(target, values=values, variance=variance)


def _folded(table: Floats, axis: int, bins: object) -> Floats:
    places = np.asarray(bins, dtype=np.int64)
    shape = list(table.shape)
    shape[axis] = int(places.max()) + 1
    result = np.zeros(shape)
    np.add.at(np.moveaxis(result, axis, 0), places, np.moveaxis(table, axis, 0))
    return result


def _shares(domain: Domain, measured: Sequence[Noisy], bins: Bins) -> tuple[Floats, ...]:
    """What part of its bin each code is taken to be: what was measured, where it can be told from noise."""
    alone = {one.columns[0]: one for one in measured if len(one.columns) == 1}
    found = []
    for column, one in enumerate(bins):
        places = np.asarray(one, dtype=np.int64)
        shares = np.ones(len(places))
        for each in range(int(places.max()) + 1):
            inside = np.flatnonzero(places == each)
            shares[inside] = 1 / len(inside)
            if column not in alone or len(inside) == 1:
                continue
            counts = alone[column].values[inside].astype(np.float64)
            if counts.sum() > 0:
                calm = _calm(counts, alone[column].variance) if domain.attributes[column].ordered else counts
                shares[inside] = simplex(calm, float(counts.sum())) / counts.sum()
        found.append(shares)
    return tuple(found)


def _calm(counts: Floats, variance: float) -> Floats:
    """Counts of neighbours drawn together, as far as their differences may be noise."""
    off = counts - counts.mean()
    energy = float((off**2).sum())
    kept = max(1 - (len(counts) - 1) * variance / energy, 0.0) if energy > 0 else 0.0
    return np.asarray(counts.mean() + kept * off)


def _excess(target: Target, model: Model) -> float:
    """How much farther a measured marginal is from what independent columns make than its noise explains; 0 if not."""
    off = target.values - model.marginal(target.columns)
    variance = np.broadcast_to(target.variance, off.shape)
    noise = np.sqrt(variance)
    if (off**2 / variance).mean() < 1.5 and float((np.abs(off) / noise).max()) <= 4:
        return 0.0
    return max(float(np.abs(off).sum() - _NOISE * noise.sum()), 0.0)
