"""How long rows of one parent lie apart: counted coarsely first, then in codes that rise above the noise.

Most gaps are short and a year is long: hundreds of codes in which nothing lies would all get some of the noise, and
together a heavy tail. So gaps are counted by octaves first, each twice as long as the one before. Those that rise above
the noise are cut as finely as their counts allow; behind the last of them is one code, whose gaps fall off as fast as
the counts do there: as many as were counted and, where noise hides them, as an exponential law expects. Only what
was measured is looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.marginals.meter import Noisy
from discreet.marginals.partition import Partition
from discreet.noise.replay import Replay, uniforms
from discreet.synth.calibration import drawn_rows
from discreet.synth.rows import seed_of
from discreet.synth.sample import Codes

__all__ = ["SHARE", "Gaps", "octaves"]

SHARE = Fraction(1, 10)
"""The part of the price of child rows that counts their gaps by octaves."""
_CLEAR = 3.0  # standard deviations of noise that an octave must rise above
_FINE = 4.0  # and each code that it is cut into
_FIRST_RUN = 2  # the first octave of more than one point
Floats = NDArray[np.float64]


def octaves(cut: Partition) -> Codes:
    """The octave of every code of a partition from zero: of 0, of 1, of 2 and 3, of 4 to 7, and so on.

    >>> octaves(Partition.points(Fraction(0), Fraction(1), 8)).tolist()
    [0, 1, 2, 2, 3, 3, 3, 3, 4]
    """
    return np.array([int(start).bit_length() for start in cut.starts], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Codes for gaps: a partition, the bin that each code of the schema's partition goes into, and shares of groups.

    `groups` says which bins share one count, `shares` how many gaps each group has, all of them 1 together. Gaps of the
    last bin fall off exponentially, `decay` points on average behind its start, or lie evenly where it is None.
    """

    cut: Partition
    bins: Codes
    groups: Codes | None = None
    shares: Floats | None = None
    decay: float | None = None

    @classmethod
    def plain(cls, cut: Partition) -> Gaps:
        """Every code of a partition as it is."""
        return cls(cut, np.arange(cut.size, dtype=np.int64))

    @classmethod
    def of(cls, cut: Partition, noisy: Noisy | None) -> Gaps:
        """Codes from noisy counts of octaves; those of the schema where gaps were not counted so."""
        if noisy is None:
            return cls.plain(cut)
        octave, deviation = octaves(cut), math.sqrt(noisy.variance)
        counts = noisy.values.astype(np.float64)
        clear = counts >= _CLEAR * deviation
        group = _runs(clear)
        many = np.bincount(group)
        mass: Floats = np.bincount(group, weights=counts).astype(np.float64)
        hidden = ~np.array([clear[group == one].any() for one in range(len(many))])
        mass = np.where(hidden, _shrunk(mass, deviation * np.sqrt(many)), mass)
        if hidden[-1]:
            mass[-1] = _tail(counts, clear, deviation, float(mass[-1]))
        bins, groups = np.zeros(cut.size, dtype=np.int64), list[int]()
        for one in range(len(many)):
            inside = np.flatnonzero(group[octave] == one)
            pieces = 1 if hidden[one] else _pieces(len(inside), mass[one], deviation)
            bins[inside] = len(groups) + np.arange(len(inside)) * pieces // len(inside)
            groups += [one] * pieces
        starts = cut.starts[np.r_[0, np.flatnonzero(np.diff(bins)) + 1]]
        fewer = Partition.of_starts(cut.origin, cut.unit, cut.last, starts.tolist())
        total = float(mass.sum())
        if total <= 0:
            return cls(fewer, bins)
        behind = _decay(cut, octave, group, mass) if hidden[-1] else None
        return cls(fewer, bins, np.array(groups, dtype=np.int64), mass / total, behind)

    def calibrated(self, pool: Codes, column: int) -> Codes:
        """Rows drawn from a pool so that octaves have the shares that were counted, which have less noise there."""
        if self.groups is None or self.shares is None or len(pool) == 0:
            return pool
        group = self.groups[pool[:, column]]
        have = np.bincount(group, minlength=len(self.shares)) / len(pool)
        weights = np.divide(self.shares, have, out=np.zeros(len(have)), where=have > 0)[group]
        if weights.sum() <= 0:
            return pool
        order = np.argsort(group, kind="stable")  # evenly over each group
        return drawn_rows(pool[order], weights[order], len(pool), Replay(seed_of(pool) + b"gaps"))

    def draw(self, codes: Codes, bits: Bits) -> Codes:
        """A gap for each code: evenly from its run, but for the last one where gaps fall off."""
        found = draw_points(self.cut, codes, bits)
        if self.decay is None:
            return found
        late = np.flatnonzero(codes == self.cut.size - 1)
        start, room = int(self.cut.starts[-1]), int(self.cut.last - self.cut.starts[-1]) + 1
        share = uniforms(bits, len(late)) * -math.expm1(-room / self.decay)
        behind = np.floor(-self.decay * np.log1p(-share)).astype(np.int64)
        found[late] = start + np.clip(behind, 0, room - 1)
        return found


