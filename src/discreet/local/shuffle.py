"""Privacy from a crowd: what reports cost once nobody knows whose is whose.

If a shuffler strips senders and order, one person's report hides among those that others would have sent anyway. All
numbers here are bounds from above: an epsilon that is printed is one that holds.

The clone reduction: every other report is, with some probability, a draw from one of two laws that one's own report is
made of: a clone. With C clones the crowd shows A + X and C - A + 1 - X, where A is Binomial(C, 1/2) and X is heads with
odds e^epsilon : 1 or 1 : e^epsilon. Proof, and what is rounded where: docs/proofs/shuffle.md.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, as_written, exp_down, exp_up, log_up, round_up, sqrt_up
from discreet.core.loss import Approx
from discreet.errors import InputError
from discreet.local.binomial import TAIL, binomial_masses
from discreet.local.grr import GRR
from discreet.local.protocol import Responder
from discreet.local.ratio import read_epsilon
from discreet.local.variation import total_variations, variation_delta
from discreet.mechanisms.inputs import read_count, read_probability_inside

__all__ = ["clones_delta", "closed_form", "shuffled", "shuffled_delta"]

Floats = NDArray[np.float64]
_CLOSE = Fraction(1, 1024)  # how near to the smallest epsilon the search stops, relative to it
_MOST = 10**12
_CELLS = 64  # numbers of clones are taken together in so many groups, each at its smallest
_SLACK = 1e-7  # above every rounding here for n up to 10^12: see the proof note


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

    For any local randomiser (given by its epsilon) or for a mechanism: by the exact total variation of its laws, all
    ways to report a category hide better in a crowd than the worst randomiser of their epsilon.

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
    bound = clones_delta(local, people, asked, strong=strong)
    apart = total_variations(mechanism) if isinstance(mechanism, Responder) else None
    if apart is None or not isinstance(mechanism, Responder):
        return bound
    return min(bound, max(variation_delta(mechanism.ratio, one, people, asked) for one in apart))


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


def clones_delta(local: Fraction, n: int, epsilon: Fraction, *, strong: bool) -> Fraction:
    """A bound from above on delta at `epsilon` of `n` shuffled reports of `local` epsilon.

    A report is a clone with probability e^-local; with `strong`, 2/(e^local + 1).
    """
    first, target = float(local), float(epsilon)
    share = 2 / (math.exp(first) + 1) if strong else math.exp(-first)
    share *= 1 - 1e-12  # fewer clones are less private, so from below
    others = n - 1
    mean, spread = others * share, math.sqrt(others * share * (1 - share))
    reach = 12 * spread + 60
    low, high = max(0, math.floor(mean - reach)), min(others, math.ceil(mean + reach))
    edges = np.unique(np.linspace(low, high + 1, min(_CELLS, high - low + 1) + 1).astype(np.int64))
    masses = binomial_masses(others, share, np.arange(low, high + 1, dtype=np.float64)) if others else np.ones(1)
    sums = np.add.reduceat(masses, (edges[:-1] - low).clip(0, len(masses) - 1))
    total = TAIL * 2 + 1e-300
    for edge, mass in zip(edges[:-1], sums, strict=True):
        if mass > 0:
            total += float(mass) * (1 + _SLACK) * _given(int(edge) + 1, first, target)
    return min(Fraction(1), Fraction(total * (1 + _SLACK)))


def _given(total: int, local: float, epsilon: float) -> float:
    """delta when `total` reports are one's own and clones, from above.

    Of a reports of the first kind, one's own included, the two answers have probabilities proportional to
    Binomial(total, 1/2)(a) times e^local a + total - a, and a + e^local (total - a).
    """
    odds, factor = math.exp(local), math.exp(epsilon)
    cut = (factor * odds - 1) / ((odds - 1) * (1 + factor)) * total  # from here on the first answer is likelier
    first = max(0, math.floor(cut))
    last = min(total, math.ceil(max(cut, total / 2) + 12 * math.sqrt(total) / 2 + 60))
    counts = np.arange(first, last + 1, dtype=np.float64)
    gain = (odds * counts + total - counts) - factor * (counts + odds * (total - counts))
    # Rounding of the difference is relative to its terms; where it may be of either sign it is taken as positive.
    gain = np.maximum(gain, 0) + 2.0**-48 * total * odds * factor * (gain > -(2.0**-40) * total)
    law = binomial_masses(total, 0.5, counts)
    return min(1.0, float((law * gain).sum()) * 2 / (total * (odds + 1)) * (1 + _SLACK) + TAIL)
