"""Privacy from a crowd: bounds against whole laws, listed."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.core.exact import exp_up
from discreet.errors import InputError
from discreet.local import GRR, OUE, Piecewise, closed_form, shuffled, shuffled_delta
from discreet.local.shuffle import _given, clones_delta


def counts_law(mechanism, values):
    """The exact law of how often each category is reported, senders unknown."""
    law = {(0,) * mechanism.categories: Fraction(1)}
    for value in values:
        step = {}
        for seen, chance in law.items():
            for report, more in mechanism.law(value).items():
                found = tuple(count + (place == report) for place, count in enumerate(seen))
                step[found] = step.get(found, 0) + chance * more
        law = step
    return law


def true_delta(mechanism, others, epsilon):
    """The exact delta at epsilon of a crowd whose other members have these answers, over all pairs of answers."""
    worst = Fraction(0)
    for one, two in itertools.permutations(range(mechanism.categories), 2):
        first, second = counts_law(mechanism, [one, *others]), counts_law(mechanism, [two, *others])
        factor = exp_up(Fraction(epsilon))
        worst = max(worst, sum(max(Fraction(0), first[seen] - factor * second[seen]) for seen in first))
    return worst


@pytest.mark.parametrize("local", ["1/2", 2])
@pytest.mark.parametrize("categories", [2, 3])
def test_bounds_are_above_the_truth(local, categories):
    mechanism, n = GRR(categories, local), 8 - categories
    for epsilon in ("1/20", "1/4", "1/2"):
        crowds = itertools.combinations_with_replacement(range(categories), n - 1)
        truth = max(true_delta(mechanism, others, epsilon) for others in crowds)
        strong = shuffled_delta(mechanism, n, epsilon)
        assert strong >= truth
        assert shuffled_delta(local, n, epsilon) >= strong
        if truth:
            # More clones than there are would be a wrong claim, and this catches it.
            wrong = _given(n, float(local if isinstance(local, int) else Fraction(local)), float(Fraction(epsilon)))
            assert wrong < float(strong)
            if categories == 2 and local == 2:
                assert wrong < float(truth)


def test_the_sum_is_the_definition():
    """Against the two laws of counts, written out, for a few clones; and no looser than groups of clones make it."""
    local, epsilon, n = 1.5, 0.3, 12
    odds, factor = math.exp(local), math.exp(epsilon)
    total = 0.0
    for clones in range(n):
        chance = stats.binom.pmf(clones, n - 1, math.exp(-local))
        a = np.arange(clones + 2)
        low, high = stats.binom.pmf(a - 1, clones, 0.5), stats.binom.pmf(a, clones, 0.5)
        first, second = (odds * low + high) / (odds + 1), (low + odds * high) / (odds + 1)
        total += chance * np.maximum(first - factor * second, 0).sum()
    found = float(clones_delta(Fraction(3, 2), n, Fraction(3, 10), strong=False))
    assert total <= found <= total * 1.0001


def test_crowds_help_and_the_search_is_tight():
    for local in (0.5, 2):
        before = Fraction(local)
        for n in (1000, 100_000):
            found = shuffled(local, n, 1e-6)
            assert found.epsilon < before
            before = found.epsilon
            assert shuffled_delta(local, n, found.epsilon) <= Fraction(1, 10**6)
            assert shuffled_delta(local, n, found.epsilon * Fraction(99, 100)) > Fraction(1, 10**6)
            assert shuffled(GRR(5, local), n, 1e-6).epsilon < found.epsilon
        assert found.epsilon < closed_form(local, n, 1e-6) < local
    assert shuffled(OUE(5, 2), n, 1e-6).epsilon < found.epsilon * Fraction(9, 10)
    assert shuffled(Piecewise(2), n, 1e-6).epsilon == pytest.approx(float(found.epsilon), rel=1e-3)
    assert shuffled(4, 2, 1e-6).epsilon <= 4
    assert shuffled(1, 1, 1e-6).epsilon <= 1
    assert shuffled("1/100", 10**6, 0.01).epsilon == 0


def test_the_closed_form_is_the_formula():
    local, n, delta = 1, 10**6, 1e-6
    crowd = 8 * math.sqrt(math.e * math.log(4 / delta) / n) + 8 * math.e / n
    exact = math.log(1 + (math.e - 1) / (math.e + 1) * crowd)
    assert exact <= closed_form(local, n, delta) <= exact * (1 + 1e-9)
    with pytest.raises(InputError, match="so few people"):
        closed_form(5, 1000, 1e-6)


def test_wrong_crowds_are_refused():
    for wrong in ({"n": 0}, {"n": 1.5}, {"delta": 0}, {"delta": 1}, {"mechanism": 0}, {"mechanism": "x"}):
        with pytest.raises(InputError):
            shuffled(**{"mechanism": 1, "n": 100, "delta": 1e-6, **wrong})
    with pytest.raises(InputError):
        shuffled_delta(1, 10**13, 0.1)
    with pytest.raises(InputError):
        shuffled_delta(1, 10, -1)
