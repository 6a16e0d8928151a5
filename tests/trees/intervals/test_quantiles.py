"""Errors that look alike are pooled: margins are their quantiles, and too few fall back on the linear estimate."""

import numpy as np
import pytest

from chance import LEVEL
from discreet.errors import InputError
from discreet.trees.intervals import quantiles
from discreet.trees.intervals.quantiles import ErrorQuantiles

ALPHA = 0.05
FREE = np.iinfo(np.int64).min // 4, np.iinfo(np.int64).max // 4


def seen(random, size, runs, bias=0):
    """Errors of `runs` releases of counts from 50 to 60, spread evenly over -20 to 20 around a bias."""
    errors = ErrorQuantiles()
    exact = random.integers(50, 60, (size, 1))
    for run in range(runs):
        errors.add(exact + bias + random.integers(-20, 21, exact.shape), exact, run)
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


def shrunk(random, size):
    """A few large counts among zeros, published by a method that takes most of them for noise."""
    exact = random.choice([0, 5, 150], (size, 1), p=[0.9, 0.08, 0.02])
    return np.maximum(np.rint(0.3 * (exact + random.laplace(0, 40, exact.shape))), 0).astype(np.int64), exact


def missed(monkeypatch, turns):
    """Of each true size, how many of the published counts have it outside of their interval."""
    monkeypatch.setattr(quantiles, "_TURNS", turns)
    random, errors = np.random.default_rng(5), ErrorQuantiles()
    for table in range(2):
        errors.add(*shrunk(random, 30_000), table)
    published, exact = shrunk(random, 30_000)
    lower, upper = ends(errors, published, least=0)
    outside = (lower > exact) | (exact > upper)
    return [float(outside[exact == size].mean()) for size in (0, 5, 150)]


def test_no_true_size_is_missed_more_often_than_stated(monkeypatch):
    assert max(missed(monkeypatch, 10)) < 0.07
    assert max(missed(monkeypatch, 0)) > 0.15  # the mutant: plain quantiles of what looks alike


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
