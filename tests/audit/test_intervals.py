"""Quick intervals are near the exact ones."""

import numpy as np
import pytest

from discreet.audit.bounds import at_least
from discreet.audit.intervals import lower


@pytest.mark.parametrize(("k", "n"), [(0, 50), (3, 1000), (500, 1000), (990, 1000)])
def test_quick_bounds_are_hardly_above_the_exact_ones_and_not_far_below(k, n):
    quick = float(lower(np.array([k]), n, 1.959964)[0])
    exact = at_least(k, n, 0.025)
    assert 0.95 * exact - 1e-3 <= quick <= exact + 1e-3
