"""Weights meet marginals that no tree holds."""

import numpy as np
from small_models import LOOP, SIZES, away, measured

from discreet.noise.replay import Replay
from discreet.synth.model import fit
from discreet.synth.weighting import WeightedRows, reweight


def test_weights_meet_marginals_that_the_tree_does_not_hold():
    table, exact = measured([*LOOP, (2, 4)], 5.0)
    held, loose = exact[:-1], exact[-1]
    model = fit(SIZES, held, total=5000)
    plain = model.rows(5000)
    weighted = reweight(model, plain, exact, steps=300)
    truth = table.sum(axis=away((2, 4)))
    assert np.abs(model.marginal((2, 4)) - truth).max() > 150
    assert np.abs(weighted.marginal((2, 4)) - truth).max() < 50
    assert np.abs(weighted.marginal((0, 1)) - table.sum(axis=away((0, 1)))).max() < 50
    assert 0.2 < weighted.effective < 1
    rows = weighted.rows(5000, Replay(b"rows"))
    found = np.zeros(truth.shape)
    np.add.at(found, (rows[:, 2], rows[:, 4]), 1)
    assert np.abs(found - weighted.marginal((2, 4))).max() < 60
    assert loose.columns == (2, 4)


def test_rows_much_alike_are_drawn_as_often_as_their_weights_together_say():
    chance = np.random.default_rng(2)
    codes = np.column_stack([chance.integers(0, size, 3000) for size in (2, 3, 40)])
    weighted = WeightedRows((2, 3, 40), codes, chance.random(3000), 2000.0, {})
    rows = weighted.rows(2000, Replay(b"rows"))
    found = np.zeros((2, 3))
    np.add.at(found, (rows[:, 0], rows[:, 1]), 1)
    assert np.abs(found - weighted.marginal((0, 1))).max() <= 2  # in any other order it would be some ten


def test_columns_of_one_code_leave_rows_in_their_order():
    weighted = WeightedRows((1,), np.zeros((4, 1), dtype=np.int64), np.ones(4), 4.0, {})
    assert weighted.rows(7, Replay(b"rows")).shape == (7, 1)
