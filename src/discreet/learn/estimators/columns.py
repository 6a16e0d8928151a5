"""Which columns are numbers within bounds and which are codes of declared categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.learn.estimators.box import Box, Floats, read_box

__all__ = ["Columns", "read_columns"]

_MOST = 2**16


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Places of number columns with their bounds, and of category columns with their sizes."""

    numbers: tuple[int, ...]
    box: Box
    categories: tuple[int, ...]
    sizes: tuple[int, ...]

    def codes(self, features: Floats, place: int) -> NDArray[np.int64]:
        """The codes of the category column at `place`; what is no declared code becomes -1."""
        return whole_codes(features[:, self.categories[place]], self.sizes[place])

    def told(self) -> dict[str, Any]:
        """Plain values, for the record."""
        kinds = [list(pair) for pair in zip(self.categories, self.sizes, strict=True)]
        return {"bounds": self.box.told(), "categories": kinds}


def whole_codes(values: Floats, size: int) -> NDArray[np.int64]:
    """Codes 0, 1, ... below `size`; -1 for anything else, NaN included."""
    rounded = np.rint(np.nan_to_num(values, nan=-1.0, posinf=-1.0, neginf=-1.0))
    known = (rounded == values) & (rounded >= 0) & (rounded < size)
    return np.where(known, rounded, -1).astype(np.int64)


def read_columns(bounds: Any, categories: Any, features: int, *, origin: Any = None) -> Columns:
    """`categories` maps the place of a column to how many codes (0, 1, ...) it has; all others are numbers in `bounds`.

    Bounds given one a feature have entries for category columns too, which are not looked at.

    >>> read_columns((0, 10), {1: 3}, 3).numbers
    (0, 2)
    """
    allowed = "a dictionary from the index of a column to its number of codes, 1 or more"
    given = {} if categories is None else categories
    if not isinstance(given, Mapping):
        raise InputError("categories", categories, allowed)
    for place, size in given.items():
        whole = all(isinstance(one, (int, np.integer)) and not isinstance(one, bool) for one in (place, size))
        if not whole or not 0 <= place < features or not 1 <= size <= _MOST:
            raise InputError("categories", {place: size}, f"{allowed}, with columns 0 to {features - 1}")
    numbers = tuple(place for place in range(features) if place not in given)
    if not numbers:
        empty = np.zeros(0)
        box = Box(empty, empty, empty)
    else:
        whole_box = read_box(_without(bounds, given, features), features, origin=origin)
        kept = list(numbers)
        box = Box(whole_box.lower[kept], whole_box.upper[kept], whole_box.origin[kept])
    known = sorted(int(place) for place in given)
    return Columns(numbers, box, tuple(known), tuple(int(given[place]) for place in known))


def _without(bounds: Any, categories: Mapping[Any, Any], features: int) -> Any:
    """Bounds with anything at all at category columns made harmless."""
    if bounds is None or not categories:
        return bounds
    try:
        lower, upper = bounds
        sides = []
        for side in (lower, upper):
            array = np.asarray(side, dtype=np.float64)
            if array.ndim == 1 and len(array) == features:
                array = array.copy()
                array[[int(place) for place in categories]] = 0.0
            sides.append(array)
    except (TypeError, ValueError):
        return bounds
    return tuple(sides)
