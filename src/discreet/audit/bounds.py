"""What an attack proves: rates from counts at a stated chance of being wrong, and the least loss they refute.

An attack says "in" with probability at least `detected` when the person is in the data and at most `alarmed` when not.
Any guarantee that forbids such an attack is refuted. Every tail is bounded from above, every interval is rounded
outward and every loss down, so an audit is never surer than its runs allow. Proof: docs/proofs/audit.md, "Counts" and
"Rates".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from discreet.errors import InputError

__all__ = ["Rates", "at_least", "at_most", "rates", "tail", "tail_ratio"]

_ORDERS = 1 + np.geomspace(1e-4, 1e4, 81)  # of Renyi divergences
_DOWN = 1e-9  # above every rounding in this file, relative to what is rounded
_SMALL = 1e-10
_CLOSE = 1e-10  # intervals are found to this relative precision, then rounded outward by what is left
_SUMMED = 1e-10  # more than the rounding of a sum of up to a million masses


@dataclass(frozen=True, slots=True)
class Rates:
    """An attack's share of right and wrong alarms, each on its safe side."""

    detected: float
    alarmed: float

    def epsilon(self, delta: float = 0.0) -> float:
        """The epsilon below which no (epsilon, delta) guarantee is true.

        >>> round(Rates(detected=0.75, alarmed=0.25).epsilon(), 4)  # a fair coin in half of the answers: ln 3
        1.0986
        """
        return max(
            0.0, _ratio(self.detected - delta, self.alarmed), _ratio(1 - delta - self.alarmed, 1 - self.detected)
        )

    def mu(self) -> float:
        """The mu below which no mu-Gaussian guarantee is true (Gaussian noise of standard deviation sensitivity/mu)."""
        if self.detected <= self.alarmed or not 0 < self.alarmed < 1:
            return 0.0
        normal = NormalDist()
        highest = min(self.detected, 1 - 1e-16)
        return max(0.0, normal.inv_cdf(highest) - normal.inv_cdf(self.alarmed) - _DOWN)

    def rho(self, delta: float = 0.0) -> float:
        """The rho below which no (delta-approximate) rho-zCDP guarantee is true."""
        # Off the events of probability delta, detections fall to (p - delta)/(1 - delta), alarms rise to q/(1 - delta).
        detected = (self.detected - delta) / (1 - delta)
        alarmed = self.alarmed / (1 - delta)
        if not 0 < alarmed < detected < 1:
            return 0.0
        there, back = _divergences(detected, alarmed), _divergences(alarmed, detected)
        # At the smallest orders digits cancel: what is left of logarithms near 1e-15 off is divided by 1e-4.
        return max(0.0, float(max((there / _ORDERS).max(), (back / _ORDERS).max())) * (1 - _DOWN) - _SMALL)


def rates(inside: int, runs_inside: int, outside: int, runs_outside: int, miss: float) -> Rates:
    """Rates that hold together with probability 1 - `miss`, from `inside` of `runs_inside` alarms, and without.

    >>> rates(8_000, 10_000, 2_000, 10_000, miss=0.05).epsilon() < math.log(4)
    True
    """
    return Rates(at_least(inside, runs_inside, miss / 2), at_most(outside, runs_outside, miss / 2))


def _ratio(top: float, bottom: float) -> float:
    if top <= 0:
        return 0.0
    if bottom <= 0:
        return math.inf
    return math.log(top / bottom) - 1e-12


def _divergences(p: float, q: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The Renyi divergences of two coins, at every order in `_ORDERS`."""
    a = _ORDERS
    both = np.logaddexp(a * math.log(p) + (1 - a) * math.log(q), a * math.log1p(-p) + (1 - a) * math.log1p(-q))
    return np.asarray(both / (a - 1), dtype=np.float64)


def at_least(successes: int, trials: int, miss: float) -> float:
    """A number that the probability behind `successes` of `trials` is below with chance `miss` at most.

    Guarantee: Clopper and Pearson's exact bound, rounded down.

    >>> round(at_least(75, 100, 0.05), 4)
    0.6687
    """
    _read(successes, trials, miss)
    if successes == 0:
        return 0.0
    low, high = 0.0, successes / trials
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if tail(trials, middle, 1 - middle, successes) <= miss else (low, middle)
    return low


def at_most(successes: int, trials: int, miss: float) -> float:
    """A number that the probability behind `successes` of `trials` is above with chance `miss` at most.

    >>> round(at_most(0, 100, 0.05), 4)
    0.0295
    """
    _read(successes, trials, miss)
    if successes == trials:
        return 1.0
    low, high = successes / trials, 1.0
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        wrong = tail(trials, 1 - middle, middle, trials - successes) > miss
        low, high = (middle, high) if wrong else (low, middle)
    return high


def tail(trials: int, success: float, failure: float, least: int) -> float:
    """P[X >= least], from above, for X the successes in `trials`; `failure` is 1 - `success`, as exactly as known."""
    if least <= 0:
        return 1.0
    if least > trials or success <= 0:
        return 0.0
    if failure <= 0:
        return 1.0
    if least <= (trials + 1) * success:  # left of the mode: one minus the other side, from below
        fewest = trials - least + 1
        mass, slack = _log_mass(trials, failure, success, fewest)
        logarithm = mass - slack
        return min(1.0, 1 - math.exp(logarithm) * _partial(trials, failure / success, fewest)[0] + 1e-15)
    mass, slack = _log_mass(trials, success, failure, least)
    logarithm = mass + slack + math.log(tail_ratio(trials, success, failure, least))
    return min(1.0, math.exp(min(0.0, logarithm)))


def tail_ratio(trials: int, success: float, failure: float, least: int) -> float:
    """P[X >= least] / P[X = least], from above."""
    total, mass, step = _partial(trials, success / failure, least)
    if mass:  # the steps keep falling: what is left is below a geometric series
        total = total + mass * step / (1 - step) if step < 1 else math.inf
    return total * (1 + 3 * _SUMMED)


def _partial(trials: int, odds: float, least: int) -> tuple[float, float, float]:
    """The masses from `least` on, in units of the first: their sum as far as it goes, the last, and its step."""
    count = min(trials - least, 64 + 16 * math.isqrt(trials))
    at = np.arange(least, least + count, dtype=np.float64)
    steps = (trials - at) / (at + 1) * odds
    with np.errstate(under="ignore", over="ignore"):
        masses = np.cumprod(steps)
    total = (1 + float(masses.sum())) * (1 - _SUMMED)
    if least + count == trials:
        return total, 0.0, 0.0
    return total, float(masses[-1]), float(steps[-1])


def _log_mass(trials: int, success: float, failure: float, at: int) -> tuple[float, float]:
    """ln P[X = at], and more than its rounding: of the logarithms of three factorials and two powers."""
    ways = math.lgamma(trials + 1) - math.lgamma(at + 1) - math.lgamma(trials - at + 1)
    powers = at * math.log(success), (trials - at) * math.log(failure)
    slack = 1e-12 + 1e-14 * (trials + 1) * math.log(trials + 2) + 1e-15 * (abs(powers[0]) + abs(powers[1]))
    return ways + powers[0] + powers[1], slack


def _read(successes: int, trials: int, miss: float) -> None:
    if trials < 1:
        raise InputError("trials", trials, "a whole number, 1 or more")
    if not 0 <= successes <= trials:
        raise InputError("successes", successes, f"between 0 and trials = {trials}")
    if not 0 < miss < 1:
        raise InputError("miss", miss, "strictly between 0 and 1")
