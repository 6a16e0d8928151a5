"""Accepted draws and refusals together are private, and a line that moves with the data is caught."""

import math
from fractions import Fraction

import numpy as np
import pytest
from small_urns import law, moves, outcomes, rising, worst

from chance import frequency_fits
from discreet.flows.commuting.acceptance import accepted, always_refused, kept_bounds, may_refuse
from discreet.flows.commuting.prior import UNIT, prior_for, pure_prior, refused
from discreet.noise.bits import SystemBits


def kept(counts, workers, prior, epsilon):
    """The chance that the coin keeps these counts."""
    chance = 1.0
    for n, z in zip(workers, counts, strict=True):
        alpha = Fraction(prior, UNIT)
        ratio = rising(alpha, n) / rising(alpha + z, n)
        chance *= min(1.0, math.exp(n * float(epsilon)) * float(ratio))
    return chance


# Draws that are refused.


def refusals(workers, prior, size, epsilon, refusal):
    """What is published, with its probability: counts, or a refusal (None)."""
    always = float(always_refused(refusal, epsilon))
    chances = {
        case: (1 - always) * float(chance) * kept(case, workers, prior, epsilon)
        for case, chance in law(workers, prior, size).items()
    }
    return {**chances, None: 1 - sum(chances.values())}


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3)])
@pytest.mark.parametrize(("size", "cells"), [(6, 2), (4, 3), (10, 2)])
def test_accepted_draws_and_refusals_are_pure(size, cells, epsilon):
    refusal = Fraction(1, 4)
    prior = prior_for("accepted", size, cells, epsilon, may_refuse(refusal, epsilon))
    assert prior < pure_prior(size, epsilon)
    # Without the coin such a prior breaks epsilon: refusing is what keeps it.
    assert worst(size, cells, prior) > float(epsilon)
    for workers in outcomes(size, cells):
        first = refusals(workers, prior, size, epsilon, refusal)
        assert first[None] <= float(refusal) * (1 + 1e-9)
        for other in moves(workers):
            second = refusals(other, prior, size, epsilon, refusal)
            assert max(math.log(first[case] / second[case]) for case in first) <= float(epsilon) + 1e-9


def test_refusing_behind_a_line_that_moves_with_the_data_is_caught():
    """The mutant: draws that breach epsilon are refused, always. Then what passes tells where the line was."""
    size, cells, epsilon = 6, 2, Fraction(2)
    prior = prior_for("accepted", size, cells, epsilon, Fraction(1, 20))
    grown = math.exp(2) - 1

    def passes(case, workers):
        return all(z <= grown * (prior / UNIT + max(n - 1, 0)) for z, n in zip(case, workers, strict=True))

    alone = 0.0
    for workers in outcomes(size, cells):
        first = law(workers, prior, size)
        for other in moves(workers):
            alone += sum(float(c) for case, c in first.items() if passes(case, workers) and not passes(case, other))
    assert alone > 0  # outcomes that only one of two neighbours can have: no epsilon bounds them


def test_the_bound_on_refusals_holds():
    size, cells, epsilon = 8, 3, Fraction(1)
    for prior in (40, 80, 160):
        exact = max(
            1 - sum(float(c) * kept(case, workers, prior, epsilon) for case, c in law(workers, prior, size).items())
            for workers in outcomes(size, cells)
        )
        assert exact <= refused(size, cells, prior, epsilon)
    assert refused(size, cells, pure_prior(size, epsilon), epsilon) == 0


def test_the_coin_is_what_the_proof_says():
    prior, epsilon = 20, Fraction(3, 2)
    draws, workers = np.array([0, 9, 1]), np.array([7, 2, 1])
    chance = kept(tuple(draws.tolist()), tuple(workers.tolist()), prior, epsilon)
    assert 0.05 < chance < 0.95
    heads = sum(accepted(draws, workers, prior, epsilon, Fraction(1, 10**9), SystemBits()) for _ in range(3000))
    assert frequency_fits(heads, 3000, chance)
    assert not frequency_fits(heads, 3000, chance**2)
    low, high = kept_bounds(2, 9, prior, epsilon, 100)
    exact = math.exp(3) * float(rising(Fraction(20, 64), 2) / rising(Fraction(20, 64) + 9, 2))
    assert low / 2**100 <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= high / 2**100
    assert high - low < 2**10
    assert kept_bounds(500, 1, prior, epsilon, 100) == (2**100, 2**100)
    assert kept_bounds(3000, 900, prior, Fraction(1, 100), 100)[1] < 2


def test_a_refusal_whatever_was_drawn_has_its_share():
    none = np.array([0, 0])
    passed = sum(accepted(none, none, 64, Fraction(1), Fraction(1, 4), SystemBits()) for _ in range(4000))
    assert frequency_fits(4000 - passed, 4000, float(always_refused(Fraction(1, 4), Fraction(1))))
