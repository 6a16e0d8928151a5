"""Pairs of columns by their values: how far they are apart, and what one column looks like given another.

Values are put in few groups: those that many rows share stand alone, the others lie between quantiles of the real ones.
So a value that is special in one column (no tip) can be seen to go with one of another (paid in cash).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.noise.replay import Replay, uniforms
from discreet.synth.junction import Floats
from discreet.synth.report.values import Values

__all__ = ["Conditional", "Given", "Groups", "PairError", "conditionals", "groups_of", "pair_errors"]

MOST = 5000
"""How many pairs are compared; beyond, so many of them, chosen evenly and always the same."""
ROWS = 30_000
"""How many rows of either table are looked at, chosen evenly."""
_ALONE, _HEAVY = 4, 0.05  # values that are a group of their own: so many, of so large a share
_BETWEEN = 8  # groups of the other values
_NAMES = 11
_ADDED, _WORST = 4, 2  # pairs that are drawn: those that add most to their columns' errors, and so many worst columns
_OFTEN = 2  # how often a column may be among the first of these
_CASES, _FEW = 6, 0.005  # groups of the column that is given, and the share of rows that each has at least


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The rows of two tables, sorted into few groups by one column."""

    name: str
    labels: tuple[str, ...]
    real: NDArray[np.int64]
    synthetic: NDArray[np.int64]
    ordered: bool


@dataclass(frozen=True, slots=True)
class PairError:
    """The total variation distance of a pair, and what explains some of it.

    `alone` is the larger distance of its two columns, which the pair cannot be better than; `chance` what two samples
    of one law would have, on average.
    """

    columns: tuple[int, int]
    tv: float
    alone: float
    chance: float

    @property
    def excess(self) -> float:
        """What the pair adds to the errors of its columns and to chance."""
        return max(self.tv - max(self.alone, self.chance), 0.0)


@dataclass(frozen=True, slots=True)
class Given:
    """The shares of the groups of one column among the rows of one group of another; and how many rows these are."""

    label: str
    rows: tuple[float, float]
    real: tuple[float, ...]
    synthetic: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Conditional:
    """What one column looks like given another."""

    name: str
    given: str
    labels: tuple[str, ...]
    cases: tuple[Given, ...]
    error: PairError


def groups_of(values: Values) -> Groups:
    """A column in few groups, of which the last holds missing values, if there are any."""
    sides = [_some(values.real, b"real"), _some(values.synthetic, b"synthetic")]
    both = np.concatenate([side[~np.isnan(side)] for side in sides])
    labels, codes = _named(values, sides, both) if not values.ordered else _cut(values, sides, both)
    if any(np.isnan(side).any() for side in sides):
        labels.append("missing")
        codes = [np.where(np.isnan(side), len(labels) - 1, code) for side, code in zip(sides, codes, strict=True)]
    return Groups(values.name, tuple(labels), codes[0], codes[1], values.ordered)


def _some(side: Floats, key: bytes) -> Floats:
    """All rows, or some of them: the same ones of every column of a table."""
    return side if len(side) <= ROWS else side[_chosen(key, len(side), ROWS)]


@lru_cache(maxsize=4)
def _chosen(key: bytes, rows: int, many: int) -> NDArray[np.int64]:
    return np.sort(np.argsort(uniforms(Replay(key), rows), kind="stable")[:many])


def _named(values: Values, sides: list[Floats], both: Floats) -> tuple[list[str], list[NDArray[np.int64]]]:
    size = len(values.labels)
    order = np.argsort(-np.bincount(both.astype(np.int64), minlength=size), kind="stable")
    alone = order if size <= _NAMES else order[: _NAMES - 1]
    group = np.full(size, len(alone))
    group[alone] = np.arange(len(alone))
    labels = [values.labels[one] for one in alone]
    if size > len(alone):
        labels.append(f"{size - len(alone)} others")
    return labels, [group[np.nan_to_num(side).astype(np.int64)] for side in sides]


def _cut(values: Values, sides: list[Floats], both: Floats) -> tuple[list[str], list[NDArray[np.int64]]]:
    """Heavy values alone, in their place among groups of about as many rows each."""
    alone = _heavy(sides)
    rest = sides[0][~np.isnan(sides[0]) & ~np.isin(sides[0], alone)]
    cuts = np.unique(np.quantile(rest, np.arange(1, _BETWEEN) / _BETWEEN, method="inverted_cdf")) if len(rest) else rest
    # Groups in rising order: each begins at a cut, and a heavy value is one and ends the group before it.
    starts = np.unique(np.concatenate([cuts, alone, np.nextafter(alone, np.inf)]))
    found = [np.searchsorted(starts, np.nan_to_num(side), side="right") for side in sides]

    def begin(start: float) -> float:
        """Where a group begins just after a heavy value, that value."""
        before = float(np.nextafter(start, -np.inf))
        return before if before in alone else float(start)

    used = np.unique(np.concatenate([code[~np.isnan(side)] for side, code in zip(sides, found, strict=True)]))
    place = np.zeros(len(starts) + 1, dtype=np.int64)
    place[used] = np.arange(len(used))
    everything = np.searchsorted(starts, both, side="right")
    labels = []
    for one in used:
        inside = both[everything == one]
        low, high = float(inside.min()), float(inside.max())
        if low < high and not values.discrete:  # from where a group begins to where the next one does
            low = low if one == 0 else begin(starts[one - 1])
            high = high if one == len(starts) else begin(starts[one])
        first, last = values.brief(low), values.brief(high)
        labels.append(first if first == last else f"{first} to {last}")
    return labels, [place[code] for code in found]


