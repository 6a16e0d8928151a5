"""Descent ends at the optimum from wherever it starts, and takes noise out."""

import itertools

import numpy as np
import pytest
from small_models import CHAIN, LOOP, SIZES, away, measured

from discreet.synth import descent
from discreet.synth.model import fit


def test_without_noise_the_fit_is_the_table():
    table, exact = measured(LOOP, 1e-3)
    model = fit(SIZES, exact, steps=3000)
    for columns in itertools.combinations(range(5), 2):
        np.testing.assert_allclose(model.marginal(columns), table.sum(axis=away(columns)), atol=15)
    # A model that saw single columns only is far from it: the closeness above was earned.
    alone = fit(SIZES, exact[: len(SIZES)], steps=3000)
    assert np.abs(alone.marginal((0, 1)) - table.sum(axis=away((0, 1)))).max() > 100


@pytest.mark.parametrize("marginals", [CHAIN, LOOP])
def test_every_round_ends_where_its_slope_is_zero(marginals, monkeypatch):
    monkeypatch.setattr(descent, "_ROUNDS", 1)
    _, noisy = measured(marginals, 20.0)
    model = fit(SIZES, noisy, steps=2000, calm=1.5)
    for target in noisy:
        slope = model.marginal(target.columns) - target.values + 1.5 * 20.0 * model.potentials[target.columns]
        assert np.abs(slope).max() < 0.01
    rough = fit(SIZES, noisy, steps=4, calm=1.5)
    slope = rough.marginal((0, 1)) - noisy[len(SIZES)].values + 30.0 * rough.potentials[(0, 1)]
    assert np.abs(slope).max() > 0.01


def test_a_fit_that_starts_from_another_ends_at_the_same():
    _, noisy = measured(LOOP, 20.0)
    cold = fit(SIZES, noisy, steps=1500)
    warm = fit(SIZES, noisy, start=fit(SIZES, noisy[:8], steps=100), steps=1500)
    np.testing.assert_allclose(warm.marginal((0, 1)), cold.marginal((0, 1)), atol=0.5)


def test_fitting_takes_noise_out():
    table, noisy = measured(CHAIN, 60.0)
    model = fit(SIZES, noisy)
    raw = sum(float(((one.values - table.sum(axis=away(one.columns))) ** 2).sum()) for one in noisy)
    fitted = sum(float(((model.marginal(one.columns) - table.sum(axis=away(one.columns))) ** 2).sum()) for one in noisy)
    assert fitted < 0.8 * raw
