"""What a release costs: a closed union of frozen values.

Each member's docstring defines it fully, so that an accountant can be written from it alone. There are three kinds:

* claims, true of any mechanism that satisfies them: `Pure`, `BoundedRange`, `ZCDP`, `Approx`;
* noise, the exact law of a mechanism, from which tighter claims follow: `LaplaceNoise`, `GaussianNoise`,
  `RealGaussianNoise`, `Sampled`;
* compositions: `Repeated`, `Composed`.

Numbers are exact `Fraction`s. A float is read as it is written (0.1 is one tenth). What cannot be exact was rounded up
by whoever made it. The arithmetic of losses lives in `discreet.accounting`; this file only says what they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.exact import Number, as_written, exactly, round_up
from discreet.errors import InputError

__all__ = [
    "ZCDP",
    "Approx",
    "BoundedRange",
    "Composed",
    "GaussianNoise",
    "LaplaceNoise",
    "Loss",
    "Pure",
    "RealGaussianNoise",
    "Repeated",
    "Sampled",
]

# A claim whose denominator is longer than this is rounded up: sums must not grow without end.
_LONGEST = 256
_FINE = 10**60


def _claim(loss: object, field: str, value: Number, *, below: Fraction | None = None) -> None:
    number = as_written(value, field)
    if number < 0:
        raise InputError(field, value, "zero or more")
    if below is not None and number >= below:
        raise InputError(field, value, f"less than {below}")
    if number.denominator.bit_length() > _LONGEST:
        number = round_up(number, _FINE)
    object.__setattr__(loss, field, number)


def _positive(loss: object, field: str, value: Number) -> None:
    number = exactly(value, field)
    if number <= 0:
        raise InputError(field, value, "more than zero")
    object.__setattr__(loss, field, number)


def _whole(loss: object, field: str, value: int) -> None:
    number = exactly(value, field)
    if number.denominator != 1 or number < 0:
        raise InputError(field, value, "a whole number, zero or more")
    object.__setattr__(loss, field, int(number))


@dataclass(frozen=True, slots=True)
class Pure:
    """epsilon-differential privacy: P[M(D) in S] <= e^epsilon P[M(D') in S] for neighbours D, D' and every S."""

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        _claim(self, "epsilon", epsilon)


@dataclass(frozen=True, slots=True)
class BoundedRange:
    """epsilon-bounded range: for neighbours, the log-ratio of output probabilities varies by at most epsilon.

    sup ln(P/P') - inf ln(P/P') <= epsilon over outputs. Satisfied by the exponential mechanism. Implies `Pure(epsilon)`
    and epsilon^2/8-zCDP.
    """

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        _claim(self, "epsilon", epsilon)


@dataclass(frozen=True, slots=True)
class ZCDP:
    """delta-approximate rho-zero-concentrated differential privacy (rho-zCDP when delta is zero).

    For neighbours there are events E, E' of probability at least 1 - delta each, on which the Renyi divergence
    D_alpha(M(D)|E, M(D')|E') is at most rho*alpha for every alpha > 1.
    """

    rho: Fraction
    delta: Fraction = Fraction(0)

    def __init__(self, rho: Number, delta: Number = 0) -> None:
        _claim(self, "rho", rho)
        _claim(self, "delta", delta, below=Fraction(1))


@dataclass(frozen=True, slots=True)
class Approx:
    """(epsilon, delta)-differential privacy: P[M(D) in S] <= e^epsilon P[M(D') in S] + delta."""

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        _claim(self, "epsilon", epsilon)
        _claim(self, "delta", delta, below=Fraction(1))


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """One integer that moves by at most `shift` between neighbours, plus discrete Laplace noise of `scale`.

    P[noise = x] is proportional to e^(-|x|/scale) over the integers.
    """

    scale: Fraction
    shift: int

    def __init__(self, scale: Number, shift: int) -> None:
        _positive(self, "scale", scale)
        _whole(self, "shift", shift)


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """One integer that moves by at most `shift` between neighbours, plus discrete Gaussian noise of `sigma`.

    P[noise = x] is proportional to e^(-x^2/(2 sigma^2)) over the integers.
    """

    sigma: Fraction
    shift: int

    def __init__(self, sigma: Number, shift: int) -> None:
        _positive(self, "sigma", sigma)
        _whole(self, "shift", shift)


@dataclass(frozen=True, slots=True)
class RealGaussianNoise:
    """A real vector of L2 sensitivity 1 plus continuous Gaussian noise of standard deviation `multiplier` per entry."""

    multiplier: Fraction

    def __init__(self, multiplier: Number) -> None:
        _positive(self, "multiplier", multiplier)


@dataclass(frozen=True, slots=True)
class Sampled:
    """`loss` paid on a Poisson sample: every unit joins independently with `probability`; add/remove neighbours."""

    loss: Loss
    probability: Fraction

    def __init__(self, loss: Loss, probability: Number) -> None:
        number = as_written(probability, "probability")
        if not 0 <= number <= 1:
            raise InputError("probability", probability, "between 0 and 1")
        object.__setattr__(self, "loss", loss)
        object.__setattr__(self, "probability", number)


@dataclass(frozen=True, slots=True)
class Repeated:
    """`loss` paid `times` times, on the same data, with fresh noise each time."""

    loss: Loss
    times: int

    def __init__(self, loss: Loss, times: int) -> None:
        object.__setattr__(self, "loss", loss)
        _whole(self, "times", times)


@dataclass(frozen=True, slots=True)
class Composed:
    """Every one of `losses`, paid on the same data with independent noise. The empty composition costs nothing."""

    losses: tuple[Loss, ...]

    def __init__(self, losses: Iterable[Loss]) -> None:
        if not isinstance(losses, Iterable):
            raise InputError("losses", losses, "a list of losses")
        object.__setattr__(self, "losses", tuple(losses))


Loss = (
    Pure
    | BoundedRange
    | ZCDP
    | Approx
    | LaplaceNoise
    | GaussianNoise
    | RealGaussianNoise
    | Sampled
    | Repeated
    | Composed
)
