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

_CELLS = 1 << 22
_WIDE = 64
_WORDS = 1 << 18  # added up at a time: what they touch stays in cache


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
    if times is not None:
        sums = np.zeros(8 * rows.shape[1], dtype=np.int64)
        often = read_times(times, len(rows)).astype(np.float64)
        step = max(1, _CELLS // len(sums))
        for start in range(0, len(rows), step):
            part = np.unpackbits(rows[start : start + step], axis=1)
            sums += np.rint(often[start : start + step] @ part).astype(np.int64)
        return sums[:categories]
    width, adder = rows.shape[1], _Adder()
    if width >= _WIDE:  # whole words of each report, then the few bytes that are left
        whole = width - width % 8
        step = max(8, 4 * _WORDS // width)
        for start in range(0, len(rows), step):
            adder.add(rows[start : start + step, :whole].view(np.uint64))
        rest = np.unpackbits(rows[:, whole:], axis=1).sum(axis=0, dtype=np.int64)
        return np.concatenate([adder.sums(whole // 8), rest])[:categories]
    # Eight reports side by side are whole words, whatever the width.
    whole = len(rows) - len(rows) % 8
    side = np.ascontiguousarray(rows[:whole]).reshape(-1, 8 * width).view(np.uint64)
    step = _WORDS // width
    for start in range(0, len(side), step):
        adder.add(side[start : start + step])
    sums = np.asarray(adder.sums(width).reshape(8, -1).sum(axis=0), dtype=np.int64)
    sums += np.unpackbits(rows[whole:], axis=1).sum(axis=0, dtype=np.int64)
    return sums[:categories]


class _Adder:
    """Counts set bits, column by column: three rows of one weight make a row of sums and a row of carries."""

    def __init__(self) -> None:
        self._left: list[NDArray[np.uint64]] = []  # at most two rows of each weight

    def add(self, rows: NDArray[np.uint64]) -> None:
        level = 0
        while len(rows):
            if level < len(self._left):
                rows = np.concatenate([self._left[level], rows])
            else:
                self._left.append(rows[:0])
            carries = []
            while len(rows) > 2:
                third = len(rows) // 3
                one, two, three = rows[:third], rows[third : 2 * third], rows[2 * third : 3 * third]
                either = one ^ two
                carries.append((one & two) | (either & three))
                either ^= three
                rows = np.concatenate([either, rows[3 * third :]]) if len(rows) % 3 else either
            self._left[level] = rows
            rows = np.concatenate(carries) if carries else rows[:0]
            level += 1

    def sums(self, words: int) -> NDArray[np.int64]:
        """How many of the rows, of so many words, have each bit set."""
        out = np.zeros(64 * words, dtype=np.int64)
        for level, rows in enumerate(self._left):
            for row in rows:
                out += np.unpackbits(row.view(np.uint8)).astype(np.int64) << level
        return out
