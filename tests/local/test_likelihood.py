"""The likeliest shares: no others are likelier, and of sparse truths they are nearer than the unbiased ones."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.local import GRR, OLH, OUE, SUE, Hadamard, Subset, likeliest
from discreet.local.likelihood import likeliest_shares, rates
from local_cases import listed_reports

MECHANISMS = [GRR(4, 1), OUE(4, 1), SUE(4, 1), OLH(4, 1), Hadamard(4, 1), Subset(4, 1)]
every = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: one.kind)


@every
def test_rates_are_the_law_up_to_a_factor_for_each_report(mechanism):
    laws = [mechanism.law(value) for value in range(4)]
    chances = np.array([[float(law[report]) for law in laws] for report in laws[0]])
    found = rates(mechanism, listed_reports(mechanism, laws[0]))
    assert found / found[:, :1] == pytest.approx(chances / chances[:, :1])
    assert found * [1, 1, 1, 1.01] / found[:, :1] != pytest.approx(chances / chances[:, :1])


@every
@pytest.mark.statistical
def test_no_other_shares_are_likelier_by_more_than_the_gap(mechanism):
    reports = mechanism.privatize(np.arange(3000) % 3)
    found, table = likeliest(mechanism, reports), rates(mechanism, reports)
    assert found.shares.min() >= 0
    assert found.shares.sum() == pytest.approx(1)
    assert found.gap <= 0.01
    best = np.log(table @ found.shares).sum()
    draw = np.random.default_rng(5)
    for other in [np.full(4, 0.25), [1 / 3, 1 / 3, 1 / 3, 0], *draw.dirichlet(np.ones(4), 20)]:
        assert np.log(table @ np.asarray(other)).sum() <= best + found.gap + 1e-9
    assert np.log(table @ np.array([0.7, 0.1, 0.1, 0.1])).sum() < best - 1  # others are told apart


def test_inside_the_simplex_it_is_the_unbiased_estimate():
    """For GRR the unbiased shares maximise the likelihood where none is negative."""
    reports = [0] * 400 + [1] * 300 + [2] * 300
    law = GRR(3, 2)
    assert likeliest(law, reports).shares == pytest.approx(law.estimate(reports).frequencies, abs=2e-3)


@pytest.mark.statistical
def test_of_many_categories_that_few_people_have_it_is_nearer():
    law, truth = OUE(50, 1), np.zeros(50)
    truth[:3] = [0.5, 0.3, 0.2]
    reports = law.privatize(np.repeat(np.arange(50), (truth * 3000).round().astype(int)))
    unbiased = ((law.estimate(reports).frequencies - truth) ** 2).sum()
    assert ((likeliest(law, reports).shares - truth) ** 2).sum() < unbiased / 2


@pytest.mark.statistical
@pytest.mark.parametrize(
    "mechanism", [Hadamard(600, 3), OUE(40, 4), OLH(300, 3), GRR(600, 6)], ids=lambda one: one.kind
)
def test_the_largest_likelihood_is_reached_for_many_categories_and_a_large_epsilon(mechanism):
    """By plain steps of expectation maximisation Hadamard's stays hundreds below it, however many there are."""
    k = mechanism.categories
    reports = mechanism.privatize((k * np.random.default_rng(3).random(4000) ** 4).astype(int))
    found, table = likeliest(mechanism, reports), rates(mechanism, reports)
    assert found.gap <= 0.01
    assert (found.shares.min() >= 0, found.shares.sum()) == (True, pytest.approx(1))
    steps = np.full(k, 1 / k)
    for _ in range(20):
        steps = steps * (table.T @ (1 / (table @ steps))) / len(table)
    assert np.log(table @ found.shares).sum() > np.log(table @ steps).sum()


def test_columns_that_are_alike_are_no_trouble():
    table = np.array([[3.0, 3, 1, 1], [1, 1, 3, 1]])
    found = likeliest_shares(table, np.array([30.0, 10.0]))
    assert found.gap <= 0.01
    assert found.shares[:2].sum() == pytest.approx(1)


def test_nothing_and_far_too_much_are_refused():
    with pytest.raises(InputError, match="at least one"):
        likeliest(GRR(3, 1), [])
    with pytest.raises(InputError, match="different ones"):
        likeliest(OLH(100_000, 1), list(range(200)))
