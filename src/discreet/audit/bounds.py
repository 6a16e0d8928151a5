"""The least privacy loss that an attack with known rates proves: epsilon, mu, rho.

An attack says "in" with probability at least `detected` when the person is in the data and at most `alarmed` when not.
Any guarantee that forbids such an attack is refuted. All bounds are rounded down. Proof: docs/proofs/audit.md, "Rates".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from discreet.audit.binomial import at_least, at_most

__all__ = ["Rates", "rates"]

_ORDERS = 1 + np.geomspace(1e-4, 1e4, 81)  # of Renyi divergences
_DOWN = 1e-9  # above every rounding in this file, relative to what is rounded
_SMALL = 1e-10


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
