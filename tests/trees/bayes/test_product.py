"""A product in parts is the product."""

import numpy as np
import pytest

from discreet.trees.bayes.product import AT_ONCE, columns_at_once, product


@pytest.mark.parametrize("shape", [(3, 4, 5), (700, 300, 9), (9, 300, 700), (2000, 25, 24), (1, 600, 1)])
def test_parts_are_put_together(shape):
    random = np.random.default_rng(1)
    left, right = random.random(shape[:2]), random.random(shape[1:])
    np.testing.assert_allclose(product(left, right), left @ right)


def test_parts_are_small_and_never_a_single_column():
    assert columns_at_once(64, 64) * 64 * 64 <= AT_ONCE
    assert columns_at_once(10**4, 10**4) == 2
