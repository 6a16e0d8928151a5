"""What is done with estimates: choosing, planning, comparing, putting together, making consistent."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import discreet
from chance import at_most, mean_fits
from discreet.accounting.posterior import after
from discreet.errors import InputError
from discreet.local import (
    GRR,
    OLH,
    OUE,
    Hadamard,
    Subset,
    best,
    difference,
    half_width,
    limit,
    sample_size,
    stratified,
    weighted,
)
from discreet.local.postprocess import consistent

SPEC = {(2, 1): 0.921, (100, 1): 3.60, (100, 4): 0.0648, (10_000, 1): 3.68, (10_000, 4): 0.0759}


def test_the_coin_survey():
    """Two coins: ln 3; three in four say yes who mean it; a prior of 2% becomes 5.8%."""
    survey = GRR.coin()
    assert survey.law(1) == {0: Fraction(1, 4), 1: Fraction(3, 4)}
    assert 0 <= survey.epsilon - Fraction(math.log(3)) < Fraction(1, 10**14)
    assert round(float(after(0.02, if_true=survey.hit, if_false=survey.miss)), 3) == 0.058
    for q in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        assert GRR.coin(q).ratio == (1 + q) / (1 - q)
    binary = GRR(2, epsilon=1)
    said = np.array([0] * 60 + [1] * 40)
    odds = math.e
    expected = (0.4 - 1 / (1 + odds)) * (odds + 1) / (odds - 1)
    assert binary.estimate(said).frequencies[1] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("wrong", [0, 1, -1, 2, "x", None])
def test_coins_that_are_not_coins_are_refused(wrong):
    with pytest.raises(InputError):
        GRR.coin(wrong)
    with pytest.raises(InputError):
        GRR.truthful(wrong, 3)


@pytest.mark.parametrize(("case", "value"), SPEC.items())
def test_the_limit_is_the_published_one(case, value):
    assert limit(*case) == pytest.approx(value, rel=0.002)
    assert Subset(*case).variance(1, Fraction(1, case[0])) == pytest.approx(limit(*case), rel=1e-6)


@pytest.mark.parametrize("categories", [2, 3, 10, 100, 10_000])
@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
def test_the_choice_is_within_a_tenth_of_the_limit(categories, epsilon):
    choice = discreet.local.best(domain=categories, epsilon=epsilon, n=1_000_000)
    error = choice.mechanism.variance(1, Fraction(1, categories))
    assert limit(categories, epsilon) * 0.999999 <= error <= 1.1 * limit(categories, epsilon)
    assert {one.mechanism.kind for one in choice.candidates} == {"grr", "olh", "oue", "sue", "hadamard", "subset"}
    assert choice.mechanism.kind in str(choice)


def test_the_choice_explains_itself_and_obeys():
    assert best(2, 1, 100).mechanism == GRR(2, 1)
    assert "smallest" in best(["no", "yes"], 1, 100).why
    assert best(10_000, 1, 10**6).mechanism.kind == "olh"
    assert best(10_000, 1, 10**6, tolerance=0).mechanism.kind == "subset"
    assert best(10_000, 1, 10**6, bits=14).mechanism.kind == "hadamard"
    with pytest.raises(InputError, match="at least 14"):
        best(10_000, 1, 10**6, bits=3)
    for wrong in ({"domain": 1}, {"domain": []}, {"epsilon": 0}, {"n": 0}, {"tolerance": -1}, {"epsilon": math.inf}):
        with pytest.raises(InputError):
            best(**{"domain": 5, "epsilon": 1, "n": 100, **wrong})


def test_planning_goes_both_ways():
    for mechanism in (GRR(2, 1), OLH(100, 1), Hadamard(100, 2), Subset(30, 0.5)):
        for options in ({}, {"together": True}, {"frequency": 0.1, "of": "respondents"}, {"confidence": 0.99}):
            n = sample_size(mechanism, 0.03, **options)
            assert half_width(mechanism, n, **options) <= 0.03 * (1 + 1e-9)
            assert half_width(mechanism, n - 1, **options) > 0.03
    largest = max(GRR(5, 1).variance(1, f / 100, of="population") for f in range(101))
    assert half_width(GRR(5, 1), 1) == pytest.approx(1.959964 * math.sqrt(largest), rel=1e-3)
    for wrong in ({"half_width": 0}, {"half_width": 2}, {"confidence": 1}, {"mechanism": 3}, {"frequency": 2}):
        with pytest.raises(InputError):
            sample_size(**{"mechanism": GRR(2, 1), "half_width": 0.1, **wrong})
    with pytest.raises(InputError):
        half_width(GRR(2, 1), 0)
    with pytest.raises(InputError):
        GRR(2, 1).variance(10, of="nobody")


@pytest.mark.statistical
def test_differences_are_found_and_not_made_up():
    mechanism, trials, n = GRR(3, 1), 1500, 1000
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


@pytest.mark.parametrize("how", ["simplex", "normalize", "threshold"])
def test_consistent_shares_are_shares(how):
    chance = np.random.default_rng(3)
    for _ in range(50):
        shares = chance.normal(0.1, 0.2, 10)
        made = consistent(shares, how, errors=np.full(10, 0.1))
        assert made.min() >= 0
        assert made.sum() == pytest.approx(1)
    assert consistent(np.full(4, -1.0), how, errors=np.ones(4)) == pytest.approx([0.25] * 4)


def test_the_nearest_point_is_nearest():
    chance = np.random.default_rng(4)
    shares = chance.normal(0.2, 0.3, 5)
    made = consistent(shares)
    others = chance.dirichlet(np.ones(5), 20_000)
    assert ((made - shares) ** 2).sum() <= ((others - shares) ** 2).sum(axis=1).min()


def test_consistency_is_named_and_off():
    found = GRR(3, 0.5).estimate([0] * 90 + [1] * 10)
    assert found.frequencies.min() < 0
    made = found.consistent("simplex")
    assert made.method == "simplex"
    assert made.frequencies.min() == 0
    with pytest.raises(InputError, match="unbiased"):
        made.interval()
    with pytest.raises(InputError):
        made.consistent()
    with pytest.raises(InputError, match="simplex"):
        found.consistent("magic")
    rows = found.rows(["a", "b", "c"])
    assert rows[0]["category"] == "a"
    assert rows[0]["lower"] < rows[0]["frequency"] < rows[0]["upper"]
    assert math.isnan(made.rows()[0]["lower"])
    with pytest.raises(InputError):
        found.rows(["a"])
    with pytest.raises(InputError):
        found.interval(of="nobody")
