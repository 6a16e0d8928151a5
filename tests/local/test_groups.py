"""Groups compared and put together: no difference made up, no share lost."""

import math

import numpy as np
import pytest
from scipy import stats

from chance import at_most, mean_fits
from discreet.errors import InputError
from discreet.local import (
    GRR,
    OUE,
    Duchi,
    difference,
    stratified,
    weighted,
)
from discreet.local.groups import pooled


@pytest.mark.statistical
def test_differences_are_found_and_not_made_up():
    mechanism, trials, n = GRR(3, 1), 800, 1000
    chance = np.random.default_rng(5)
    wrong = found = outside = 0
    for _ in range(trials):
        same = [mechanism.estimate(mechanism.privatize(chance.choice(3, n, p=[0.5, 0.3, 0.2]))) for _ in range(2)]
        alone = difference(*same)
        wrong += alone.p_values().min() < 0.05
        ends = alone.interval(0.9)
        outside += not ends[0, 0] <= 0 <= ends[0, 1]
        other = mechanism.estimate(mechanism.privatize(chance.choice(3, n, p=[0.2, 0.3, 0.5])))
        found += difference(same[0], other).p_values().min() < 0.05
    assert at_most(wrong, trials, 0.06)  # the normal approximation is off by less than a hundredth
    assert at_most(outside, trials, 0.11)
    assert found > 0.6 * trials
    with pytest.raises(InputError, match="categories"):
        difference(same[0], GRR(2, 1).estimate([0, 1]))


def test_p_values_are_those_of_the_normal_law():
    one = difference(GRR(2, 2).estimate([0] * 500 + [1] * 500), GRR(2, 2).estimate([0] * 400 + [1] * 600))
    assert one.p_values(together=False) == pytest.approx(2 * stats.norm.sf(abs(one.z)), rel=1e-9)
    assert (one.p_values() >= one.p_values(together=False)).all()


@pytest.mark.statistical
def test_strata_and_weights_are_unbiased():
    mechanism, trials = OUE(3, 1), 300
    young, old = np.repeat([0, 1, 2], [300, 60, 40]), np.repeat([0, 1, 2], [20, 20, 60])
    truth = 0.2 * np.array([300, 60, 40]) / 400 + 0.8 * np.array([20, 20, 60]) / 100
    weights = np.r_[np.full(400, 0.2 / 400), np.full(100, 0.8 / 100)]
    strata, heavy = [], []
    for _ in range(trials):
        reports = [mechanism.privatize(group) for group in (young, old)]
        strata.append(stratified([mechanism.estimate(part) for part in reports], [0.2, 0.8]))
        heavy.append(weighted(mechanism, np.concatenate(reports), weights))
    for found in (strata, heavy):
        stated = np.mean([one.variance() for one in found], axis=0)
        values = np.array([one.frequencies for one in found])
        assert mean_fits(values[:, 0], truth[0], stated[0])
        assert not mean_fits(values[:, 0], 0.64, stated[0])  # what it would be without shares
        assert mean_fits((values[:, 0] - truth[0]) ** 2, stated[0], 4 * stated[0] ** 2)
    for one, other in zip(strata, heavy, strict=True):
        assert one.frequencies == pytest.approx(other.frequencies)
    assert (heavy[0].interval()[:, 0] < heavy[0].frequencies).all()


def test_wrong_shares_and_weights_are_refused():
    part = GRR(2, 1).estimate([0, 1, 1])
    for shares in ([0.5], [0.5, 0.6], [-0.5, 1.5], ["x", 1]):
        with pytest.raises(InputError):
            stratified([part, part], shares)
    with pytest.raises(InputError, match="same categories"):
        stratified([part, GRR(3, 1).estimate([0])], [0.5, 0.5])
    for weights in ([1], [1, 2, 0], [1, 2, math.nan], [[1, 2, 3]]):
        with pytest.raises(InputError):
            weighted(GRR(2, 1), [0, 1, 1], weights)
    with pytest.raises(InputError):
        stratified([part, part], [0.5, 0.5]).variance("nobody")


@pytest.mark.statistical
@pytest.mark.parametrize("each", [1, 2])
def test_intervals_hold_where_hardly_two_people_have_one_weight(each):
    """Weights of surveys are all different; of one person nothing says how much people differ."""
    chance, trials, people = np.random.default_rng(6), 200, 300
    shares, means, number = 0, 0, Duchi(4, 0, 1)
    for _ in range(trials):
        heavy = np.exp(chance.normal(0, 0.5, people // each)).repeat(each)
        answers = (chance.random(people) < 0.4).astype(int)
        low, high = weighted(GRR(2, 4), GRR(2, 4).privatize(answers), heavy).interval()[1]
        shares += not low <= 0.4 <= high
        reports = number.privatize(answers.astype(float))
        groups = [number.estimate(reports[at : at + each]) for at in range(0, people, each)]
        low, high = pooled(groups, heavy[::each] / heavy[::each].sum()).interval()[0]
        means += not low <= 0.4 <= high
    assert at_most(shares, trials, 0.08)  # it was 0.63, and 0.15 with two of each weight
    assert at_most(means, trials, 0.08)
