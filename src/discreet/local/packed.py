"""Reports of one bit for each category, eight to a byte: how they are read and added up.

Bit c of a report is bit 7 - c % 8 of byte c // 8; bits beyond the last category are zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Integers
from discreet.errors import InputError, Phrase, kind_of
from discreet.local.protocol import read_times

__all__ = ["bit_sums", "place_of", "read_packed", "width_of"]

_CELLS = 1 << 22
_BLOCK = 1 << 16  # bytes added up at a time: what they touch stays in cache
_SIDE = 128


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
            raise InputError("reports", kind_of(reports), allowed)
        listed = list(reports)
        if any(not isinstance(one, (bytes, bytearray)) or len(one) != width for one in listed):
            raise InputError("reports", Phrase("one that is cut off or of another kind"), allowed)
        reports = np.frombuffer(b"".join(listed), dtype=np.uint8).reshape(-1, width)
    if reports.dtype != np.uint8 or reports.ndim != 2 or reports.shape[1] != width:
        raise InputError("reports", Phrase(f"an array of {reports.dtype}, shape {reports.shape}"), allowed)
    spare = 8 * width - categories
    if spare and len(reports) and int((reports[:, -1] & ((1 << spare) - 1)).max()):
        raise InputError("reports", Phrase("bits beyond the last category"), allowed)
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
    width, lanes = rows.shape[1], max(1, _BLOCK // rows.shape[1])  # reports that are side by side in a block
    adder, whole = _Adder(), len(rows) - len(rows) % lanes
    for start in range(0, whole, lanes):
        adder.add(np.ascontiguousarray(rows[start : start + lanes]).reshape(-1))
    sums = _few_sums(rows[whole:])
    for weight, block in adder.left():
        sums += weight * _few_sums(block.reshape(lanes, width))
    return sums[:categories]


def _few_sums(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How many of a few rows have each bit set: bit by bit, as many rows at a time as a byte can count."""
    side = -(-_SIDE // rows.shape[1])  # short rows are laid side by side: long ones are added faster
    rows = np.concatenate([rows, np.zeros((-len(rows) % side, rows.shape[1]), dtype=np.uint8)])
    wide = rows.reshape(-1, side * rows.shape[1])
    sums = np.zeros(8 * wide.shape[1], dtype=np.int64)
    for start in range(0, len(wide), 255):
        sums += np.unpackbits(wide[start : start + 255], axis=1).sum(axis=0, dtype=np.uint8)
    return np.asarray(sums.reshape(side, -1).sum(axis=0), dtype=np.int64)


class _Adder:
    """Counts set bits, place by place: three blocks of one weight make a block of sums and one of carries.

    Five operations on whole bytes for each block that is added: less than one for each bit.
    """

    def __init__(self) -> None:
        self._levels: list[list[NDArray[np.uint8]]] = []  # at most two blocks of each weight, 2^level
        self._free: list[NDArray[np.uint8]] = []  # to be written over: fresh memory is slow

    def add(self, block: NDArray[np.uint8]) -> None:
        """One more block, which must not change while the others are added."""
        level = 0
        while True:
            if level == len(self._levels):
                self._levels.append([block if level else block.copy()])
                return
            held = self._levels[level]
            if len(held) == 1:
                held.append(block)
                return
            sums, second = held
            either, carries = self._room(block), self._room(block)
            np.bitwise_xor(sums, second, out=either)
            np.bitwise_and(sums, second, out=carries)
            np.bitwise_xor(either, block, out=sums)
            either &= block
            carries |= either
            held.pop()
            self._free.append(either)
            if level:  # blocks of weight 1 are the caller's
                self._free += [second, block]
            block, level = carries, level + 1

    def _room(self, like: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return self._free.pop() if self._free else np.empty_like(like)

    def left(self) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """Weights and blocks that add up to all that was added."""
        for level, held in enumerate(self._levels):
            for block in held:
                yield 1 << level, block
