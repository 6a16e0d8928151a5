"""Draws that tell too much are refused, by a coin that is itself part of the guarantee.

Refusing whatever lies beyond a line that moves with the data would give away where the line is. Here a cell of n
workers that was drawn z times is kept with chance min(1, e^(n epsilon) P0/Pn), where Pn is how likely z draws are with
the n workers and P0 without any of them. What passes then never differs by more than e^epsilon between neighbours, for
any z; and a fixed share of all draws is refused whatever they are, so that a refusal tells as little.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import exp_bounds, exp_up
from discreet.core.mechanism import Bits
from discreet.flows.commuting.prior import UNIT, excess
from discreet.noise.bernoulli import below, bernoulli

__all__ = ["accepted", "always_refused", "may_refuse"]

Whole = NDArray[np.int64]

_SURE = -1e-4  # logarithms of numbers up to 1e8 are right to 1e-6


def always_refused(refusal: Fraction, epsilon: Fraction) -> Fraction:
    """The share of draws refused whatever they are: refusal e^-epsilon, from above."""
    return min(Fraction(1), refusal * exp_up(-epsilon))


def may_refuse(refusal: Fraction, epsilon: Fraction) -> Fraction:
    """How likely a refusal for what was drawn may be beside it: refusal (1 - e^-epsilon), from below."""
    return refusal * (1 - exp_up(-epsilon))


def accepted(draws: Whole, workers: Whole, prior: int, epsilon: Fraction, refusal: Fraction, bits: Bits) -> bool:
    """Whether these draws of an urn with these workers may be published.

    Guarantee
        If a refusal for what was drawn has a chance of at most `may_refuse`, then draws and refusals together are
        epsilon-differentially private for one worker who moves between cells. Proof: docs/proofs/commute.md.
    """
    if bernoulli(always_refused(refusal, epsilon), bits=bits):
        return False
    close = excess(draws.astype(np.float64), workers.astype(np.float64), prior / UNIT, float(epsilon))
    doubtful = [(int(workers[i]), int(draws[i])) for i in np.flatnonzero(close > _SURE) if workers[i] and draws[i]]
    if not doubtful:
        return True

    def bounds(depth: int) -> tuple[int, int]:
        work = depth + 64 + 2 * max(n for n, _ in doubtful).bit_length()
        low = high = 1 << work
        for n, z in doubtful:
            least, most = kept_bounds(n, z, prior, epsilon, work)
            low, high = low * least >> work, -(-high * most >> work)
        return low >> (work - depth), -(-high >> (work - depth))

    return below(bounds, 0, 0, bits)


def kept_bounds(workers: int, draws: int, prior: int, epsilon: Fraction, work: int) -> tuple[int, int]:
    """Integers around 2**work min(1, product over s < workers of e^epsilon (prior + s) / (prior + s + draws))."""
    digits = work // 3 + 10
    least, most = (int(bound * (1 << work)) for bound in exp_bounds(epsilon, digits))
    low = high = 1 << work
    shift = 0
    # From the largest factor down: what is above one comes first, so that nothing is lost to rounding at zero.
    for s in range(workers - 1, -1, -1):
        top = prior + UNIT * s
        bottom = (top + UNIT * draws) << work
        low, high = low * least * top // bottom, -(-high * (most + 1) * top // bottom)
        if (over := low.bit_length() - 2 * work) > 0:
            low, high, shift = low >> over, -(-high >> over), shift + over
    one = 1 << work
    return min(low << shift, one), min(high << shift, one)
