"""The distribution that is computed all at once is that of the library, which goes point by point; and what is true."""

import mpmath
import numpy as np
import pytest
from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism
from scipy.special import ndtr

from discreet.accounting import sampled_gaussian as room
from discreet.accounting.pld import privacy_loss
from discreet.accounting.sampled_gaussian import sampled_gaussian
from discreet.core.loss import RealGaussianNoise, Repeated, Sampled

CASES = [
    (multiplier, probability, step)
    for multiplier in (0.3, 1.1, 20.7)
    for probability in (1.0, 0.9690406502940995, 0.5, 0.01)
    for step in (1e-3, 1e-3 / 8)
    if (multiplier, step) != (0.3, 1e-3 / 8)  # many points, and nothing new
]


def masses(distribution):
    sides = [side.to_dense_pmf() for side in (distribution._pmf_remove, distribution._pmf_add)]
    return [(side._lower_loss, np.append(side._probs, side._infinity_mass)) for side in sides]


def same(case):
    multiplier, probability, step = case
    given = {"value_discretization_interval": step, "sampling_prob": probability, "use_connect_dots": True}
    pairs = zip(masses(sampled_gaussian(*case)), masses(from_gaussian_mechanism(multiplier, **given)), strict=True)
    return all(
        ours[0] == theirs[0] and len(ours[1]) == len(theirs[1]) and np.abs(ours[1] - theirs[1]).max() <= 1e-14
        for ours, theirs in pairs
    )


@pytest.mark.parametrize("case", CASES)
def test_the_masses_are_those_of_the_library(case):
    assert same(case)


def test_the_edges_of_a_sample_are_those_of_the_library():
    """Grids on which a point falls onto the least and the largest loss of a sample."""
    for probability in (0.5, 0.1):
        edge = -float(np.log1p(-probability))
        assert same((1.1, probability, edge / 512))


BUGS = {
    "adding taken for removing": lambda losses, multiplier, probability, sign: TRUE(
        losses, multiplier, probability, 1.0
    ),
    "no sample": lambda losses, multiplier, probability, sign: TRUE(losses, multiplier, 1.0, sign),
    "half the variance": lambda losses, multiplier, probability, sign: TRUE(
        losses, multiplier / 2**0.5, probability, sign
    ),
}
TRUE = room._outputs


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug, monkeypatch):
    monkeypatch.setattr(room, "_outputs", BUGS[bug])
    with np.errstate(all="ignore"):
        assert not same((1.1, 0.5, 1e-3))


def exact_delta(multiplier, probability, epsilon):
    """The delta of one step, in closed form at forty digits, the worse of both directions."""
    with mpmath.workdps(40):
        s, q, e = mpmath.mpf(multiplier), mpmath.mpf(probability), mpmath.mpf(epsilon)

        def tails(loss):
            """Above, and below, the output at which the loss of removing a row is this."""
            inside = mpmath.expm1(loss) / q + 1
            at = s * s * mpmath.log(inside) + mpmath.mpf(1) / 2 if inside > 0 else -mpmath.inf
            zero, one = mpmath.ncdf(at / s), mpmath.ncdf((at - 1) / s)
            return (1 - zero, (1 - q) * (1 - zero) + q * (1 - one)), (zero, (1 - q) * zero + q * one)

        (without, there), _ = tails(e)
        _, (added, beside) = tails(-e)
        return max(there - mpmath.exp(e) * without, added - mpmath.exp(e) * beside, mpmath.mpf(0))


@pytest.mark.parametrize("multiplier", [0.5, 1.1, 36.3548, 9000.0])
@pytest.mark.parametrize("probability", [1e-6, 0.01, 0.9690406502940995])
def test_no_delta_of_one_step_is_below_the_exact_one(multiplier, probability):
    """Not by the library's numbers but by the closed form; noise a little smaller would be found."""
    told = privacy_loss(Sampled(RealGaussianNoise(multiplier), probability))
    epsilons = [probability / multiplier * part for part in (0, 0.01, 0.1, 0.5, 1, 2, 4)]
    deltas = [told.delta(epsilon) for epsilon in epsilons]
    for epsilon, delta in zip(epsilons, deltas, strict=True):
        assert mpmath.mpf(delta.numerator) / delta.denominator >= exact_delta(multiplier, probability, epsilon)
    assert any(
        mpmath.mpf(delta.numerator) / delta.denominator < exact_delta(multiplier / 1.05, probability, epsilon)
        for epsilon, delta in zip(epsilons, deltas, strict=True)
    )


def between(multiplier, probability, steps, delta):
    """The epsilon of so many steps, with every loss rounded down and with every loss rounded up: another computation.

    A grid of its own, masses by the error function, one transform; removing a row, which is the worse direction here.
    """
    spread = probability / multiplier
    step, reach = spread / 256, 9 * multiplier
    ends = [np.log1p(probability * np.expm1((2 * at - 1) / (2 * multiplier**2))) for at in (-reach, reach + 1)]
    low, high = int(np.floor(ends[0] / step)) - 1, int(np.ceil(ends[1] / step)) + 1
    losses = np.arange(low, high + 1) * step
    at = multiplier**2 * np.log1p(np.expm1(losses) / probability) + 0.5
    masses = np.diff((1 - probability) * ndtr(at / multiplier) + probability * ndtr((at - 1) / multiplier))
    size = 1 << int(np.ceil(np.log2(len(masses) + 24 * np.sqrt(steps) * 256)))
    every = np.fft.irfft(np.fft.rfft(masses, size) ** steps, size)
    mean = steps * float(np.arange(len(masses)) @ masses)
    index = np.arange(size) + round(mean) - size // 2
    every = every[index % size]
    found = []
    for up in (0, 1):
        sums = (index + steps * (low + up)) * step
        lower, upper = 0.0, 200 * spread * np.sqrt(steps)
        for _ in range(60):
            middle = (lower + upper) / 2
            missed = float(every[sums > middle] @ -np.expm1(middle - sums[sums > middle]))
            lower, upper = (middle, upper) if missed > delta else (lower, middle)
        found.append(upper)
    return found


@pytest.mark.parametrize(("multiplier", "probability"), [(2.0, 0.01), (36.3548, 0.01), (500.0, 0.3)])
def test_many_steps_cost_what_another_computation_says(multiplier, probability):
    low, high = between(multiplier, probability, 400, 1e-6)
    told = float(privacy_loss(Repeated(Sampled(RealGaussianNoise(multiplier), probability), 400)).epsilon(1e-6))
    assert low <= told <= high
    assert high < low * 1.05
    for mutant in (multiplier / 1.06, multiplier * 1.06):
        low, high = between(mutant, probability, 400, 1e-6)
        assert not low <= told <= high
