"""The form of arrays handed to an estimator: what is no table of numbers is refused, and no cell is ever shown."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from discreet.errors import InputError, Phrase
from discreet.learn.estimators.rows import Malformed

__all__ = ["read_column", "refuse_form", "refuse_infinite"]

_RULE = "Fill in what is missing by a rule that looks at that row alone, or"
_MISSING = {
    "X": f'{_RULE} set malformed="absorb": what is no number then counts as the middle of the bounds.',
    "y": f'{_RULE} set malformed="absorb": a row without a target is then left out.',
}


def refuse_form(features: Any) -> None:
    """Refuse what is not a dense table of rows and columns, and kinds that are no real numbers."""
    if hasattr(features, "toarray"):
        raise InputError("X", Phrase("a sparse matrix"), "a dense table of numbers", "Use X.toarray().")
    sides = np.ndim(features)
    if sides != 2:
        hint = "Reshape your data: X.reshape(-1, 1) is one column, X.reshape(1, -1) one row."
        shape = Phrase("a single value" if sides == 0 else f"an array of {sides} dimension{'s' * (sides > 1)}")
        raise InputError("X", shape, "a table: an array of rows and columns", hint)
    rows, columns = np.shape(features)
    if not rows or not columns:
        raise InputError(
            "X", Phrase(f"no {'columns' if rows else 'rows'}"), "a table of at least one row and one column"
        )
    names = list(getattr(features, "columns", ()))
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError("X", twice[0], "a table whose columns have different names", "Two have this one.")
    kinds = features.dtypes if hasattr(features, "dtypes") else [getattr(features, "dtype", None)]
    for kind in kinds:
        match getattr(kind, "kind", None):
            case "c":
                raise InputError("X", Phrase("complex numbers"), "real numbers", "Complex data not supported.")
            case "m" | "M":
                hint = "Count days or seconds from a fixed day, and declare bounds for them."
                raise InputError("X", Phrase("dates or times"), "numbers", hint)


def refuse_infinite(values: Any, field: str) -> None:
    """Refuse NaN and infinity; the hint never leads to a model without privacy."""
    array = np.asarray(values)
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return
    got = "NaN" if np.isnan(array).any() else "infinity"
    raise InputError(field, Phrase(got), "finite numbers (no NaN, no infinity)", _MISSING[field])


def read_column(targets: Any, rows: int, malformed: Malformed) -> NDArray[Any]:
    """Targets as one column, a value for each row."""
    allowed = "one value for each row of X"
    if malformed == "absorb" and not isinstance(targets, np.ndarray):
        targets = np.asarray(targets, dtype=object)  # each as it came
    try:
        column: NDArray[Any] | None = column_or_1d(targets, warn=True)
    except (TypeError, ValueError):
        column = None
    if column is None:  # outside the handler: its message may show a cell
        raise InputError("y", Phrase("an array of another shape"), f"{allowed}: an array of one dimension")
    if len(column) != rows:
        raise InputError("y", Phrase("more or fewer"), allowed)
    if column.dtype.kind in "cmM":
        raise InputError("y", Phrase(f"{column.dtype} values"), "labels or real numbers")
    return column
