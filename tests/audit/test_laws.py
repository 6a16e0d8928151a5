"""Exact laws say what a pair can show; the pairs of the self-audit come near their claims."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from chance import fits
from discreet.audit import audit, read_claim
from discreet.audit.laws import best_pair, expected, noisy_max_law, reachable, sparse_vector_law, top_k_law
from discreet.audit.outputs import Pair
from discreet.audit.subjects import subjects
from discreet.mechanisms import Exponential, NoisyMax, SparseVector, TopK

RUNS = 20_000


def codes(rows, listed):
    """The place of each row in a list of outcomes."""
    places = {tuple(one): place for place, one in enumerate(listed)}
    return np.array([places[tuple(row)] for row in np.asarray(rows).tolist()])


def law_of(masses):
    return lambda at: np.where((at >= 0) & (at < len(masses)), np.take(masses, np.clip(at, 0, len(masses) - 1)), 0.0)


def test_the_laws_are_those_of_the_mechanisms_and_of_no_other():
    scores = [0, 2, 1]
    drawn = NoisyMax(1).release_many(scores, RUNS)
    assert fits(drawn, law_of(noisy_max_law(NoisyMax(1), scores)))
    assert not fits(drawn, law_of(noisy_max_law(NoisyMax(2), scores)))

    top, orders = TopK(2, 2), list(itertools.permutations(range(3), 2))
    drawn = codes(top.release_many(scores, RUNS), orders)
    assert fits(drawn, law_of(top_k_law(top, scores)))
    assert not fits(drawn, law_of(top_k_law(TopK(2, 3), scores)))

    sparse, values = SparseVector(threshold=1, epsilon=3, count=1), [0, 1, 2]
    drawn = codes(sparse.release_many(values, RUNS), list(itertools.product((False, True), repeat=3)))
    assert fits(drawn, law_of(sparse_vector_law(sparse, values)))
    assert not fits(drawn, law_of(sparse_vector_law(sparse, [0, 2, 2])))


def test_no_audit_shows_more_than_its_pair_can():
    mechanism = Exponential(2)
    poor, rich = ([1, 0, 0], [0, 0, 0]), ([-1, -1, -1, -1, -1], [-2, 0, 0, 0, 0])
    assert best_pair([poor, rich], mechanism.probabilities, 10_000, 1e-6) == rich
    for inside, outside in (poor, rich):
        laws = mechanism.probabilities(inside), mechanism.probabilities(outside)
        most, hoped = reachable(*laws), expected(*laws, 14_000, 1e-6)
        pair = Pair(
            lambda runs, s=inside: mechanism.release_many(s, runs),
            lambda runs, s=outside: mechanism.release_many(s, runs),
        )
        found = audit(pair, mechanism.loss(), runs=20_000, confidence=1 - 1e-6).found
        assert found <= most < mechanism.epsilon
        assert abs(found - hoped) < 0.25


def test_a_loss_at_a_delta_is_smaller_and_what_only_one_side_gives_is_infinite():
    assert reachable([0.5, 0.5], [0.5, 0.5]) == 0
    assert reachable([0.5, 0.5], [0.0, 1.0]) == np.inf
    assert np.isclose(reachable([0.5, 0.5], [0.2, 0.8], 0.1), np.log(0.4 / 0.2))
    assert expected([0.5, 0.5], [0.5, 0.5], 1000, 0.05) == 0


BY_LAW = {"Exponential", "PermuteAndFlip", "NoisyMax", "TopK", "SparseVector", "QuantileExponential", "QuantileFlip"}


@pytest.mark.parametrize(
    "subject", [one for one in subjects() if one.name.split(",")[0] in BY_LAW], ids=lambda one: one.name
)
def test_pairs_of_the_self_audit_can_show_three_quarters_of_the_claim(subject):
    claim, (pair,) = subject.attack()
    assert 0.75 <= pair.reachable / read_claim(claim).epsilon(0.0) <= 1 + 1e-9


def test_a_pair_picked_without_its_law_can_show_far_less():
    sparse = SparseVector(threshold=1, epsilon=1, count=2)
    laws = [sparse_vector_law(sparse, values) for values in ([1, 1, 0, 0], [0, 0, 1, 1])]
    assert reachable(*laws) < 0.6
