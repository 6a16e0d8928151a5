"""How near one table of codes is to another: distances, associations, and agreement with the noisy counts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from discreet.marginals.counts import ArrayCounts, Columns, Counts, MergedCounts
from discreet.marginals.domain import Attribute, Domain
from discreet.noise.replay import Replay, uniforms
from discreet.query.key import Bin
from discreet.synth.junction import Floats
from discreet.synth.sample import Codes
from discreet.synth.synthetic import Synthetic

__all__ = ["Agreement", "Distance", "agreements", "associations", "distances", "marginals_of"]

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


def associations(domain: Domain, codes: Codes) -> Floats:
    """A matrix: Pearson's correlation of two columns with an order, from -1 to 1; Cramer's V of others, from 0 to 1.

    Numbers and days in bins stand for the middle of their bin; rows where one is missing are left out of a correlation.
    V is without what chance alone would add to it (Bergsma 2013). NaN where a column does not vary.
    """
    width, counts = len(domain), ArrayCounts(domain, codes)
    matrix = np.full((width, width), np.nan)
    for a, b in itertools.combinations(range(width), 2):
        one, two = domain.attributes[a], domain.attributes[b]
        table = counts.marginal((a, b)).astype(np.float64)
        found = _pearson(table, one, two) if one.ordered and two.ordered else _cramer(table)
        matrix[a, b] = matrix[b, a] = found
    return matrix


def _pearson(table: Floats, one: Attribute, two: Attribute) -> float:
    table = table[: one.size - one.missing, : two.size - two.missing]
    whole = table.sum()
    if whole == 0:
        return float("nan")
    x, y = _middles(one), _middles(two)
    rows, columns = table.sum(axis=1) / whole, table.sum(axis=0) / whole
    x, y = x - rows @ x, y - columns @ y
    spread = float(np.sqrt((rows @ x**2) * (columns @ y**2)))
    return float(x @ table @ y / whole / spread) if spread > 0 else float("nan")


def _middles(attribute: Attribute) -> Floats:
    return np.array([_middle(label) for label in attribute.labels if label is not None], dtype=np.float64)


def _middle(label: Any) -> float:
    start, end = (label.start, label.end) if isinstance(label, Bin) else (label, label)
    if isinstance(start, date):
        return float(start.toordinal() + end.toordinal()) / 2
    return float(start + end) / 2


def _cramer(table: Floats) -> float:
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    high, wide = table.shape
    whole = float(table.sum())
    if min(high, wide) < 2 or whole < 2:
        return float("nan")
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / whole
    square = float(((table - expected) ** 2 / expected).sum()) / whole
    square = max(square - (high - 1) * (wide - 1) / (whole - 1), 0.0)
    most = min(high - (high - 1) ** 2 / (whole - 1), wide - (wide - 1) ** 2 / (whole - 1)) - 1
    return float(np.sqrt(min(square / most, 1.0))) if most > 0 else float("nan")
