"""Priors keep what they promise on every tiny urn, and smaller ones do not."""

import math
from fractions import Fraction

import numpy as np
import pytest
from small_urns import law, moves, outcomes, worst

from chance import at_most
from discreet.flows.commuting.dirichlet import LARGEST, draw
from discreet.flows.commuting.prior import UNIT, breach, largest_size, missed, prior_for, pure_prior

EPSILONS = [Fraction(1, 4), Fraction(1), Fraction(2), Fraction(4)]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("size", "cells"), [(1, 2), (4, 2), (3, 3)])
def test_the_pure_prior_keeps_epsilon_and_no_smaller_one_does(size, cells, epsilon):
    prior = pure_prior(size, epsilon)
    assert worst(size, cells, prior) <= float(epsilon) * (1 + 1e-12)
    assert worst(size, cells, prior - 1) > float(epsilon)
    # The worst case is the one of the proof: one worker, all draws in their cell.
    assert worst(size, cells, prior) == pytest.approx(math.log(1 + size * UNIT / prior))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_pure_prior_covers_a_worker_who_comes_or_goes(epsilon):
    """Without a cell for nobody too: the urn then grows by one, and draws stay as many."""
    size, prior = 4, pure_prior(4, epsilon)
    for workers in outcomes(3, 2):
        first = law(workers, prior, size)
        for cell in range(2):
            second = law([n + (place == cell) for place, n in enumerate(workers)], prior, size)
            assert max(abs(math.log(first[case] / second[case])) for case in first) <= float(epsilon) * (1 + 1e-12)


# Priors with a delta.


def exact_breach(size, cells, prior, epsilon):
    """The delta of probabilistic differential privacy, by going through every urn, outcome and neighbour."""
    found = 0.0
    for workers in outcomes(size, cells):
        first = law(workers, prior, size)
        others = [law(other, prior, size) for other in moves(workers)]
        limit = math.exp(float(epsilon)) * (1 + 1e-12)
        bad = [
            case
            for case in first
            if any(first[case] > limit * o[case] or o[case] > limit * first[case] for o in others)
        ]
        found = max(found, float(sum(first[case] for case in bad)))
    return found


def exact_missed(size, cells, prior, epsilon):
    """The delta of (epsilon, delta)-differential privacy, by going through every urn, outcome and neighbour."""
    found = 0.0
    for workers in outcomes(size, cells):
        first = law(workers, prior, size)
        for other in moves(workers):
            second = law(other, prior, size)
            over = (float(first[case]) - math.exp(float(epsilon)) * float(second[case]) for case in first)
            found = max(found, sum(part for part in over if part > 0))
    return found


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(2)])
@pytest.mark.parametrize(("size", "cells"), [(5, 2), (4, 3), (8, 2)])
@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_bounds_hold_on_every_tiny_urn(size, cells, epsilon, part):
    prior = max(1, int(pure_prior(size, epsilon) * part))
    caught = exact_breach(size, cells, prior, epsilon)
    delta = exact_missed(size, cells, prior, epsilon)
    assert 0 < delta <= caught <= breach(size, cells, prior, epsilon)
    assert delta <= missed(size, cells, prior, epsilon)
    assert exact_missed(size, cells, pure_prior(size, epsilon), epsilon) < 1e-12
    assert breach(size, cells, pure_prior(size, epsilon), epsilon) == 0


@pytest.mark.parametrize("kind", ["probabilistic", "approximate"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(2)])
def test_priors_keep_their_delta_and_a_much_smaller_one_does_not(kind, epsilon):
    size, cells, delta = 10, 2, Fraction(1, 100)
    exact = exact_breach if kind == "probabilistic" else exact_missed
    prior = prior_for(kind, size, cells, epsilon, delta)
    assert prior < pure_prior(size, epsilon)
    assert exact(size, cells, prior, epsilon) <= delta
    assert exact(size, cells, prior // 4, epsilon) > delta


def test_later_processing_need_not_keep_what_is_probabilistic():
    """Why the cost is another one: telling less (was the second cell drawn at all?) breaches epsilon more often."""
    size, cells, prior, limit = 2, 2, 16, math.exp(1.2)
    laws = {workers: law(workers, prior, size) for workers in outcomes(size, cells)}
    told = {
        workers: {answer: sum(c for case, c in first.items() if (case[1] > 0) == answer) for answer in (False, True)}
        for workers, first in laws.items()
    }

    def caught(chances):
        return max(
            float(
                sum(c for case, c in first.items() if any(_apart(c, chances[o][case], limit) for o in moves(workers)))
            )
            for workers, first in chances.items()
        )

    assert caught(laws) < 0.65
    assert caught(told) > 0.99
    assert caught(laws) == exact_breach(size, cells, prior, Fraction(6, 5))
    # What is charged instead is kept by all processing, this one too.
    over = max(
        sum(max(float(c) - limit * float(told[other][answer]), 0) for answer, c in first.items())
        for workers, first in told.items()
        for other in moves(workers)
    )
    assert over <= exact_missed(size, cells, prior, Fraction(6, 5)) <= missed(size, cells, prior, Fraction(6, 5))


def _apart(one, other, limit):
    return one > limit * other or other > limit * one


def test_large_urns_keep_their_bounds_too():
    """By simulation: of a large urn with the worst spread the bound looks at, draws breach no more often than said."""
    size, cells, epsilon = 60, 6, Fraction(1)
    prior = prior_for("probabilistic", size, cells, epsilon, Fraction(1, 20))
    alpha, grown = prior / UNIT, math.e - 1
    for workers in ([1] * 6 + [54], [12] * 5, [1, 1, 1, 1, 56], [60, 0, 0, 0, 0, 0]):
        held = np.array(workers[:cells] + [0] * (cells - len(workers)))
        held[0] += size - held.sum()
        counts = np.array([draw(held * UNIT + prior, size, UNIT) for _ in range(3000)])
        bad = (counts > grown * (alpha + np.maximum(held - 1, 0))).any(axis=1).sum()
        assert at_most(int(bad), 3000, 1 / 20)


def test_sizes_have_a_limit():
    assert largest_size(80, Fraction(1)) == 2**27
    small = largest_size(10**6, Fraction(1, 1000))
    assert small < 2**27
    assert 10**6 * pure_prior(small, Fraction(1, 1000)) + 2 * UNIT * small <= LARGEST
