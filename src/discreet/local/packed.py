"""Reports of one bit for each category, eight to a byte: how they are read and added up.

Bit c of a report is bit 7 - c % 8 of byte c // 8; bits beyond the last category are zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Integers
from discreet.errors import InputError
from discreet.local.protocol import read_times

__all__ = ["bit_sums", "place_of", "read_packed", "width_of"]

_ROWS = 255  # as many ones as a byte can count
_CELLS = 1 << 22


def width_of(categories: int) -> int:
    """How many bytes a report takes."""
    return -(-categories // 8)


def place_of(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The byte, and the mask within it, of each category."""
    return values >> 3, (128 >> (values & 7)).astype(np.uint8)


def read_packed(reports: Any, categories: int) -> NDArray[np.uint8]:
    """Packed reports as rows of bytes, checked: an array, one report as bytes, or a list of those."""
    width = width_of(categories)
    allowed = f"rows of {width} bytes, one bit for each of {categories} categories"
    if isinstance(reports, (bytes, bytearray)):
        reports = [bytes(reports)]
    if not isinstance(reports, np.ndarray):
        if not isinstance(reports, Iterable) or isinstance(reports, str):
            raise InputError("reports", type(reports).__name__, allowed)
        listed = list(reports)
        if any(not isinstance(one, (bytes, bytearray)) or len(one) != width for one in listed):
            raise InputError("reports", "one that is cut off or of another kind", allowed)
        reports = np.frombuffer(b"".join(listed), dtype=np.uint8).reshape(-1, width)
    if reports.dtype != np.uint8 or reports.ndim != 2 or reports.shape[1] != width:
        raise InputError("reports", f"an array of {reports.dtype}, shape {reports.shape}", allowed)
    spare = 8 * width - categories
    if spare and len(reports) and int((reports[:, -1] & ((1 << spare) - 1)).max()):
        raise InputError("reports", "bits beyond the last category", allowed)
    rows: NDArray[np.uint8] = reports
    return rows


def bit_sums(rows: NDArray[np.uint8], categories: int, times: Integers | None = None) -> NDArray[np.int64]:
    """How many reports have each bit set."""
    sums = np.zeros(8 * rows.shape[1], dtype=np.int64)
    if times is not None:
        often = read_times(times, len(rows)).astype(np.float64)
        step = max(1, _CELLS // len(sums))
        for start in range(0, len(rows), step):
            part = np.unpackbits(rows[start : start + step], axis=1)
            sums += np.rint(often[start : start + step] @ part).astype(np.int64)
        return sums[:categories]
    step = _ROWS * max(1, _CELLS // (_ROWS * len(sums)))
    for start in range(0, len(rows), step):
        part = np.unpackbits(rows[start : start + step], axis=1)
        whole = len(part) - len(part) % _ROWS
        blocks = part[:whole].reshape(-1, _ROWS, part.shape[1])
        for block in blocks:
            sums += np.add.reduce(block, axis=0, dtype=np.uint8)
        sums += np.add.reduce(part[whole:], axis=0, dtype=np.uint8)
    return sums[:categories]
