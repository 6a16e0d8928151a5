"""How a price is divided among marginals: more for those with many cells that are used often.

Noise of deviation s is off by about s in every cell, so a marginal of c cells that matters u times adds s c u to the
sum of errors. Laplace noise falls with the price of a marginal, Gaussian noise with its root: that sum is least where
prices go with the power 1/2 or 2/3 of c u. The root is taken for both. It takes less from small marginals, whose
single cells are the ones that can be far off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

__all__ = ["allocate"]

_FINE = 256  # parts that a marginal of average weight gets
_LEAST = 0.25  # of the average use: what a marginal is taken to be used that hardly is


def allocate(amount: Fraction, cells: Sequence[int], uses: Sequence[float]) -> list[Fraction]:
    """An amount in parts that add up to it, one for each marginal: from public facts and what was measured before.

    >>> allocate(Fraction(3), [4, 16], [1.0, 1.0])
    [Fraction(513, 512), Fraction(1023, 512)]
    """
    least = _LEAST * math.fsum(uses) / len(uses)
    weights = [math.sqrt(many * max(use, least)) for many, use in zip(cells, uses, strict=True)]
    average = math.fsum(weights) / len(weights)
    parts = [max(round(_FINE * weight / average), 1) if average > 0 else 1 for weight in weights]
    return [amount * Fraction(part, sum(parts)) for part in parts]
