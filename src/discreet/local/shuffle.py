"""Privacy from a crowd: what reports cost once nobody knows whose is whose.

If a shuffler strips senders and order, one person's report hides among those that others would have sent anyway. All
numbers here are bounds from above: an epsilon that is printed is one that holds.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.core.exact import Number, as_written, exp_down, exp_up, log_up, round_up, sqrt_up
from discreet.core.loss import Approx
from discreet.errors import InputError
from discreet.local.grr import GRR
from discreet.local.protocol import Responder
from discreet.local.ratio import read_epsilon
from discreet.local.shuffle_clones import clones_delta
from discreet.mechanisms.inputs import read_count, read_probability_inside

__all__ = ["closed_form", "shuffled", "shuffled_delta"]

_CLOSE = Fraction(1, 1024)  # how near to the smallest epsilon the search stops, relative to it

_MOST = 10**12


def closed_form(epsilon: Number, n: int, delta: Number) -> Fraction:
    """The epsilon of `n` shuffled reports of local `epsilon`, by the formula of Feldman, McMillan and Talwar (2021).

    ln(1 + (e^eps - 1)/(e^eps + 1) (8 sqrt(e^eps ln(4/delta)/n) + 8 e^eps/n)), for eps <= ln(n / (16 ln(2/delta))).

    >>> round(float(closed_form(1, 1_000_000, 1e-6)), 4)
    0.0235
    """
    local, people, miss = read_epsilon(epsilon), read_count(n, "n", least=2), read_probability_inside(delta, "delta")
    odds, low = exp_up(local), exp_down(local)
    if odds * 16 * log_up(2 / miss) > people:
        hint = "The formula does not hold for so few people; shuffled() may still help."
        raise InputError("n", n, f"at least {math.ceil(odds * 16 * log_up(2 / miss)):,}", hint)
    crowd = 8 * sqrt_up(odds * log_up(4 / miss) / people) + 8 * odds / people
    # (x-1)/(x+1) grows with x: from above with the odds from above.
    return min(local, round_up(log_up(1 + (odds - 1) / (low + 1) * crowd)))


def shuffled(mechanism: Number | Responder, n: int, delta: Number) -> Approx:
    """The smallest epsilon that is proved for `n` shuffled reports, numerically; never more than the local one.

    For any local randomiser (given by its epsilon) or for a mechanism: `GRR` hides better in a crowd than the worst
    randomiser of its epsilon.

    Guarantee
        The shuffled reports of `n` people are (epsilon, delta)-differentially private, neighbours having one answer
        replaced. Proof: docs/proofs/shuffle.md.

    >>> round(float(shuffled(1, 1_000_000, 1e-6).epsilon), 4) < 0.01
    True
    """
    people, miss = read_count(n, "n"), read_probability_inside(delta, "delta")
    local, _ = _local(mechanism)
    low, high = Fraction(0), _start(local, people, miss)
    if shuffled_delta(mechanism, people, Fraction(0)) <= miss:
        return Approx(0, miss)
    while high - low > high * _CLOSE:
        middle = round_up((low + high) / 2, 1 << 40)
        if middle in (low, high):
            break
        if shuffled_delta(mechanism, people, middle) <= miss:
            high = middle
        else:
            low = middle
    return Approx(high, miss)


def shuffled_delta(mechanism: Number | Responder, n: int, epsilon: Number) -> Fraction:
    """A bound from above on the delta of `n` shuffled reports at `epsilon`."""
    people, asked = read_count(n, "n"), as_written(epsilon, "epsilon")
    if people > _MOST:
        raise InputError("n", n, f"at most {_MOST:,}")
    if asked < 0:
        raise InputError("epsilon", epsilon, "zero or more")
    local, strong = _local(mechanism)
    if asked >= local:
        return Fraction(0)
    return clones_delta(local, people, asked, strong=strong)


def _start(local: Fraction, n: int, delta: Fraction) -> Fraction:
    """An epsilon that holds, to search below."""
    try:
        return closed_form(local, n, delta)
    except InputError:
        return local


def _local(mechanism: Number | Responder) -> tuple[Fraction, bool]:
    """The local epsilon, and whether every other report looks like one's own with the larger probability."""
    if isinstance(mechanism, Responder):
        return mechanism.spent, isinstance(mechanism, GRR)
    return read_epsilon(mechanism), False
