"""Parents' codes in few groups, from their noisy counts: what child rows are counted together with.

A group of an ordered column holds about as many parents as any other; of the rest, rare codes are put together. Only
what was measured is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.marginals.domain import Attribute, Domain
from discreet.marginals.meter import Noisy
from discreet.synth.model import noisy_total, simplex
from discreet.synth.relations.levels import FANOUT, Levels
from discreet.synth.sample import Codes

__all__ = ["child_bins", "coarsened"]

_GROUPS = 12
Floats = NDArray[np.float64]


def child_bins(levels: Levels, measured: Sequence[Noisy], gaps: Codes | None = None) -> list[Codes]:
    """For every attribute of a child row, which group each of its codes goes into: those of parents, and of gaps.

    `measured` are the noisy marginals of parents, of which single columns are used; `gaps` the groups of gaps, if any.
    """
    heads, children = levels.heads, levels.children
    bins = [_parent_bins(one, _counts(place, measured)) for place, one in enumerate(heads)]
    bins += [np.arange(one.size) for one in children.attributes[len(heads) :]]
    if gaps is not None:
        bins[levels.targets[-1]] = gaps
    return bins


def coarsened(domain: Domain, bins: Sequence[Codes]) -> Domain:
    """The domain of those groups."""
    return domain.merged(list(bins))


def _counts(column: int, measured: Sequence[Noisy]) -> Floats | None:
    """The counts of one column, none below zero; the most precise where it was measured several times."""
    alone = [one for one in measured if one.columns == (column,)]
    if not alone:
        return None
    best = min(alone, key=lambda one: one.variance)
    return simplex(best.values.astype(np.float64), max(noisy_total(alone), 1.0))


def _parent_bins(attribute: Attribute, counts: Floats | None) -> Codes:
    size = attribute.size
    if size <= _GROUPS or attribute.name == FANOUT:
        return np.arange(size, dtype=np.int64)
    weights = np.ones(size) if counts is None or len(counts) != size else counts
    known = size - attribute.missing
    if attribute.ordered:
        found = _even(weights[:known])
    else:
        found = np.full(known, _GROUPS - 1, dtype=np.int64)
        often = np.argsort(-weights[:known], kind="stable")[: _GROUPS - 1]
        found[np.sort(often)] = np.arange(len(often))
    return np.r_[found, int(found.max()) + 1] if attribute.missing else found


def _even(weights: Floats) -> Codes:
    """Runs of neighbours of about equal weight.

    >>> _even(np.array([6.0, 1, 1, 1, 1, 1, 1] + [0] * 6)).tolist()
    [0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 6, 6]
    """
    middle = np.cumsum(weights) - weights / 2
    group = np.minimum((middle * _GROUPS / max(weights.sum(), 1e-9)).astype(np.int64), _GROUPS - 1)
    return np.asarray(np.unique(group, return_inverse=True)[1].ravel(), dtype=np.int64)
