import numpy as np
import pytest

from discreet.accounting import approx, privacy_loss, renyi, renyi_epsilon, zcdp
from discreet.accounting.rdp import ORDERS
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


@pytest.mark.parametrize(
    "loss", [Pure(1), Pure("1e-8"), LaplaceNoise(3, 2), BoundedRange(2), GaussianNoise(3, 2), ZCDP(0.3)], ids=repr
)
def test_a_curve_is_positive_and_within_zcdp(loss):
    curve = renyi(loss)
    assert np.all(curve > 0)
    assert np.all(curve <= float(zcdp(loss).rho) * np.array(ORDERS) * (1 + 1e-9) + 1e-13)
    assert renyi_epsilon(loss, 1e-10) > 0


def test_sampled_gaussians_are_the_librarys_and_never_below_the_tight_figure():
    for q, m, steps in ((0.01, 1.1, 1000), (0.2, 3, 50)):
        loss = Repeated(Sampled(RealGaussianNoise(m), q), steps)
        assert renyi_epsilon(loss, 1e-5) >= privacy_loss(loss).epsilon(1e-5)


def test_a_composition_inside_a_sample_is_one_noise():
    many = Sampled(Repeated(RealGaussianNoise(4), 4), 0.1)
    assert float(renyi_epsilon(many, 1e-5)) == pytest.approx(
        float(renyi_epsilon(Sampled(RealGaussianNoise(2), 0.1), 1e-5))
    )


def test_what_has_a_delta_has_no_curve():
    for loss in (Approx(1, 1e-9), ZCDP(1, 1e-9), Sampled(Approx(1, 1e-9), 0.1)):
        with pytest.raises(LossError, match="Renyi"):
            renyi(Composed([Pure(1), loss]))
    with pytest.raises(InputError, match="delta"):
        renyi_epsilon(Pure(1), 0)


def test_absurd_losses_still_have_a_number():
    for loss in (LaplaceNoise("0.001", 5000), RealGaussianNoise("0.0001"), Repeated(LaplaceNoise("0.001", 1), 1000)):
        assert approx(loss, 1e-6).epsilon > 10**5
