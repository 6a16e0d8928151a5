import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import (
    approx,
    compose,
    delta,
    epsilon_within,
    gaussian_sigma,
    gaussian_sigma_rho,
    laplace_scale,
    pure,
    rho_within,
    textbook_composition,
    zcdp,
)
from discreet.core.loss import GaussianNoise, LaplaceNoise, Pure, Repeated
from discreet.core.sensitivity import Sensitivity
from discreet.errors import InputError
from discreet.noise.spread import gaussian_half_width, laplace_half_width

budgets = st.fractions("0.01", 20, max_denominator=1000)


@given(budgets, st.integers(1, 1000))
def test_laplace_scale_spends_the_budget_exactly(epsilon, each):
    assert pure(LaplaceNoise(laplace_scale(epsilon, each), each)).epsilon == epsilon
    assert laplace_scale(epsilon, Sensitivity(each, 2)) == 2 * laplace_scale(epsilon, each)


@given(budgets, st.integers(1, 1000))
def test_sigma_for_rho_never_overspends(rho, each):
    sigma = gaussian_sigma_rho(rho, each)
    assert zcdp(GaussianNoise(sigma, each)).rho <= rho
    assert zcdp(GaussianNoise(sigma * Fraction(999, 1000), each)).rho > rho


@settings(max_examples=25, deadline=None)
@given(st.fractions("0.05", 8, max_denominator=100), st.sampled_from([1e-9, 1e-6, 1e-3]), st.integers(1, 30))
def test_analytic_sigma_passes_and_a_little_less_does_not(epsilon, missed, each):
    sigma = gaussian_sigma(epsilon, missed, each)
    assert delta(GaussianNoise(sigma, each), epsilon) <= missed
    assert delta(GaussianNoise(sigma * Fraction(99, 100), each), epsilon) > missed


def test_known_sigmas():
    # The continuous analytic figure is 3.7304; the integer law needs a hair more.
    assert 3.7304 < gaussian_sigma(1, 1e-5) < 3.75
    assert float(gaussian_sigma(1, 1e-5, 1000)) == pytest.approx(3730.6, rel=1e-3)
    classic = math.sqrt(2 * math.log(1.25e5)) / 0.5
    assert float(gaussian_sigma(0.5, 1e-5, method="classic")) == pytest.approx(classic)
    assert gaussian_sigma(0.5, 1e-5, method="classic") > gaussian_sigma(0.5, 1e-5)


def test_the_classic_formula_is_refused_where_it_fails():
    with pytest.raises(InputError, match="less than 1"):
        gaussian_sigma(1, 1e-5, method="classic")
    # Why: carried on to epsilon = 12, its own noise breaks the promise.
    wrong = Fraction(math.sqrt(2 * math.log(1.25e5)) / 12 * 1000)
    assert delta(GaussianNoise(wrong, 1000), 12) > 1e-5
    assert delta(GaussianNoise(gaussian_sigma(12, 1e-5, 1000), 1000), 12) <= 1e-5


def test_several_outputs_share_one_sigma():
    moved = Sensitivity(each=1, outputs=10)
    sigma = gaussian_sigma(1, 1e-5, moved)
    assert approx(Repeated(GaussianNoise(sigma, 1), 10), 1e-5).epsilon <= 1
    assert 3.7304 * math.sqrt(10) * 0.999 < sigma < 3.7304 * math.sqrt(10) * 1.01


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 3000), st.sampled_from([0.5, 0.9, 0.95, 0.999]), st.integers(1, 500), st.integers(1, 20))
def test_budgets_for_an_accuracy_reach_it_at_the_least_price(within, confidence, outputs, each):
    less = Fraction(99, 100)
    epsilon = epsilon_within(within, confidence, outputs, each)
    assert laplace_half_width(laplace_scale(epsilon, each), confidence, outputs) <= within
    assert laplace_half_width(laplace_scale(epsilon * Fraction(1, 2), each), confidence, outputs) > within
    rho = rho_within(within, confidence, outputs, each)
    assert gaussian_half_width(gaussian_sigma_rho(rho, each), confidence, outputs) <= within
    assert gaussian_half_width(gaussian_sigma_rho(rho * Fraction(1, 2), each), confidence, outputs) > within
    if within >= 300:  # half-widths are whole: a percent shows only where there are many
        assert laplace_half_width(laplace_scale(epsilon * less, each), confidence, outputs) > within


def test_what_is_not_allowed_says_what_is():
    with pytest.raises(InputError, match="zero or more"):
        epsilon_within(-1)
    with pytest.raises(InputError, match="confidence"):
        rho_within(10, confidence=1)
    with pytest.raises(InputError, match=r"`k` must be .* got 0"):
        rho_within(10, outputs=0)
    with pytest.raises(InputError, match="epsilon"):
        laplace_scale(0)
    with pytest.raises(InputError, match="delta"):
        gaussian_sigma(1, 0)
    with pytest.raises(InputError, match="method"):
        gaussian_sigma(1, 1e-5, method="magic")


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1"])
@pytest.mark.parametrize("times", [1, 30])
def test_the_textbooks_composition_is_never_below_what_is_proven(epsilon, times):
    """It is a bound, and not the best one."""
    proven = approx(compose([Pure(epsilon)] * times), "1e-6", tight=False).epsilon
    assert textbook_composition(epsilon, times, "1e-6") >= proven
    assert textbook_composition("0.1", 200, "1e-6") == pytest.approx(9.537, abs=1e-3)


def test_the_textbooks_composition_reads_its_numbers():
    for wrong in (("0", 2, "1e-6"), ("1", 0, "1e-6"), ("1", 1.5, "1e-6"), ("1", 2, "0")):
        with pytest.raises(InputError):
            textbook_composition(*wrong)
    assert textbook_composition("1e4", 2, "1e-6") == math.inf
