"""A sample of noisy counts whose true sizes are known."""

import numpy as np
import pytest
from noisy_sizes import SHARES, SIZES


@pytest.fixture(scope="package")
def sample():
    numbers = np.random.default_rng(1)
    true = numbers.choice(SIZES, 30_000, p=SHARES)
    stop = -np.expm1(-1 / 5)
    return true, true + numbers.geometric(stop, len(true)) - numbers.geometric(stop, len(true))
