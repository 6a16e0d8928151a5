"""A table drawn from the posterior looks like the true one, and an estimate does not."""

import numpy as np
from uneven_regions import LEAVES, asked

from discreet.mechanisms import Laplace
from discreet.trees.intervals.posterior import draw_table
from discreet.trees.intervals.typical import Replay, remeasure
from discreet.trees.rules import Rules
from discreet.trees.topdown.solve import topdown


def test_a_plausible_table_looks_like_the_true_one_and_the_estimate_does_not():
    measured = remeasure(asked(Laplace(20)), LEAVES, Replay(b"plausible"))
    estimate = topdown(measured)
    drawn = draw_table(measured, estimate.counts[-1], Rules(), Replay(b"drawn"))
    assert drawn.sum() == estimate.totals[0][0]
    assert (drawn >= 0).all()
    truth, off, guess = (np.mean(table == 0) for table in (LEAVES, estimate.counts[-1], drawn))
    assert abs(guess - truth) < 0.15 < abs(off - truth)
