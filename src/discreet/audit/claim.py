"""What is claimed, as lines that no attack may cross.

A loss with a privacy curve delta(epsilon) promises, for every epsilon, that an attack with false alarms q detects at
most e^epsilon q + delta(epsilon), and that what is claimed of an attack holds of its opposite. A claim keeps a few
dozen of these lines, each rounded up: crossing any one of them refutes the claim.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.convert import approx, basic, zcdp
from discreet.accounting.convert import delta as delta_at
from discreet.accounting.tradeoff import Tradeoff
from discreet.accounting.words import readable
from discreet.audit.bounds import Rates
from discreet.core.exact import Number, exactly
from discreet.core.loss import ZCDP, Approx, Loss, Pure
from discreet.errors import InputError, LossError, kind_of

__all__ = ["AnyClaim", "Claim", "read_claim"]

Reals = NDArray[np.float64]

_EPSILONS = 40
_LARGEST = 40.0
_UP = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """A guarantee to be attacked: lines (epsilon, delta), and a rho where the claim is one of moments."""

    words: str
    epsilons: Reals
    deltas: Reals
    rho: float | None = None
    missed: float = 0.0
    floor: Tradeoff | None = None
    loss: Loss | None = None

    def most(self, alarmed: float) -> float:
        """The most that any attack with this many false alarms may detect, rounded up.

        >>> round(read_claim((1, 0)).most(0.1), 4)
        0.2718
        """
        return float(self.most_of(np.array([alarmed]))[0])

    def most_of(self, alarmed: Reals) -> Reals:
        """`most`, for many rates of false alarms."""
        if self.floor is not None:
            # The floor is promised at its points only; it falls, so the next point to the right is below it.
            place = np.searchsorted(self.floor.false_alarm, alarmed, side="left")
            return np.append(1 - self.floor.missed, 1.0)[place]
        most = np.ones(len(alarmed))
        for epsilon, delta in zip(self.epsilons.tolist(), self.deltas.tolist(), strict=True):
            steep = math.exp(min(epsilon, 700.0)) * alarmed + delta
            flat = 1 - math.exp(-epsilon) * np.maximum(1 - delta - alarmed, 0.0)
            np.minimum(most, np.minimum(steep, flat), out=most)
        return np.asarray(np.minimum(1.0, most * (1 + _UP) + _UP), dtype=np.float64)

    def refuted(self, attack: Rates) -> bool:
        """Whether an attack with these rates cannot exist if the claim is true."""
        if attack.detected > self.most(attack.alarmed):
            return True
        return self.rho is not None and attack.rho(self.missed) > self.rho * (1 + _UP)

    def epsilon(self, delta: float) -> float:
        """The epsilon claimed at this delta; infinite where none is."""
        if self.loss is not None:
            with suppress(LossError):
                return float(approx(self.loss, delta, tight=not isinstance(self.loss, Pure | Approx)).epsilon)
        held = self.deltas <= delta
        return float(self.epsilons[held].min()) if held.any() else math.inf

    def times(self, factor: float, delta: float) -> float:
        """The epsilon, at this delta, of a loss so many times as large: of noise that is so many times too small."""
        if self.rho is None:
            return factor * self.epsilon(delta)
        larger = ZCDP(exactly(self.rho, "rho") * exactly(factor, "factor") ** 2)
        return max(self.epsilon(delta), float(approx(larger, delta, tight=True).epsilon))

    @property
    def delta(self) -> float:
        """The delta that comes with the claim: zero for pure claims, 1e-5 for those that hold at every delta."""
        if self.loss is not None:
            with suppress(LossError):
                return float(basic(self.loss).delta)
            return max(1e-5, 2 * self.missed)
        return float(self.deltas.min()) if len(self.deltas) else 0.0


AnyClaim = Loss | Tradeoff | tuple[Number, Number] | Claim


def read_claim(claimed: AnyClaim) -> Claim:
    """A loss, an (epsilon, delta) pair or a trade-off curve as a claim.

    >>> read_claim((1, 0)).words
    'epsilon = 1'
    """
    match claimed:
        case Claim():
            return claimed
        case Tradeoff():
            none: Reals = np.zeros(0)
            return Claim("a trade-off curve", none, none, floor=claimed)
        case (epsilon, delta):
            return _of_loss(Approx(epsilon, delta))
        case _ if isinstance(claimed, Loss):
            return _of_loss(claimed)
    raise InputError("claim", kind_of(claimed), "a loss such as Pure(1), a pair (epsilon, delta) or a Tradeoff")


@lru_cache(maxsize=256)
def _of_loss(loss: Loss) -> Claim:
    asked = {0.0, *np.geomspace(0.01, _LARGEST, _EPSILONS).tolist()}
    with suppress(LossError):  # a claim has its corner at its own epsilon
        asked.add(math.nextafter(float(basic(loss).epsilon), math.inf))
    epsilons = sorted(asked)
    plain = isinstance(loss, Pure | Approx)  # their curve is exact without the slower distributions
    deltas = [float(delta_at(loss, epsilon, tight=not plain)) * (1 + _UP) for epsilon in epsilons]
    # A larger epsilon at the same delta promises less.
    kept = [i for i, delta in enumerate(deltas) if i == 0 or delta < min(deltas[:i])]
    lines = np.array([epsilons[i] for i in kept]), np.array([deltas[i] for i in kept])
    rho, missed = None, 0.0
    with suppress(LossError):
        basic(loss)
        return Claim(_words(loss), *lines, loss=loss)
    with suppress(LossError):
        moments = zcdp(loss)
        rho, missed = float(moments.rho), float(moments.delta)
    return Claim(_words(loss), *lines, rho, missed, loss=loss)


def _words(loss: Loss) -> str:
    match loss:
        case ZCDP(rho, delta):
            return f"rho = {_short(rho)}" + (f", delta = {_short(delta)}" if delta else "")
        case _:
            pass
    try:
        plain = basic(loss)
    except LossError:
        with suppress(LossError):
            moments = zcdp(loss)
            return f"rho = {_short(moments.rho)}" + (f", delta = {_short(moments.delta)}" if moments.delta else "")
        return f"epsilon = {_short(approx(loss, Fraction(1, 10**5)).epsilon)}, delta = 1e-5"
    return f"epsilon = {_short(plain.epsilon)}" + (f", delta = {_short(plain.delta)}" if plain.delta else "")


def _short(value: Fraction) -> str:
    return readable(value, 4)
