"""What an attack could gain: closed forms, and no less than a true attack on the noise gains."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import pytest

from discreet.core.loss import RealGaussianNoise
from discreet.learn.attack_risk import AttackRisk


def test_a_claim_alone_gives_the_lines_of_its_epsilon():
    risk = AttackRisk.of(Fraction(1), Fraction("1e-6"))
    assert float(risk.advantage) == pytest.approx(math.tanh(0.5), abs=2e-6)
    assert float(risk.found[0]) == pytest.approx(math.e * 0.01 + 1e-6)
    assert float(risk.found[1]) == pytest.approx(math.e * 0.001 + 1e-6)
    large = AttackRisk.of(Fraction(9), Fraction("1e-6"))
    assert float(large.found[0]) == pytest.approx(1 - math.exp(-9) * 0.99, rel=1e-6)


def gaussian_attack(mu, rate):
    """The best attack on Gaussian noise finds exactly so many."""
    return NormalDist().cdf(NormalDist().inv_cdf(rate) + mu)


def holds(risk, mu) -> bool:
    return (
        all(
            gaussian_attack(mu, float(rate)) <= share for rate, share in zip(risk.false_alarms, risk.found, strict=True)
        )
        and float(risk.advantage) >= 2 * NormalDist().cdf(mu / 2) - 1
    )


@pytest.mark.parametrize("mu", [0.2, 1.0, 2.5])
def test_the_best_attack_on_the_noise_is_within_the_bound_and_close_to_it(mu):
    epsilon, delta = Fraction(20), Fraction("1e-6")
    risk = AttackRisk.of(epsilon, delta, RealGaussianNoise(1 / Fraction(mu).limit_denominator(10)))
    assert holds(risk, mu)
    assert float(risk.found[0]) < 1.25 * gaussian_attack(mu, 0.01) + 0.01
    assert float(risk.advantage) < 1.05 * (2 * NormalDist().cdf(mu / 2) - 1) + 0.01


def test_a_bound_for_half_the_loss_is_found_out():
    """The planted bug: the risk of twice the noise that was drawn."""
    assert not holds(AttackRisk.of(Fraction(20), Fraction("1e-6"), RealGaussianNoise(2)), 1.0)


def test_it_is_said_in_words_and_values():
    risk = AttackRisk.of(Fraction(1), Fraction("1e-6"))
    assert "right at most 73.2% of the time" in risk.text()
    assert "2.72% of members at 1% false alarms" in risk.text()
    assert risk.to_dict() == {"advantage_at_most": "46.3%", "found_at_most": {"1%": "2.72%", "0.1%": "0.272%"}}
