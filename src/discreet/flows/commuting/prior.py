"""How much prior an urn of commuters needs: the smallest that is proven to keep a stated guarantee.

An urn holds `size` workers in `cells` cells (origins, and one for nobody) and `prior` in each cell beside them; `size`
draws are made. One worker moves from one cell to another. Everything here bounds, from above and for every way the
workers may be spread, how likely draws are that tell such neighbours apart. Proofs: docs/proofs/commute.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import exp_down
from discreet.errors import InputError
from discreet.flows.commuting.dirichlet import LARGEST

__all__ = ["UNIT", "Prior", "breach", "excess", "largest_size", "missed", "prior_for", "pure_prior", "refused"]

Prior = Literal["pure", "probabilistic", "approximate", "accepted"]
Floats = NDArray[np.float64]

UNIT = 64
"""Priors are whole multiples of 1/UNIT of a worker."""

_SINGLE = 40  # so many numbers of workers are looked at one by one, larger ones in ranges
_GROWTH = 1.03
_SLACK = 1 + 1e-5  # for rounding in sums of logarithms of a size of 1e9
_NEAR = 1e-6
_LARGEST = 2**27  # so many workers: logarithms of likelihoods are then right to 1e-5


def pure_prior(size: int, epsilon: Fraction) -> int:
    """The least prior, in units, with size/(e^epsilon - 1) or more in every cell. Rounded up.

    >>> pure_prior(1000, Fraction(1)) / UNIT
    581.984375
    """
    grown = exp_down(epsilon) - 1
    if grown <= 0:
        raise InputError("epsilon", float(epsilon), "larger: there is no prior for this one")
    return max(1, math.ceil(size * UNIT / grown))


def largest_size(cells: int, epsilon: Fraction) -> int:
    """How many workers an urn may have so that its contents can be counted and its bounds trusted."""
    each = pure_prior(1, epsilon) + UNIT  # more than a worker adds to the prior of a cell, whichever prior it is
    return min(_LARGEST, LARGEST // (cells * each + 2 * UNIT))


@lru_cache(maxsize=4096)
def prior_for(kind: Prior, size: int, cells: int, epsilon: Fraction, chance: Fraction) -> int:
    """The least prior, in units, whose bound is within `chance`; never above the pure one.

    `chance` is of a breach (probabilistic), the delta (approximate), or that of a refusal (accepted).

    Whether a bound falls with the prior everywhere does not matter: what is returned was checked.
    """
    if kind not in get_args(Prior):
        raise InputError("prior", kind, among=get_args(Prior))
    most = pure_prior(size, epsilon)
    if kind == "pure":
        return most
    bound = {"probabilistic": breach, "approximate": missed, "accepted": refused}[kind]
    target = float(chance) * (1 - 1e-12)
    low, high = 0, most
    while high - low > max(1, high >> 10):  # a prior within a thousandth of the least will do
        middle = (low + high) // 2
        low, high = (low, middle) if bound(size, cells, middle, epsilon) <= target else (middle, high)
    return high


def breach(size: int, cells: int, prior: int, epsilon: Fraction) -> float:
    """A bound on the chance that some neighbour makes the draws more than e^epsilon times as likely, or as unlikely.

    That is the delta of (epsilon, delta)-probabilistic differential privacy: cell i breaks it if it is drawn more than
    (e^epsilon - 1)(prior + max(n_i - 1, 0)) times. The bound adds up over cells, for the worst spread of workers.
    """
    if prior >= pure_prior(size, epsilon):
        return 0.0
    alpha, total, grown = _urn(size, cells, prior, epsilon)
    first, last = _ranges(size)
    empty = float(_tail(size, np.array([alpha]), np.array([total - alpha]), _above(np.array([grown * alpha])))[0])
    found = _tail(size, last + alpha, total - last - alpha, _above(grown * (alpha + first - 1)))
    spread = cells * empty + size * float((np.maximum(found - empty, 0) / first).max())
    return min(1.0, spread, cells * max(empty, float(found.max())))


def missed(size: int, cells: int, prior: int, epsilon: Fraction) -> float:
    """A bound on the delta of (epsilon, delta)-differential privacy: of one pair of neighbours, not of all at once.

    The likelihood ratio is at most 1 + z/(prior + n - 1), with z draws of the cell that a worker leaves, one of n. So
    delta is at most the mean of 1 - e^epsilon / (1 + z/(prior + n - 1)) where that is positive, at the worst n.
    """
    if prior >= pure_prior(size, epsilon):
        return 0.0
    alpha, total, grown = _urn(size, cells, prior, epsilon)
    first, last = _ranges(size)
    held = alpha + first - 1
    place = _above(grown * held)
    mass, ratio = _start(size, last + alpha, total - last - alpha, place)
    # The excess rises with z ever more slowly: from its first place on it is below its tangent there.
    over = 1 - (grown + 1) * held / (held + place)
    slope = (grown + 1) * held / (held + place) ** 2
    near = np.minimum(ratio, 1 - 1e-9)
    sums = mass * (np.maximum(over, 0) / (1 - near) + slope * near / (1 - near) ** 2)
    bound = np.where(ratio < 1, np.minimum(sums * _SLACK, 1), 1.0)
    return float(np.where(place > size, 0.0, bound).max())


def refused(size: int, cells: int, prior: int, epsilon: Fraction) -> float:
    """A bound on the chance that draws are refused by `discreet.flows.commuting.acceptance`, less its fixed share."""
    if prior >= pure_prior(size, epsilon):
        return 0.0
    alpha, total, _ = _urn(size, cells, prior, epsilon)
    first, last = _ranges(size)
    # The fewest draws of a cell with n workers that may be refused. It rises with n.
    low, high = np.zeros(len(first)), np.full(len(first), float(size + 1))
    while (high - low).max() > 1:
        middle = np.floor((low + high) / 2)
        over = excess(middle, first, alpha, float(epsilon)) > -_NEAR
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    found = _tail(size, last + alpha, total - last - alpha, high)
    return min(1.0, size * float((found / first).max()), cells * float(found.max()))


def excess(draws: Floats, workers: Floats, prior: float, epsilon: float) -> Floats:
    """By how much ln of (likelihood with all of a cell's workers / with none of them) exceeds epsilon for each."""
    from scipy.special import gammaln

    together = gammaln(prior + draws + workers) - gammaln(prior + draws) - gammaln(prior + workers) + gammaln(prior)
    return np.asarray(together - workers * epsilon)


def _urn(size: int, cells: int, prior: int, epsilon: Fraction) -> tuple[float, float, float]:
    """The prior of a cell, everything in the urn, and e^epsilon - 1 from below."""
    grown = float(exp_down(epsilon) - 1) * (1 - 1e-12)
    return prior / UNIT, size + cells * prior / UNIT, grown


def _ranges(size: int) -> tuple[Floats, Floats]:
    """The numbers of workers 1, ..., size, in ranges from a first to a last."""
    first = list(range(1, min(size, _SINGLE) + 1))
    while (following := max(first[-1] + 1, int(first[-1] * _GROWTH))) <= size:
        first.append(following)
    starts = np.array(first, dtype=np.float64)
    return starts, np.append(starts[1:] - 1, float(size))


def _above(bound: Floats) -> Floats:
    """The least whole number that may be above a bound which rounding has moved a little."""
    return np.asarray(np.maximum(np.floor(bound * (1 - 1e-12)) + 1, 1))


def _tail(size: int, shape: Floats, rest: Floats, place: Floats) -> Floats:
    """A bound on P[Z >= place] for beta-binomial Z of `size` draws."""
    mass, ratio = _start(size, shape, rest, place)
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.where(ratio < 1, np.minimum(mass / (1 - np.minimum(ratio, 1)) * _SLACK, 1), 1.0)
    return np.where(place > size, 0.0, bound)


def _start(size: int, shape: Floats, rest: Floats, place: Floats) -> tuple[Floats, Floats]:
    """P[Z = place], and a number that no ratio P[Z = z + 1] / P[Z = z] from there on exceeds."""
    from scipy.special import betaln, gammaln

    at = np.minimum(place, size)
    ways = gammaln(size + 1) - gammaln(at + 1) - gammaln(size - at + 1)
    mass = np.exp(np.minimum(ways + betaln(shape + at, rest + size - at) - betaln(shape, rest), 0))
    # (shape + z)/(z + 1) falls with z towards 1 if shape > 1 and stays below 1 if not; the other factor falls.
    ratio = np.maximum((shape + at) / (at + 1), 1) * (size - at) / np.maximum(rest + size - at - 1, 1e-9)
    return mass, np.where(rest >= 1, ratio, np.inf)
