import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import MPContext

from discreet.accounting import approx, delta, group, pure, zcdp
from discreet.core.loss import (
    ZCDP,
    Approx,
    BoundedRange,
    Composed,
    GaussianNoise,
    LaplaceNoise,
    Pure,
    RealGaussianNoise,
    Repeated,
    Sampled,
)
from discreet.errors import InputError, LossError

mp = MPContext()
mp.dps = 60


def test_each_kind():
    assert group(Pure(0.5), 3) == Pure(1.5)
    assert group(BoundedRange(0.5), 3) == BoundedRange(1.5)
    assert group(ZCDP(0.1), 3) == ZCDP(0.9)
    assert group(LaplaceNoise(4, 2), 3) == LaplaceNoise(4, 6)
    assert group(GaussianNoise(4, 2), 3) == GaussianNoise(4, 6)
    assert group(RealGaussianNoise(6), 3) == RealGaussianNoise(2)
    assert group(Composed([Pure(0.5), Repeated(ZCDP(0.1), 2)]), 2) == Composed([Pure(1), Repeated(ZCDP(0.4), 2)])
    assert group(Approx(0, 1e-6), 5) == Approx(0, 5e-6)
    assert group(Sampled(Pure(1), 0.5), 2) == Pure(2 * pure(Sampled(Pure(1), 0.5)).epsilon)


@given(st.fractions("1e-6", 5, max_denominator=10**6), st.integers(2, 20))
def test_approximate_groups_are_rounded_up_and_tight(epsilon, k):
    start = Approx(epsilon, "1e-60")
    grown = group(start, k)
    e = mp.mpf(epsilon.numerator) / epsilon.denominator
    true = mp.mpf(10) ** -60 * mp.expm1(k * e) / mp.expm1(e)
    found = mp.mpf(grown.delta.numerator) / grown.delta.denominator
    assert grown.epsilon == k * epsilon
    assert true * (1 - mp.mpf(10) ** -45) <= found <= true * (1 + mp.mpf(10) ** -20) + mp.mpf(10) ** -60


def test_gaussian_noise_and_its_claims_agree_on_groups():
    noise = GaussianNoise(10, 1)
    assert zcdp(group(noise, 4)) == group(zcdp(noise), 4)
    claim = group(approx(noise, 1e-6), 4)
    assert delta(group(noise, 4), claim.epsilon) <= claim.delta


def test_a_delta_that_does_not_grow_would_be_caught():
    noise, k = GaussianNoise(3, 1), 6
    single = approx(noise, 1e-4)
    assert delta(group(noise, k), k * single.epsilon) < group(single, k).delta
    pair = Approx(1, 1e-3)  # the worst pair of this claim, walked twice, misses by more than twice the delta
    assert group(pair, 2).delta > 2 * pair.delta


def test_what_has_no_group_form_says_why():
    with pytest.raises(LossError, match="Approximate zCDP"):
        group(ZCDP(0.1, 1e-6), 2)
    with pytest.raises(LossError, match="sampled"):
        group(Sampled(RealGaussianNoise(1), 0.1), 2)
    with pytest.raises(LossError, match="nothing is promised"):
        group(Approx(1, 1e-3), 50)
    with pytest.raises(InputError, match="k"):
        group(Pure(1), 0)
