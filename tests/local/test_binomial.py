"""Binomial probabilities against those of another library."""

import numpy as np
import pytest
from scipy import stats

from discreet.local.binomial import binomial_masses


def test_probabilities_are_those_of_the_binomial_law():
    for total, share in ((1, 0.5), (100, 0.3), (10**6, 0.5), (5000, 0.001)):
        counts = np.unique(np.clip(np.linspace(total * share - 40, total * share + 40, 81).round(), 0, total))
        assert binomial_masses(total, share, counts) == pytest.approx(stats.binom.pmf(counts, total, share), rel=1e-9)
