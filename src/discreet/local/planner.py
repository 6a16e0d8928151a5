"""Before anyone is asked: which mechanism to take, how many people an error takes, and the least error there is."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from discreet.core.exact import Number, as_written
from discreet.core.signature import typed
from discreet.errors import InputError, kind_of
from discreet.local.estimate import Of
from discreet.local.grr import GRR
from discreet.local.hadamard import Hadamard
from discreet.local.olh import OLH
from discreet.local.protocol import Oracle
from discreet.local.ratio import read_epsilon
from discreet.local.subset import Subset
from discreet.local.unary import OUE, SUE
from discreet.mechanisms.inputs import read_confidence, read_count

__all__ = ["Candidate", "Choice", "best", "half_width", "limit", "sample_size", "unit_variance"]

_KINDS: tuple[type[Any], ...] = (GRR, OLH, Hadamard, Subset, OUE, SUE)
_MOST, _LARGEST = 2**32, 300  # squares of both stay far inside floating point


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


@dataclass(frozen=True, slots=True)
class Candidate:
    """One mechanism, what its estimates are off by and what its reports weigh."""

    mechanism: Oracle
    error: float  # n times the mean squared error of a frequency, people spread evenly
    half_width: float  # of a 95% interval for a category that one in k people has, as a share
    bits: int  # of a report


@dataclass(frozen=True, slots=True)
class Choice:
    """The mechanism to use, why, and what else there was."""

    mechanism: Oracle
    why: str
    n: int
    limit: float
    candidates: tuple[Candidate, ...]

    def __str__(self) -> str:
        lines = [self.why, f"{'':<10}{'n x MSE':>10}{'of limit':>10}{'+- (95%)':>12}{'bits':>8}"]
        for one in self.candidates:
            mark = "*" if one.mechanism == self.mechanism else " "
            ratio = one.error / self.limit
            lines.append(
                f"{mark} {one.mechanism.kind:<8}{one.error:>10.4g}{ratio:>9.3g}x{one.half_width:>12.3g}{one.bits:>8}"
            )
        return "\n".join(lines)


@typed
def best(
    domain: int | Sequence[Any],
    epsilon: Number,
    n: int,
    *,
    bits: int | None = None,
    tolerance: Number = Fraction(1, 20),
) -> Choice:
    """The mechanism for a question with these answers (or so many), with the reasons.

    The error decides; mechanisms whose mean squared error is within `tolerance` of the smallest are equals, and among
    those the shortest report wins. `bits` is the longest report allowed.

    >>> choice = best(domain=10_000, epsilon=1, n=1_000_000)
    >>> choice.mechanism.kind
    'olh'
    >>> print(choice)                                             # doctest: +NORMALIZE_WHITESPACE
    olh: its error is 2% above the smallest (subset), and a report takes 16 bits instead of 10,000.
                 n x MSE  of limit    +- (95%)    bits
    * olh           3.77     1.02x     0.00381      16
      hadamard     4.683     1.27x     0.00424      14
      subset       3.682        1x     0.00376   10000
      oue          3.683        1x     0.00376   10000
      sue          3.918     1.06x     0.00388   10000
      grr           3388      920x       0.114      14
    """
    size: Any = len(domain) if isinstance(domain, Sized) and not isinstance(domain, (str, bytes)) else domain
    count = read_count(size, "domain", least=2)
    budget, people, slack = read_epsilon(epsilon), read_count(n, "n"), as_written(tolerance, "tolerance")
    if slack < 0:
        raise InputError("tolerance", tolerance, "zero or more")
    share = Fraction(1, count)
    found = []
    for kind in _KINDS:
        one = kind(count, budget)
        error = one.variance(1, share)
        found.append(Candidate(one, error, half_width(one, people, frequency=share, of="respondents"), one.report_bits))
    allowed = [one for one in found if bits is None or one.bits <= read_count(bits, "bits")]
    if not allowed:
        raise InputError("bits", bits, f"at least {min(one.bits for one in found)} for {count} categories")
    least = min(allowed, key=lambda one: one.error)
    equals = [one for one in allowed if one.error <= least.error * (1 + float(slack))]
    chosen = min(equals, key=lambda one: (one.bits, one.error))
    rest = sorted((one for one in found if one is not chosen), key=lambda one: (one.bits > 64, one.error))
    rest.sort(key=lambda one: one.error > 100 * least.error)
    return Choice(chosen.mechanism, _why(chosen, least, count), people, limit(count, budget), (chosen, *rest))


def _why(chosen: Candidate, least: Candidate, count: int) -> str:
    name = chosen.mechanism.kind
    if chosen is least:
        few = f": with {count} categories the report is the answer itself, {chosen.bits} bits" if name == "grr" else ""
        return f"{name}: its error is the smallest{few}."
    above = 100 * (chosen.error / least.error - 1)
    return (
        f"{name}: its error is {above:.0f}% above the smallest ({least.mechanism.kind}), "
        f"and a report takes {chosen.bits:,} bits instead of {least.bits:,}."
    )


def limit(categories: int, epsilon: Number) -> float:
    """n times the mean squared error of a frequency that no mechanism beats when respondents are many (Ye and Barg).

    For people spread evenly over the categories, the worst case; the respondents are fixed, as in `Oracle.variance`.

    >>> round(limit(2, epsilon=1), 3), round(limit(100, epsilon=1), 2)
    (0.921, 3.6)
    """
    k, budget = read_count(categories, "categories", least=2), read_epsilon(epsilon)
    if k > _MOST or budget > _LARGEST:
        raise InputError("categories", categories, f"at most 2**32, with an epsilon of at most {_LARGEST}")
    odds = math.exp(budget)
    near = math.floor(k / (odds + 1))
    best = min(_risk(k, odds, size) for size in {max(1, near), min(k - 1, near + 1)})
    return best - (1 - 1 / k) / k


def _risk(k: int, odds: float, size: int) -> float:
    return (k - 1) ** 2 / (k * (odds - 1)) ** 2 * (size * odds + k - size) ** 2 / (size * (k - size))
