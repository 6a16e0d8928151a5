"""How many people to ask for an error, and the error for so many people: before anyone is asked."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

from discreet.core.exact import Number, as_written
from discreet.core.signature import typed
from discreet.errors import InputError, kind_of
from discreet.local.estimate import Of
from discreet.local.protocol import Oracle
from discreet.mechanisms.inputs import read_confidence, read_count

__all__ = ["half_width", "sample_size", "unit_variance"]


@typed
def half_width(
    mechanism: Oracle,
    n: int,
    confidence: float = 0.95,
    *,
    frequency: Number | None = None,
    of: Of = "population",
    together: bool = False,
) -> float:
    """The +- of one estimated frequency from `n` respondents; of every category at once if `together`.

    For a category of the stated frequency, or of the one for which it is largest.

    >>> from discreet.local import GRR
    >>> round(half_width(GRR(2, epsilon=1), 10_000), 4)
    0.0212
    """
    return _quantile(mechanism, confidence, together) * math.sqrt(
        unit_variance(mechanism, frequency, of) / read_count(n, "n")
    )


@typed
def sample_size(
    mechanism: Oracle,
    half_width: Number,
    confidence: float = 0.95,
    *,
    frequency: Number | None = None,
    of: Of = "population",
    together: bool = False,
) -> int:
    """How many respondents an estimate within +- `half_width` takes.

    >>> from discreet.local import GRR
    >>> sample_size(GRR(2, epsilon=1), 0.02)
    11243
    """
    width = as_written(half_width, "half_width")
    if not 0 < width <= 1:
        raise InputError("half_width", half_width, "more than 0 and at most 1, a share of the people")
    z = _quantile(mechanism, confidence, together)
    return max(1, math.ceil(unit_variance(mechanism, frequency, of) * (z / float(width)) ** 2 * (1 - 1e-12)))


def unit_variance(mechanism: Oracle, frequency: Number | None, of: Of) -> float:
    """n times the variance of an estimate: at a frequency, or the largest there is."""
    if not isinstance(mechanism, Oracle):
        raise InputError("mechanism", kind_of(mechanism), "one that estimates frequencies, such as GRR")
    if frequency is not None:
        return mechanism.variance(1, frequency, of=of)
    none, half, whole = (mechanism.variance(1, Fraction(i, 2), of=of) for i in range(3))
    # A quadratic through three points: its vertex, if it is a maximum inside.
    bend, slope = 2 * (none - 2 * half + whole), 4 * half - 3 * none - whole
    if bend < 0 and 0 < -slope / (2 * bend) < 1:
        return none - slope**2 / (4 * bend)
    return max(none, whole)


def _quantile(mechanism: Oracle, confidence: float, together: bool) -> float:
    miss = float(1 - read_confidence(confidence)) / (mechanism.categories if together else 1)
    return -NormalDist().inv_cdf(miss / 2)
