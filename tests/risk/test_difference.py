"""Two counts tell one person's secret, or as little as epsilon allows."""

import math

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.risk.difference import differencing


def test_differences_tell_everything_or_as_little_as_epsilon_allows():
    secret = np.arange(4000) % 2 == 0
    found = differencing(secret[::-1].copy(), epsilon=0.5)
    assert found.right_exact == 1
    assert found.right_noisy < found.best + 0.05  # 6.5 deviations: once in 10^10
    assert found.best == pytest.approx(math.exp(0.5) / (1 + math.exp(0.5)))
    assert differencing(secret, epsilon=20).right_noisy > 0.99  # a large epsilon hides nobody
    for bad in ({"epsilon": 0}, {"targets": 9999}):
        with pytest.raises(InputError, match=next(iter(bad))):
            differencing(secret, **{"epsilon": 1, **bad})
