"""From zCDP to (epsilon, delta): tight, never below, and rising with rho."""

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import approx
from discreet.core.loss import (
    ZCDP,
)
from divergences import deltas, mp, real

rhos = st.fractions(min_value="0.00001", max_value=10, max_denominator=10**7)


def best_conversion(rho, delta):
    """min over alpha of the tight conversion, by mpmath alone."""

    def epsilon(log_excess):
        excess = mp.exp(log_excess)
        alpha = 1 + excess
        return alpha * rho + (mp.log(1 / delta) - mp.log(alpha)) / excess + mp.log(1 - 1 / alpha)

    low, high = mp.mpf(-8), mp.mpf(12)
    for _ in range(300):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if epsilon(a) < epsilon(b) else (a, high)
    return max(mp.mpf(0), epsilon(low))


@settings(max_examples=40, deadline=None)
@given(rhos, deltas)
def test_zcdp_to_approx_is_tight_and_never_below(rho, missed):
    found = real(approx(ZCDP(rho), missed).epsilon)
    best = best_conversion(real(rho), mp.mpf(str(missed)))
    assert best <= found <= best + mp.mpf(10) ** -9


@given(rhos, rhos, deltas)
def test_more_rho_is_never_less_epsilon(one, other, missed):
    low, high = sorted([one, other])
    assert approx(ZCDP(low), missed, tight=False).epsilon <= approx(ZCDP(high), missed, tight=False).epsilon


@given(rhos, deltas, deltas)
def test_more_delta_is_never_more_epsilon(rho, one, other):
    low, high = sorted([one, other])
    assert approx(ZCDP(rho), high, tight=False).epsilon <= approx(ZCDP(rho), low, tight=False).epsilon
