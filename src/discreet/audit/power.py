"""What would have been caught: the least multiple of a claimed loss that runs like these refute nine times in ten.

The question an audit without a violation leaves open. It is answered for a mechanism of the same shape whose loss is
`times` as large (whose noise is so many times too small): the sign found here would then tell so much more. How much
the sign tells is taken from its own runs, on the safe side. The answer is an estimate, not a guarantee: an error of
another shape may show sooner or later. docs/proofs/audit.md, "What would have been caught".
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from discreet.audit.bounds import Rates, rates
from discreet.audit.claim import Claim
from discreet.audit.intervals import lower

__all__ = ["POWER", "Sign", "catchable", "scaled"]

Reals = NDArray[np.float64]

POWER = 0.9  # how often such an error is caught
_UNSURE = 0.2  # the chance that a sign tells less than it is taken to tell
_TIMES = np.geomspace(1.0, 64.0, 800)
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Sign:
    """How often an event came on either side, in runs that it was not chosen on."""

    inside: int
    runs_inside: int
    outside: int
    runs_outside: int


def catchable(claim: Claim, signs: list[Sign], miss: float) -> float | None:
    """The least multiple of the claim that one of these signs would refute with probability `POWER`; or None.

    `miss` is the chance of being wrong that each sign has. None: no sign tells enough to say.
    """
    found = [_times(claim, sign, miss, _UNSURE / len(signs)) for sign in signs]
    known = [times for times in found if times is not None]
    return min(known) if known else None


def _times(claim: Claim, sign: Sign, miss: float, unsure: float) -> float | None:
    seen = rates(sign.inside, sign.runs_inside, sign.outside, sign.runs_outside, unsure)
    if not 0 < seen.alarmed < seen.detected < 1:
        return None
    detected, alarmed = scaled(seen, _TIMES, gaussian=claim.rho is not None)
    # Counts that are reached but for half of what is left to chance on each side.
    lost, z = -_NORMAL.inv_cdf((1 - POWER) / 2), -_NORMAL.inv_cdf(miss / 2)
    hits = _fewest(detected, sign.runs_inside, lost)
    passes = _fewest(1 - alarmed, sign.runs_outside, lost)
    sure, loose = lower(hits, sign.runs_inside, z), 1 - lower(passes, sign.runs_outside, z)
    refuted = sure > claim.most_of(loose)
    # From where on all larger multiples are refuted too; where coins become certain, floats end.
    certain = (detected >= 1) | (alarmed <= 0)
    missed = np.flatnonzero(~refuted & ~certain)
    first = int(missed[-1]) + 1 if len(missed) else 0
    return float(_TIMES[first]) if first < len(_TIMES) and refuted[first] else None


def _fewest(chance: Reals, runs: int, deviations: float) -> Reals:
    """About the fewest successes that come but for so many deviations."""
    spread = np.sqrt(np.maximum(chance * (1 - chance) * runs, 0.0))
    return np.maximum(np.floor(chance * runs - deviations * spread), 0.0)


def scaled(seen: Rates, times: Reals, *, gaussian: bool) -> tuple[Reals, Reals]:
    """What an event's rates become when the loss is so many times as large.

    Of a coin: the logarithm of how much likelier either outcome is on one side is multiplied. With Gaussian noise: the
    distance of the two sides in deviations, the event staying where it is between them.
    """
    if gaussian:
        high, low = _NORMAL.inv_cdf(seen.detected), _NORMAL.inv_cdf(seen.alarmed)
        middle, half = (high + low) / 2, (high - low) / 2 * times
        return np.array([_NORMAL.cdf(x) for x in middle + half]), np.array([_NORMAL.cdf(x) for x in middle - half])
    more = np.log(seen.detected / seen.alarmed) * times
    less = np.log((1 - seen.detected) / (1 - seen.alarmed)) * times
    with np.errstate(over="ignore"):
        alarmed = -np.expm1(less) / (np.exp(np.minimum(more, 700.0)) - np.exp(less))
    return np.asarray(np.minimum(1.0, np.exp(np.minimum(more, 700.0)) * alarmed)), np.asarray(alarmed)
