"""Marginals of any shape cut into equal tiles, so that one compiled program serves them all.

A marginal's columns are put on two sides. Each cell is then a left combination of codes and a right one, and the table
a matrix of left by right, which is cut into tiles of the same height and width; what juts out counts for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.marginals.counts import Columns
from discreet.synth.junction import Floats

__all__ = ["Tiles", "cut"]

Places = NDArray[np.int32]
_HEIGHTS, _WIDTHS = (8, 16, 32, 64, 128), (4, 8, 16, 32, 64)
_LAYING = 10  # what bringing in one combination costs, in cells multiplied


@dataclass(frozen=True, slots=True)
class _Sides:
    """Which columns of a marginal are left and right, how many combinations each makes, and where its tiles begin."""

    columns: Columns
    left: Columns
    right: Columns
    height: int
    width: int
    first: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Tiles:
    """Marginals as tiles. `left` and `right` name, for every row and column of every tile, the features multiplied.

    Features are all codes of all columns, counted through; the number after the last stands for no feature, a one.
    """

    sizes: tuple[int, ...]
    left: Places
    right: Places
    _sides: tuple[_Sides, ...]

    def __len__(self) -> int:
        return len(self.left)

    @property
    def marginals(self) -> int:
        """How many marginals there are."""
        return len(self._sides)

    @property
    def shape(self) -> tuple[int, int]:
        """The height and width of a tile."""
        return self.left.shape[1], self.right.shape[1]

    def of(self, marginal: int) -> slice:
        """The tiles of a marginal."""
        sides = self._sides[marginal]
        return slice(sides.first, sides.first + math.prod(_grid(sides, self.shape)))

    def lay(self, marginal: int, table: Floats) -> Floats:
        """A table of the marginal's shape as tiles, with zeros where they jut out."""
        sides, (high, wide) = self._sides[marginal], self.shape
        down, across = _grid(sides, self.shape)
        axes = [sides.columns.index(column) for column in (*sides.left, *sides.right)]
        matrix = table.transpose(axes).reshape(sides.height, sides.width)
        padded = np.pad(matrix, ((0, down * high - sides.height), (0, across * wide - sides.width)))
        return padded.reshape(down, high, across, wide).swapaxes(1, 2).reshape(-1, high, wide)

    def read(self, marginal: int, tiles: Floats) -> Floats:
        """The marginal's table, from all tiles there are."""
        sides, (high, wide) = self._sides[marginal], self.shape
        down, across = _grid(sides, self.shape)
        padded = tiles[self.of(marginal)].reshape(down, across, high, wide).swapaxes(1, 2)
        matrix = padded.reshape(down * high, across * wide)[: sides.height, : sides.width]
        order = (*sides.left, *sides.right)
        table = matrix.reshape([self.sizes[column] for column in order])
        return table.transpose([order.index(column) for column in sides.columns])


def cut(sizes: Sequence[int], marginals: Sequence[Columns]) -> Tiles:
    """Tiles for these marginals, of the height and width that take the least work."""
    every = [_sides(columns, sizes) for columns in marginals]
    shape = min(((high, wide) for high in _HEIGHTS for wide in _WIDTHS), key=lambda one: _work(every, one))
    placed, first = [], 0
    for sides in every:
        placed.append(_Sides(sides.columns, sides.left, sides.right, sides.height, sides.width, first))
        first += math.prod(_grid(sides, shape))
    deep = [max(1, *(len(one) for one in side)) for side in ([s.left for s in every], [s.right for s in every])]
    left = np.full((first, shape[0], deep[0]), sum(sizes), dtype=np.int32)
    right = np.full((first, shape[1], deep[1]), sum(sizes), dtype=np.int32)
    for sides in placed:
        down, across = _grid(sides, shape)
        here = slice(sides.first, sides.first + down * across)
        lefts = _features(sides.left, sizes, down * shape[0]).reshape(down, shape[0], -1)
        rights = _features(sides.right, sizes, across * shape[1]).reshape(across, shape[1], -1)
        left[here, :, : lefts.shape[2]] = np.repeat(lefts, across, axis=0)
        right[here, :, : rights.shape[2]] = np.tile(rights, (down, 1, 1))
    return Tiles(tuple(sizes), left, right, tuple(placed))


def _sides(columns: Columns, sizes: Sequence[int]) -> _Sides:
    """The largest column goes right, the next left, each one after to the side with fewer combinations."""
    left, right, height, width = list[int](), list[int](), 1, 1
    for column in sorted(columns, key=lambda one: -sizes[one]):
        if width > height:
            left.append(column)
            height *= sizes[column]
        else:
            right.append(column)
            width *= sizes[column]
    return _Sides(columns, tuple(left), tuple(right), height, width)


def _grid(sides: _Sides, shape: tuple[int, int]) -> tuple[int, int]:
    return -(-sides.height // shape[0]), -(-sides.width // shape[1])


def _work(every: Sequence[_Sides], shape: tuple[int, int]) -> int:
    high, wide = shape
    many = sum(math.prod(_grid(sides, shape)) for sides in every)
    return many * (high * wide + _LAYING * (2 * high + wide))


def _features(columns: Columns, sizes: Sequence[int], length: int) -> Places:
    """The features of each combination, one row each, up to `length` rows."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    shape = tuple(sizes[column] for column in columns)
    found = np.full((length, max(len(columns), 1)), starts[-1], dtype=np.int32)
    codes = np.indices(shape, dtype=np.int32).reshape(len(columns), math.prod(shape))
    for place, column in enumerate(columns):
        found[: codes.shape[1], place] = starts[column] + codes[place]
    return found
