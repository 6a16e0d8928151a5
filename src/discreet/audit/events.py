"""Search one half of the runs for the sets of outputs that give a person away.

Thresholds on every feature, single values, and sets of the values that are likeliest with the person; each in both
directions. What is found here is only a suspicion: the other half of the runs decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.words import readable
from discreet.audit.claim import Claim
from discreet.audit.features import Feature, Learned, Named, Pattern, Row, features
from discreet.audit.intervals import lower
from discreet.audit.layout import Layout
from discreet.audit.outputs import Outputs

__all__ = ["Event", "Judge", "search"]

Reals = NDArray[np.float64]

_THRESHOLDS = 3000
_TAIL = 300  # of the thresholds, on either end, one by one
_CAUTION = 1.3  # what looks best of thousands was lucky too: a wider interval prefers what is there to stay
_OFTEN = 3  # times that a value must come to be looked at by itself
_SPOKEN = 3  # values of a set that are named
_DISCRETE = 0.5  # more distinct values than this share of the runs are not ranked


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A set of outputs; `swapped` if it speaks for the person's absence."""

    feature: Feature
    kind: Literal["at least", "at most", "one of"]
    values: NDArray[Any]
    swapped: bool

    def holds(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Whether each output is in the set."""
        read = self.feature.read(outputs)
        match self.kind:
            case "at least":
                return np.asarray(read >= self.values[0])
            case "at most":
                return np.asarray(~(read >= self.values[0]))
            case "one of":
                return np.asarray(np.isin(read, self.values))

    def __str__(self) -> str:
        what, first = self.feature.words, float(self.values[0])
        if isinstance(self.feature, Named):
            said = [self.feature.name(code) for code in self.values[:_SPOKEN].tolist()]
            more = f" or one of {len(self.values) - _SPOKEN} more" if len(self.values) > _SPOKEN else ""
            return f"{what} is {' or '.join(said)}{more}"
        number = readable(first, 6, "near") if math.isfinite(first) else str(first)
        match self.kind:
            case "at least":
                return f"{what} is {number} or more"
            case "at most":
                return f"{what} is below {number}"
            case "one of" if len(self.values) == 1:
                code = isinstance(self.feature, Pattern | Row)  # the number stands for something else
                return f"{what} is one certain value" if code else f"{what} is exactly {number}"
            case "one of":
                return f"{what} is one of {len(self.values)} values"


@dataclass(frozen=True, slots=True, eq=False)
class Suspect:
    """An event and how good it looks, in three ways."""

    event: Event
    margin: float
    epsilon: float
    advantage: float


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """How good many events look at once, by intervals that are quick and nearly exact (Wilson and Hilferty's)."""

    claim: Claim
    delta: float
    z: float

    @classmethod
    def at(cls, claim: Claim, delta: float, miss: float) -> Judge:
        """A judge whose intervals all hold but for a chance of about `miss` each."""
        return cls(claim, delta, -_CAUTION * NormalDist().inv_cdf(max(miss, 1e-300) / 2))

    def best(self, k: Reals, n: int, other: Reals, m: int) -> list[tuple[int, tuple[float, float, float]]]:
        """The best of many events, seen k of n times here and `other` of m times there: in each way, one."""
        detected, alarmed = lower(k, n, self.z), 1 - lower(m - other, m, self.z)
        advantage = detected - alarmed
        # By how many standard errors the claim's lines are crossed.
        margin = (detected - self.claim.most_of(alarmed)) / np.sqrt(np.maximum(detected * (1 - detected), 1e-12) / n)
        straight = np.log(np.maximum(detected - self.delta, 1e-300) / np.maximum(alarmed, 1e-300))
        opposite = np.log(np.maximum(1 - self.delta - alarmed, 1e-300) / np.maximum(1 - detected, 1e-300))
        epsilon = np.maximum(straight, opposite)
        places = {int(np.argmax(scores)) for scores in (margin, epsilon, advantage)}
        return [(at, (float(margin[at]), float(epsilon[at]), float(advantage[at]))) for at in sorted(places)]


def search(inside: Outputs, outside: Outputs, judge: Judge, keep: int = 6, layout: Layout | None = None) -> list[Event]:
    """The `keep` most promising events, in turns: by the claim's lines, by epsilon, and by plain advantage."""
    found: list[Suspect] = []
    width = inside.shape[1] if layout is None else layout.width
    half = len(inside) // 2 if width > 1 else 0  # one number needs no classifier
    for feature in features(inside[:half] if half else inside, outside[:half] if half else outside, layout):
        learned = half if isinstance(feature, Learned) else 0
        found += _search_feature(feature, inside[learned:], outside[learned:], judge)
    chosen: list[Event] = []
    ways: list[Callable[[Suspect], float]] = [
        lambda one: one.margin,
        lambda one: one.epsilon,
        lambda one: one.advantage,
    ]
    while len(chosen) < keep and found:
        best = max(found, key=ways[len(chosen) % len(ways)])
        found.remove(best)
        chosen.append(best.event)
    return chosen


def _search_feature(feature: Feature, inside: Outputs, outside: Outputs, judge: Judge) -> list[Suspect]:
    a, b = feature.read(inside), feature.read(outside)
    values, place = np.unique(np.concatenate([a, b]), return_inverse=True)
    places = place[: len(a)], place[len(a) :]
    ours, theirs = (_counts(side, len(values)) for side in places)
    found: list[Suspect] = []
    if not isinstance(feature, Pattern | Row | Named):  # numbers that stand for something else are in no order
        at = _spread_out(len(values))
        above = [np.cumsum(side[::-1])[::-1][at] for side in (ours, theirs)]
        found += _best(feature, "at least", values[at], above, (len(a), len(b)), judge)
    # Among values that hardly ever come twice, one that comes often is noise that was not added.
    often = np.flatnonzero(ours + theirs >= _OFTEN)
    if len(often):
        found += _best(feature, "one of", values[often], [ours[often], theirs[often]], (len(a), len(b)), judge)
    if 2 < len(values) <= _DISCRETE * len(place):
        found += _top_sets(feature, values, places, judge)
    return found


def _counts(places: NDArray[np.int64], size: int) -> Reals:
    return np.bincount(places, minlength=size).astype(np.float64)


def _spread_out(count: int) -> NDArray[np.int64]:
    if count <= _THRESHOLDS:
        return np.arange(count)
    middle = np.linspace(_TAIL, count - _TAIL, _THRESHOLDS - 2 * _TAIL).astype(np.int64)
    return np.unique(np.concatenate([np.arange(_TAIL), middle, np.arange(count - _TAIL, count)]))


def _best(
    feature: Feature,
    kind: Literal["at least", "one of"],
    values: NDArray[Any],
    counts: Sequence[Reals],
    runs: tuple[int, int],
    judge: Judge,
) -> list[Suspect]:
    """The best of many events of one kind in each direction and each way."""
    found = []
    for swapped in (False, True):
        one, other = (1, 0) if swapped else (0, 1)
        for index, scores in judge.best(counts[one], runs[one], counts[other], runs[other]):
            event = Event(feature, kind, values[index : index + 1], swapped)
            if kind == "at least" and counts[other][index] > runs[other] / 2:
                event = Event(feature, "at most", values[index : index + 1], not swapped)  # the rarer side reads better
            found.append(Suspect(event, *scores))
    return found


def _top_sets(
    feature: Feature,
    values: NDArray[Any],
    places: tuple[NDArray[np.int64], NDArray[np.int64]],
    judge: Judge,
) -> list[Suspect]:
    """The values likeliest on one side, as many of them as look best.

    Ordered by one half and counted on the other: values that were lucky once must not seem to be so always.
    """
    found = []
    size = len(values)
    for swapped in (False, True):
        one, other = places[::-1] if swapped else places
        n, m = len(one) // 2, len(other) // 2
        known = (_counts(one[:n], size) + 0.5) / (_counts(other[:m], size) + 0.5)
        order = np.argsort(-known, kind="stable")
        k, j = np.cumsum(_counts(one[n:], size)[order]), np.cumsum(_counts(other[m:], size)[order])
        for index, scores in judge.best(k, len(one) - n, j, len(other) - m):
            found.append(Suspect(Event(feature, "one of", np.sort(values[order[: index + 1]]), swapped), *scores))
    return found
