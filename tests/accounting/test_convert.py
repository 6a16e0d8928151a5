"""Losses in other forms: pure, zCDP, (epsilon, delta); each exact or rounded up, and refuted where it were less."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import approx, delta, pure, zcdp
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
from divergences import deltas, hockey_stick, laplace_pair, mp, real, shifts

epsilons = st.fractions(min_value="0.001", max_value=20, max_denominator=10**6)


scales = st.fractions(min_value="0.05", max_value=500, max_denominator=1000)


def renyi(pair, alpha):
    return mp.log(mp.fsum(p**alpha * q ** (1 - alpha) for p, q in pair)) / (alpha - 1)


def response(epsilon):
    p = 1 / (1 + mp.exp(-real(epsilon)))
    return [(p, 1 - p), (1 - p, p)]


def test_pure_is_exact_where_it_exists():
    assert pure(LaplaceNoise(10, 3)) == Pure("0.3")
    assert pure(BoundedRange(0.7)) == Pure(0.7)
    assert pure(Composed([Pure(0.1), Repeated(Pure(0.2), 3)])) == Pure(0.7)
    assert pure(Approx(1, 0)) == Pure(1)


@pytest.mark.parametrize(
    "loss",
    [GaussianNoise(1, 1), RealGaussianNoise(1), ZCDP(1), Approx(1, 1e-6), Sampled(GaussianNoise(1, 1), 0.1)],
)
def test_what_is_not_pure_says_so(loss):
    with pytest.raises(LossError, match="pure epsilon"):
        pure(Composed([Pure(1), loss]))


@given(epsilons, st.fractions(min_value=0, max_value=1, max_denominator=1000))
def test_amplification_by_sampling_is_rounded_up_and_tight(epsilon, q):
    found = pure(Sampled(Pure(epsilon), q)).epsilon
    true = mp.log(1 + real(q) * mp.expm1(real(epsilon)))
    assert true - mp.mpf(10) ** -55 <= real(found) <= true + mp.mpf(10) ** -29


@given(epsilons)
def test_pure_to_zcdp_is_epsilon_tanh_rounded_up(epsilon):
    true = real(epsilon) * mp.tanh(real(epsilon) / 2)
    assert true - mp.mpf(10) ** -55 <= real(zcdp(Pure(epsilon)).rho) <= true + mp.mpf(10) ** -29


def test_known_zcdp_figures():
    assert float(zcdp(Pure(1)).rho) == pytest.approx(0.46211715726)
    assert zcdp(BoundedRange(1)).rho == pytest.approx(0.125)
    assert zcdp(GaussianNoise(10, 3)) == ZCDP("0.045")
    assert zcdp(RealGaussianNoise(2)) == ZCDP("0.125")
    assert zcdp(Approx(1, 1e-6)) == ZCDP(zcdp(Pure(1)).rho, 1e-6)
    assert zcdp(Repeated(ZCDP(0.1, 1e-7), 10)) == ZCDP(1, 1e-6)
    assert zcdp(LaplaceNoise(3, 1)) == zcdp(Pure("1/3"))  # moved by one, Laplace noise is randomized response


@given(epsilons, st.sampled_from([1.0001, 1.01, 1.5, 2, 7, 50]))
def test_randomized_response_is_within_its_zcdp(epsilon, alpha):
    assert renyi(response(epsilon), mp.mpf(alpha)) <= real(zcdp(Pure(epsilon)).rho) * mp.mpf(alpha)


@pytest.mark.parametrize("epsilon", [Pure(x).epsilon for x in ("0.01", "0.5", "1", "4")])
def test_the_bounded_range_rho_is_refuted_for_pure_losses(epsilon):
    """The twin: eps^2/8 would be four times too good, and randomized response itself says so."""
    assert renyi(response(epsilon), mp.mpf("1.001")) > real(zcdp(BoundedRange(epsilon)).rho) * mp.mpf("1.001")


def test_the_pure_rho_cannot_be_lowered_at_all():
    for epsilon in (Pure("0.1").epsilon, Pure(3).epsilon):
        less = real(zcdp(Pure(epsilon)).rho) * mp.mpf("0.9999")
        assert renyi(response(epsilon), 1 + mp.mpf(10) ** -6) > less * (1 + mp.mpf(10) ** -6)


@settings(max_examples=25, deadline=None)
@given(st.fractions("0.2", 8, max_denominator=50), st.integers(1, 12), st.sampled_from([1.001, 1.2, 2, 6, 30]))
def test_laplace_noise_is_within_its_own_zcdp(scale, shift, alpha):
    rho = zcdp(LaplaceNoise(scale, shift)).rho
    pair = laplace_pair(scale, shift)
    assert renyi(pair, mp.mpf(alpha)) <= real(rho) * mp.mpf(alpha) * (1 + mp.mpf(10) ** -25)
    assert rho <= zcdp(Pure(shift / scale)).rho + pure(Pure("1e-29")).epsilon


def test_laplace_rho_is_the_divergence_itself_and_half_the_shift_is_refuted():
    for scale, shift in ((Pure(2).epsilon, 5), (Pure("0.7").epsilon, 3)):
        rho, pair = real(zcdp(LaplaceNoise(scale, shift)).rho), laplace_pair(scale, shift)
        divergence = mp.fsum(p * mp.log(p / q) for p, q in pair)
        assert abs(rho - divergence) < mp.mpf(10) ** -25
        wrong = real(zcdp(LaplaceNoise(scale, shift - 1)).rho)
        assert divergence > wrong


def test_sampling_has_zcdp_only_where_it_is_pure():
    assert zcdp(Sampled(Pure(1), 0.1)) == zcdp(pure(Sampled(Pure(1), 0.1)))
    with pytest.raises(LossError, match="zCDP"):
        zcdp(Sampled(RealGaussianNoise(1), 0.1))


def test_known_approx_figures():
    assert float(approx(ZCDP(0.5), 1e-6).epsilon) == pytest.approx(5.2215344445)
    assert float(approx(ZCDP(0.1), 1e-5).epsilon) < 0.1 + 2 * (0.1 * 11.513) ** 0.5  # the simple conversion
    assert approx(Composed([]), 1e-6) == Approx(0, 1e-6)
    assert approx(Pure(1), 0) == Approx(1, 0)
    assert approx(Composed([Approx(1, 1e-6), Pure(0.5)]), 1e-6, tight=False).epsilon <= Pure(1.5).epsilon


@given(epsilons, st.fractions(0, 1, max_denominator=100), deltas)
def test_pure_claims_follow_randomized_response(epsilon, share, missed):
    at = epsilon * share
    true = hockey_stick(response(epsilon), at)
    assert true - mp.mpf(10) ** -50 <= real(delta(Pure(epsilon), at, tight=False)) <= true + mp.mpf(10) ** -28
    found = approx(Pure(epsilon), missed, tight=False).epsilon
    assert hockey_stick(response(epsilon), found) <= mp.mpf(str(missed)) + mp.mpf(10) ** -50


@settings(max_examples=30, deadline=None)
@given(st.fractions(1, 30, max_denominator=50), st.integers(1, 4), deltas)
def test_approx_and_delta_agree(sigma, shift, missed):
    loss = GaussianNoise(sigma, shift)
    claim = approx(loss, missed)
    assert delta(loss, claim.epsilon) <= claim.delta
    if claim.epsilon > 1e-6:
        assert delta(loss, claim.epsilon * Pure("0.99").epsilon) > claim.delta


def test_repeated_noise_takes_the_best_route():
    loss = Repeated(GaussianNoise(50, 1), 20)
    tight, plain = approx(loss, 1e-6).epsilon, approx(loss, 1e-6, tight=False).epsilon
    assert 0.3522 < tight < 0.3523 < plain < 0.39
    wide = Repeated(GaussianNoise(50_000, 1000), 20)
    assert approx(wide, 1e-6) == approx(wide, 1e-6, tight=False)


def test_zcdp_beside_sampling_splits_the_delta():
    loss = Composed([ZCDP(0.01), Repeated(Sampled(RealGaussianNoise(2), 0.01), 100)])
    found = approx(loss, 1e-5)
    assert found.epsilon == approx(ZCDP(0.01), 5e-6).epsilon + approx(loss.losses[1], 5e-6).epsilon
    assert delta(loss, found.epsilon * 2) < 1e-5


def test_impossible_requests_say_why():
    with pytest.raises(LossError, match="delta"):
        approx(Approx(1, 1e-3), 1e-6)
    with pytest.raises(LossError, match="promises nothing"):
        zcdp(Repeated(ZCDP(0, 0.5), 2))
    with pytest.raises(InputError, match="delta"):
        approx(Pure(1), 1)
    with pytest.raises(InputError, match="epsilon"):
        delta(Pure(1), -1)


@given(epsilons, epsilons, deltas)
def test_more_pure_is_never_less_of_anything(one, other, missed):
    low, high = Pure(min(one, other)), Pure(max(one, other))
    assert zcdp(low).rho <= zcdp(high).rho
    assert approx(low, missed, tight=False).epsilon <= approx(high, missed, tight=False).epsilon


@settings(max_examples=25, deadline=None)
@given(scales, shifts, st.fractions("1.001", 3, max_denominator=1000), deltas)
def test_more_noise_is_never_less_private(scale, shift, factor, missed):
    for kind in (LaplaceNoise, GaussianNoise):
        assert zcdp(kind(scale * factor, shift)).rho <= zcdp(kind(scale, shift)).rho
        assert zcdp(kind(scale, shift)).rho <= zcdp(kind(scale, shift + 1)).rho
        less = approx(kind(scale, shift), missed).epsilon
        assert less <= approx(kind(scale, shift + 1), missed).epsilon + Pure("1e-9").epsilon
