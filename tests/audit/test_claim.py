"""Claims: what their lines allow, and what refutes them."""

import numpy as np
import pytest
from scipy import stats

from discreet.accounting import tradeoff
from discreet.audit.bounds import Rates
from discreet.audit.claim import read_claim
from discreet.core.loss import ZCDP, Approx, GaussianNoise, LaplaceNoise, Pure, RealGaussianNoise, Repeated

LOSSES = [
    Pure(1),
    Approx(1, "1e-3"),
    ZCDP("0.1"),
    ZCDP("0.1", "1e-3"),
    LaplaceNoise(2, 1),
    GaussianNoise(3, 1),
    RealGaussianNoise(1),
    Repeated(LaplaceNoise(4, 1), 2),
]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_claim_allows_about_what_its_floor_allows(loss):
    claim, floor = read_claim(loss), tradeoff(loss, points=21)
    for alarmed, missed in zip(floor.false_alarm[1:-1], floor.missed[1:-1], strict=True):
        most = claim.most(float(alarmed))
        assert 1 - missed - 0.01 < most < 1 - missed + 0.03
        assert claim.refuted(Rates(min(1.0, most + 1e-9), float(alarmed))) or most > 1 - 1e-9


def test_the_worst_attacks_a_claim_allows_do_not_refute_it():
    for at in np.linspace(-3, 4, 15):  # real Gaussian noise of sigma 1, every threshold
        attack = Rates(stats.norm.sf(at - 1), stats.norm.sf(at))
        for loss in (RealGaussianNoise(1), ZCDP("0.5")):
            assert not read_claim(loss).refuted(attack)
        assert read_claim(RealGaussianNoise("1.05")).refuted(attack) or abs(at - 0.5) > 2
    assert any(
        read_claim(ZCDP("0.35")).refuted(Rates(stats.norm.sf(at - 1), stats.norm.sf(at)))
        for at in np.linspace(-3, 4, 30)
    )


def test_a_curve_is_a_claim():
    claim = read_claim(tradeoff(RealGaussianNoise(1), points=201))
    at = 0.5
    assert not claim.refuted(Rates(stats.norm.sf(at - 1), stats.norm.sf(at)))
    assert claim.refuted(Rates(stats.norm.sf(at - 1.1), stats.norm.sf(at)))


def test_a_claim_in_words():
    assert read_claim((1, 1e-6)).words == "epsilon = 1, delta = 1e-6"
    assert read_claim(GaussianNoise(1, 1)).words == "rho = 0.5"
    assert read_claim(Pure(2)).epsilon(0.0) == 2
    assert read_claim(ZCDP(1)).epsilon(1e-5) < 8