def _runs(clear: NDArray[np.bool_]) -> Codes:
    """A number for every clear octave, and one for each run of others."""
    fresh = np.r_[True, clear[1:] | clear[:-1]]
    return np.asarray(np.cumsum(fresh) - 1, dtype=np.int64)


def _shrunk(mass: Floats, deviation: Floats) -> Floats:
    """Counts that noise may explain, drawn towards nothing as far as it does."""
    known = np.maximum(mass, 1e-9)
    return np.asarray(known * np.maximum(1 - (deviation / known) ** 2, 0.0))


def _tail(counts: Floats, clear: NDArray[np.bool_], deviation: float, counted: float) -> float:
    """How many gaps lie behind the last clear octave: what was counted there, and what an exponential law expects.

    Such a law follows from the last two octaves, if both are clear. It may be wrong by as much as what it expects, so
    it weighs less the more that is; where it expects no end, only what was `counted` speaks.

    >>> survival = np.exp(-np.array([0, 1, 2, 4, 8, 16]) / 3)
    >>> counts = 1000 * np.append(survival[:-1] - survival[1:], survival[-1])
    >>> clear = np.array([True] * 4 + [False] * 2)
    >>> behind = float(counts[4:].sum())
    >>> round(_tail(counts, clear, 400.0, 0.0) / behind, 2), round(_tail(counts, clear, 4.0, behind) / behind, 2)
    (0.99, 1.0)
    """
    last = int(np.flatnonzero(clear)[-1]) if clear.any() else 0
    if last < _FIRST_RUN or not clear[last - 1]:
        return counted
    noise = deviation * math.sqrt(len(counts) - last - 1)
    # Of an exponential law, octaves [l/2, l) and [l, 2l) have the ratio q + q^2, where q = S(l) / S(l/2).
    q = (math.sqrt(1 + 4 * counts[last] / counts[last - 1]) - 1) / 2
    if q >= 1 or noise == 0:
        return counted
    expected = float(counts[last - 1]) * q**3 / (1 - q)
    weight = noise**2 / (noise**2 + expected**2)
    return weight * expected + (1 - weight) * counted


def _pieces(codes: int, mass: float, deviation: float) -> int:
    """How many codes an octave is cut into: a power of two, each of which would rise above the noise."""
    most = codes if deviation == 0 else min(codes, int(mass / (_FINE * deviation)))
    return codes if most >= codes else 2 ** max(most.bit_length() - 1, 0)


def _decay(cut: Partition, octave: Codes, group: Codes, mass: Floats) -> float | None:
    """How far behind the last clear octave gaps lie on average, if they fall off as fast as from it to what follows."""
    if len(mass) < 2 or mass[-2] <= 0:
        return None
    inside = np.flatnonzero(group[octave] == len(mass) - 2)
    length = float(cut.ends[inside[-1]] - cut.starts[inside[0]] + 1)
    return length / math.log1p(mass[-2] / max(mass[-1], 1e-9 * mass[-2]))


def draw_points(cut: Partition, codes: Codes, bits: Bits) -> Codes:
    """A point of each code's run, evenly."""
    first, many = cut.starts[codes], (cut.ends - cut.starts + 1)[codes]
    share = uniforms(bits, len(codes))
    return np.asarray(first + np.minimum((share * many).astype(np.int64), many - 1))
