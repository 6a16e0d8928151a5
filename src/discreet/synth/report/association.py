"""How strongly columns of a table go together, two by two: one number that suits numbers and names."""

from __future__ import annotations

import itertools

import numpy as np

from discreet.marginals.counts import ArrayCounts
from discreet.marginals.domain import Attribute, Domain
from discreet.query.key import Bin
from discreet.synth.calibrate import Floats
from discreet.synth.sample import Codes

__all__ = ["associations"]


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
    labels = [label for label in attribute.labels if label is not None]
    if labels and isinstance(labels[0], Bin) and not hasattr(labels[0].start, "toordinal"):
        return np.array([float(label.start + label.end) / 2 for label in labels])
    if labels and isinstance(labels[0], Bin):
        return np.array([(label.start.toordinal() + label.end.toordinal()) / 2 for label in labels])
    return np.array([float(label) for label in labels])


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
