"""Sizes of counts and their shares in a sample, and the noise added to it."""

from __future__ import annotations

import numpy as np

from discreet.mechanisms import Laplace

SIZES, SHARES = np.array([0, 20, 100]), np.array([0.6, 0.3, 0.1])


NOISE = Laplace(5)
