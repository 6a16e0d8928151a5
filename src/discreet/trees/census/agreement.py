"""Tables of one universe made to agree: what they all add up to is measured once and published once.

One table of a universe, its lead, asks for totals; cumulative sizes, which count households anyway, lead theirs. The
noisy answers are answers about every other table of the universe too, which is why they inform those, and what the lead
publishes as its totals binds them. Only noisy values are read: all of it is post-processing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.core.progress import notify
from discreet.trees.estimate import Ends, Estimate
from discreet.trees.measurement import Measurement
from discreet.trees.methods import method_named, publish_counts
from discreet.trees.rules import Rules

__all__ = ["agreeing", "informed", "totals_of"]

Array = NDArray[np.int64]


def informed(measured: Measurement, lead: Measurement | None) -> Measurement:
    """What was measured of a table, with what its lead was told about totals. Sizes count theirs themselves."""
    if lead is None or measured.chain:
        return measured
    levels = []
    for own, other in zip(measured.levels, lead.levels, strict=True):
        values, noise = other.totals, other.totals_noise
        if (lead.chain or (values is None and lead.cells == 1)) and other.counts is not None:
            values, noise = other.counts[:, 0], other.noise
        asked = own.totals is None and values is not None and (measured.cells > 1 or own.counts is None)
        levels.append(replace(own, totals=values, totals_noise=noise) if asked else own)
    return replace(measured, levels=tuple(levels))


def totals_of(estimate: Estimate | None, *, chain: bool) -> tuple[Array, ...] | None:
    """What the tables of a universe add up to, as their lead published it; of cumulative sizes, the first."""
    if estimate is None:
        return None
    return tuple(level[:, 0] for level in estimate.counts) if chain else estimate.totals


def agreeing(
    name: str, measured: Measurement, totals: tuple[Array, ...] | None, confidence: float, rules: Rules
) -> Estimate | None:
    """What a method makes of noisy counts, with the totals of its lead if there are any; None if it failed on them.

    `rules` have no totals of their own. Intervals are those of the counts themselves: totals that were published are
    not known exactly.
    """
    free = publish_counts(name, measured, rules, confidence)
    if free is None or totals is None:
        return free
    known = {level: sums.tolist() for level, sums in zip(measured.tree.names, totals, strict=True)}
    try:
        notify("making tables agree")
        bound = method_named(name, chain=measured.chain)(measured, replace(rules, totals=known))
    except Exception:
        # The noisy counts are paid for and must get on the record, whatever happens to what is made of them.
        return None
    notes = tuple(dict.fromkeys((*free.notes, *bound.notes)))
    return replace(bound, each=_around(bound, free.each), typical=_around(bound, free.typical), notes=notes)


def _around(estimate: Estimate, ends: Ends | None) -> Ends | None:
    """The same intervals, stretched to what is published where that lies outside."""
    if ends is None:
        return None
    levels = zip(
        estimate.counts, estimate.totals, ends.lower, ends.upper, ends.total_lower, ends.total_upper, strict=True
    )
    return Ends.of_levels(
        (np.minimum(low, count), np.maximum(high, count), np.minimum(least, total), np.maximum(most, total))
        for count, total, low, high, least, most in levels
    )
