"""Unknown keys: the threshold is the smallest allowed, and the pair (epsilon, delta) holds exactly."""

import itertools

import mpmath
import numpy as np
import pytest

from chance import fits, frequency_fits, laplace_pmf
from discreet.core.loss import Approx
from discreet.errors import InputError
from discreet.mechanisms import Laplace, StabilityThreshold
from mechanisms.outputs import hockey_stick, tail


def published(scale, threshold, count):
    """P[noisy count >= threshold] to 40 digits."""
    with mpmath.workdps(40):
        r, m = mpmath.exp(-1 / mpmath.mpf(scale.numerator) * scale.denominator), threshold - count
        return r**m / (1 + r) if m >= 0 else 1 - r ** (1 - m) / (1 + r)


@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
@pytest.mark.parametrize("delta", ["1e-2", "1e-9", "1e-300"])
@pytest.mark.parametrize("keys", [1, 7])
def test_threshold_is_the_smallest_allowed(epsilon, delta, keys):
    mechanism = StabilityThreshold(epsilon, delta, keys)
    allowed = mpmath.mpf(delta)
    assert keys * published(mechanism.scale, mechanism.threshold, 1) <= allowed
    if mechanism.threshold > 1:
        assert keys * published(mechanism.scale, mechanism.threshold - 1, 1) > allowed  # one less is caught


def key_law(mechanism, count, offset=0):
    """Of one key: first not published, then every published value."""
    threshold = mechanism.threshold + offset
    values = np.arange(threshold, threshold + 400)
    if count == 0:
        return np.append(1.0, np.zeros(400))
    return np.append(1 - tail(mechanism.scale, threshold - count), laplace_pmf(mechanism.scale)(values - count))


def joint(mechanism, counts, offset=0):
    return np.outer(*(key_law(mechanism, count, offset) for count in counts)).ravel()


@pytest.mark.parametrize("delta", [1e-2, 1e-4])
def test_epsilon_and_delta_hold(delta):
    mechanism = StabilityThreshold(1, delta, keys=2)
    seen = []
    for counts in itertools.product(range(1, 5), repeat=2):
        for removed in ((1, 0), (0, 1), (1, 1)):
            law, other = joint(mechanism, counts), joint(mechanism, np.subtract(counts, removed))
            seen += [hockey_stick(law, other, 1), hockey_stick(other, law, 1)]
    assert max(seen) <= delta * (1 + 1e-9)
    assert max(seen) > delta / 3
    assert mechanism.loss() == Approx(1, delta)


def test_a_lower_threshold_is_caught():
    mechanism = StabilityThreshold(1, 1e-4, keys=2)
    law, other = joint(mechanism, (1, 1), -2), joint(mechanism, (0, 0), -2)
    assert hockey_stick(law, other, 1) > 1e-4


def test_releases_follow_the_law_and_half_noise_does_not():
    mechanism, n = StabilityThreshold(1, 0.05), 100_000
    count = mechanism.threshold + 8  # nearly always published
    answer = mechanism.release(dict.fromkeys(range(n), count))
    assert frequency_fits(len(answer), n, float(published(mechanism.scale, mechanism.threshold, count)))
    low = mechanism.release(dict.fromkeys(range(n), 1))
    assert frequency_fits(len(low), n, float(published(mechanism.scale, mechanism.threshold, 1)))
    noise = np.array(list(answer.values())) - count

    def law(x):
        mass = np.where(x >= -8, laplace_pmf(mechanism.scale)(x), 0)  # what was not published is not seen
        return mass / tail(mechanism.scale, -8)

    assert fits(noise, law)
    half = StabilityThreshold(2, 0.05)
    broken = np.array(list(half.release(dict.fromkeys(range(n), half.threshold + 8)).values())) - half.threshold - 8
    assert not fits(broken, law)
    assert not frequency_fits(len(half.release(dict.fromkeys(range(n), 1))), n, mechanism.chance(1))


@pytest.mark.parametrize("count", [0, 1, 3, 10, 100])
def test_chance(count):
    mechanism = StabilityThreshold(1, 1e-3, keys=2)
    exact = float(published(mechanism.scale, mechanism.threshold, count)) if count else 0.0
    assert exact <= mechanism.chance(count) <= exact * (1 + 1e-9) + 1e-300


def test_nobody_means_nothing():
    mechanism = StabilityThreshold(0.01, 0.9)
    assert mechanism.release({}) == {}
    assert all(mechanism.release({"absent": 0, "also": 0}) == {} for _ in range(200))
    assert mechanism.chance(0) == 0


def test_order_says_nothing_about_the_data():
    mechanism = StabilityThreshold(1, "1e-6")
    keys = ["b", None, ("x", None), ("x", 1), 3, 2.5, "a", float("nan"), (None, "y")]
    orders = {
        tuple(map(str, mechanism.release({key: 10**6 + i for i, key in enumerate(order)})))
        for order in (keys, keys[::-1], sorted(keys, key=repr))
    }
    assert len(orders) == 1
    assert list(mechanism.release(dict.fromkeys("hello", 10**6))) == sorted("helo")


def test_bad_counts_are_refused():
    with pytest.raises(InputError, match="counts"):
        StabilityThreshold(1, 0.1).release({"a": -1})
    with pytest.raises(InputError, match="counts"):
        StabilityThreshold(1, 0.1).release({"a": 1.5})
    with pytest.raises(InputError, match="counts by key"):
        StabilityThreshold(1, 0.1).release([1, 2])
    with pytest.raises(InputError, match="no order"):
        StabilityThreshold(1, 0.1).release({1j: 1000, 2j: 1000})


def test_error_is_that_of_the_noise():
    assert StabilityThreshold(1, 0.1, keys=10).error(0.95) == Laplace(10).error(0.95)
