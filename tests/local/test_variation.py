"""Total variation of each mechanism, listed; and bounds for crowds above the truth, whole laws listed."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest

from discreet.core.exact import exp_up
from discreet.local import GRR, OLH, OUE, SUE, Duchi, Hadamard, Hybrid, Subset, shuffled, shuffled_delta
from discreet.local.shuffle import clones_delta
from discreet.local.variation import total_variations, variation_delta

MECHANISMS = [
    GRR(2, 1),
    GRR(4, 2),
    OUE(3, 1),
    SUE(3, 2),
    OLH(5, 1),
    Subset(5, 1),
    Hadamard(3, 1),
    Hadamard(5, 3, length=4),
]
every = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: f"{one.kind}-{one.categories}")


@every
def test_total_variations_are_those_of_the_listed_laws(mechanism):
    laws = [mechanism.law(value) for value in range(mechanism.categories)]
    apart = {
        sum(max(Fraction(0), one[report] - other[report]) for report in one)
        for one, other in itertools.permutations(laws, 2)
    }
    assert apart == set(total_variations(mechanism))


@every
def test_every_report_of_another_is_a_clone_as_often_as_claimed(mechanism):
    """R_i >= |R_0 - R_1|/(ratio - 1): the whole of what the bound needs, for all answers and reports."""
    laws = [mechanism.law(value) for value in range(mechanism.categories)]
    tight = False
    for one, two, other in itertools.product(laws, repeat=3):
        for report in one:
            gap = abs(one[report] - two[report]) / (mechanism.ratio - 1)
            assert other[report] >= gap
            tight |= gap > 0 and other[report] < gap * Fraction(101, 100)
    assert tight  # one clone in a hundred more would be a wrong claim


def crowd(mechanism, values):
    """The exact law of the multiset of reports."""
    law = {(): Fraction(1)}
    for value in values:
        step = Counter()
        for seen, chance in law.items():
            for report, more in mechanism.law(value).items():
                step[tuple(sorted((*seen, report)))] += chance * more
        law = step
    return law


@pytest.mark.parametrize(
    ("mechanism", "n"),
    [
        (GRR(3, 2), 5),
        (OUE(2, 2), 5),
        (OUE(3, 1), 3),
        (Subset(4, 2, size=2), 3),
        (OLH(3, 2, buckets=3), 2),
        (Hadamard(3, 2), 4),
        (Duchi(2, steps=1), 5),
    ],
    ids=lambda value: getattr(value, "kind", str(value)),
)
def test_bounds_are_above_the_truth_and_below_the_worst_case(mechanism, n):
    categories = getattr(mechanism, "categories", 2)
    ends = (-1, 1) if isinstance(mechanism, Duchi) else range(categories)
    for epsilon in (Fraction(1, 20), Fraction(1, 2)):
        factor, truth = exp_up(epsilon), Fraction(0)
        for others in itertools.combinations_with_replacement(ends, n - 1):
            first, second = (crowd(mechanism, (value, *others)) for value in (ends[0], ends[1]))
            truth = max(truth, sum(max(Fraction(0), first[seen] - factor * second[seen]) for seen in first))
        bound = shuffled_delta(mechanism, n, epsilon)
        assert bound >= truth
        assert bound <= clones_delta(mechanism.spent, n, epsilon, strong=False)
        if truth:  # a mutant: a quarter of the variation, a claim too good
            small = max(variation_delta(mechanism.ratio, one / 4, n, epsilon) for one in total_variations(mechanism))
            assert small < truth


def definition(n, epsilon, *, third):
    """delta of the three counts, written out, and of the first two alone."""
    alpha, p, factor = Fraction(2, 15), 4, exp_up(epsilon)  # total variation 2/5
    told = alpha * (p + 1)
    three = (1 - told) / p
    laws = [Counter(), Counter()]
    for c, d in itertools.product(range(n), repeat=2):
        if c + d > n - 1:
            continue
        many = math.comb(n - 1, c) * math.comb(n - 1 - c, d) * (2 * alpha) ** c * three**d
        many *= (1 - 2 * alpha - three) ** (n - 1 - c - d)
        for a in range(c + 1):
            chance = many * math.comb(c, a) / 2**c
            for law, (heads, tails) in zip(laws, ((p, 1), (1, p)), strict=True):
                law[a + 1, c - a, third * d] += chance * alpha * heads
                law[a, c - a + 1, third * d] += chance * alpha * tails
                law[a, c - a, third * (d + 1)] += chance * (1 - told)
    return sum(max(Fraction(0), laws[0][seen] - factor * laws[1][seen]) for seen in laws[0])


def test_the_bound_is_above_the_sum_that_defines_it_and_a_report_of_the_third_kind_is_not_forgotten():
    n, epsilon = 6, Fraction(3, 10)
    exact = definition(n, epsilon, third=True)
    assert variation_delta(Fraction(4), Fraction(2, 5), n, epsilon) >= exact
    # As if nobody saw the third kind: what is hidden would be claimed to be more than it is.
    assert definition(n, epsilon, third=False) < exact


def test_two_kinds_alone_would_be_a_wrong_claim():
    """Listed: the crowd shows more than the counts of the first two kinds, which leave out what the rest tells."""
    mechanism, n, epsilon = Hadamard(3, 2), 4, Fraction(1, 2)
    truth = max(
        sum(max(Fraction(0), one[seen] - exp_up(epsilon) * two[seen]) for seen in one)
        for others in itertools.combinations_with_replacement(range(3), n - 1)
        for one, two in [(crowd(mechanism, (0, *others)), crowd(mechanism, (1, *others)))]
    )
    (apart,) = total_variations(mechanism)
    alpha, p = apart / (mechanism.ratio - 1), mechanism.ratio
    laws = [Counter(), Counter()]
    for c in range(n):
        many = math.comb(n - 1, c) * (2 * alpha) ** c * (1 - 2 * alpha) ** (n - 1 - c)
        for a in range(c + 1):
            chance = many * math.comb(c, a) / 2**c
            for law, (heads, tails) in zip(laws, ((p, 1), (1, p)), strict=True):
                law[a + 1, c - a] += chance * alpha * heads
                law[a, c - a + 1] += chance * alpha * tails
                law[a, c - a] += chance * (1 - alpha * (p + 1))
    wrong = sum(max(Fraction(0), laws[0][seen] - exp_up(epsilon) * laws[1][seen]) for seen in laws[0])
    assert wrong < truth <= shuffled_delta(mechanism, n, epsilon)


def test_a_crowd_hides_a_mark_of_many_far_better_than_the_worst_randomiser():
    n, delta = 100_000, 1e-6
    worst = shuffled(2, n, delta).epsilon
    for mechanism in (OUE(100, 2), Subset(100, 2), OLH(100, 2), Hadamard(100, 2)):
        assert shuffled(mechanism, n, delta).epsilon < Fraction(3, 4) * worst
    assert total_variations(Hybrid(1)) is None
    assert (
        variation_delta(Fraction(2), Fraction(1, 3), 10**10, Fraction(1, 100)) == 1
    )  # beyond what tails are exact for
