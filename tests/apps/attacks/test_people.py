"""Made-up people: numbers of the law that is said, fresh each time."""

import numpy as np
import pytest
from scipy import stats

from chance import LEVEL
from discreet.apps.attacks.people import even, normal

pytestmark = pytest.mark.statistical


@pytest.mark.parametrize(("draw", "law", "other"), [(even, "uniform", "norm"), (normal, "norm", "uniform")])
def test_numbers_follow_their_law(draw, law, other):
    drawn = draw(100, 40)
    assert drawn.shape == (100, 40)
    assert stats.kstest(drawn.ravel(), law).pvalue > LEVEL
    assert stats.kstest(drawn.ravel(), other).pvalue < LEVEL
    assert not np.array_equal(drawn, draw(100, 40))


def test_even_numbers_are_below_one():
    drawn = even(10_000)
    assert 0 <= drawn.min() < drawn.max() < 1
