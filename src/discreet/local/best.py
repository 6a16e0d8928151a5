"""Which mechanism for this question: the smallest error, and among near equals the shortest report."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.exact import Number, as_written
from discreet.core.signature import typed
from discreet.errors import InputError
from discreet.local.grr import GRR
from discreet.local.hadamard import Hadamard
from discreet.local.limit import limit
from discreet.local.olh import OLH
from discreet.local.planner import half_width
from discreet.local.protocol import Oracle
from discreet.local.ratio import read_epsilon
from discreet.local.subset import Subset
from discreet.local.unary import OUE, SUE
from discreet.mechanisms.inputs import read_count

__all__ = ["Candidate", "Choice", "best"]

_KINDS: tuple[type[Any], ...] = (GRR, OLH, Hadamard, Subset, OUE, SUE)


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
