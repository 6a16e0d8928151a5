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
from fractions import Fraction

from attrs import field, frozen

from discreet.core.check import named
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


def _claim(value: Number, field: str = "epsilon") -> Fraction:
    number = as_written(value, field)
    if number < 0:
        raise InputError(field, value, "zero or more")
    return number if number.denominator.bit_length() <= _LONGEST else round_up(number, _FINE)


def _part(value: Number, field: str = "delta") -> Fraction:
    number = _claim(value, field)
    if number >= 1:
        raise InputError(field, value, "less than 1")
    return number


def _positive(value: Number, field: str = "scale") -> Fraction:
    number = exactly(value, field)
    if number <= 0:
        raise InputError(field, value, "more than zero")
    return number


def _whole(value: int, field: str = "shift") -> int:
    number = exactly(value, field)
    if number.denominator != 1 or number < 0:
        raise InputError(field, value, "a whole number, zero or more")
    return int(number)


def _probability(value: Number, field: str = "probability") -> Fraction:
    number = as_written(value, field)
    if not 0 <= number <= 1:
        raise InputError(field, value, "between 0 and 1")
    return number


def _listed(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    if not isinstance(losses, Iterable):
        raise InputError("losses", losses, "a list of losses")
    return tuple(losses)


@frozen(field_transformer=named)
class Pure:
    """epsilon-differential privacy: P[M(D) in S] <= e^epsilon P[M(D') in S] for neighbours D, D' and every S."""

    epsilon: Fraction = field(converter=_claim)


@frozen(field_transformer=named)
class BoundedRange:
    """epsilon-bounded range: for neighbours, the log-ratio of output probabilities varies by at most epsilon.

    sup ln(P/P') - inf ln(P/P') <= epsilon over outputs. Satisfied by the exponential mechanism. Implies `Pure(epsilon)`
    and epsilon^2/8-zCDP.
    """

    epsilon: Fraction = field(converter=_claim)


@frozen(field_transformer=named)
class ZCDP:
    """delta-approximate rho-zero-concentrated differential privacy (rho-zCDP when delta is zero).

    For neighbours there are events E, E' of probability at least 1 - delta each, on which the Renyi divergence
    D_alpha(M(D)|E, M(D')|E') is at most rho*alpha for every alpha > 1.
    """

    rho: Fraction = field(converter=_claim)
    delta: Fraction = field(default=Fraction(0), converter=_part)


@frozen(field_transformer=named)
class Approx:
    """(epsilon, delta)-differential privacy: P[M(D) in S] <= e^epsilon P[M(D') in S] + delta."""

    epsilon: Fraction = field(converter=_claim)
    delta: Fraction = field(converter=_part)


@frozen(field_transformer=named)
class LaplaceNoise:
    """One integer that moves by at most `shift` between neighbours, plus discrete Laplace noise of `scale`.

    P[noise = x] is proportional to e^(-|x|/scale) over the integers.
    """

    scale: Fraction = field(converter=_positive)
    shift: int = field(converter=_whole)


@frozen(field_transformer=named)
class GaussianNoise:
    """One integer that moves by at most `shift` between neighbours, plus discrete Gaussian noise of `sigma`.

    P[noise = x] is proportional to e^(-x^2/(2 sigma^2)) over the integers.
    """

    sigma: Fraction = field(converter=_positive)
    shift: int = field(converter=_whole)


@frozen(field_transformer=named)
class RealGaussianNoise:
    """A real vector of L2 sensitivity 1 plus continuous Gaussian noise of standard deviation `multiplier` per entry."""

    multiplier: Fraction = field(converter=_positive)


@frozen(field_transformer=named)
class Sampled:
    """`loss` paid on a Poisson sample: every unit joins independently with `probability`; add/remove neighbours."""

    loss: Loss
    probability: Fraction = field(converter=_probability)


@frozen(field_transformer=named)
class Repeated:
    """`loss` paid `times` times, on the same data, with fresh noise each time."""

    loss: Loss
    times: int = field(converter=_whole)


@frozen(field_transformer=named)
class Composed:
    """Every one of `losses`, paid on the same data with independent noise. The empty composition costs nothing."""

    losses: tuple[Loss, ...] = field(converter=_listed)


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
