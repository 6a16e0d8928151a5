"""Public numbers about the leaf regions, from a table: housing units, addresses, the last census."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase
from discreet.trees.geography import public_table
from discreet.trees.tree import Hierarchy

__all__ = ["covariate_table", "read_covariate"]

FIELD = "covariate"
Reals = NDArray[np.float64]


def covariate_table(value: Any) -> dict[str, Any]:
    """The value as a table of columns, or as numbers by code of a region; a file is read here."""
    if isinstance(value, Mapping) and all(isinstance(one, (int, float, np.number)) for one in value.values()):
        return dict(value)
    return public_table(value, FIELD)


def read_covariate(
    value: Mapping[str, Any], tree: Hierarchy, column: str, labels: Sequence[tuple[str, Sequence[Any]]]
) -> Reals:
    """One number for each leaf region, (leaves, 1), or, from a table with the columns of cells, (leaves, cells).

    The table has a column of leaf codes, named as the last level or as the column of the data, and one of numbers.
    Columns of wider levels do not matter, nor do regions that are not in the tree.
    """
    if value and all(isinstance(one, (int, float, np.number)) for one in value.values()):
        value = {tree.names[-1]: list(value), "number": list(value.values())}
    names = [name for name in (tree.names[-1], column) if name in value]
    columns = {name: list(values) if isinstance(values, (list, tuple)) else None for name, values in value.items()}
    if not names or any(values is None for values in columns.values()):
        given = Phrase("one with " + (", ".join(map(str, value)) or "no columns"))
        raise InputError(FIELD, given, f"a table with the column {tree.names[-1]!r}, or {{region: number}}")
    codes: list[Any] = columns[names[0]] or []
    cells = dict(labels) if labels and all(name in columns for name, _ in labels) else {}
    rest = [name for name in columns if name not in (*tree.names, column, *cells)]
    if len(rest) != 1:
        given = Phrase(", ".join(map(str, rest)) or "none")
        raise InputError(FIELD, given, "a table with one column of numbers beside the regions, and the cells if any")
    numbers: list[Any] = columns[rest[0]] or []
    several = math.prod(len(values) for values in cells.values())
    found = np.full((tree.leaves, several), np.nan)
    places = {code: index for index, code in enumerate(tree.codes[-1])}
    strides = _strides(cells)
    for row, (code, number) in enumerate(zip(codes, numbers, strict=False)):
        if code not in places:
            continue
        cell = 0
        for name, (known, stride) in strides.items():
            label = str((columns[name] or [])[row])
            if label not in known:
                raise InputError(f"{FIELD}.{name}", label, among=list(known))
            cell += known[label] * stride
        if not math.isnan(found[places[code], cell]):
            raise InputError(FIELD, code, "a table with each region once")
        found[places[code], cell] = _number(number, code)
    missing = np.isnan(found)
    if (none := missing.all(axis=1)).any():
        given = Phrase(f"none for {tree.codes[-1][int(np.argmax(none))]}")
        raise InputError(FIELD, given, "a table with a number for each leaf region")
    return np.where(missing, 0.0, found)  # a cell that is not listed has none


def _strides(cells: Mapping[str, Sequence[Any]]) -> dict[str, tuple[dict[str, int], int]]:
    """For each column of cells, where its labels stand, and how far apart they are; the last moves fastest."""
    found, stride = {}, 1
    for name, values in reversed(list(cells.items())):
        found[name] = {str(value): place for place, value in enumerate(values)}, stride
        stride *= len(values)
    return found


def _number(number: Any, code: str) -> float:
    try:
        read = float(number)
    except (TypeError, ValueError):
        read = math.nan
    if not math.isfinite(read) or read < 0:
        raise InputError(f"{FIELD}.{code}", number, "a number, zero or more")
    return read
