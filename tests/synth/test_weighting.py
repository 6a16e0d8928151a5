"""Weights meet marginals that no tree holds."""

import numpy as np
from small_models import LOOP, SIZES, away, measured

from discreet.noise.replay import Replay
from discreet.synth.model import fit
from discreet.synth.weighting import reweight


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
