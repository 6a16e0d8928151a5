"""A table drawn from the posterior looks like the true one, and an estimate does not."""

import numpy as np
import pytest
from uneven_regions import LEAVES, asked

from discreet.mechanisms import Laplace
from discreet.trees.intervals.posterior import _edges, _emptied, _scattered, draw_table
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


def test_of_what_is_below_ten_three_quarters_are_nothing_and_the_rest_stays():
    edges = _edges(40.0)
    laws = _scattered(edges, np.array([3.0, 60.0]), np.array([0.5, 2.0]))
    found, small = _emptied(edges, laws), edges[:-1] < 10
    assert found.sum(axis=0) == pytest.approx(laws.sum(axis=0))
    assert found[0] / found[small].sum(axis=0) == pytest.approx([0.75, 0.75])
    assert found[small].sum(axis=0) == pytest.approx(laws[small].sum(axis=0))
    assert np.array_equal(found[~small], laws[~small])
    narrow = found[small][1:] / np.diff(edges)[: small.sum()][1:, None]
    assert narrow == pytest.approx(np.broadcast_to(narrow[0], narrow.shape))
