"""Arrays a caller hands to `fit`: how many columns they have is public, the rest is read after the charge."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase

__all__ = [
    "COUNT_SHARE",
    "Malformed",
    "Rows",
    "read_classes",
    "read_examples",
    "read_labels",
    "read_numbers",
    "read_targets",
]

COUNT_SHARE = Fraction(1, 50)
"""Of the price, for the number of rows where a fit divides by it and it is not declared."""

_MOST_CLASSES = 2**16
_MOST_EXAMPLES = 2**53

Malformed = Literal["refuse", "absorb"]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Features, and what is to be predicted: real targets, or places of classes (-1: none of them)."""

    features: NDArray[np.float64]
    targets: NDArray[Any] | None = None

    @property
    def arrays(self) -> tuple[NDArray[Any] | None, ...]:
        """What a fingerprint of the rows is made from."""
        return self.features, self.targets


def read_numbers(values: Any, field: str, malformed: Malformed = "refuse") -> Any:
    """The values as numbers where they are words or objects; a message that says which cell is not a number would
    show it, so this one does not. Absorbed, a cell that is none becomes NaN, and one too large for a float infinite."""
    allowed, hint = "numbers in rows of equal length", "Encode words as declared codes."
    if malformed == "absorb":
        if hasattr(values, "toarray"):
            return values  # sparse: refused by its kind
        cells = _cells(values)
        if cells.ndim == 1 and cells is not values and any(isinstance(row, (list, tuple)) for row in cells):
            raise InputError(field, Phrase("other values"), allowed, hint)
        return _numbers(cells)
    array = values if hasattr(values, "dtype") and not hasattr(values, "columns") else None
    if hasattr(values, "columns") or (array is not None and array.dtype.kind not in "OUSV"):
        return values
    problem = False
    try:
        read = np.asarray(values)
        if read.dtype.kind in "OUS" and read.size:
            read = read.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        problem = True
    if problem:
        raise InputError(field, Phrase("other values"), allowed, hint)
    return read


def _cells(values: Any) -> NDArray[Any]:
    """An array of numbers, or of objects as they came: what one cell is read as must not follow from the others."""
    if isinstance(values, np.ndarray):
        return values
    with suppress(TypeError, ValueError, OverflowError):
        read = np.asarray(values)
        if read.dtype.kind in "biuf":
            return read
    return np.asarray(values, dtype=object)


def _numbers(cells: NDArray[Any]) -> NDArray[np.float64]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they would tell of a value
        if cells.dtype.kind in "biuf":
            return cells.astype(np.float64, copy=False)
        read = [_number(cell) for cell in cells.ravel().tolist()]
    return np.array(read, dtype=np.float64).reshape(cells.shape)


def _number(cell: Any) -> float:
    if isinstance(cell, (complex, np.complexfloating)):
        return math.nan
    with suppress(Exception):  # whatever it is, it is no number
        try:
            return float(cell)
        except OverflowError:
            return math.inf if cell > 0 else -math.inf
    return math.nan


def read_mode(value: object) -> Malformed:
    """What to do with NaN and labels nobody declared."""
    if value not in ("refuse", "absorb"):
        raise InputError("malformed", value, among=("refuse", "absorb"))
    return value


def read_examples(value: Any) -> int | None:
    """The number of rows as the public knows it; None where nobody declared it, and a noisy count is to be bought.

    >>> read_examples(None), read_examples(2000)
    (None, 2000)
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= _MOST_EXAMPLES:
        hint = "The exact number of rows is private; about how many there are is enough."
        raise InputError("examples", value, "a whole number from 1 up, or None to buy a noisy count", hint)
    return int(value)


def read_classes(classes: Any) -> NDArray[Any]:
    """The declared classes, sorted: a list of labels, or how many there are (then 0, 1, ...).

    >>> read_classes(3).tolist(), read_classes(["b", "a"]).tolist()
    ([0, 1, 2], ['a', 'b'])
    """
    allowed = "at least two different labels, or how many there are (labels are then 0, 1, ...)"
    hint = "Classes are declared, never read off the data: a rare one would show who is in it."
    if classes is None:
        raise InputError("classes", None, allowed, hint)
    if isinstance(classes, (int, np.integer)) and not isinstance(classes, bool):
        if not 2 <= classes <= _MOST_CLASSES:
            raise InputError("classes", int(classes), f"{allowed}: from 2 to {_MOST_CLASSES:,}", hint)
        classes = range(int(classes))
    elif isinstance(classes, (str, bytes)) or not isinstance(classes, (Sequence, np.ndarray, range, set, frozenset)):
        raise InputError("classes", classes, allowed, hint)
    try:
        labels = np.unique(np.asarray(list(classes)))
    except (TypeError, ValueError):
        raise InputError("classes", classes, allowed, hint) from None
    if labels.ndim != 1 or len(labels) != len(list(classes)) or len(labels) < 2 or labels.dtype.kind not in "biufUS":
        raise InputError("classes", classes, allowed, hint)
    return labels


def read_labels(labels: Any, classes: NDArray[Any], malformed: Malformed) -> NDArray[np.int64]:
    """Places of labels among the declared classes; -1 for one that is none of them, if those are absorbed.

    Each label is looked up on its own: one that is a word leaves the numbers beside it what they are.
    """
    index = {label: place for place, label in enumerate(classes.tolist())}
    places = np.array([_place(index, label) for label in np.asarray(labels).tolist()], dtype=np.int64)
    if malformed == "refuse" and (places < 0).any():
        hint = 'Declare every class, or set malformed="absorb" to leave such rows out.'
        raise InputError("y", Phrase("another label"), "one of the declared classes", hint)
    return places


def read_targets(targets: Any, malformed: Malformed) -> NDArray[np.float64]:
    """Real targets; NaN is refused, or stays to be clipped to the middle."""
    reals = np.asarray(read_numbers(targets, "y", malformed), dtype=np.float64)
    if malformed == "refuse" and not np.isfinite(reals).all():
        raise InputError("y", Phrase("NaN or infinity"), "finite numbers", 'Or set malformed="absorb".')
    return reals


def _place(index: dict[Any, int], label: Any) -> int:
    try:
        return index.get(label, -1)
    except Exception:  # a list, say: none of the classes
        return -1
