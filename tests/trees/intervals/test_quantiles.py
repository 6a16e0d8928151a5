"""Errors that look alike are pooled: margins are their quantiles, and too few fall back on the linear estimate."""

import numpy as np
import pytest

from chance import LEVEL
from discreet.errors import InputError
from discreet.trees.intervals.quantiles import ErrorQuantiles

ALPHA = 0.05
FREE = np.iinfo(np.int64).min // 4, np.iinfo(np.int64).max // 4


def seen(random, size, runs, bias=0):
    """Errors of `runs` releases of counts from 50 to 60, spread evenly over -20 to 20 around a bias."""
    errors = ErrorQuantiles()
    exact = random.integers(50, 60, (size, 1))
    for _ in range(runs):
        errors.add(exact + bias + random.integers(-20, 21, exact.shape), exact)
    return errors, exact


def ends(errors, published, **limits):
    deviation = np.ones((len(published), 1))
    least, most = (
        np.full(published.shape, limits.get(name, end)) for name, end in zip(("least", "most"), FREE, strict=True)
    )
    return errors.interval(published, deviation, 2.0, ALPHA, least, most)


@pytest.mark.parametrize("bias", [0, 15])
def test_an_interval_holds_its_share_and_takes_the_bias_off(bias):
    random = np.random.default_rng(1)
    errors, exact = seen(random, 4000, 4, bias)
    published = exact + bias + random.integers(-20, 21, exact.shape)
    lower, upper = ends(errors, published)
    inside = ((lower <= exact) & (exact <= upper)).mean()
    # About as many as promised: a share of 4,000 is off by less than this but once in 1 / LEVEL times.
    assert abs(inside - (1 - ALPHA)) < 0.05 + LEVEL
    assert np.mean((lower + upper) / 2 - exact) == pytest.approx(0, abs=3)  # the bias is off


def test_few_errors_fall_back_on_the_deviation_of_the_linear_estimate():
    random = np.random.default_rng(2)
    errors, exact = seen(random, 3, 4)
    lower, upper = ends(errors, exact)
    assert ((upper - lower) >= 4).all()  # at least twice the factor of two deviations of one


def test_what_is_public_bounds_the_interval():
    errors, exact = seen(np.random.default_rng(3), 4000, 2)
    lower, upper = ends(errors, exact, least=45, most=55)
    assert lower.min() >= 45
    assert upper.max() <= 55


def test_no_run_is_refused():
    errors = ErrorQuantiles()
    with pytest.raises((InputError, ValueError)):
        ends(errors, np.array([[1]]))
