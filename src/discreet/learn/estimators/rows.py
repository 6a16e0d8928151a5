"""Arrays a caller hands to `fit`: their shape is public, what is in them is opened by the one door only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

__all__ = ["ArrayData", "Malformed", "Rows", "read_classes", "read_labels", "read_numbers", "read_targets"]

Malformed = Literal["refuse", "absorb"]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Features, and what is to be predicted: real targets, or places of classes (-1: none of them)."""

    features: NDArray[np.float64]
    targets: NDArray[Any] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ArrayData:
    """Rows in memory, unopened."""

    _rows: Rows

    @contextmanager
    def open(self) -> Iterator[Rows]:
        """Called by the one door only, after the charge."""
        yield self._rows


def read_numbers(values: Any, field: str) -> Any:
    """The values as numbers where they are words or objects; a message that says which cell is not a number would
    show it, so this one does not."""
    array = values if hasattr(values, "dtype") and not hasattr(values, "columns") else None
    if hasattr(values, "columns") or (array is not None and array.dtype.kind not in "OUSV"):
        return values
    problem = False
    try:
        read = np.asarray(values)
        if read.dtype.kind in "OUS" and read.size:
            read = read.astype(np.float64)
    except (TypeError, ValueError):
        problem = True
    if problem:
        raise InputError(field, "something else", "numbers in rows of equal length", "Encode words as declared codes.")
    return read


def read_mode(value: object) -> Malformed:
    """What to do with NaN and labels nobody declared."""
    if value not in ("refuse", "absorb"):
        raise InputError("malformed", value, '"refuse" or "absorb"')
    return value


def read_classes(classes: Any) -> NDArray[Any]:
    """The declared classes, sorted: a list of labels, or how many there are (then 0, 1, ...).

    >>> read_classes(3).tolist(), read_classes(["b", "a"]).tolist()
    ([0, 1, 2], ['a', 'b'])
    """
    allowed = "at least two different labels, or how many there are (labels are then 0, 1, ...)"
    hint = "Classes are declared, never read off the data: a rare one would show who is in it."
    if classes is None:
        raise InputError("classes", None, f"needed: {allowed}", hint)
    if isinstance(classes, (int, np.integer)) and not isinstance(classes, bool):
        classes = range(int(classes)) if classes <= 2**16 else ()
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
    """Places of labels among the declared classes; -1 for one that is none of them, if those are absorbed."""
    given = np.asarray(labels)
    same = (given.dtype.kind in "US") == (classes.dtype.kind in "US")
    if given.dtype.kind == "O":
        given = given.astype(str) if classes.dtype.kind in "US" else _plain(given)
        same = True
    places = np.zeros(len(given), dtype=np.int64)
    known = np.zeros(len(given), dtype=bool)
    if same:
        places = np.minimum(np.searchsorted(classes, given), len(classes) - 1)
        known = classes[places] == given
    if malformed == "refuse" and not known.all():
        hint = 'Declare every class, or set malformed="absorb" to leave such rows out.'
        raise InputError("y", "a label", "one of the declared classes", hint)
    return np.where(known, places, -1)


def read_targets(targets: Any, malformed: Malformed) -> NDArray[np.float64]:
    """Real targets; NaN is refused, or stays to be clipped to the middle."""
    reals = np.asarray(read_numbers(targets, "y"), dtype=np.float64)
    if malformed == "refuse" and not np.isfinite(reals).all():
        raise InputError("y", "NaN or infinity", "finite numbers", 'Or set malformed="absorb".')
    return reals


def _plain(given: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return given.astype(np.float64)
    except (TypeError, ValueError):
        return np.full(len(given), np.nan)
