"""What would have been caught: the least multiple of a claimed loss that runs like these refute nine times in ten.

The question an audit without a violation leaves open. It is answered for a mechanism of the same shape whose loss is
`times` as large (whose noise is so many times too small): the sign found here would then tell so much more. How much
the sign tells is taken from its own runs, on the safe side. The answer is an estimate, not a guarantee: an error of
another shape may show sooner or later. Where the signs tell too little to say, there is still the least error that an
attack which shows all of a loss would have refuted. docs/proofs/audit.md, "What would have been caught".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from discreet.audit.bounds import Rates, at_least, rates
from discreet.audit.claim import Claim
from discreet.audit.intervals import lower

__all__ = [
    "POWER",
    "Sign",
    "catchable",
    "catchable_by_bets",
    "catchable_by_guesses",
    "finest",
    "finest_by_bets",
    "finest_by_guesses",
    "scaled",
    "widest",
]

Reals = NDArray[np.float64]

POWER = 0.9  # how often such an error is caught
_UNSURE = 0.2  # the chance that a sign tells less than it is taken to tell
_TIMES = np.geomspace(1.0, 64.0, 800)
_COARSE = 2  # of these, for bets
_TRIED = 2  # signs that bets are tried on
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
    return _least(claim, seen, (sign.runs_inside, sign.runs_outside), miss)


def finest(claim: Claim, runs: int, miss: float) -> float:
    """The least multiple of the claim that so many runs a side refute with probability `POWER` by a sign that shows all
    of a loss: what an audit of this size can find at best. Infinite: it can refute nothing.
    """
    return _least(claim, widest(claim), (runs, runs), miss) or math.inf


def catchable_by_bets(claim: Claim, signs: list[Sign], runs: int, miss: float) -> float | None:
    """The same where bets on one of these signs are settled on so many runs a side; `miss` is for every bet."""
    unsure = _UNSURE / max(1, len(signs))
    seen = [rates(one.inside, one.runs_inside, one.outside, one.runs_outside, unsure) for one in signs]
    told = sorted((one for one in seen if 0 < one.alarmed < one.detected < 1), key=_told, reverse=True)
    least = min((_bet_on(claim, one, runs, miss) for one in told[:_TRIED]), default=math.inf)
    return least if math.isfinite(least) else None


def finest_by_bets(claim: Claim, runs: int, miss: float) -> float:
    """What such bets find at best, on a sign that shows all of a loss; infinite: nothing."""
    return _bet_on(claim, widest(claim), runs, miss)


def _told(sign: Rates) -> float:
    """How far apart both sides are, in deviations of a count: about what bets on a sign grow by."""
    middle = (sign.detected + sign.alarmed) / 2
    return (sign.detected - sign.alarmed) / math.sqrt(middle * (1 - middle))


def _bet_on(claim: Claim, seen: Rates, runs: int, miss: float) -> float:
    """The least multiple from which on bets on a sign with these rates, at the claimed loss, make the gambler rich."""
    lines = list(zip(claim.epsilons.tolist(), claim.deltas.tolist(), strict=True))
    detected, alarmed = scaled(seen, _TIMES[::_COARSE], gaussian=claim.rho is not None)
    needed, least = math.log(1 / miss), math.inf
    for hit, alarm in ((detected, alarmed), (1 - alarmed, 1 - detected)):
        chances = np.stack([hit * alarm, hit * (1 - alarm), (1 - hit) * alarm, (1 - hit) * (1 - alarm)])
        few = chances[:, :: len(hit) // 6]  # multiples at which the best lines are chosen
        best = np.argmax([_sure_growth(line, few, runs) for line in lines], axis=0)
        for place in sorted(set(best.tolist())):
            missed = np.flatnonzero(_sure_growth(lines[place], chances, runs) < needed)
            first = int(missed[-1]) + 1 if len(missed) else 0
            least = min(least, float(_TIMES[first * _COARSE])) if first < len(hit) else least
    return least


def _sure_growth(line: tuple[float, float], chances: Reals, runs: int) -> Reals:
    """What the logarithm of wealth grows to with probability `POWER`, betting on one line in so many runs a side."""
    epsilon, delta = line
    rate = math.exp(min(epsilon, 700.0))
    gains = np.array([1 - rate - delta, 1 - delta, -rate - delta, -delta])
    stakes = np.clip(gains @ chances / np.maximum(gains**2 @ chances, 1e-300), 0.0, 0.9 / (rate + delta))
    grown = np.log1p(gains[:, None] * stakes)
    growth = (grown * chances).sum(axis=0)
    spread = np.sqrt(np.maximum((grown**2 * chances).sum(axis=0) - growth**2, 0.0))
    return np.asarray(runs * growth - _NORMAL.inv_cdf(POWER) * math.sqrt(runs) * spread)


def widest(claim: Claim) -> Rates:
    """The sign that shows all that the claim allows, with errors of both kinds alike.

    >>> from discreet.audit.claim import read_claim
    >>> round(widest(read_claim((1, 0))).detected, 3)           # e/(1 + e)
    0.731
    """
    low, high = 0.0, 0.5
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if claim.most(middle) + middle < 1 else (low, middle)
    return Rates(1 - high, high)


def _least(claim: Claim, seen: Rates, runs: tuple[int, int], miss: float) -> float | None:
    """The least multiple from which on a sign with these rates, at the claimed loss, refutes the claim."""
    if not 0 < seen.alarmed < seen.detected < 1:
        return None
    detected, alarmed = scaled(seen, _TIMES, gaussian=claim.rho is not None)
    # Counts that are reached but for half of what is left to chance on each side.
    lost, z = -_NORMAL.inv_cdf((1 - POWER) / 2), -_NORMAL.inv_cdf(miss / 2)
    hits, passes = _fewest(detected, runs[0], lost), _fewest(1 - alarmed, runs[1], lost)
    sure, loose = lower(hits, runs[0], z), 1 - lower(passes, runs[1], z)
    refuted = sure > claim.most_of(loose)
    # From where on all larger multiples are refuted too; where coins become certain, floats end.
    certain = (detected >= 1) | (alarmed <= 0)
    missed = np.flatnonzero(~refuted & ~certain)
    first = int(missed[-1]) + 1 if len(missed) else 0
    return float(_TIMES[first]) if first < len(_TIMES) and refuted[first] else None


def catchable_by_guesses(claim: Claim, correct: int, guesses: int, refutes: Callable[[int], bool]) -> float | None:
    """The same where coins are guessed: of `guesses`, `correct` were right; `refutes` says of a number of right ones
    whether it refutes the claim, as every larger one does then.
    """
    return _guessed(claim, at_least(correct, guesses, _UNSURE), guesses, refutes)


def finest_by_guesses(claim: Claim, guesses: int, refutes: Callable[[int], bool]) -> float | None:
    """What so many guesses find at best, if each shows all of a loss; infinite: nothing, even if all are right. None
    for Gaussian claims, whose surest guesses show more than others.
    """
    if not refutes(guesses):
        return math.inf
    return None if claim.rho is not None else _guessed(claim, widest(claim).detected, guesses, refutes) or math.inf


def _guessed(claim: Claim, right: float, guesses: int, refutes: Callable[[int], bool]) -> float | None:
    """The least multiple from which on guesses that are right so often, at the claimed loss, refute the claim."""
    if not 0.5 < right < 1 or not refutes(guesses):
        return None
    few, needed = 0, guesses
    while needed - few > 1:
        middle = (few + needed) // 2
        few, needed = (few, middle) if refutes(middle) else (middle, needed)
    often, _ = scaled(Rates(right, 1 - right), _TIMES, gaussian=claim.rho is not None)
    enough = np.flatnonzero(_fewest(often, guesses, _NORMAL.inv_cdf(POWER)) >= needed)
    return float(_TIMES[enough[0]]) if len(enough) else None


def _fewest(chance: Reals, runs: int, deviations: float) -> Reals:
    """About the fewest successes that come but for so many deviations."""
    spread = np.sqrt(np.maximum(chance * (1 - chance) * runs, 0.0))
    return np.clip(np.floor(chance * runs + 0.5 - deviations * spread), 0.0, runs)  # continuity correction


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