def _heavy(sides: list[Floats]) -> Floats:
    found: dict[float, float] = {}
    for side in sides:
        single, many = np.unique(side[~np.isnan(side)], return_counts=True)
        for value, share in zip(single.tolist(), (many / max(len(side), 1)).tolist(), strict=True):
            if share >= _HEAVY:
                found[value] = max(found.get(value, 0.0), share)
    return np.sort(np.array(sorted(found, key=lambda value: -found[value])[:_ALONE], dtype=np.float64))


def pair_errors(groups: Sequence[Groups], most: int = MOST) -> list[PairError]:
    """The errors of all pairs of columns, or of some."""
    alone = [_distance(*_tables(one)) for one in groups]
    pairs = list(itertools.combinations(range(len(groups)), 2))
    if len(pairs) > most:
        order = np.argsort(uniforms(Replay(b"pairs"), len(pairs)), kind="stable")
        pairs = sorted(pairs[place] for place in order[:most])
    found = []
    for a, b in pairs:
        real, synthetic = _tables(groups[a], groups[b])
        chance = _chance(real, synthetic)
        found.append(PairError((a, b), _distance(real, synthetic), max(alone[a], alone[b]), chance))
    return found


def _tables(one: Groups, other: Groups | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many rows of each table are in every group, or in every pair of groups."""
    if other is None:
        size = len(one.labels)
        return np.bincount(one.real, minlength=size), np.bincount(one.synthetic, minlength=size)
    high, wide = len(one.labels), len(other.labels)
    real = np.bincount(one.real * wide + other.real, minlength=high * wide)
    synthetic = np.bincount(one.synthetic * wide + other.synthetic, minlength=high * wide)
    return real.reshape(high, wide), synthetic.reshape(high, wide)


def _distance(real: NDArray[np.int64], synthetic: NDArray[np.int64]) -> float:
    return float(np.abs(real / max(real.sum(), 1) - synthetic / max(synthetic.sum(), 1)).sum() / 2)


def _chance(real: NDArray[np.int64], synthetic: NDArray[np.int64]) -> float:
    """About the distance of two samples, as large as these, of the law that both tables together suggest."""
    first, second = max(int(real.sum()), 1), max(int(synthetic.sum()), 1)
    pooled = (real + synthetic) / (first + second)
    return float(np.sqrt(pooled * (1 - pooled)).sum() * math.sqrt((1 / first + 1 / second) / (2 * math.pi)))


def conditionals(groups: Sequence[Groups], errors: Sequence[PairError]) -> list[Conditional]:
    """What columns look like given others: the worst columns given what they go with most, and the worst pairs.

    A pair is as bad as what it adds to the errors of its columns. What a column goes with is seen from the real rows.
    """
    found = {error.columns: error for error in errors}
    alone = [_distance(*tables) - _chance(*tables) for tables in map(_tables, groups)]
    worst = sorted((place for place, excess in enumerate(alone) if excess > 0), key=lambda place: -alone[place])
    partners = [(place, _partner(place, groups)) for place in worst[:_WORST]]
    chosen = [found[pair] for a, b in partners if b is not None and (pair := (min(a, b), max(a, b))) in found]
    often = [0] * len(groups)
    added: list[PairError] = []
    for error in sorted(errors, key=lambda one: -one.excess):
        if len(added) < _ADDED and error.excess > 0 and max(often[one] for one in error.columns) < _OFTEN:
            added.append(error)
            for one in error.columns:
                often[one] += 1
    drawn = dict.fromkeys([*chosen, *added])
    return [_conditional(groups[error.columns[0]], groups[error.columns[1]], error) for error in drawn]


def _partner(place: int, groups: Sequence[Groups]) -> int | None:
    """The column of names, or any if there are none, that says most about a column, among real rows."""
    others = [other for other in range(len(groups)) if other != place]
    named = [other for other in others if not groups[other].ordered]
    return max(named or others, key=lambda other: _information(groups[place], groups[other]), default=None)


def _information(one: Groups, other: Groups) -> float:
    """The mutual information of two columns, among real rows."""
    shares = _tables(one, other)[0] / max(len(one.real), 1)
    apart = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    there = shares > 0
    return float((shares[there] * np.log(shares[there] / apart[there])).sum())


def _conditional(one: Groups, other: Groups, error: PairError) -> Conditional:
    """The column with fewer groups is given; of two with as many, the one without an order."""
    given, shown = sorted((one, other), key=lambda each: (len(each.labels), each.ordered))
    real, synthetic = _tables(given, shown)
    heaviest = np.argsort(-(real.sum(axis=1) / max(real.sum(), 1) + synthetic.sum(axis=1) / max(synthetic.sum(), 1)))
    large = np.maximum(real.sum(axis=1) / max(real.sum(), 1), synthetic.sum(axis=1) / max(synthetic.sum(), 1)) >= _FEW
    chosen = sorted(case for case in heaviest[:_CASES].tolist() if large[case])
    cases = tuple(
        Given(
            given.labels[case],
            (float(real[case].sum() / max(real.sum(), 1)), float(synthetic[case].sum() / max(synthetic.sum(), 1))),
            tuple((real[case] / max(real[case].sum(), 1)).tolist()),
            tuple((synthetic[case] / max(synthetic[case].sum(), 1)).tolist()),
        )
        for case in chosen
    )
    return Conditional(shown.name, given.name, shown.labels, cases, error)
