import math

import numpy as np
import pytest
from scipy import stats

from discreet.accounting import advantage, delta, privacy_loss, tradeoff, training_loss
from discreet.core.loss import Approx, GaussianNoise, LaplaceNoise, Pure, RealGaussianNoise, Repeated
from discreet.errors import InputError

LOSSES = [
    Pure(1),
    Approx(0.5, 1e-2),
    GaussianNoise(3, 2),
    LaplaceNoise(4, 3),
    RealGaussianNoise(2),
    Repeated(Pure(0.2), 9),
]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("epsilon", [0, 0.3, 1, 2])
def test_errors_are_traded_at_the_promised_rate(loss, epsilon):
    curve = tradeoff(loss)
    missed = delta(loss, epsilon)
    weighed = curve.missed + math.exp(epsilon) * curve.false_alarm
    assert np.all(weighed >= 1 - float(missed) - 2e-3)
    assert np.all(np.diff(curve.missed) <= 1e-12)
    assert np.all(curve.missed <= 1 - curve.false_alarm + 1e-12)


def test_a_claim_gives_its_textbook_line():
    epsilon, missed = 1.0, 0.05
    curve = tradeoff((epsilon, missed))
    a = curve.false_alarm
    line = np.maximum(0, np.maximum(1 - missed - math.e * a, (1 - missed - a) / math.e))
    assert np.allclose(curve.missed, line)
    for lower in (0.5, 0.9):  # the twin: a smaller epsilon draws a line that the claim does not support
        assert np.any(tradeoff((lower, missed)).missed > curve.missed + 1e-3)


def test_no_attacker_on_gaussian_noise_is_below_the_line():
    sigma, shift = 3, 2
    x = np.arange(-60, 63)
    weight = np.exp(-(x**2) / (2 * sigma**2))
    p = weight / weight.sum()
    curve = tradeoff(GaussianNoise(sigma, shift), points=4001)
    for threshold in range(-10, 12):
        alarm = p[x > threshold].sum()
        missed = p[x + shift <= threshold].sum()
        floor = np.interp(alarm, curve.false_alarm, curve.missed)
        assert floor - 3e-4 <= missed <= floor + 1e-9


def test_gaussian_curves_agree_with_the_continuous_one_and_wide_noise_too():
    for sigma, shift in ((200, 100), (100_000, 50_000)):
        curve = tradeoff(GaussianNoise(sigma, shift))
        true = stats.norm.cdf(stats.norm.isf(curve.false_alarm) - 0.5)
        assert np.all(curve.missed <= true + 2e-3)
        assert np.all(curve.missed >= true - 2e-3)


def test_advantage_is_the_total_variation():
    assert float(advantage(Pure(1))) == pytest.approx(math.tanh(0.5), abs=1e-4)
    assert float(advantage((1, 0.1))) == pytest.approx(0.1 + 0.9 * math.tanh(0.5))
    assert advantage((0, 0)) == 0
    assert float(advantage(RealGaussianNoise(1))) == pytest.approx(2 * stats.norm.cdf(0.5) - 1)
    assert advantage((200, 0)) == 1


def test_distributions_and_sentences():
    plan = privacy_loss(training_loss(1.1, 0.01, 600), interval=1e-3)
    assert "right at most 55." in tradeoff(plan).sentence()
    assert "almost always" in tradeoff((20, 0)).sentence()
    with pytest.raises(InputError, match="points"):
        tradeoff((1, 0), points=1)
