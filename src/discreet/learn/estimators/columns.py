"""What is declared of the columns of X: bounds of numbers, to which values are clipped, and codes of categories."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.lattice import Lattice
from discreet.errors import InputError, Phrase

__all__ = ["Box", "Columns", "Floats", "read_box", "read_columns"]

Floats = NDArray[np.float64]

Names = Sequence[str] | None

_FARTHEST = 1e100  # squares and sums of squares stay far from overflow
_WIDEST = 2**16  # features
_MOST = 2**16  # codes of a category


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Lower and upper bounds and an origin between them, one of each a feature.

    A feature whose bounds are equal is constant: it scales to 0.
    """

    lower: Floats
    upper: Floats
    origin: Floats

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def reach(self) -> Floats:
        """How far each feature can be from its origin."""
        return np.maximum(self.upper - self.origin, self.origin - self.lower)

    def clipped(self, values: Any) -> Floats:
        """Within bounds; NaN becomes the origin. A function of each value alone."""
        clipped = np.clip(np.asarray(values, dtype=np.float64), self.lower, self.upper)
        missing = np.isnan(clipped)
        return np.where(missing, self.origin, clipped) if missing.any() else clipped

    def scaled(self, values: Any) -> Floats:
        """Clipped and scaled so that the origin is 0 and the farther bound 1 or -1."""
        return np.clip((self.clipped(values) - self.origin) / self._unit, -1.0, 1.0)

    def free(self, values: Any) -> Floats:
        """Scaled the same way and not clipped: for predictions, which may be asked outside the bounds."""
        return np.asarray((np.asarray(values, dtype=np.float64) - self.origin) / self._unit)

    @property
    def _unit(self) -> Floats:
        return np.where(self.reach > 0, self.reach, 1.0)

    def steps(self, values: Any, exponent: int) -> NDArray[np.int64]:
        """Whole multiples of 2**exponent in [-1, 1]."""
        return Lattice(-1, 1, exponent).encode(self.scaled(values))

    def unscaled(self, values: Floats) -> Floats:
        """Back from [-1, 1]."""
        return self.origin + self.reach * values

    def to_json(self) -> list[list[float]]:
        """Plain values, for the record."""
        return [self.lower.tolist(), self.upper.tolist(), self.origin.tolist()]


