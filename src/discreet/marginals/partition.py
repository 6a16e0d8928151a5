"""How a column of numbers or days is cut into codes: exact points, and runs of points between them.

The points are those of a lattice: cents, whole numbers, days. A code stands for one of them or for a run of neighbours.
Runs are short near zero and longer farther out, up to a part of the whole range, so that bounds may be generous; values
that many rows share, such as a toll of exactly 0, are points of their own. Everything here follows from the schema and
from what was published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from discreet.data.clock import floored
from discreet.query.key import Bin

__all__ = ["Labels", "Partition", "Segment"]

Expression = Any  # ibis expressions carry no useful static types here
Whole = NDArray[np.int64]

RUNS = 64
"""How many runs of the greatest length the whole range has."""
_PER_OCTAVE = 16  # runs between a distance from zero and twice that distance
_EXACT = 2**53
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Segment:
    """Some runs of equal width: `many` of them, from the point `start` on."""

    start: int
    width: int
    many: int


@dataclass(frozen=True, slots=True)
class Partition:
    """Points `origin + index * unit`, for an index from 0 to `last`, in runs. A run is a code.

    With `other` the last code is of numbers that are none of the points; without it they go to the nearest point.
    """

    origin: Fraction
    unit: Fraction
    last: int
    segments: tuple[Segment, ...]
    other: bool = False

    @classmethod
    def points(cls, origin: Fraction, unit: Fraction, last: int, *, other: bool = False) -> Partition:
        """Every point by itself.

        >>> Partition.points(Fraction(0), Fraction(1), 9).size
        10
        """
        return cls(origin, unit, last, (Segment(0, 1, last + 1),), other)

    @classmethod
    def even(cls, origin: Fraction, unit: Fraction, last: int, width: int) -> Partition:
        """Runs of equal width; the last one may be shorter. Both ends are points of their own."""
        return cls.of_starts(origin, unit, last, range(0, last + 1, width)).apart([0, last])

    @classmethod
    def scaled(cls, origin: Fraction, unit: Fraction, last: int) -> Partition:
        """Runs that widen with the distance from zero, up to a 64th of the range. Both ends are points of their own.

        >>> [int(start) for start in Partition.scaled(Fraction(0), Fraction(1), 500).starts[[0, 1, 2, -3, -2, -1]]]
        [0, 1, 2, 488, 496, 500]
        """
        widest = max(1, -(-(last + 1) // RUNS))
        zero = -origin / unit
        nearest = min(max(zero, Fraction(0)), Fraction(last))
        if abs(zero - nearest) * 4 >= last + 1:  # so far from zero that no number is many times another
            return cls.even(origin, unit, last, widest)
        middle = round(nearest)
        up, down = _widening(last - middle, widest), _widening(middle, widest)
        starts = sorted({0, *(middle + step for step in up), *(middle - step + 1 for step in down[1:])})
        return cls.of_starts(origin, unit, last, starts).apart([0, middle, last])

    @classmethod
    def of_starts(cls, origin: Fraction, unit: Fraction, last: int, starts: Iterable[int]) -> Partition:
        """Runs that begin at these points, rising from 0."""
        edges = np.array([*starts, last + 1], dtype=np.int64)
        widths = np.diff(edges)
        cuts = np.flatnonzero(np.r_[True, widths[1:] != widths[:-1]]) if len(widths) else np.zeros(0, np.int64)
        many = np.diff(np.r_[cuts, len(widths)])
        found = zip(edges[cuts].tolist(), widths[cuts].tolist(), many.tolist(), strict=True)
        return cls(origin, unit, last, tuple(Segment(*one) for one in found))

    def apart(self, points: Iterable[int]) -> Partition:
        """The same with some points by themselves.

        >>> Partition.even(Fraction(0), Fraction(1), 99, 50).apart([40]).starts.tolist()
        [0, 1, 40, 41, 50, 99]
        """
        inside = [point for point in points if 0 <= point <= self.last]
        beyond = [point + 1 for point in inside if point < self.last]
        starts = np.unique(np.concatenate([self.starts, np.array([*inside, *beyond], dtype=np.int64)]))
        return Partition.of_starts(self.origin, self.unit, self.last, starts.tolist())

    @property
    def size(self) -> int:
        """How many codes there are."""
        return sum(one.many for one in self.segments) + self.other

    @property
    def starts(self) -> Whole:
        """The first point of every code."""
        return _starts(self.segments)

    @property
    def ends(self) -> Whole:
        """The last point of every code."""
        return np.asarray(np.r_[self.starts[1:], self.last + 1] - 1, dtype=np.int64)

    def index(self, value: Fraction | int) -> int | None:
        """Which point a number is; None if it is none of them."""
        place = (Fraction(value) - self.origin) / self.unit
        return int(place) if place.denominator == 1 and 0 <= place <= self.last else None

    def codes(self, numbers: NDArray[np.float64]) -> Whole:
        """The codes of numbers in memory, within the bounds: as the engine has them."""
        index = np.floor((numbers - float(self.origin) + float(self.unit) / 2) / float(self.unit))
        whole = np.clip(np.nan_to_num(index), 0, self.last).astype(np.int64)
        return np.asarray(np.searchsorted(self.starts, whole, side="right") - 1, dtype=np.int64)

    def nearest(self, value: Expression, *, whole: bool) -> Expression:
        """The point nearest to a number within the bounds, in an engine: `whole` if it is an integer there.

        Floats are divided as every engine divides them, and the quotient is rounded to a point.
        """
        import ibis

        if whole and self.unit.denominator == 1 and self.origin.denominator == 1:
            index = value.cast("int64") - int(self.origin)
            index = floored(index + int(self.unit) // 2, int(self.unit)) if self.unit != 1 else index
        else:
            number = value.cast("float64")
            # Half a unit first: a number too small to be divided is then no reason for an engine to fail.
            scaled = (number - float(self.origin) + float(self.unit) / 2) / float(self.unit)
            index = scaled.floor().cast("int64")
        return ibis.greatest(ibis.least(index, self.last), 0)

    def code(self, value: Expression, index: Expression) -> Expression:
        """The code of a number in an engine, by the point nearest to it."""
        import ibis

        code = _search(_numbered(self.segments), index)
        if not self.other:
            return code
        return (value.cast("float64") == self._float(index)).ifelse(code, ibis.literal(self.size - 1, "int64"))

    def coded(self, value: Expression, *, whole: bool) -> Expression:
        """The code of a number in an engine, in one expression."""
        return self.code(value, self.nearest(value, whole=whole))

    def _float(self, index: Expression) -> Expression:
        """The float nearest to a point: one division of whole numbers."""
        scale = self.origin.denominator * self.unit.denominator
        start, step = int(self.origin * scale), int(self.unit * scale)
        if max(abs(start) + self.last * step, scale) >= _EXACT:
            return index.cast("float64") * float(self.unit) + float(self.origin)
        return (index.cast("float64") * float(step) + float(start)) / float(scale)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "origin": str(self.origin),
            "unit": str(self.unit),
            "last": self.last,
            "segments": [[one.start, one.width, one.many] for one in self.segments],
        }

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Partition:
        """What `to_json` made."""
        segments = tuple(Segment(*map(int, one)) for one in entry["segments"])
        return cls(Fraction(entry["origin"]), Fraction(entry["unit"]), int(entry["last"]), segments)


@dataclass(frozen=True, slots=True)
class Labels(Sequence[Any]):
    """What the codes of a partition stand for: a number or a day, a `Bin` of them, and at last None where `missing`."""

    partition: Partition
    missing: bool
    kind: str
    """integer, real or date."""

    def __len__(self) -> int:
        return self.partition.size + self.missing

    @overload
    def __getitem__(self, code: int) -> Any: ...
    @overload
    def __getitem__(self, code: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, code: int | slice) -> Any:
        if isinstance(code, slice):
            return tuple(self[one] for one in range(*code.indices(len(self))))
        place = code + len(self) if code < 0 else code
        if not 0 <= place < len(self):
            raise IndexError(code)
        if place == self.partition.size:
            return None
        first, end = int(self.partition.starts[place]), int(self.partition.ends[place])
        return self._shown(first) if first == end else Bin(self._shown(first), self._shown(end + 1))

    def __iter__(self) -> Iterator[Any]:
        return (self[code] for code in range(len(self)))

    def _shown(self, index: int) -> Any:
        value = self.partition.origin + index * self.partition.unit
        if self.kind == "date":
            try:
                return _EPOCH + timedelta(days=int(value))
            except OverflowError:  # the day after the last day there is
                return date.max
        return int(value) if self.kind == "integer" and value.denominator == 1 else value


@lru_cache(maxsize=256)
def _starts(segments: tuple[Segment, ...]) -> Whole:
    found = [one.start + one.width * np.arange(one.many, dtype=np.int64) for one in segments]
    starts = np.concatenate(found) if found else np.zeros(0, np.int64)
    starts.flags.writeable = False
    return starts


def _widening(reach: int, widest: int) -> list[int]:
    """Distances at which runs begin: 0, 1, 2, ... and then wider and wider apart, as far as `reach`."""
    found, width, at = [0], 1, 1
    while at <= reach:
        found.append(at)
        width = max(1, min(widest, 2 ** max(at // _PER_OCTAVE, 1).bit_length() // 2))
        at += width
    return found


def _numbered(segments: Sequence[Segment]) -> list[tuple[int, Segment]]:
    """Every segment with its first code."""
    first = np.cumsum([0, *(one.many for one in segments)])
    return list(zip(first.tolist(), segments, strict=False))


def _search(segments: Sequence[tuple[int, Segment]], index: Expression) -> Expression:
    """The code of a point, by halves: which segment it is in, and which run of that."""
    import ibis

    if len(segments) > 1:
        middle = len(segments) // 2
        left, right = _search(segments[:middle], index), _search(segments[middle:], index)
        return (index < segments[middle][1].start).ifelse(left, right)
    first, segment = segments[0]
    if segment.many == 1:
        return ibis.literal(first, "int64")
    past = index - (segment.start - (first if segment.width == 1 else 0))
    return past if segment.width == 1 else floored(past, segment.width) + first
