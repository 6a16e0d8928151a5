"""Numbers read off an output, on which an attack sets its thresholds.

A feature is fixed before the runs that test it: whatever it learns, it learns from the other half.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.audit.layout import Layout
from discreet.audit.outputs import Outputs

__all__ = ["Feature", "Learned", "Named", "Pattern", "Row", "features"]

Reals = NDArray[np.float64]

_COORDINATES = 12  # read one by one; of more, those that differ most
_LOOKED_AT = 4000  # runs, to find them
_COMPARED = 5  # two by two
_BINS = 40
_STEPS = 6  # of Newton's method
_LEARNED_FROM = 20_000  # runs of either side, for the linear score


class Feature(Protocol):
    """One number for each run."""

    @property
    def words(self) -> str:
        """What the number is."""
        ...

    def read(self, outputs: Outputs) -> NDArray[Any]:
        """The number, of every run."""
        ...


@dataclass(frozen=True, slots=True)
class Coordinate:
    """One of the numbers of the output, as it is."""

    place: int
    only: bool

    @property
    def words(self) -> str:
        return "the answer" if self.only else f"number {self.place + 1} of the answer"

    def read(self, outputs: Outputs) -> NDArray[Any]:
        return np.asarray(outputs[:, self.place])


@dataclass(frozen=True, slots=True)
class Difference:
    """One number less another: noise that was used twice cancels."""

    place: int
    other: int

    @property
    def words(self) -> str:
        return f"number {self.place + 1} less number {self.other + 1} of the answer"

    def read(self, outputs: Outputs) -> NDArray[Any]:
        with np.errstate(invalid="ignore", over="ignore"):  # infinities are outputs too
            return np.asarray(outputs[:, self.place] - outputs[:, self.other])


@dataclass(frozen=True, slots=True)
class Extreme:
    """The smallest or the largest of the numbers: all of them moved the same way."""

    largest: bool

    @property
    def words(self) -> str:
        return f"the {'largest' if self.largest else 'smallest'} number of the answer"

    def read(self, outputs: Outputs) -> NDArray[Any]:
        return np.asarray(outputs.max(axis=1) if self.largest else outputs.min(axis=1))


@dataclass(frozen=True, slots=True)
class LowestBit:
    """Where the last binary digit of a float is: noise added in floats leaves traces there."""

    place: int

    @property
    def words(self) -> str:
        return f"the place of the last binary digit of number {self.place + 1}"

    def read(self, outputs: Outputs) -> NDArray[np.int64]:
        values = np.ascontiguousarray(outputs[:, self.place], dtype=np.float64)
        bits = values.view(np.uint64)
        exponent = ((bits >> np.uint64(52)) & np.uint64(0x7FF)).astype(np.int64)
        fraction = (bits & np.uint64((1 << 52) - 1)) | np.uint64(1 << 52)
        lowest = fraction & (~fraction + np.uint64(1))
        places = np.log2(lowest.astype(np.float64)).astype(np.int64) + exponent - 1075
        return np.where(values == 0, np.int64(9999), places)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A float bit by bit: minus zero is not zero, and NaN is itself."""

    place: int

    @property
    def words(self) -> str:
        """What is looked at, in words."""
        return f"the bit pattern of number {self.place + 1}"

    def read(self, outputs: Outputs) -> NDArray[np.int64]:
        """The value of each output."""
        return np.ascontiguousarray(outputs[:, self.place], dtype=np.float64).view(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """A code that stands for something else: a text, an error, a type. Codes are in no order."""

    place: int
    words: str
    names: Mapping[int, str]

    def read(self, outputs: Outputs) -> NDArray[Any]:
        """The code of each output."""
        return np.asarray(outputs[:, self.place])

    def name(self, code: float) -> str:
        """What a code stands for."""
        return self.names.get(int(code), "a number")


@dataclass(frozen=True, slots=True)
class Row:
    """The whole output as one value."""

    @property
    def words(self) -> str:
        """What is looked at, in words."""
        return "the whole answer"

    def read(self, outputs: Outputs) -> NDArray[np.int64]:
        """The value of each output."""
        words = np.ascontiguousarray(outputs).view(np.uint64).reshape(len(outputs), -1)
        mixed = np.zeros(len(outputs), dtype=np.uint64)
        for column in words.T:  # a fixed mixing of 64-bit words; arrays wrap in silence
            mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        return mixed.view(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Likelihood:
    """Naive Bayes: how much likelier each number is with the person than without, multiplied together."""

    edges: tuple[NDArray[Any], ...]
    logs: tuple[Reals, ...]

    @property
    def words(self) -> str:
        return "a classifier's score (naive Bayes)"

    @classmethod
    def learn(cls, inside: Outputs, outside: Outputs) -> Likelihood:
        edges, logs = [], []
        for place in range(inside.shape[1]):
            both = np.concatenate([inside[:, place], outside[:, place]])
            cut = np.unique(both)
            if len(cut) > _BINS:
                cut = np.unique(np.quantile(both, np.linspace(0, 1, _BINS + 1)[1:-1], method="nearest"))
            counts = [
                np.bincount(np.searchsorted(cut, side[:, place], side="right"), minlength=len(cut) + 1) + 0.5
                for side in (inside, outside)
            ]
            edges.append(cut)
            logs.append(np.log(counts[0] / counts[0].sum()) - np.log(counts[1] / counts[1].sum()))
        return cls(tuple(edges), tuple(logs))

    def read(self, outputs: Outputs) -> Reals:
        score = np.zeros(len(outputs))
        for place, (cut, log) in enumerate(zip(self.edges, self.logs, strict=True)):
            score += log[np.searchsorted(cut, outputs[:, place], side="right")]
        return score


@dataclass(frozen=True, slots=True, eq=False)
class Logistic:
    """A linear score, fitted to tell the two sides apart."""

    centre: Reals
    scale: Reals
    weights: Reals

    @property
    def words(self) -> str:
        return "a classifier's score (logistic)"

    @classmethod
    def learn(cls, inside: Outputs, outside: Outputs) -> Logistic:
        inside, outside = inside[:_LEARNED_FROM], outside[:_LEARNED_FROM]
        x = np.concatenate([inside, outside]).astype(np.float64)
        x = np.nan_to_num(x, nan=0.0, posinf=1e300, neginf=-1e300)
        y = np.concatenate([np.ones(len(inside)), np.zeros(len(outside))])
        # The middle and the spread by ranks: a single far answer must not flatten all others.
        low, centre, high = np.quantile(x, [0.1, 0.5, 0.9], axis=0)
        scale = np.where(high > low, high - low, 1.0)
        x = np.clip((x - centre) / scale, -8, 8)
        x = np.concatenate([x, np.ones((len(x), 1))], axis=1)
        weights = np.zeros(x.shape[1])
        for _ in range(_STEPS):
            chance = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
            slope = x.T @ (chance - y) / len(x) + 1e-4 * weights
            curve = (x * (chance * (1 - chance))[:, None]).T @ x / len(x) + 1e-4 * np.eye(x.shape[1])
            weights -= np.linalg.solve(curve, slope)
        return cls(centre, scale, weights)

    def read(self, outputs: Outputs) -> Reals:
        x = np.nan_to_num(outputs.astype(np.float64), nan=0.0, posinf=1e300, neginf=-1e300)
        score: Reals = np.clip((x - self.centre) / self.scale, -8, 8) @ self.weights[:-1]
        return score


Learned = Likelihood | Logistic


def features(inside: Outputs, outside: Outputs, layout: Layout | None = None) -> list[Feature]:
    """What to look at: every number, or those that differ most; two less each other; the whole; two classifiers.

    Give it runs that the thresholds are not chosen on: what a classifier has learned by heart looks better than it is.
    With a `layout` also what is no number, and of which type an output is, where that varies.
    """
    width = inside.shape[1] if layout is None else layout.width
    named: list[Feature] = []
    if layout is not None:
        both = ((layout.code, "the answer"), (layout.type, "the type of the answer"))
        named = [Named(place, words, layout.names) for place, words in both if _varies(place, inside, outside)]
        if not width:
            return [*named, *([Row()] if len(named) > 1 else [])] or [Named(layout.code, "the answer", layout.names)]
    places = list(range(width))
    if width > _COORDINATES:
        places = sorted(np.argsort(-_gaps(inside, outside), kind="stable")[:_COORDINATES].tolist())
    found: list[Feature] = [Coordinate(place, width == 1) for place in places]
    if inside.dtype == np.float64:
        found += [kind(place) for place in places for kind in (LowestBit, Pattern)]
    found += [Difference(*two) for two in itertools.combinations(places[:_COMPARED], 2)]
    if 1 < width <= _COMPARED:
        found += [Extreme(False), Extreme(True)]
    if width > 1:
        found += [Row(), Likelihood.learn(inside, outside), Logistic.learn(inside, outside)]
    return found + named


def _varies(place: int, inside: Outputs, outside: Outputs) -> bool:
    return bool((inside[:, place] != inside[0, place]).any() or (outside[:, place] != inside[0, place]).any())


def _gaps(inside: Outputs, outside: Outputs) -> Reals:
    """How far apart the two sides are in each number: the largest gap between their distribution functions."""
    gaps = []
    for place in range(inside.shape[1]):
        a, b = np.sort(inside[:_LOOKED_AT, place]), np.sort(outside[:_LOOKED_AT, place])
        at = np.concatenate([a, b])
        gap = np.searchsorted(a, at, side="right") / len(a) - np.searchsorted(b, at, side="right") / len(b)
        gaps.append(float(np.abs(gap).max()))
    return np.array(gaps)
