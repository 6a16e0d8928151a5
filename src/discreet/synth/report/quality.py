"""How near one table of codes is to another, and how well synthetic rows agree with the noisy counts they came from."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.marginals.counts import ArrayCounts, Columns, Counts, MergedCounts
from discreet.marginals.domain import Domain
from discreet.noise.replay import Replay, uniforms
from discreet.synth.calibrate import Floats
from discreet.synth.sample import Codes
from discreet.synth.synthetic import Synthetic

__all__ = ["Agreement", "Distance", "agreements", "distances", "marginals_of"]

MOST = 200
"""How many marginals of each size are compared; beyond, so many of them, chosen evenly and always the same."""
_LEAST = 10_000  # cells that a marginal may have, however few rows there are


@dataclass(frozen=True, slots=True)
class Distance:
    """How far two tables are apart in one marginal, of shares: half the sum of the gaps (`tv`), and the largest gap."""

    columns: Columns
    cells: int
    tv: float
    largest: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How synthetic counts agree with noisy ones of one measured marginal.

    `gap` is the root mean square of their difference, in standard deviations of the noise: about 1, or a little less,
    if the rows are as near as noise lets one see. `inside` is the part of the cells whose synthetic count is in the
    interval for the true one; `half_width` that of the interval.
    """

    columns: Columns
    cells: int
    deviation: float
    half_width: int
    gap: float
    inside: float
    largest: float


def agreements(domain: Domain, made: Synthetic, codes: Codes, confidence: float) -> list[Agreement]:
    """For every measured marginal, in the order measured. Synthetic counts are scaled to the rows there seem to be."""
    plain = ArrayCounts(domain, codes)
    coarse: Counts = plain if made.bins is None else MergedCounts(plain, made.bins)
    scale = made.total / len(codes) if len(codes) else 0.0
    found = []
    for place, noisy in enumerate(made.measured):
        counts = plain if made.bins is None or place < made.fine else coarse
        off = np.abs(noisy.values - scale * counts.marginal(noisy.columns))
        half, deviation = noisy.noise.error(confidence), math.sqrt(noisy.variance)
        found.append(
            Agreement(
                noisy.columns,
                off.size,
                deviation,
                half,
                float(np.sqrt((off**2).mean()) / deviation) if deviation > 0 else math.inf,
                float((off <= half).mean()),
                float(off.max()),
            )
        )
    return found


def marginals_of(domain: Domain, ways: int, rows: int, most: int = MOST) -> list[Columns]:
    """Marginals of so many columns, of no more cells than there are rows (or a few thousand): all, or some of them."""
    limit = max(rows, _LEAST)
    many = math.comb(len(domain), ways)
    if many <= 50_000:
        every = list(itertools.combinations(range(len(domain)), ways))
        fair = [columns for columns in every if domain.cells(columns) <= limit]
        if len(fair) <= most:
            return fair
        order = np.argsort(uniforms(Replay(f"{ways} ways".encode()), len(fair)))
        return sorted(fair[place] for place in order[:most])
    found: set[Columns] = set()
    shares = uniforms(Replay(f"{ways} ways".encode()), 100 * most * ways).reshape(-1, ways)
    for row in (shares * len(domain)).astype(int):
        columns = tuple(sorted({int(one) for one in row}))
        if len(columns) == ways and domain.cells(columns) <= limit:
            found.add(columns)
        if len(found) == most:
            break
    return sorted(found)


def distances(domain: Domain, real: Codes, synthetic: Codes, marginals: Sequence[Columns]) -> list[Distance]:
    """How far the synthetic rows are from the real ones. Reads the real ones: what comes out is not private."""
    one, two = ArrayCounts(domain, real), ArrayCounts(domain, synthetic)
    found = []
    for columns in marginals:
        gaps = np.abs(_shares(one, columns, len(real)) - _shares(two, columns, len(synthetic)))
        found.append(Distance(columns, gaps.size, float(gaps.sum()) / 2, float(gaps.max())))
    return found


def _shares(counts: ArrayCounts, columns: Columns, rows: int) -> Floats:
    return np.asarray(counts.marginal(columns) / max(rows, 1), dtype=np.float64)
