"""Whether a published number is to be relied on: by its standard error as a part of it.

The limits are those by which statistics offices flag survey estimates: below a sixth a number is published without
remark, above a third it is not fit for use (Statistics Canada's guidelines have 16.6% and 33.3%).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CARE", "FLAGS", "UNFIT", "flags", "qualities", "quality"]

FLAGS = ("reliable", "with care", "do not use")
CARE, UNFIT = 1 / 6, 1 / 3
"""The standard errors, as parts of the number, from which on it is to be used with care, and not at all."""


def quality(value: float, deviation: float) -> str:
    """The flag of a number with that standard deviation.

    >>> quality(600, 50), quality(600, 150), quality(600, 250), quality(0, 1)
    ('reliable', 'with care', 'do not use', 'do not use')
    """
    return str(qualities(np.array([value]), np.array([deviation]))[0])


def qualities(values: Any, deviations: Any) -> NDArray[np.str_]:
    """The flags of many numbers. Zero is relied on where it is known, and not where noise may have made it."""
    size, spread = np.abs(np.asarray(values, float)), np.asarray(deviations, float)
    place = np.where(spread <= CARE * size, 0, np.where(spread <= UNFIT * size, 1, 2))
    return np.array(FLAGS)[place]


def flags(columns: Mapping[str, Any], output: str, confidence: float, alike: Sequence[Any]) -> list[str]:
    """The flag of every number of a table, by the widest interval of numbers that were measured alike.

    Its own interval says less than it seems where zero cuts it: far below zero, noise leaves nothing of it.
    """
    value, low, high = (np.array(columns[name], float) for name in (output, f"{output}_lower", f"{output}_upper"))
    half = (high - low) / 2
    widest: dict[Any, float] = {}
    for kind, one in zip(alike, half.tolist(), strict=True):
        widest[kind] = max(widest.get(kind, 0.0), one)
    spread = np.array([widest[kind] for kind in alike]) / NormalDist().inv_cdf(0.5 + confidence / 2)
    return [str(flag) for flag in qualities(value, spread)]
