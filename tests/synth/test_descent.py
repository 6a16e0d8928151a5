"""Descent comes near to what was measured, stops where its noise begins, and takes noise out."""

import itertools

import numpy as np
from small_models import CHAIN, LOOP, SIZES, away, measured

from discreet.synth import descent
from discreet.synth.descent import Target
from discreet.synth.junction import Passing
from discreet.synth.model import fit


def test_without_noise_the_fit_is_the_table():
    table, exact = measured(LOOP, 1e-3)
    model = fit(SIZES, exact, steps=3000)
    for columns in itertools.combinations(range(5), 2):
        np.testing.assert_allclose(model.marginal(columns), table.sum(axis=away(columns)), atol=15)
    # A model that saw single columns only is far from it: the closeness above was earned.
    alone = fit(SIZES, exact[: len(SIZES)], steps=3000)
    assert np.abs(alone.marginal((0, 1)) - table.sum(axis=away((0, 1)))).max() > 100


def test_counts_with_next_to_no_noise_do_not_silence_one_with_little():
    """Discrete noise of a high price: variances of one half and of a millionth, both of them of less than a row."""
    table = np.random.default_rng(3).dirichlet(np.ones(40)).reshape(2, 20) * 3000
    third = np.array([[0.5, 0.5, 0.0], [0.1, 0.3, 0.6]])
    joint = np.round(table[:, :, None] * third[:, None, :])

    def seen(columns, variance):
        return Target(columns, joint.sum(axis=tuple({0, 1, 2} - set(columns))), np.array(variance))

    model = fit((2, 20, 3), [seen((0,), 0.5), seen((1,), 1e-6), seen((2,), 0.5), seen((0, 2), 0.5), seen((1, 2), 1e-6)])
    off = np.abs(model.marginal((0, 2)) - joint.sum(axis=1))
    assert off.max() < 3  # rows, of 3,000


def test_it_stops_where_noise_begins(monkeypatch):
    table, noisy = measured(LOOP, 60.0)
    calls, evaluate = [], Passing.evaluate
    monkeypatch.setattr(Passing, "evaluate", lambda self, potentials: calls.append(1) or evaluate(self, potentials))

    def wrong(model):
        return sum(float(np.abs(model.marginal(one) - table.sum(axis=away(one))).sum()) for one in LOOP)

    stopped = fit(SIZES, noisy, steps=2000)
    few = len(calls)
    monkeypatch.setattr(descent, "_ENOUGH", 0.0)
    exhausted = fit(SIZES, noisy, steps=2000)
    assert few < 100
    assert len(calls) - few > 500
    assert wrong(stopped) < 1.1 * wrong(exhausted)  # what the other steps were for was noise
    assert wrong(stopped) < 0.5 * wrong(fit(SIZES, noisy, steps=1))  # it had not stopped before it began


def test_a_fit_that_starts_from_another_ends_near_the_same():
    _, noisy = measured(LOOP, 20.0)
    cold = fit(SIZES, noisy, steps=1500)
    warm = fit(SIZES, noisy, start=fit(SIZES, noisy[:8], steps=100), steps=1500)
    np.testing.assert_allclose(warm.marginal((0, 1)), cold.marginal((0, 1)), atol=20.0)  # one deviation of the noise


def test_precise_counts_weigh_more():
    table, noisy = measured(CHAIN, 20.0)
    doubled = [*noisy, descent.Target((0, 1), table.sum(axis=away((0, 1))) + 100.0 * np.eye(3)[:, :2], np.array(1e8))]
    both, alone = fit(SIZES, doubled), fit(SIZES, noisy)
    np.testing.assert_allclose(both.marginal((0, 1)), alone.marginal((0, 1)), atol=2.0)


def test_fitting_takes_noise_out():
    table, noisy = measured(CHAIN, 60.0)
    model = fit(SIZES, noisy)
    raw = sum(float(((one.values - table.sum(axis=away(one.columns))) ** 2).sum()) for one in noisy)
    fitted = sum(float(((model.marginal(one.columns) - table.sum(axis=away(one.columns))) ** 2).sum()) for one in noisy)
    assert fitted < 0.8 * raw
