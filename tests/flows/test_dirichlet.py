"""The urn draws exactly from the Dirichlet-multinomial law, and its priors keep what they promise on every tiny urn."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from chance import at_most, fits, frequency_fits
from discreet.errors import InputError
from discreet.flows.commuting.accept import accepted, always_refused, kept_bounds, may_refuse
from discreet.flows.commuting.dirichlet import LARGEST, below_each, draw, subset
from discreet.flows.commuting.prior import UNIT, breach, largest_size, missed, prior_for, pure_prior, refused
from discreet.noise.bits import SystemBits

EPSILONS = [Fraction(1, 4), Fraction(1), Fraction(2), Fraction(4)]


def outcomes(draws, cells):
    """Every way so many draws can fall into so many cells."""
    for bars in itertools.combinations(range(draws + cells - 1), cells - 1):
        edges = [-1, *bars, draws + cells - 1]
        yield tuple(b - a - 1 for a, b in itertools.pairwise(edges))


def rising(start, count):
    """start (start + 1) ... of `count` factors, exactly."""
    return math.prod((start + step for step in range(count)), start=Fraction(1))


def mass(counts, weights):
    """The Dirichlet-multinomial probability of counts, as a fraction: what the urn is to follow."""
    ways = Fraction(math.factorial(sum(counts)), math.prod(map(math.factorial, counts)))
    return (
        ways * math.prod(rising(w, c) for w, c in zip(weights, counts, strict=True)) / rising(sum(weights), sum(counts))
    )


def law(workers, prior, draws):
    """All outcomes of an urn with these workers and `prior` units in every cell, with their probabilities."""
    weights = [n + Fraction(prior, UNIT) for n in workers]
    return {counts: mass(counts, weights) for counts in outcomes(draws, len(workers))}


def moves(workers):
    """Every urn that differs by one worker who moved."""
    for start, end in itertools.permutations(range(len(workers)), 2):
        if workers[start]:
            moved = list(workers)
            moved[start] -= 1
            moved[end] += 1
            yield tuple(moved)


def kept(counts, workers, prior, epsilon):
    """The chance that the coin keeps these counts."""
    chance = 1.0
    for n, z in zip(workers, counts, strict=True):
        alpha = Fraction(prior, UNIT)
        ratio = rising(alpha, n) / rising(alpha + z, n)
        chance *= min(1.0, math.exp(n * float(epsilon)) * float(ratio))
    return chance


# The law of the draws.


@pytest.mark.parametrize(("weights", "draws", "unit"), [([3, 1, 2], 4, 1), ([5, 70, 1], 5, 7), ([64, 0, 32, 1], 3, 64)])
def test_draws_follow_the_dirichlet_multinomial_law(weights, draws, unit):
    cases = list(outcomes(draws, len(weights)))
    exact = np.array([float(mass(case, [Fraction(w, unit) for w in weights])) for case in cases])
    assert exact.sum() == pytest.approx(1)
    place = {case: number for number, case in enumerate(cases)}
    seen = [place[tuple(draw(np.array(weights), draws, unit).tolist())] for _ in range(8000)]
    assert fits(seen, lambda number: exact[number])


def test_other_laws_are_told_apart():
    """The same test rejects the multinomial law, and a prior that is half off."""
    weights, draws = [3, 1, 2], 4
    cases = list(outcomes(draws, 3))
    place = {case: number for number, case in enumerate(cases)}
    seen = [place[tuple(draw(np.array(weights), draws).tolist())] for _ in range(8000)]
    plain = np.array([stats.multinomial.pmf(case, draws, np.array(weights) / 6) for case in cases])
    other = np.array([float(mass(case, [Fraction(3), Fraction(3, 2), Fraction(2)])) for case in cases])
    assert not fits(seen, lambda number: plain[number])
    assert not fits(seen, lambda number: other[number])


def test_many_draws_at_once_have_the_beta_binomial_law():
    """Long chains of copies: the first of two colours in 2,000 draws, in fifties, against the law of scipy."""
    seen = [int(draw(np.array([3, 5]), 2000, 2)[0]) // 50 for _ in range(4000)]

    def fifties(shape):
        masses = stats.betabinom.pmf(np.arange(2050), 2000, shape, 2.5).reshape(41, 50).sum(axis=1)
        return lambda x: np.where(x < 41, masses[np.minimum(x, 40)], 0)

    assert fits(seen, fifties(1.5))
    assert not fits(seen, fifties(2.5))


def test_bounds_of_their_own_are_even():
    drawn = below_each(np.tile(np.array([3, 5]), 30_000), SystemBits())
    assert fits(drawn[::2], lambda x: np.full(len(x), 1 / 3) * (x < 3))
    assert fits(drawn[1::2], lambda x: np.full(len(x), 1 / 5) * (x < 5))
    # Far above half of the 63 bits: a remainder without rejection would make small numbers twice as likely.
    large = below_each(np.full(20_000, 3 * 2**60), SystemBits()) >> 60
    assert fits(large, lambda x: np.full(len(x), 1 / 3) * (x < 3))


def test_a_subset_is_any_with_the_same_chance():
    seen = [int(subset(np.array([4, 3]), 3)[0]) for _ in range(8000)]
    assert fits(seen, lambda x: stats.hypergeom.pmf(x, 7, 4, 3))
    assert not fits(seen, lambda x: stats.binom.pmf(x, 3, 4 / 7))
    assert subset(np.array([4, 3]), 0).tolist() == [0, 0]
    assert subset(np.array([4, 3]), 7).tolist() == [4, 3]


@pytest.mark.parametrize(
    "work",
    [
        lambda: draw(np.array([-1, 2]), 3),
        lambda: draw(np.array([0, 0]), 3),
        lambda: draw(np.array([], dtype=int), 3),
        lambda: draw(np.array([0.5, 2]), 3),
        lambda: draw(np.array([1, 2]), -1),
        lambda: draw(np.array([1, 2]), 1, 0),
        lambda: draw(np.array([LARGEST]), 1),
        lambda: subset(np.array([1, 2]), 4),
        lambda: prior_for("wishful", 10, 3, Fraction(1), Fraction(1, 10)),
        lambda: pure_prior(10, Fraction(1, 10**60)),
    ],
)
def test_what_makes_no_urn_is_refused(work):
    with pytest.raises(InputError):
        work()
    assert draw(np.array([1, 2]), 0).tolist() == [0, 0]


# Pure priors.


def worst(size, cells, prior, seen=None):
    """The largest logarithm of a likelihood ratio between neighbours, over all urns and all outcomes."""
    found = 0.0
    for workers in outcomes(size, cells):
        first = law(workers, prior, size)
        for other in moves(workers):
            second = law(other, prior, size)
            found = max(found, *(math.log(first[case] / second[case]) for case in first))
    return found


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


def test_sizes_have_a_limit():
    assert largest_size(80, Fraction(1)) == 2**27
    small = largest_size(10**6, Fraction(1, 1000))
    assert small < 2**27
    assert 10**6 * pure_prior(small, Fraction(1, 1000)) + 2 * UNIT * small <= LARGEST
