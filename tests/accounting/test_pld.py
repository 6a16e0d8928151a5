"""Privacy loss distributions of plans, against published runs, every outcome, and exact curves."""

import itertools
import math
import subprocess
import sys
from fractions import Fraction

import pytest

from discreet.accounting import approx, delta, pld, privacy_loss, renyi_epsilon, training_loss
from discreet.accounting.compose import terms
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
from discreet.errors import LossError

REFERENCE = training_loss(1.1, 0.01, 6000)


def test_importing_the_room_loads_no_heavy_library():
    code = (
        "import sys, discreet.accounting\n"
        "heavy = {'dp_accounting', 'scipy', 'pandas'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_published_training_run():
    assert 3.8998 < privacy_loss(REFERENCE).epsilon(1e-5) < 3.9024
    assert 3.9015 < privacy_loss(REFERENCE, interval=1e-3).epsilon(1e-5) < 3.9035
    assert float(renyi_epsilon(REFERENCE, 1e-5)) == pytest.approx(4.2466, abs=1e-4)


def test_half_the_noise_or_the_steps_forgotten_would_be_seen():
    assert privacy_loss(training_loss(0.55, 0.01, 6000), 1e-3).epsilon(1e-5) > 8
    assert privacy_loss(training_loss(1.1, 0.01, 1), 1e-3).epsilon(1e-5) < 0.6


def composed_delta(masses, times, epsilon):
    """The exact delta of `times` releases of a finite mechanism, by listing every outcome."""
    total = 0.0
    for outcome in itertools.product(masses, repeat=times):
        p, q = math.prod(o[0] for o in outcome), math.prod(o[1] for o in outcome)
        total += max(0.0, p - math.exp(epsilon) * q)
    return total


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.parametrize("times", [1, 4, 8])
def test_randomized_response_against_every_outcome(epsilon, times):
    p = 1 / (1 + math.exp(-epsilon))
    plan = privacy_loss(Repeated(Pure(epsilon), times))
    for at in (0.0, 0.5 * epsilon, 1.7 * epsilon):
        true = composed_delta([(p, 1 - p), (1 - p, p)], times, at)
        assert true - 1e-12 <= plan.delta(at) <= true + times * 1e-4
    # The twin: a count forgotten, as in the accountant we do not use.
    assert times == 1 or privacy_loss(Pure(epsilon)).delta(0) < composed_delta([(p, 1 - p), (1 - p, p)], times, 0)


@pytest.mark.parametrize("loss", [GaussianNoise(3, 1), LaplaceNoise(3, 2), RealGaussianNoise(1.5)])
def test_one_noise_agrees_with_its_exact_curve(loss):
    plan = privacy_loss(loss)
    for epsilon in (0, 0.1, 0.4, 1):
        assert (
            delta(loss, epsilon) - Fraction(1, 10**10)
            <= plan.delta(epsilon)
            <= delta(loss, epsilon) + Fraction(1, 10**4)
        )


def test_gaussian_noises_add_their_precisions():
    many = Composed([Repeated(RealGaussianNoise(4), 8), RealGaussianNoise(2)])
    one = RealGaussianNoise(1 / math.sqrt(8 / 16 + 1 / 4))
    assert privacy_loss(many).epsilon(1e-6) == pytest.approx(float(privacy_loss(one).epsilon(1e-6)), abs=1e-6)
    assert approx(many, 1e-6).epsilon == pytest.approx(float(approx(one, 1e-6).epsilon), abs=1e-8)


def test_sampling_a_composition_agrees_with_sampling_its_sum():
    parts = Sampled(Composed([GaussianNoise(8, 1), Pure("1e-9")]), 0.1)
    whole = Sampled(GaussianNoise(8, 1), 0.1)
    a, b = privacy_loss(Repeated(parts, 50)).epsilon(1e-6), privacy_loss(Repeated(whole, 50)).epsilon(1e-6)
    assert b <= a <= b + Fraction(1, 100)


def sampled_delta(q, loss_epsilon, epsilon):
    """Sampled randomized response, both directions, by hand."""
    p = 1 / (1 + math.exp(-loss_epsilon))
    inside, outside = (p, 1 - p), (1 - p, p)
    mixed = [q * a + (1 - q) * b for a, b in zip(inside, outside, strict=True)]
    sticks = [
        sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(x, y, strict=True))
        for x, y in ((mixed, outside), (outside, mixed))
    ]
    return max(sticks)


def test_sampled_composition_by_hand():
    plan = privacy_loss(Sampled(Composed([Pure(1), Pure("1e-7")]), 0.25))
    for epsilon in (0.0, 0.1, 0.3):
        true = sampled_delta(0.25, 1, epsilon)
        assert true - 1e-12 <= plan.delta(epsilon) <= true + 2e-2


def test_only_zcdp_has_no_distribution():
    for loss in (Pure(1), BoundedRange(1), Approx(1, 1e-9), Composed([]), Sampled(Approx(1, 1e-9), 0.5)):
        assert privacy_loss(loss).epsilon(1e-6) <= 1.0001
    with pytest.raises(LossError, match="moments"):
        privacy_loss(Composed([Pure(1), ZCDP(1)]))


def test_large_losses_widen_the_grid_instead_of_the_memory():
    assert privacy_loss(Repeated(Pure(20), 50)).epsilon(1e-6) <= 1001


@pytest.mark.parametrize("multiplier", [Fraction(1, 2), 3, 40, 900])
@pytest.mark.parametrize("steps", [1, 700, 200_000])
def test_a_narrowed_grid_divides_the_wide_one_and_never_costs_more(multiplier, steps):
    counts = terms(training_loss(multiplier, Fraction(1, 50), steps))
    narrow, wide = (pld._grid(counts, pld.FINE, narrowed) for narrowed in (True, False))
    assert (wide / narrow).is_integer()
    assert math.log2(wide / narrow).is_integer()
    if steps < 1000:
        loss = training_loss(multiplier, Fraction(1, 50), steps)
        narrow, wide = (privacy_loss(loss, pld.COARSE, narrowed=narrowed).epsilon(1e-6) for narrowed in (True, False))
        assert narrow <= wide
