"""Marginals of a model are those of the whole table; what is out of order or too large is refused."""

import itertools

import numpy as np
import pytest
from small_models import CHAIN, LOOP, SIZES, away, model_of

from discreet.errors import InputError
from discreet.synth.descent import Target, average_targets
from discreet.synth.model import fit, noisy_total, simplex


@pytest.mark.parametrize("marginals", [CHAIN, LOOP, [(0, 2, 4)], [], [(0, 1), (3, 4)]])
def test_every_marginal_is_that_of_the_whole_table(marginals):
    model, passing, potentials, table = model_of(marginals)
    assert [belief.sum() for belief in passing.beliefs(potentials)] == pytest.approx([1.0] * len(passing.tree.cliques))
    for many in range(1, 5):
        for columns in itertools.combinations(range(len(SIZES)), many):
            expected = 1000 * table.sum(axis=away(columns)) / table.sum()
            np.testing.assert_allclose(model.marginal(columns), expected, rtol=1e-9, atol=1e-9)


def test_a_marginal_too_large_on_its_way_is_refused(monkeypatch):
    model, *_ = model_of(CHAIN)
    monkeypatch.setattr("discreet.synth.model.LARGEST", 20)
    model.marginal((0, 1))
    with pytest.raises(InputError, match="rows"):
        model.marginal((0, 2, 4))


@pytest.mark.parametrize("columns", [(1, 0), (0, 0), (0, 9), (-1, 2)])
def test_columns_out_of_order_are_refused(columns):
    model, *_ = model_of(CHAIN)
    with pytest.raises(InputError, match="columns"):
        model.marginal(columns)


def test_totals_are_averaged_by_their_noise():
    sums = [Target((0,), np.array([60.0, 40.0]), np.array(0.5)), Target((1,), np.array([150.0]), np.array(9.0))]
    assert noisy_total(sums) == pytest.approx((100 / 1 + 150 / 9) / (1 + 1 / 9))
    both = average_targets([sums[0], Target((0,), np.array([50.0, 50.0]), np.array([0.5, 1.5]))])
    np.testing.assert_allclose(both[0].values, [55.0, 42.5])
    np.testing.assert_allclose(both[0].variance, [0.25, 0.375])


def test_measurements_in_another_shape_are_refused():
    with pytest.raises(InputError, match="measured"):
        fit(SIZES, [Target((0,), np.zeros(4), np.array(1.0))])
    with pytest.raises(InputError, match="measured"):
        fit(SIZES, [])


def test_simplex_is_the_nearest_point():
    rng = np.random.default_rng(3)
    for _ in range(50):
        values = rng.normal(size=5) * 3
        near = simplex(values, 4.0)
        assert near.min() >= 0
        assert near.sum() == pytest.approx(4.0)
        for _ in range(20):
            other = rng.dirichlet(np.ones(5)) * 4
            assert ((near - values) ** 2).sum() <= ((other - values) ** 2).sum() + 1e-9