def read_box(bounds: Any, features: int, field: str = "bounds", origin: Any = None, names: Names = None) -> Box:
    """`(lower, upper)`, each one number for all features or one number a feature. Never read off the data.

    Or `{name: (lower, upper)}`, where the columns have `names`.

    The origin is the middle unless another point within bounds is declared (0, where most values are 0).

    >>> read_box((0, [1, 10]), 2).upper.tolist()
    [1.0, 10.0]
    """
    several = "" if features == 1 else f" or {features} numbers"
    allowed = f"a pair (lower, upper), each a number{several} of at most 1e100, lower at most upper"
    hint = "Bounds come from what the columns mean, never from the data: their extremes are private."
    if features > _WIDEST:
        raise InputError(
            "X",
            Phrase(f"{features:,} features"),
            f"a table of at most {_WIDEST:,} features: sums of squares are exact up to there",
        )
    if bounds is None:
        raise InputError(field, None, allowed, hint)
    if isinstance(bounds, Mapping):
        bounds = _by_column(bounds, features, field, names)
    try:
        lower, upper = bounds
        sides = [np.asarray(side, dtype=np.float64) for side in (lower, upper)]
    except (TypeError, ValueError):
        raise InputError(field, bounds, allowed, hint) from None
    for side in sides:
        if side.ndim > 1 or (side.ndim == 1 and len(side) != features) or not (np.abs(side) <= _FARTHEST).all():
            raise InputError(field, bounds, allowed, hint)
    low, high = (np.broadcast_to(side, (features,)).copy() for side in sides)
    if (low > high).any() or not np.isfinite(high - low).all():
        raise InputError(field, bounds, allowed, hint)
    if origin is None:
        return Box(low, high, low + (high - low) / 2)
    try:
        point = np.broadcast_to(np.asarray(origin, dtype=np.float64), (features,)).copy()
    except (TypeError, ValueError):
        point = np.full(features, np.nan)
    if not ((low <= point) & (point <= high)).all():
        raise InputError("origin", origin, f"a number, or {features} numbers, within bounds")
    return Box(low, high, point)


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

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the record."""
        kinds = [list(pair) for pair in zip(self.categories, self.sizes, strict=True)]
        return {"bounds": self.box.to_json(), "categories": kinds}


def whole_codes(values: Floats, size: int) -> NDArray[np.int64]:
    """Codes 0, 1, ... below `size`; -1 for anything else, NaN included."""
    rounded = np.rint(np.nan_to_num(values, nan=-1.0, posinf=-1.0, neginf=-1.0))
    known = (rounded == values) & (rounded >= 0) & (rounded < size)
    return np.where(known, rounded, -1).astype(np.int64)


def read_columns(bounds: Any, categories: Any, features: int, *, origin: Any = None, names: Names = None) -> Columns:
    """`categories` maps the place of a column to how many codes (0, 1, ...) it has; all others are numbers in `bounds`.

    Bounds given one a feature have entries for category columns too, which are not looked at. Where the columns have
    `names`, both may be given by name.

    >>> read_columns((0, 10), {1: 3}, 3).numbers
    (0, 2)
    """
    _check_count(features, names)
    allowed = "a dictionary from the index or name of a column to its number of codes, 1 or more"
    given = {} if categories is None else categories
    if not isinstance(given, Mapping):
        raise InputError("categories", categories, allowed)
    given = {_index(column, "categories", names): size for column, size in given.items()}
    for place, size in given.items():
        whole = all(isinstance(one, (int, np.integer)) and not isinstance(one, bool) for one in (place, size))
        if not whole or not 0 <= place < features or not 1 <= size <= _MOST:
            raise InputError("categories", {place: size}, f"{allowed}, with columns 0 to {features - 1}")
    numbers = tuple(place for place in range(features) if place not in given)
    if not numbers:
        empty = np.zeros(0)
        box = Box(empty, empty, empty)
    else:
        if isinstance(bounds, Mapping):
            bounds = _by_column(bounds, features, "bounds", names, left_out=given)
        whole_box = read_box(_without(bounds, given, features), features, origin=origin, names=names)
        kept = list(numbers)
        box = Box(whole_box.lower[kept], whole_box.upper[kept], whole_box.origin[kept])
    known = sorted(int(place) for place in given)
    return Columns(numbers, box, tuple(known), tuple(int(given[place]) for place in known))


def _check_count(features: Any, names: Names) -> None:
    """Refuse a number of columns that is none, or not that of the table that was fitted, by name."""
    if isinstance(features, bool) or not isinstance(features, (int, np.integer)) or features < 1:
        raise InputError("n_features", features, "a whole number, 1 or more")
    if names is not None and len(names) != features:
        raise InputError("n_features", features, f"{len(names)}: so many columns have names")


def _by_column(
    bounds: Mapping[Any, Any], features: int, field: str, names: Names, left_out: Container[int] = ()
) -> tuple[Floats, Floats]:
    """Bounds by name, as one number a feature; those of `left_out` columns are not needed."""
    pairs = {_index(name, field, names): pair for name, pair in bounds.items()}
    lower, upper = np.zeros(features), np.zeros(features)
    for index in range(features):
        if index in left_out:
            continue
        name = index if names is None else names[index]
        if index not in pairs:
            raise InputError(field, Phrase(f"none for column {name!r}"), "bounds of every column, by its name")
        try:
            lower[index], upper[index] = pairs[index]
        except (TypeError, ValueError):
            raise InputError(field, {name: pairs[index]}, "a pair (lower, upper) of numbers for each column") from None
    return lower, upper


def _index(column: Any, field: str, names: Names) -> Any:
    """The index of a column that is given by name; an index is what it is."""
    if not isinstance(column, str):
        return column
    if names is None:
        raise InputError(field, column, "given by index: X has no names of columns", "Pass a DataFrame to use names.")
    if column not in names:
        raise InputError(field, column, "named by a column of X", among=list(names))
    return list(names).index(column)


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
